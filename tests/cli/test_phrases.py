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


TABLE = """source,target,count,target_given_source,source_given_target
Haus,house,2,1.000000,0.666667
das,the,1,1.000000,1.000000
das Haus,the house,1,1.000000,1.000000
ein Haus,house,1,1.000000,0.333333
"""


@pytest.mark.parametrize(
    ("options", "separator"),
    [
        (("-o", "t.csv"), ","),
        (("-o", "t.csv", "--format", "tsv"), ","),
        (("-o", "t.tsv"), "\t"),
        (("-o", "t.TSV.gz"), "\t"),
        (("--format", "tsv"), "\t"),
    ],
)
def test_a_table_for_people(weft, files, options, separator):
    done = weft("phrases", "pairs", "--links", "links", *options, cwd=files)
    assert (done.returncode, done.stderr) == (0, "")
    written = (files / options[1]).read_bytes() if options[0] == "-o" else done.stdout.encode()
    written = gzip.decompress(written) if written.startswith(b"\x1f\x8b") else written
    assert written.decode() == TABLE.replace(",", separator)


def test_a_table_for_people_has_no_punctuation_alone_and_no_formulas(weft, tmp_path):
    (tmp_path / "pairs").write_text("Haus , ||| house ,\n=1 - ||| =1 x\n")
    (tmp_path / "links").write_text("0-0 1-1\n0-0 1-1\n")
    weft("phrases", "pairs", "--links", "links", "-o", "t.csv", cwd=tmp_path)
    rows = [line.split(",1,")[0] for line in (tmp_path / "t.csv").read_text().splitlines()[1:]]
    assert rows == ["'=1,'=1", "'=1 -,'=1 x", "Haus,house", '"Haus ,","house ,"']


def test_a_phrase_table_of_moses_is_no_csv(weft, files):
    done = weft("phrases", "pairs", "--links", "links", "-o", "table.csv", "--format", "moses", cwd=files)
    assert done.returncode == 2
    assert "separates its fields with |||, so it is not CSV" in done.stderr
    assert not (files / "table.csv").exists()


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ","), ("t.tsv", "\t")])
def test_a_table_for_people_holds_bars_as_words(weft, tmp_path, name, separator):
    (tmp_path / "pairs.jsonl").write_text('{"source": "das ||| Haus", "target": "the ||| house"}\n')
    (tmp_path / "links").write_text("0-0 1-1 2-2\n")
    done = weft("phrases", "pairs.jsonl", "--links", "links", "-o", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split(separator)[:2] for line in (tmp_path / name).read_text().splitlines()[1:]]
    assert ["das ||| Haus", "the ||| house"] in rows
    done = weft("phrases", "pairs.jsonl", "--links", "links", cwd=tmp_path)
    assert "a phrase table cannot contain the word '|||'. TSV and CSV can. This pair is left out." in done.stderr
