from __future__ import annotations

import csv
import gzip
import json
import lzma

import pytest

PAIRS = "das Haus ||| the house\nrubbish\nDas alte Haus ||| the old house\n"
LINKS = "0-0 1-1\n\n0-0 1-1 2-2\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pairs").write_text(PAIRS)
    (tmp_path / "links").write_text(LINKS)
    return tmp_path


def test_columns(weft, files):
    done = weft("lexicon", "pairs", "--links", "links", "--lowercase", "--min-count", 2, cwd=files)
    assert done.returncode == 0
    assert done.stdout == "das\tthe\t2\t1.000000\t1.000000\t1\nhaus\thouse\t2\t1.000000\t1.000000\t1\n"
    assert done.stderr == (
        "weft: pairs:2: expected one ' ||| ' separator, found 0. This pair is left out.\nweft: 1 bad line.\n"
    )


def test_a_file_named_csv_gets_csv(weft, files):
    (files / "pairs").write_text('so, ||| "so"\n')
    (files / "links").write_text("0-0\n")
    for name in ("out.csv", "out.csv.gz", "out.tsv"):
        assert weft("lexicon", "pairs", "--links", "links", "--examples", "-o", name, cwd=files).stderr == ""
    expected = ["so,", '"so"', "1", "1.000000", "1.000000", "1", "so,", '"so"']
    table = (files / "out.csv").read_text()
    names = "source,target,count,target_given_source,source_given_target,line,source_example,target_example"
    assert list(csv.reader(table.splitlines(), strict=True)) == [names.split(","), expected]
    assert gzip.decompress((files / "out.csv.gz").read_bytes()).decode() == table
    assert (files / "out.tsv").read_text() == "\t".join(expected) + "\n"


def test_words_are_no_formulas_of_a_spreadsheet(weft, files):
    (files / "pairs").write_text("=SUM(A1) -x ||| +1+cmd -0.5\n")
    (files / "links").write_text("0-0 1-1\n")
    assert weft("lexicon", "pairs", "--links", "links", "-o", "out.csv", cwd=files).stderr == ""
    rows = list(csv.reader((files / "out.csv").read_text().splitlines()))
    assert [row[:2] for row in rows] == [["source", "target"], ["'-x", "-0.5"], ["'=SUM(A1)", "'+1+cmd"]]


def test_records_with_examples_from_stdin(weft, files):
    arguments = ("--links", "links", "--examples", "--format", "jsonl", "--best", 1, "-o", "lexicon.xz")
    assert weft("lexicon", "-", *arguments, stdin=PAIRS, cwd=files).stdout == ""
    records = [json.loads(line) for line in lzma.decompress((files / "lexicon.xz").read_bytes()).splitlines()]
    assert records[0] == {
        "source": "Haus", "target": "house", "count": 2, "target_given_source": 1.0, "source_given_target": 1.0,
        "line": 1, "example": ["das Haus", "the house"],
    }  # fmt: skip
    assert {record["source"] for record in records} == {"das", "Das", "Haus", "alte"}


def test_a_line_of_column_names_is_doubted_once_with_examples_too(weft, tmp_path):
    (tmp_path / "t.tsv").write_text("German\tEnglish\ndas Haus\tthe house\n")
    (tmp_path / "links").write_text("\n0-0 1-1\n")
    done = weft("lexicon", "t.tsv", "--links", "links", "--examples", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "Haus\thouse\t1\t1.000000\t1.000000\t2\tdas Haus\tthe house"
    assert done.stderr.count("looks like a line of column names") == 1


def test_pairs_and_links_in_one_stream(weft):
    aligned = weft("align", "--output-format", "jsonl", stdin=PAIRS).stdout
    piped = weft("lexicon", "-", "--links", "-", stdin=aligned).stdout
    assert piped == weft("lexicon", stdin=PAIRS).stdout
    assert len(piped.splitlines()) == 4


def test_two_files_with_links_counted_from_one(weft, tmp_path):
    for name, text in (("source", "a\n"), ("target", "x\n"), ("links", "1-1\n")):
        (tmp_path / name).write_text(text)
    done = weft("lexicon", "source", "target", "--links", "links", "--links-base", 1, cwd=tmp_path)
    assert done.stdout == "a\tx\t1\t1.000000\t1.000000\t1\n"


def test_punctuation_is_listed_where_it_is_asked_for(weft, tmp_path):
    (tmp_path / "links").write_text("0-0 1-1\n")
    listed = {}
    for options in ((), ("--punctuation",), ("--marian", "lists")):
        listed[options] = weft(
            "lexicon", "-", "--links", "links", *options, stdin="ja . ||| yes .\n", cwd=tmp_path
        ).stdout
    assert listed[()] == "ja\tyes\t1\t1.000000\t1.000000\t1\n"
    assert listed["--punctuation",].startswith(".\t.\t1\t")
    assert ". . 1.00000000" in (tmp_path / "lists/lex.s2t").read_text()  # a translation needs full stops


def test_errors(weft, files):
    (files / "links").write_text("0-0\n")
    done = weft("lexicon", "pairs", "--links", "links", cwd=files)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "pairs has 3 lines but links has 1 line; line n of one must correspond to line n of the other.\n"
    )
    (files / "links").write_text("0-0\nx\n\n")
    done = weft("lexicon", "pairs", "--links", "links", cwd=files)
    assert done.stderr.endswith("weft: links:2: expected 'i-j' or 'ipj', found 'x'.\n")
    assert weft("lexicon", "pairs", "--min-count", 0, cwd=files).returncode == 2


