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
    assert done.stdout == "a b\tx y\tkept column\na\tx y z\nc d\tz w\t7\r\n"
    assert (files / "scores").read_text() == (
        "1.000000\tkept\t\ta b\tx y\t\n"
        "0.000000\tbad\t\t\t\texpected a tab between source and target, found none.\n"
        "0.500000\tkept\t\ta\tx y z\t\n0.500000\tkept\t\tc d\tz w\t\n"
    )
    assert "weft: pairs:2: expected a tab between source and target, found none. This pair is dropped.\n" in done.stderr
    assert done.stderr.endswith("weft: kept 3 of 4 lines.\n")


def test_a_report_named_csv_is_csv(weft, files):
    weft("filter", "pairs", "--links", "links", "--min-score", 0.6, "--report", "scores.csv", cwd=files)
    assert (files / "scores.csv").read_text() == (
        "score,verdict,id,source,target,reason\n1.000000,kept,,a b,x y,\n"
        '0.000000,bad,,,,"expected a tab between source and target, found none."\n'
        "0.500000,dropped,,a,x y z,\n0.500000,dropped,,c d,z w,\n"
    )


def test_a_report_has_the_sentence_that_lacks_a_translation(weft, tmp_path):
    (tmp_path / "pairs").write_text("a b ||| x y\nc d ||| \n")
    (tmp_path / "links").write_text("0-0\n\n")
    weft("filter", "pairs", "--links", "links", "--min-score", 0, "--report", "report", cwd=tmp_path)
    rows = (tmp_path / "report").read_text().splitlines()
    assert rows[1] == "0.000000\tbad\t\tc d\t\tthe target side is empty."


def test_a_report_has_the_text_of_sentences_that_weft_split_and_of_those_without_counterpart(weft, tmp_path):
    (tmp_path / "a.txt").write_text("Der Hund schläft. Es regnet.\n")
    (tmp_path / "b.txt").write_text("The dog is sleeping.\n")
    languages = ("--source-language", "de", "--target-language", "en")
    weft("align", "--documents", "a.txt", "b.txt", *languages, "-o", "two.jsonl", cwd=tmp_path)
    weft("filter", "two.jsonl", "--links", "two.jsonl", "--min-score", 0.3, "--report", "r.tsv", cwd=tmp_path)
    rows = [line.split("\t")[1:] for line in (tmp_path / "r.tsv").read_text().splitlines()]
    assert rows == [
        ["kept", "", "Der Hund schläft.", "The dog is sleeping.", ""],
        ["bad", "", "Es regnet.", "", "this sentence has no counterpart."],
    ]


def test_a_report_has_the_sentences_as_they_came(weft, tmp_path):
    (tmp_path / "s").write_text("Das Haus.\n=1+1\n")
    (tmp_path / "t").write_text("The house.\nJa\n")
    weft("filter", "s", "t", "--raw", "--min-score", 0, "--report", "r.csv", cwd=tmp_path)
    rows = [line.split(",", 2)[2] for line in (tmp_path / "r.csv").read_text().splitlines()]
    assert rows == ["id,source,target,reason", ",Das Haus.,The house.,", ",'=1+1,Ja,"]


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


def keep_all(weft, folder, name, *options):
    """What `weft filter` makes of a file of which it drops nothing but bad lines."""
    done = weft("filter", name, "--links", "links", "--min-score", 0, *options, "-o", "kept", cwd=folder)
    assert done.returncode == 0, done.stderr
    return (folder / "kept").read_bytes()


@pytest.mark.parametrize("end", ["\r\n", "\n", ""])
def test_ends_of_lines_and_breaks_in_cells_stay(weft, tmp_path, end):
    table = f'\ufeffid;de;en\r\n1;"a\r\nb";"x\ny"\r\n2;c;z\n3;d;w{end}'.encode()
    (tmp_path / "t.csv").write_bytes(table)
    (tmp_path / "links").write_text("\n" * 4)
    assert keep_all(weft, tmp_path, "t.csv", *NAMED) == table


def test_a_byte_order_mark_comes_first_whichever_line_does(weft, tmp_path):
    (tmp_path / "t").write_bytes("\ufeffbad line\r\na\tx\r\n".encode())
    (tmp_path / "links").write_text("\n\n")
    assert keep_all(weft, tmp_path, "t", "--input-format", "tsv") == "\ufeffa\tx\r\n".encode()


