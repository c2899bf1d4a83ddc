from __future__ import annotations

import gzip

import pytest


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pairs").write_text("das Haus ||| the house\nein Haus ||| house\n")
    (tmp_path / "links").write_text("0-0 1-1\n1-0\n")
    return tmp_path


def test_a_phrase_table(weft, files):
    done = weft("phrases", "pairs", "--links", "links", cwd=files)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "Haus ||| house ||| 0.666667 1 1 1 ||| 0-0 ||| 3 2 2",
        "das ||| the ||| 1 1 1 1 ||| 0-0 ||| 1 1 1",
        "das Haus ||| the house ||| 1 1 1 1 ||| 0-0 1-1 ||| 1 1 1",
        "ein Haus ||| house ||| 0.333333 1 1 1 ||| 1-0 ||| 3 1 1",
    ]


def test_options(weft, files):
    done = weft("phrases", "pairs", "--links", "links", "--max-length", 1, "--min-count", 2, "-o", "t.gz", cwd=files)
    assert done.stdout == ""
    assert gzip.decompress((files / "t.gz").read_bytes()).decode() == "Haus ||| house ||| 1 1 1 1 ||| 0-0 ||| 2 2 2\n"


def test_words_that_do_not_fit_are_named(weft, files):
    records = "".join(f'{{"source": ["{word}"], "target": ["x"], "links": [[0, 0]]}}\n' for word in ("a b", "a"))
    done = weft("phrases", "-", "--links", "-", stdin=records)
    assert done.stdout == "a ||| x ||| 1 1 1 1 ||| 0-0 ||| 1 1 1\n"
    assert "weft: stdin:1: a phrase table cannot contain the word 'a b'. This pair is left out.\n" in done.stderr


def test_nothing_in_nothing_out(weft, files):
    (files / "none").write_text("")
    done = weft("phrases", "none", "--links", "none", cwd=files)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "weft: the input is empty.\n")


def test_an_aligner(weft, files):
    assert "das ||| the |||" in weft("phrases", "pairs", cwd=files).stdout


def test_a_phrase_table_is_no_csv(weft, files):
    done = weft("phrases", "pairs", "--links", "links", "-o", "table.csv", cwd=files)
    assert done.returncode == 2
    assert "separates its fields with |||, so it is not CSV" in done.stderr
    assert not (files / "table.csv").exists()