def test_shortlists(weft, tmp_path):
    (tmp_path / "links").write_text("0-0 1-1\n0-0\n")
    pairs = "das Haus ||| the house\ndas ||| this\n"
    done = weft("lexicon", "-", "--links", "links", "--marian", "new/folder", stdin=pairs, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert sorted((tmp_path / "new/folder/lex.s2t").read_text().splitlines()) == [
        "house Haus 1.00000000",
        "the das 0.50000000",
        "this das 0.50000000",
    ]
    assert "das the 1.00000000" in (tmp_path / "new/folder/lex.t2s").read_text().splitlines()
    done = weft("lexicon", "-", "--links", "links", "--marian", "x", "--examples", stdin=pairs, cwd=tmp_path)
    assert done.returncode == 2
    assert "--marian writes two files of its own" in done.stderr


def test_a_shortlist_of_50_000_pairs_is_what_marian_reads(weft, tmp_path):
    """Source word k is linked with target words k (twice) and k + 1, for all k below 25,000."""
    count = 25_000
    words = [[f"{side}{k}" for k in range(count + 1)] for side in ("s", "t")]
    lines = [f"{words[0][k]} ||| {words[1][k]} {words[1][k]} {words[1][k + 1]}\n" for k in range(count)]
    (tmp_path / "pairs").write_text("".join(lines))
    (tmp_path / "links").write_text("0-0 0-1 0-2\n" * count)
    done = weft("lexicon", "pairs", "--links", "links", "--marian", "lists", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    # Marian reads three words at a time, whatever the lines: target, source, probability.
    tokens = (tmp_path / "lists" / "lex.s2t").read_text().split()
    read: dict[str, dict[str, float]] = {}
    for target, source, probability in zip(tokens[::3], tokens[1::3], tokens[2::3], strict=True):
        read.setdefault(source, {})[target] = float(probability)
    assert len(tokens) == 3 * 2 * count
    expected = {words[0][k]: {words[1][k]: 2 / 3, words[1][k + 1]: 1 / 3} for k in range(count)}
    assert read.keys() == expected.keys()
    assert all(read[word] == pytest.approx(of, abs=1e-8) for word, of in expected.items())


def test_a_file_without_any_pair_fails_and_leaves_the_old_output(weft, tmp_path):
    (tmp_path / "text").write_text("nothing\n" * 12)
    (tmp_path / "lexicon").write_text("old")
    done = weft("lexicon", "text", "-o", "lexicon", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith("weft: none of the 12 lines in text is a sentence pair.\n")
    assert done.stderr.count("This pair is left out.") == 10
    assert (tmp_path / "lexicon").read_text() == "old"


def test_words_without_a_link_are_counted_if_asked_for(weft, tmp_path):
    """Three of four times there is no counterpart, which the shares of links alone do not show."""
    (tmp_path / "pairs").write_text("komm doch ||| come here\n" * 3 + "doch ja ||| but yes\n")
    (tmp_path / "links").write_text("0-0\n" * 3 + "0-0 1-1\n")
    plain = weft("lexicon", "pairs", "--links", "links", cwd=tmp_path)
    assert [row for row in plain.stdout.splitlines() if "doch" in row] == ["doch\tbut\t1\t1.000000\t1.000000\t4"]
    rows = weft("lexicon", "pairs", "--links", "links", "--unlinked", cwd=tmp_path).stdout.splitlines()
    assert rows[:3] == [
        "NULL\there\t3\t1.000000\t1.000000\t1",
        "doch\tNULL\t3\t0.750000\t1.000000\t1",
        "komm\tcome\t3\t1.000000\t1.000000\t1",
    ]
    assert "doch\tbut\t1\t0.250000\t1.000000\t4" in rows
    options = ("--unlinked", "--format", "jsonl", "--examples")
    first = weft("lexicon", "pairs", "--links", "links", *options, cwd=tmp_path).stdout.splitlines()[0]
    assert json.loads(first)["source"] is None
    assert json.loads(first)["example"] == ["komm doch", "come here"]
    done = weft("lexicon", "pairs", "--links", "links", "--unlinked", "--marian", "m", cwd=tmp_path)
    assert (done.returncode, "leave out --output, --format, --unlinked" in done.stderr) == (2, True)


def test_examples_of_raw_text_are_the_sentences_themselves(weft, tmp_path):
    (tmp_path / "raw.tsv").write_text("Seid höflich, doch bestimmt.\tBe polite, but firm.\n")
    done = weft("lexicon", "raw.tsv", "--raw", "--examples", "--source-language", "de", cwd=tmp_path)
    assert done.returncode == 0
    examples = {tuple(row.split("\t")[6:]) for row in done.stdout.splitlines()}
    assert examples == {("Seid höflich, doch bestimmt.", "Be polite, but firm.")}


def test_examples_of_words_that_weft_split_are_the_sentences_themselves(weft, tmp_path):
    (tmp_path / "raw.txt").write_text("Seid höflich, doch bestimmt. ||| Be polite, but firm.\n")
    weft("align", "raw.txt", "--raw", "--source-language", "de", "-o", "links.jsonl", cwd=tmp_path)
    done = weft("lexicon", "links.jsonl", "--links", "links.jsonl", "--examples", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    examples = {tuple(row.split("\t")[6:]) for row in done.stdout.splitlines()}
    assert examples == {("Seid höflich, doch bestimmt.", "Be polite, but firm.")}