def test_utf16_becomes_utf8_that_is_otherwise_the_same(weft, tmp_path):
    (tmp_path / "t.txt").write_text("für\tfor\r\nmit\twith\r\n", encoding="utf-16", newline="")
    (tmp_path / "links").write_text("\n\n")
    assert keep_all(weft, tmp_path, "t.txt") == "\ufefffür\tfor\r\nmit\twith\r\n".encode()


def test_unicode_text_of_a_spreadsheet_loses_its_quotes_with_its_encoding(weft, tmp_path):
    table = '"a ""b"""\tx\r\n"c\nd"\ty\r\ne\tz'
    (tmp_path / "t.txt").write_text(table, encoding="utf-16", newline="")
    (tmp_path / "links").write_text("\n" * 3)
    assert keep_all(weft, tmp_path, "t.txt") == b'\xef\xbb\xbfa "b"\tx\r\nc d\ty\r\ne\tz'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_units_become_records(weft, tmp_path, encoding):
    unit = '<tu><tuv xml:lang="de"><seg>a</seg></tuv>\n<tuv xml:lang="en"><seg>x</seg></tuv></tu>\n'
    memory = f'<?xml version="1.0"?>\n<tmx><header srclang="de"/><body>\n{unit}{unit}</body></tmx>'
    (tmp_path / "t.tmx").write_text(memory, encoding=encoding)
    (tmp_path / "links").write_text("0-0\n0-0\n")
    assert keep_all(weft, tmp_path, "t.tmx") == b'{"translation": {"de": "a", "en": "x"}}\n' * 2


MEMORY = """<?xml version="1.0"?>
<tmx version="1.4"><header srclang="de"/><body>
<tu tuid="1"><prop type="p">q</prop><tuv xml:lang="de"><seg>a <ph>{0}</ph></seg></tuv><tuv xml:lang="en"><seg>x</seg></tuv></tu>
<tu tuid="2"><tuv xml:lang="de"><seg>b</seg></tuv><tuv xml:lang="en"><seg>y</seg></tuv></tu>
<tu tuid="3"><tuv xml:lang="de"><seg>c</seg></tuv></tu>
</body></tmx>
"""  # noqa: E501


@pytest.mark.parametrize("way", ["file", "stdin", "gz"])
def test_a_translation_memory_stays_one_if_the_output_is_named_so(weft, tmp_path, way):
    (tmp_path / "t.tmx").write_text(MEMORY)
    (tmp_path / "links").write_text("0-0\n\n\n")
    output = "clean.tmx.gz" if way == "gz" else "clean.tmx"
    options = ("--links", "links", "--min-score", 0.5, "-o", output, "--report", "report")
    done = weft("filter", "-" if way == "stdin" else "t.tmx", *options, stdin=MEMORY, cwd=tmp_path)
    assert done.stderr.endswith("weft: kept 1 of 3 pairs.\n")
    written = (tmp_path / output).read_bytes()
    kept = [line for line in MEMORY.splitlines(keepends=True) if "<tu " not in line or "1" in line]
    assert (gzip.decompress(written) if way == "gz" else written).decode() == "".join(kept)
    assert (tmp_path / "report").read_text() == (
        "1.000000\tkept\t1\ta\tx\t\n0.000000\tdropped\t2\tb\ty\t\n"
        "0.000000\tbad\t3\t\t\tfound text in de only, and no translation of it.\n"
    )


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("t.tmx", ("-o", "o.xlf"), "o.xlf can only be written from a file of the same format, and t.tmx is not XLIFF."),
        ("pairs", ("-o", "o.tmx"), "pairs is not TMX. Choose another name for the output."),
        ("t.tmx", ("-o", "o.tmx", "--scores"), "TMX has no place for scores; use --report instead of --scores."),
    ],
)
def test_what_cannot_become_a_translation_memory_is_refused(weft, files, name, options, message):
    (files / "t.tmx").write_text(MEMORY)
    done = weft("filter", name, "--links", "links", "--min-score", 0, *options, cwd=files)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (files / options[1]).exists()


def test_units_written_as_records_are_pointed_out(weft, tmp_path):
    (tmp_path / "t.tmx").write_text(MEMORY)
    (tmp_path / "links").write_text("0-0\n\n\n")
    done = weft("filter", "t.tmx", "--links", "links", "--min-score", 0.5, cwd=tmp_path)
    assert "weft: the kept units are written as JSONL. For TMX, use -o with a name that ends in .tmx.\n" in done.stderr


