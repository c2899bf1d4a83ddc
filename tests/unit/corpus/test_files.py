from __future__ import annotations

import gzip
import json

import pytest

from weft.corpus.files import Task, expand, fetched, plan, writing_to
from weft.errors import FormatError, SettingError, WeftError
from weft.text.fields import PairFields

pytest.importorskip("fsspec", reason="the extra ray is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="the extra ray is not installed")
import fsspec  # noqa: E402
import pyarrow as pa  # noqa: E402


@pytest.fixture
def parts(tmp_path):
    for name in ("b.txt.gz", "a.tsv", ".hidden", "_SUCCESS"):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / name).touch()
    return tmp_path


def test_one_file_goes_to_one_file(parts, monkeypatch):
    monkeypatch.chdir(parts)
    assert plan("in/a.tsv", None, "links", ".txt") == [Task(f"{parts}/in/a.tsv", None, f"{parts}/links")]


@pytest.mark.parametrize("source", ["in", "in/*"])
@pytest.mark.parametrize(("output", "ending"), [("out", ".txt"), ("out/", ".txt"), ("out/*.jsonl.gz", ".jsonl.gz")])
def test_many_files_keep_their_names(parts, monkeypatch, source, output, ending):
    monkeypatch.chdir(parts)
    assert plan(source, None, output, ".txt") == [
        Task(f"{parts}/in/a.tsv", None, f"{parts}/out/a{ending}"),
        Task(f"{parts}/in/b.txt.gz", None, f"{parts}/out/b{ending}"),
    ]


def test_addresses_keep_their_protocol():
    system = fsspec.filesystem("memory")
    system.pipe("/corpus/x.jsonl", b"")
    system.pipe("/corpus/y.parquet", b"")
    assert expand("memory://corpus/*") == ["memory:///corpus/x.jsonl", "memory:///corpus/y.parquet"]
    assert plan("memory://corpus", None, "memory://links", ".txt")[1] == Task(
        "memory:///corpus/y.parquet", None, "memory://links/y.txt"
    )


@pytest.mark.parametrize(
    ("source", "target", "output", "kind", "message"),
    [
        ("-", None, "out", SettingError, "reads and writes files"),
        ("in", None, "-", SettingError, "reads and writes files"),
        ("nowhere", None, "out", WeftError, "nowhere: No such file or directory."),
        ("in/*.xml", None, "out", WeftError, "there is no file to align"),
        ("in", "in/a.tsv", "out", WeftError, "in has 2 files but in/a.tsv has 1; each needs a partner"),
        ("odd://x/y", None, "out", WeftError, "odd"),
        ("same", None, "out", WeftError, "would be written to the same output"),
    ],
)
def test_mistakes_get_one_sentence(parts, monkeypatch, source, target, output, kind, message):
    monkeypatch.chdir(parts)
    (parts / "same").mkdir()
    for name in ("a.txt", "a.tsv"):
        (parts / "same" / name).touch()
    with pytest.raises(kind, match=message):
        plan(source, target, output, ".txt")


def test_parquet_becomes_lines(tmp_path):
    rows = [{"source": "das ist", "target": "that is"}, {"source": None, "target": "x"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    with fetched(f"{tmp_path}/x.parquet") as (copy, is_json):
        assert is_json
        with open(copy) as lines:
            assert list(map(json.loads, lines)) == rows
    pq.write_table(pa.table({"src": ["a"], "target": ["b"]}), tmp_path / "y.parquet")
    with pytest.raises(FormatError, match="expected the column source, found the columns src, target"):
        fetched(f"{tmp_path}/y.parquet").__enter__()
    with fetched(f"{tmp_path}/y.parquet", PairFields.of("src", "target")) as (copy, _), open(copy) as lines:
        assert json.loads(lines.read()) == {"src": "a", "target": "b"}
    both = {"id": 1, "translation": {"de": "das", "en": "that"}}
    pq.write_table(pa.Table.from_pylist([both]), tmp_path / "t.parquet")
    with fetched(f"{tmp_path}/t.parquet") as (copy, _), open(copy) as lines:
        assert json.loads(lines.read()) == {"translation": both["translation"]}
    (tmp_path / "z.parquet").write_bytes(b"rubbish")
    with pytest.raises(FormatError, match=r"z.parquet: this is not a Parquet file"):
        fetched(f"{tmp_path}/z.parquet").__enter__()


def test_remote_files_are_fetched_and_put():
    system = fsspec.filesystem("memory")
    system.pipe("/far/x.txt", b"a ||| b\n")
    with fetched("memory://far/x.txt") as (copy, is_json), open(copy) as lines:
        assert (lines.read(), is_json) == ("a ||| b\n", False)
    with writing_to("memory://far/links.gz", json_lines=False) as write:
        write(b"0-0\n")
        assert not system.exists("/far/links.gz")
    assert gzip.decompress(system.cat("/far/links.gz")) == b"0-0\n"


@pytest.mark.parametrize("where", ["local", "remote"])
def test_links_as_parquet(tmp_path, where):
    folder = str(tmp_path) if where == "local" else "memory://tables"
    with writing_to(f"{folder}/x/lines.parquet", json_lines=False) as write:
        write(b"0-0 1-1\n\n")
        write(b"2-2\n")
    record = {"source": ["a"], "target": ["b", "c"], "links": [[0, 1, 0.5]], "score": 0.25}
    with writing_to(f"{folder}/x/json.parquet", json_lines=True) as write:
        write(json.dumps(record).encode() + b"\n")
    with writing_to(f"{folder}/x/empty.parquet", json_lines=True):
        pass
    system = fsspec.core.url_to_fs(folder)[0]
    tables = {name: pq.read_table(f"{folder.removeprefix('memory:/')}/x/{name}.parquet", filesystem=system)
              for name in ("lines", "json", "empty")}  # fmt: skip
    assert tables["lines"].to_pydict() == {"links": ["0-0 1-1", "", "2-2"]}
    row = tables["json"].to_pylist()[0]
    assert row["links"] == [{"source": 0, "target": 1, "score": 0.5}]
    assert (row["source"], row["target"], row["score"], row["source_text"]) == (["a"], ["b", "c"], 0.25, None)
    assert tables["empty"].num_rows == 0


def test_a_users_own_text_does_not_end_a_run_that_writes_parquet(tmp_path):
    record = {"source": ["a"], "target": ["b"], "links": [], "score": 0.0, "source_text": 7, "target_text": ["x"]}
    with writing_to(f"{tmp_path}/own.parquet", json_lines=True) as write:
        write(json.dumps(record).encode() + b"\n")
    assert pq.read_table(tmp_path / "own.parquet").to_pylist()[0]["source_text"] is None
