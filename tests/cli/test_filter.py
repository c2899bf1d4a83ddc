from __future__ import annotations

import gzip

import pytest

PAIRS = "a b\tx y\tkept column\nbad line\na\tx y z\nc d\tz w\t7\r\n"
LINKS = "0-0 1-1\n\n0-0\n0-0:0.5 1-1:0.5\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pairs").write_bytes(PAIRS.encode())
    (tmp_path / "links").write_text(LINKS)
    return tmp_path


def test_lines_are_kept_as_they_are(weft, files):
    done = weft("filter", "pairs", "--links", "links", "--min-score", 0.5, "--report", "scores", cwd=files)
    assert done.returncode == 0
    assert done.stdout == "a b\tx y\tkept column\na\tx y z\nc d\tz w\t7\n"
    assert (files / "scores").read_text() == "1.000000\tkept\n0.000000\tbad\n0.500000\tkept\n0.500000\tkept\n"
    assert "weft: pairs:2: expected a tab between source and target, found none. It is dropped.\n" in done.stderr
    assert done.stderr.endswith("weft: kept 3 of 4 lines.\n")


@pytest.mark.parametrize("way", ["file", "stdin", "gz"])
def test_a_share(weft, files, way):
    given = gzip.compress(PAIRS.encode()) if way == "gz" else PAIRS
    path, stdin = ("pairs", b"") if way == "file" else ("-", given)
    done = weft("filter", path, "--links", "links", "--keep", 0.67, "--scores", stdin=stdin, cwd=files)
    assert done.stdout == "1.000000\ta b\tx y\tkept column\n0.500000\ta\tx y z\n"


def test_two_files(weft, tmp_path):
    for name, text in (("source", "a\nb c\n"), ("target", "x\ny\n"), ("links", "0-0\n0-0\n")):
        (tmp_path / name).write_text(text)
    arguments = ("filter", "source", "target", "--links", "links", "--min-score", 0.7)
    assert weft(*arguments, cwd=tmp_path).stdout == "a ||| x\n"
    done = weft(*arguments, "-o", "kept.source", "--target-output", "kept.target.gz", cwd=tmp_path)
    assert (tmp_path / "kept.source").read_text() == "a\n"
    assert gzip.decompress((tmp_path / "kept.target.gz").read_bytes()) == b"x\n"
    assert done.stdout == ""


NAMED = ("--source-field", "de", "--target-field", "en")


def test_the_line_that_names_columns_stays_first(weft, tmp_path):
    (tmp_path / "links").write_text("\n0-0 1-1\n0-0\n")
    table = "\ufeffid;de;en\r\n1;a b;x y\r\n2;c d;z w\r\n"
    (tmp_path / "t.csv").write_text(table, encoding="utf-8", newline="")
    done = weft("filter", "t.csv", "--links", "links", *NAMED, "--min-score", 0.7, "--report", "report", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("id;de;en\n1;a b;x y\n", "weft: kept 1 of 2 lines.\n")
    assert (tmp_path / "report").read_text() == "0.000000\theader\n1.000000\tkept\n0.500000\tdropped\n"
    done = weft("filter", "t.csv", "--links", "links", *NAMED, "--keep", 0.5, "--scores", cwd=tmp_path)
    assert done.stdout == "score\tid;de;en\n1.000000\t1;a b;x y\n"
    table = "de\ten\na b\tx y\nc d\tz w\n"
    assert weft("filter", "--links", "links", *NAMED, "--keep", 1, stdin=table, cwd=tmp_path).stdout == table


def test_records_have_no_line_that_names_columns(weft, tmp_path):
    (tmp_path / "links").write_text("0-0\n0-0\n")
    records = '{"de": "", "en": "x"}\n{"de": "a", "en": "x"}\n'
    done = weft("filter", "--links", "links", *NAMED, "--min-score", 0.7, stdin=records, cwd=tmp_path)
    assert done.stdout == '{"de": "a", "en": "x"}\n'
    assert done.stderr.endswith("weft: kept 1 of 2 lines.\n")


def test_an_aligner(weft):
    done = weft("filter", "--keep", 0.5, stdin="ja ||| q w e r t z u i o p\ndas Haus ||| the house\n")
    assert done.stdout == "das Haus ||| the house\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either --keep SHARE or --min-score SCORE"),
        (["--keep", "0.5", "--min-score", "0.5"], "either --keep SHARE or --min-score SCORE"),
        (["--keep", "2"], "--keep"),
        (["--keep", "0.5", "--target-output", "t"], "needs two input files"),
        (["--keep", "0.5", "--report", "-"], "two outputs have the same name"),
    ],
)
def test_bad_usage(weft, files, arguments, message):
    done = weft("filter", "pairs", "--links", "links", *arguments, cwd=files)
    assert done.returncode == 2
    assert message in done.stderr


def test_links_of_another_file(weft, files):
    (files / "links").write_text(LINKS + "\n")
    done = weft("filter", "pairs", "--links", "links", "--min-score", 0.1, "-o", "out", cwd=files)
    assert done.returncode == 1
    assert "pairs has 4 lines but links has 5 lines" in done.stderr
    assert not (files / "out").exists()