def test_two_files_keep_their_ends_and_bars_have_none_of_them(weft, tmp_path):
    for name, text in (("s", "\ufeffa\r\nb\r\n"), ("t", "x\ny\n"), ("links", "\n0-0\n")):
        (tmp_path / name).write_bytes(text.encode())
    arguments = ("filter", "s", "t", "--links", "links", "--min-score", 0.5)
    weft(*arguments, "-o", "kept.s", "--target-output", "kept.t", cwd=tmp_path)
    assert (tmp_path / "kept.s").read_bytes() == "\ufeffb\r\n".encode()
    assert (tmp_path / "kept.t").read_bytes() == b"y\n"
    assert weft(*arguments, cwd=tmp_path).stdout == "b ||| y\n"


NAMED = ("--source-field", "de", "--target-field", "en")


def test_the_line_that_names_columns_stays_first(weft, tmp_path):
    (tmp_path / "links").write_text("\n0-0 1-1\n0-0\n")
    table = "\ufeffID;de;en\r\n1;a b;x y\r\n2;c d;z w\r\n"
    (tmp_path / "t.csv").write_text(table, encoding="utf-8", newline="")
    done = weft("filter", "t.csv", "--links", "links", *NAMED, "--min-score", 0.7, "--report", "report", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("\ufeffID;de;en\r\n1;a b;x y\r\n", "weft: kept 1 of 2 lines.\n")
    assert (tmp_path / "report").read_text() == (
        "0.000000\theader\t\t\t\t\n1.000000\tkept\t1\ta b\tx y\t\n0.500000\tdropped\t2\tc d\tz w\t\n"
    )
    done = weft("filter", "t.csv", "--links", "links", *NAMED, "--keep", 0.5, "--scores", cwd=tmp_path)
    assert done.stdout == "\ufeffscore;ID;de;en\r\n1.000000;1;a b;x y\r\n"
    table = "de\ten\na b\tx y\nc d\tz w\n"
    assert weft("filter", "--links", "links", *NAMED, "--keep", 1, stdin=table, cwd=tmp_path).stdout == table


@pytest.mark.parametrize(
    ("name", "table", "expected"),
    [
        ("t.csv", "de,en\na,x\n", "score,de,en\n1.000000,a,x\n"),
        ("t.csv", "sep=|\nde|en\na|x\n", "sep=|\nscore|de|en\n1.000000|a|x\n"),
        ("t.csv", 'id;de;en\n"1;2";a;x\n', 'score;id;de;en\n1.000000;"1;2";a;x\n'),
        ("t.csv", "de\ten\na\tx\n", "score\tde\ten\n1.000000\ta\tx\n"),
        ("t.txt", "de\ten\na\tx\n", "score\tde\ten\n1.000000\ta\tx\n"),
    ],
)
def test_scores_are_a_column_of_the_table(weft, tmp_path, name, table, expected):
    (tmp_path / "links").write_text("\n" * (table.count("\n") - 1) + "0-0\n")
    (tmp_path / name).write_text(table)
    assert keep_all(weft, tmp_path, name, *NAMED, "--scores").decode() == expected


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


def test_a_memory_in_three_languages_is_not_filtered_before_two_are_chosen(weft, tmp_path):
    third = '<tuv xml:lang="fr"><seg>la maison</seg></tuv>'
    unit = f'<tu><tuv xml:lang="de"><seg>das Haus</seg></tuv><tuv xml:lang="en"><seg>the house</seg></tuv>{third}</tu>'
    (tmp_path / "t.tmx").write_text(f'<tmx><header srclang="de"/><body>\n{unit}\n</body></tmx>')
    filtered = ("filter", "t.tmx", "--raw", "--keep", "1", "-o", "clean.tmx")
    done = weft(*filtered, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "clean.tmx").exists()) == (2, False)
    assert "has text in de, en and fr. Choose two of these languages with --source-language and" in done.stderr
    chosen = weft(*filtered, "--source-language", "fr", "--target-language", "de", cwd=tmp_path)
    assert (chosen.returncode, chosen.stderr) == (0, "weft: kept 1 of 1 pair.\n")
    assert (tmp_path / "clean.tmx").read_text() == (tmp_path / "t.tmx").read_text()
