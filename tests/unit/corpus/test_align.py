"""`weft.align_files` is `weft align` from Python: the same bytes, however the work is spread."""

from __future__ import annotations

import importlib.util
import random
import sys

import pytest

import weft as library
from weft.errors import FormatError, SettingError

WORDS = ["das", "ist", "ein", "kleines", "Haus", "in", "Berlin", ",", "25", "Äpfel", "私", "は", "。"]
needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra ray is not installed")


@pytest.fixture
def pairs(tmp_path):
    """Three chunks of lines, a few of them without a pair."""
    generator = random.Random(7)
    lines = [
        " ||| ".join(" ".join(generator.choices(WORDS, k=generator.randint(1, 20))) for _ in range(2))
        for _ in range(1_000)
    ]
    lines[49::200] = ["no pair"] * 5
    path = tmp_path / "pairs"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(
    "spread",
    [
        {},
        {"shards": 4},
        {"workers": 2},
        {"shards": 3, "workers": 2},
        pytest.param({"engine": "ray", "workers": 2}, marks=needs_ray),
    ],
    ids=lambda spread: "-".join(spread) or "plain",
)
def test_the_bytes_are_those_of_the_command_line(weft, tmp_path, pairs, spread):
    """Scores depend in the last digit on what a pair is batched with, so equal scores mean equal chunks."""
    said = weft("align", pairs, "-o", tmp_path / "expected", "--scores", "raw").stderr
    progress, bad = [], []
    done = library.align_files(
        pairs,
        output=tmp_path / "links",
        scores="raw",
        on_progress=progress.append,
        on_bad_line=bad.append,
        **spread,
    )
    assert (tmp_path / "links").read_bytes() == (tmp_path / "expected").read_bytes()
    assert (done.lines, done.bad_lines, sum(progress)) == (1_000, 5, 1_000)
    assert [f"weft: {error} This pair gets no links." for error in bad] == said.splitlines()[:-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["expected", "links", "pairs"]


@pytest.mark.parametrize("name", ["x.jsonl", "x.json", "x.naacl", "x.talp", "x.JSONL.gz", "links"])
def test_the_name_of_the_output_says_its_format_as_on_the_command_line(weft, tmp_path, name):
    (tmp_path / "pairs").write_text("das ist gut ||| that is good\n")
    library.align_files(tmp_path / "pairs", output=tmp_path / f"from-python-{name}")
    weft("align", "pairs", "-o", name, cwd=tmp_path)
    assert (tmp_path / f"from-python-{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_a_format_that_is_chosen_counts_more_than_the_name(tmp_path):
    (tmp_path / "pairs").write_text("das ist gut ||| that is good\n")
    library.align_files(tmp_path / "pairs", output=tmp_path / "x.jsonl", output_format="pharaoh")
    assert (tmp_path / "x.jsonl").read_text() == "0-0 1-1 2-2\n"


def test_two_files_every_format_and_a_function_as_output(weft, tmp_path):
    (tmp_path / "s").write_text("das ist gut\nja\n")
    (tmp_path / "t").write_text("that is good\nyes\n")
    for format in ("pharaoh", "jsonl", "words", "naacl"):
        written = []
        library.align_files(tmp_path / "s", tmp_path / "t", output=written.append, output_format=format, raw=True)
        expected = weft("align", "s", "t", "--output-format", format, "--raw", cwd=tmp_path).stdout
        assert b"".join(written).decode() == expected


def test_what_is_wrong_is_said_before_a_model_is_loaded(tmp_path, pairs, monkeypatch):
    monkeypatch.setitem(sys.modules, "weft.models.load", None)
    cases = [
        ({"source_language": "de"}, SettingError, "need `raw`"),
        ({"resume": True}, SettingError, "needs `shards`"),
        ({"address": "here"}, SettingError, "only works with `engine` ray"),
        ({"engine": "ray", "shards": 2}, SettingError, "the local engine"),
        ({"engine": "ray", "output": print}, SettingError, "reads and writes files"),
        ({"shards": 2, "output": print}, SettingError, "from file to file"),
        ({"output_format": "xml"}, ValueError, "xml"),
        ({"output": pairs}, SettingError, "both input and output"),
    ]
    for options, kind, message in cases:
        with pytest.raises(kind, match=message):
            library.align_files(pairs, **{"output": tmp_path / "links", **options})
    with pytest.raises(FileNotFoundError):
        library.align_files(tmp_path / "missing", output=tmp_path / "links")


def test_a_listener_that_raises_ends_the_run_and_nothing_is_written(tmp_path, pairs):
    def strict(error):
        raise error

    with pytest.raises(FormatError, match="pairs:50:"):
        library.align_files(pairs, output=tmp_path / "links", on_bad_line=strict)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs"]


def test_bad_lines_are_logged_by_default_and_the_collector_is_left_as_it_was(tmp_path, pairs, caplog):
    import gc

    before = gc.get_threshold()
    library.align_files(pairs, output=tmp_path / "links")
    assert gc.get_threshold() == before
    assert len([record for record in caplog.records if "This pair gets no links." in record.getMessage()]) == 5


def test_with_shards_the_total_is_known_and_what_an_earlier_run_has_done(tmp_path):
    (tmp_path / "pairs").write_text("".join(f"das ist {number} ||| that is {number}\n" for number in range(4_000)))
    told, lines = [], 0

    def stop_halfway(more: int) -> None:
        nonlocal lines
        lines += more
        if lines > 2_000:
            raise KeyboardInterrupt

    files = {"output": tmp_path / "links", "shards": 8, "on_total": lambda *total: told.append(total)}
    with pytest.raises(KeyboardInterrupt):
        library.align_files(tmp_path / "pairs", on_progress=stop_halfway, **files)
    rest = []
    library.align_files(tmp_path / "pairs", on_progress=rest.append, resume=True, **files)
    assert told[0] == (4_000, 0)
    total, before = told[1]
    assert before > 0
    assert before + sum(rest) == total == 4_000


def test_a_list_of_files_is_refused(tmp_path):
    with pytest.raises(SettingError, match="give one file of pairs as `source`"):
        library.align_files(["s1.tsv", "s2.tsv"], output=tmp_path / "links")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"scores": True}, "`scores` must be one of none, raw, calibrated, got True."),
        ({"output_format": "xml"}, "`output_format` must be one of pharaoh, jsonl, words, naacl, got 'xml'."),
        ({"input_format": "xlsx"}, "`input_format` must be one of auto, bars, tsv, csv, jsonl, got 'xlsx'."),
        ({"engine": "spark"}, "`engine` must be one of local, ray, got 'spark'."),
    ],
)
def test_choices_that_are_not_there_are_answered_with_those_that_are(tmp_path, setting, message):
    (tmp_path / "pairs").write_text("a ||| b\n")
    with pytest.raises(SettingError) as caught:
        library.align_files(tmp_path / "pairs", output=tmp_path / "links", **setting)
    assert str(caught.value).startswith(message)
