from __future__ import annotations

import json
import random

import pytest

from echo import EchoJob, Item
from weft.corpus.manifest import Input, Manifest, Shard, survey
from weft.corpus.records import Counts, cut_records
from weft.corpus.shards import ShardedRun
from weft.errors import FormatError, LineCountError, WeftError
from weft.types import SentencePair

ITEMS = [Item(SentencePair((f"w{number}",) * (1 + number % 9), ("x",))) for number in range(1_000)]
EXPECTED = b"".join(f"{k} {' '.join(item.pair.source)}\n".encode() for k, item in enumerate(ITEMS, 1))


class Stop(Exception):  # noqa: N818 - it is no error
    pass


def manifest(shards: int, lines: int = 1_000, **identity: object) -> Manifest:
    return Manifest(shards, (Input(lines, "digest"),), {"model": "echo", **identity})


def chunks(stop: int | None = None, items: list[Item] = ITEMS):
    """Chunks of a few lines; the run is stopped after some of them."""
    for number, chunk in enumerate(cut_records(items, words=50)):
        if number == stop:
            raise Stop
        yield chunk


def test_stopped_anywhere_and_resumed(tmp_path):
    generator = random.Random(1)
    count = len(list(chunks()))
    for attempt in range(10):
        output = f"{tmp_path}/{attempt}"
        shards = generator.randint(1, 40)
        stops = sorted(generator.choices(range(count), k=5))
        model = EchoJob().load()
        for stop in stops:
            run = ShardedRun(output, manifest(shards), resume=True)
            with pytest.raises(Stop):
                list(run.work(chunks(stop), model))
            run.close()
        run = ShardedRun(output, manifest(shards), resume=True)
        list(run.work(chunks(), model))
        assert b"".join(run.joined()) == EXPECTED
        assert run.totals().long_sentences == count
        run.remove()
    assert list(tmp_path.iterdir()) == []


def test_what_is_finished_is_not_done_again(tmp_path):
    model = EchoJob().load()
    run = ShardedRun(f"{tmp_path}/out", manifest(10), resume=False)
    with pytest.raises(Stop):
        list(run.work(chunks(stop=60), model))
    run.close()
    assert (before := run.finished) > 3
    again = ShardedRun(f"{tmp_path}/out", manifest(10), resume=True)
    done = sum(chunk.counts.lines for chunk in again.work(chunks(), model))
    assert done == 1_000 - sum(shard.counts.lines for shard in list(run._manifest.finished.values())[:before])


def test_words_that_are_read_otherwise_are_noticed(tmp_path):
    """The file may be the same while a new version of a segmenter finds other words."""
    model = EchoJob().load()
    run = ShardedRun(f"{tmp_path}/out", manifest(10), resume=False)
    with pytest.raises(Stop):
        list(run.work(chunks(stop=60), model))
    run.close()
    again = ShardedRun(f"{tmp_path}/out", manifest(10), resume=True)
    changed = [Item(SentencePair(("other",), ("x",))), *ITEMS[1:]]
    with pytest.raises(WeftError, match=r"lines 1 to 1.. of the input are read as other words than before"):
        list(again.work(chunks(items=changed), model))


def test_a_manifest_comes_back_as_it_was(tmp_path):
    whole = manifest(3, layer=None).with_shard(2, Shard(5, "in", "out", Counts(7, 1)))
    whole.store(tmp_path)
    assert Manifest.load(tmp_path) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("content", ["", "[]", '{"shards": 1}', '{"shards": 1, "inputs": 3}', "\x00"])
def test_what_is_no_manifest_is_named(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(FormatError, match=r"manifest.json: this is not the manifest of a sharded run\. Remove"):
        Manifest.load(tmp_path)


@pytest.mark.parametrize(
    ("part", "value"),
    [("shards", None), ("inputs", [{"lines": "x", "digest": ""}]), ("identity", [1]), ("finished", [1])]
    + [
        ("finished", {"0": {"first": 1, "input": "", "output": "", "counts": counts}})
        for counts in ([], {"lines": 1.5})
    ],
)
def test_a_manifest_with_a_part_of_another_kind_is_named(tmp_path, part, value):
    whole = {"shards": 1, "inputs": [], "identity": {}, "finished": {}}
    (tmp_path / "manifest.json").write_text(json.dumps(whole))
    assert Manifest.load(tmp_path) == Manifest(1, (), {})
    (tmp_path / "manifest.json").write_text(json.dumps({**whole, part: value}))
    with pytest.raises(FormatError, match=r"manifest.json: this is not the manifest of a sharded run\. Remove"):
        Manifest.load(tmp_path)


def test_differences_are_named():
    before = Manifest(3, (Input(5, "a"), Input(5, "b")), {"layer": None, "method": "ot"})
    assert list(before.differences(before)) == []
    now = Manifest(4, (Input(5, "a"), Input(5, "c")), {"layer": 8, "method": "ot"})
    assert list(before.differences(now)) == [
        "the target file has as many lines but other text",
        "`shards` was 3, now 4",
        "`layer` was not set, now 8",
    ]
    assert list(before.differences(Manifest(3, (Input(5, "a"),), before.identity))) == ["the input was 2 files, now 1"]


CURVE = "{'scores': (0.1, 0.2), 'probabilities': (0.3, 0.4)}"


@pytest.mark.parametrize(
    ("now", "given", "differences"),
    [
        ({"method": "argmax", "calibration": None}, ["method"], ["`method` was geometric, now argmax"]),
        ({"model": "big", "method": "ot", "calibration": None}, ["model"], ["`model` was small, now big"]),
        (
            {"model": "big", "method": "ot"},
            ["model", "method"],
            ["`method` was geometric, now ot", "`model` was small, now big"],
        ),
        ({"method": "ot", "threshold": "0.2"}, [], ["`method` was geometric, now ot"]),
        (
            {"method": "ot", "threshold": "0.2"},
            ["method", "threshold"],
            ["`method` was geometric, now ot", "`threshold` was not set, now 0.2"],
        ),
        ({"calibration": "{}"}, [], ["the calibration differs"]),
    ],
)
def test_what_follows_from_another_difference_is_not_named(now, given, differences):
    before = Manifest(3, (), {"model": "small", "method": "geometric", "calibration": CURVE})
    assert list(before.differences(Manifest(3, (), {**before.identity, **now}), given)) == differences


def test_a_file_that_is_said_to_be_csv_is_surveyed_by_rows(tmp_path):
    (tmp_path / "table").write_text('"a\nb",c\n')
    assert survey(str(tmp_path / "table"))[0].lines == 2
    assert survey(str(tmp_path / "table"), csv=True)[0].lines == 1


def test_files_are_surveyed(tmp_path):
    for name, text in (("a", "x\ny\n"), ("b", "x\ny"), ("c", "x\r\nz\n"), ("d", "x\n")):
        (tmp_path / name).write_bytes(text.encode())
    one, two = survey(str(tmp_path / "a"), str(tmp_path / "b"))
    assert one == two
    assert one.lines == 2
    assert survey(str(tmp_path / "c"))[0].digest != one.digest
    with pytest.raises(LineCountError):
        survey(str(tmp_path / "a"), str(tmp_path / "d"))
