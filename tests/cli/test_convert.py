from __future__ import annotations

import gzip
import json

import pytest


@pytest.mark.parametrize(
    ("source", "to", "expected"),
    [
        ("0-0 1-2\n\n", "pharaoh", "0-0 1-2\n\n"),
        ("0-0 1p2\n\n", "talp", "0-0 1p2\n\n"),
        ("0-0 1p2\n\n", "naacl", "1 1 1 S\n1 2 3 P\n2 0 0\n"),
        ("0-0:0.5 1p2\n\n", "jsonl", '{"links": [[0, 0, 0.5]], "possible": [[1, 2]]}\n{"links": []}\n'),
        ("0-0:0.5 1-2\n", "pharaoh-scores", "0-0:0.5 1-2\n"),
        ("1 1 1 S\n3 1 2 P\n", "talp", "0-0\n\n0p1\n"),
        ("a b\tc\n", "bars", "a b ||| c\n"),
        ("a b ||| c\n", "tsv", "a b\tc\n"),
    ],
)
def test_from_format_to_format(weft, source, to, expected):
    done = weft("convert", "-", "-", "--to", to, stdin=source)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


def test_a_file_named_csv_gets_csv_and_is_read_back(weft, tmp_path):
    pairs = 'ja ; ja ; gern , " so " ||| yes , please\na ||| b\n'
    for name in ("pairs.csv", "pairs.csv.gz"):
        assert weft("convert", "-", name, "--to", "tsv", cwd=tmp_path, stdin=pairs).stderr == ""
        assert weft("convert", name, "--to", "bars", cwd=tmp_path).stdout == pairs
    table = (tmp_path / "pairs.csv").read_text()
    assert table == '"ja ; ja ; gern , "" so ""","yes , please"\na,b\n'
    assert gzip.decompress((tmp_path / "pairs.csv.gz").read_bytes()).decode() == table


def test_pairs_to_json_and_back(weft, tmp_path):
    (tmp_path / "pairs").write_text("a b ||| c\n")
    assert weft("convert", "pairs", "pairs.jsonl", "--from", "bars", "--to", "jsonl", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "pairs.jsonl").read_text()) == {"source": ["a", "b"], "target": ["c"]}
    assert weft("convert", "pairs.jsonl", "--to", "bars", cwd=tmp_path).stdout == "a b ||| c\n"


def test_sides_can_be_swapped_and_counted_from_1(weft):
    done = weft("convert", "-", "--to", "talp", "--swap", "--from-base", "1", "--to-base", "1", stdin="1-2 3p1\n")
    assert done.stdout == "1p3 2-1\n"
    assert weft("convert", "-", "--to", "bars", "--swap", stdin="a ||| b\n").stdout == "b ||| a\n"


@pytest.mark.parametrize("suffix", ["gz", "xz", "zst"])
def test_output_is_compressed_by_its_name(weft, tmp_path, suffix):
    done = weft("convert", "-", tmp_path / f"out.{suffix}", stdin="0-0\n")
    assert done.returncode == 0
    assert (tmp_path / f"out.{suffix}").read_bytes() != b"0-0\n"
    assert weft("convert", tmp_path / f"out.{suffix}").stdout == "0-0\n"


def test_equal_results_are_equal_files(weft, tmp_path):
    for name in ("a.gz", "b.gz"):
        weft("convert", "-", tmp_path / name, stdin="0-0\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"0-0\n"


def test_a_failed_conversion_leaves_the_old_file_alone(weft, tmp_path):
    (tmp_path / "out").write_text("precious\n")
    done = weft("convert", "-", "out", cwd=tmp_path, stdin="0-0\nrubbish\n")
    assert (done.returncode, done.stderr) == (1, "weft: stdin:2: expected 'i-j' or 'ipj', found 'rubbish'.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "precious\n"


def test_links_do_not_become_sentences(weft):
    done = weft("convert", "-", "--from", "talp", "--to", "bars", stdin="0-0\n")
    assert (done.returncode, done.stderr) == (
        2,
        "weft: cannot convert talp to bars: one is for sentence pairs, the other for links.\n",
    )


def test_dev_null_is_a_fine_place(weft):
    assert weft("convert", "-", "/dev/null", stdin="0-0\n").returncode == 0


def test_pairs_taken_for_links_get_a_hint(weft):
    done = weft("convert", "-", "--to", "jsonl", stdin="a ||| b\n")
    assert done.returncode == 1
    assert "name their format: --from bars, tsv, csv, tmx or xliff" in done.stderr


@pytest.mark.parametrize("option", ["--from-base", "--to-base"])
def test_formats_that_fix_the_base_refuse_another(weft, option):
    done = weft("convert", "-", "--from", "naacl", "--to", "naacl", option, "1", stdin="1 1 1\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"leave out {option}" in done.stderr


def test_the_output_has_no_format_of_its_own(weft):
    done = weft("convert", "-", "--to", "auto", stdin="0-0\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("weft: --to must be one of pharaoh, ")
    assert done.stderr.endswith(", got 'auto'.\n")


@pytest.mark.parametrize(
    ("links", "options", "sentence"),
    [
        ("0-0 1p2\n", [], "1 possible link was written as a sure one, because pharaoh has no possible links. "
         "To keep the difference, add --to talp."),
        ("0p0 1p2\n", ["--to", "pharaoh-scores"], "2 possible links were written as sure ones, because "
         "pharaoh-scores has no possible links. To keep the difference, add --to talp."),
        ("1-1\n\n2-3\n", [], "stdin has no index 0. If its word indices start at 1, add --from-base 1."),
    ],
)  # fmt: skip
def test_what_a_conversion_loses_or_may_get_wrong_is_said(weft, links, options, sentence):
    done = weft("convert", "-", *options, stdin=links)
    assert (done.returncode, done.stderr) == (0, f"weft: {sentence}\n")


@pytest.mark.parametrize("options", [["--from-base", "1"], ["--from-base", "0"], ["--from", "naacl"]])
def test_a_base_that_is_known_is_not_doubted(weft, options):
    links = "1 2 3\n" if "naacl" in options else "1-1\n"
    assert weft("convert", "-", *options, stdin=links).stderr == ""


def test_a_wrong_base_is_named_as_the_option(weft):
    done = weft("convert", "-", "--from-base", "1", stdin="0-1\n")
    assert (done.returncode, done.stderr) == (
        1,
        "weft: stdin:1: found '0-1', but --from-base is 1, so words are counted from 1.\n",
    )


@pytest.mark.parametrize(
    "bad",
    [
        '{"source": "das", "target": ""}',
        '{"source": "das", "target": null}',
        '{"source": "das"}',
        '{"translation": {"de": "das"}}',
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_record_without_a_translation_keeps_its_line(weft, bad, first):
    pair = {"de": "das", "en": "that"}
    good = json.dumps({"translation": pair} if "translation" in bad else {"source": "das", "target": "that"})
    done = weft(
        "convert", "-", "--to", "tsv", "--from", "jsonl", stdin="\n".join([bad, good] if first else [good, bad])
    )
    assert (done.returncode, done.stdout) == (0, "\ndas\tthat\n" if first else "das\tthat\n\n")
    assert "A blank line takes its place." in done.stderr
    assert done.stderr.endswith("weft: lines without a sentence pair: 1.\n")


@pytest.mark.parametrize(
    "bad", ['{"source": 7, "target": "that"}', '{"translation": {"a": "x", "b": "y", "c": "z"}}', "{"]
)
def test_other_bad_records_end_a_conversion(weft, bad):
    done = weft(
        "convert", "-", "--to", "tsv", "--from", "jsonl", stdin=f'{{"source": "das", "target": "that"}}\n{bad}\n'
    )
    assert done.returncode == 1
    assert "stdin:2: " in done.stderr


def test_a_wrong_name_for_a_field_is_told_of_every_record(weft):
    done = weft("convert", "-", "--to", "tsv", "--source-field", "a", "--target-field", "b", stdin='{"c": "x"}\n' * 2)
    assert done.returncode == 1
    assert 'stdin:1: expected "a", found the fields' in done.stderr
    assert done.stderr.endswith("none of the 2 lines in stdin is a sentence pair.\n")


def test_links_of_raw_words_are_moved_to_words_at_blanks(weft):
    aligned = weft("align", "--raw", "--output-format", "jsonl", stdin="Ja, gut. ||| Yes, fine.\n\n").stdout
    assert weft("convert", "-", "--remap", "spaces", stdin=aligned).stdout == "0-0 1-1\n\n"
    done = weft("convert", "-", "--remap", "spaces", "--to", "tsv", stdin=aligned)
    assert done.stdout == "Ja, gut.\tYes, fine.\t0-0 1-1\n\t\t\n"


def test_whoever_splits_a_table_finds_the_words_that_its_links_count(weft):
    """OpusTrainer splits at no-break spaces too, as `str.split()` does, Marian only at plain ones."""
    text = "Tom\u00a0schloss leise \u3000 die\u202fTür. ||| Tom quietly  closed the\u2009door.\n"
    aligned = weft("align", "--raw", "--output-format", "jsonl", stdin=text).stdout
    source, target, links = weft("convert", "-", "--remap", "spaces", "--to", "tsv", stdin=aligned).stdout.split("\t")
    assert (source, target) == ("Tom schloss leise die Tür.", "Tom quietly closed the door.")
    assert {"0-0", "1-2", "2-1", "4-4"} <= set(links.split())
    plain = weft("convert", "-", "--remap", "spaces", stdin=aligned).stdout.split()
    assert max(int(link.split("-")[0]) for link in plain) == 3  # Tom\u00a0schloss, leise, \u3000, die\u202fTür.


def test_moved_links_in_a_file_named_csv(weft, tmp_path):
    aligned = weft("align", "--raw", "--output-format", "jsonl", stdin="Ja, gut. ||| Yes, fine.\n").stdout
    weft("convert", "-", "moved.csv", "--remap", "spaces", "--to", "tsv", stdin=aligned, cwd=tmp_path)
    assert (tmp_path / "moved.csv").read_text() == '"Ja, gut.","Yes, fine.",0-0 1-1\n'


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--remap", "pieces"], "needs --source-spm and --target-spm"),
        (["--source-spm", "m"], "only work with --remap pieces"),
        (["--remap", "spaces", "--to", "naacl"], "--remap needs --to pharaoh or --to tsv"),
    ],
)
def test_bad_usage_of_remap(weft, options, message):
    done = weft("convert", "-", *options, stdin="")
    assert done.returncode == 2
    assert message in done.stderr


XLIFF = (
    '<?xml version="1.0"?>\n<xliff version="1.2"><file source-language="de" target-language="fr"><body>\n'
    '<trans-unit id="a"><source>Es gilt Recht.</source><target>Le droit vaut.</target></trans-unit>\n'
    "</body></file></xliff>\n"
)
TMX = (
    '<tmx version="1.4"><header srclang="de"/><body>\n<tu><tuv xml:lang="de"><seg>Es gilt Recht.</seg></tuv>'
    '<tuv xml:lang="fr"><seg>Le droit vaut.</seg></tuv></tu>\n</body></tmx>\n'
)
UNIT = {"source": ["Es", "gilt", "Recht."], "target": ["Le", "droit", "vaut."]}


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("web.sdlxliff", XLIFF, []),
        ("web.XLF", XLIFF, []),
        ("memory.tmx", TMX, []),
        ("table.csv", "Es gilt Recht.,Le droit vaut.\n", []),
        ("table.csv", "Nr;A;B\n1;Es gilt Recht.;Le droit vaut.\n", ["--source-field", "A", "--target-field", "B"]),
        ("table.csv", "1;Es gilt Recht.;Le droit vaut.\n", ["--columns", "nr,source,target"]),
        ("table.txt", "A\tB\nEs gilt Recht.\tLe droit vaut.\n", ["--source-field", "A", "--target-field", "B"]),
        ("x.jsonl", '{"de": "Es gilt Recht.", "fr": "Le droit vaut."}\n', ["--source-field=de", "--target-field=fr"]),
        ("table", "Es gilt Recht.,Le droit vaut.\n", ["--from", "csv"]),
        ("memory", TMX, ["--from", "tmx"]),
        ("units", XLIFF, ["--from", "xliff"]),
    ],
)
def test_tables_memories_and_xliff_are_sentence_pairs_also_for_jsonl(weft, tmp_path, name, content, options):
    (tmp_path / name).write_text(content)
    done = weft("convert", name, "--to", "jsonl", *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    *headings, pair = map(json.loads, done.stdout.splitlines())
    assert {side: pair[side] for side in UNIT} == UNIT
    # A line of column names keeps its place, so that line n belongs to line n of links made from the table.
    assert headings == [{"source": [], "target": []}] * ("\n" in content[:-1] and name.startswith("table"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "table.csv: sentence pairs cannot be written as pharaoh; choose --to bars, tsv, jsonl or tmx. If the file "
         "contains links, name their format, as in --from talp."),
        (["--to", "naacl", "--from", "csv"], "table.csv: sentence pairs cannot be written as naacl; choose --to bars, "
         "tsv, jsonl or tmx."),
        (["--to", "talp", "--from", "pharaoh", "--columns", "source,target"], "--columns and the options for "
         "fields and languages only work with sentence pairs, not with links."),
    ],
)  # fmt: skip
def test_pairs_do_not_become_links(weft, tmp_path, options, message):
    (tmp_path / "table.csv").write_text("ja,yes\n")
    done = weft("convert", "table.csv", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"weft: {message}\n")


def test_links_in_a_file_named_csv_are_read_by_their_format(weft, tmp_path):
    (tmp_path / "links.csv").write_text("0-0 1-1\n")
    assert weft("convert", "links.csv", "--from", "talp", cwd=tmp_path).stdout == "0-0 1-1\n"


def test_messages_about_the_format_name_the_option_that_convert_has(weft):
    done = weft("convert", "-", "--to", "bars", stdin="Guten Tag\n")
    assert done.returncode == 1
    assert done.stderr.endswith("CSV needs --from csv.\n")


@pytest.mark.parametrize(
    ("options", "stand_in"), [(["--to", "bars"], ""), (["--to", "jsonl"], '{"id": "b", "source": [], "target": []}')]
)
def test_a_unit_without_a_translation_keeps_its_place(weft, tmp_path, options, stand_in):
    untranslated = '<trans-unit id="b"><source>Offen.</source></trans-unit>\n'
    content = XLIFF.replace('<trans-unit id="a">', f'{untranslated}<trans-unit id="a">')
    (tmp_path / "web.sdlxliff").write_text(content)
    done = weft("convert", "web.sdlxliff", *options, cwd=tmp_path)
    first, second = done.stdout.splitlines()
    assert (done.returncode, first) == (0, stand_in)
    assert "Recht." in second
    assert "web.sdlxliff:3: the target side is empty." in done.stderr
    piped = weft("convert", "-", "--from", "xliff", *options, stdin=content)
    assert piped.stdout == done.stdout


def test_a_row_without_a_translation_keeps_its_place(weft):
    done = weft("convert", "-", "--from", "csv", "--to", "tsv", stdin="ja,yes\nnein,\ngut,good\n")
    assert (done.returncode, done.stdout) == (0, "ja\tyes\n\ngut\tgood\n")
    assert done.stderr.splitlines() == [
        "weft: stdin:2: the target side is empty. A blank line takes its place.",
        "weft: lines without a sentence pair: 1.",
    ]


def test_blank_lines_go_to_jsonl_and_back(weft):
    pairs = "ja ||| yes\n\ngut ||| good\n"
    there = weft("convert", "-", "--from", "bars", "--to", "jsonl", stdin=pairs)
    assert json.loads(there.stdout.splitlines()[1]) == {"source": [], "target": []}
    assert weft("convert", "-", "--to", "bars", stdin=there.stdout).stdout == pairs


def test_a_line_in_no_format_stops_the_conversion(weft):
    done = weft("convert", "-", "--from", "bars", "--to", "jsonl", stdin="ja ||| yes\nrubbish\n")
    assert (done.returncode, done.stderr) == (1, "weft: stdin:2: expected one ' ||| ' separator, found 0.\n")


def test_a_line_break_in_json_becomes_a_space(weft):
    record = json.dumps({"source": "Ich habe\nZeit.", "target": "I have\r\ntime."})
    done = weft("convert", "-", "--to", "bars", stdin=record + "\n")
    assert (done.stdout, done.stderr) == ("Ich habe Zeit. ||| I have time.\n", "")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("o.jsonl", '{"links": [[0, 0]], "possible": [[1, 1]]}\n'),
        ("o.json", '{"links": [[0, 0]], "possible": [[1, 1]]}\n'),
        ("o.TALP", "0-0 1p1\n"),
        ("o.naacl.gz", "1 1 1 S\n1 2 2 P\n"),
        ("o.links", "0-0 1-1\n"),
        ("o", "0-0 1-1\n"),
    ],
)
def test_the_name_of_the_output_says_its_format(weft, tmp_path, name, written):
    done = weft("convert", "-", name, "--from", "talp", stdin="0-0 1p1\n", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data).decode() == written
    weft("convert", "-", name, "--from", "talp", "--to", "pharaoh", stdin="0-0 1p1\n", cwd=tmp_path)
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == b"0-0 1-1\n"


def test_a_table_becomes_records_by_the_name_of_the_output(weft, tmp_path):
    (tmp_path / "table.csv").write_text("id,de,en\n1,das Haus,the house\n")
    done = weft("convert", "table.csv", "k.jsonl", "--source-field", "de", "--target-field", "en", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = '{"id": "1", "source": ["das", "Haus"], "target": ["the", "house"]}\n'
    assert (tmp_path / "k.jsonl").read_text().endswith(record)


ROWS = [{"id": "1", "note": "x", "de": "das Haus", "en": "the house"}, {"id": "2", "note": "y", "de": "ja", "en": ""}]
BY_NAME = ["--source-field", "de", "--target-field", "en"]


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("t.csv", "id,note,de,en\n1,x,das Haus,the house\n2,y,ja,\n", BY_NAME),
        ("t.tsv", "1\tx\tdas Haus\tthe house\n2\ty\tja\t\n", ["--columns", "id,note,source,target"]),
        ("t.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS), BY_NAME),
    ],
)
@pytest.mark.parametrize("swap", [[], ["--swap"]])
def test_records_keep_what_else_their_lines_say(weft, tmp_path, name, content, options, swap):
    (tmp_path / name).write_text(content)
    done = weft("convert", name, "--to", "jsonl", *options, *swap, cwd=tmp_path)
    first, second = [json.loads(line) for line in done.stdout.splitlines()][-2:]
    sides = [["das", "Haus"], ["the", "house"]]
    source, target = reversed(sides) if swap else sides
    assert first == {"id": "1", "note": "x", "source": source, "target": target}
    assert second == {"id": "2", "note": "y", "source": [], "target": []}


def test_links_are_kept_with_the_words_that_they_count(weft):
    record = {"id": 1, "links": [[0, 1]], "score": 0.5, "source": ["a"], "target": ["b", "c"]}
    fields = ("--source-field", "source", "--target-field", "target")
    whole = weft("convert", "-", "--to", "jsonl", *fields, stdin=json.dumps(record))
    assert (json.loads(whole.stdout), whole.stderr) == (record, "")
    swapped = weft("convert", "-", "--to", "jsonl", *fields, "--swap", stdin=json.dumps(record))
    assert (json.loads(swapped.stdout), swapped.stderr) == ({"id": 1, "source": ["b", "c"], "target": ["a"]}, "")


def test_a_field_that_the_sentences_replace_is_named(weft):
    record = {"source": "corpus", "score": 7, "de": "ja", "en": "yes"}
    done = weft("convert", "-", "--to", "jsonl", *BY_NAME, stdin=json.dumps(record))
    assert json.loads(done.stdout) == {"score": 7, "source": ["ja"], "target": ["yes"]}
    assert "so yours are lost: source. To keep them, rename them first." in done.stderr


@pytest.mark.parametrize(
    ("options", "stand_in"),
    [
        (["tsv"], "A blank line"),
        (["bars"], "A blank line"),
        (["jsonl", "--source-field", "source", "--target-field", "target"], "A record without words"),
    ],
)
def test_sentences_without_a_counterpart_are_counted(weft, options, stand_in):
    pair = {"source": ["ja"], "source_span": [0, 2], "target": ["yes"], "target_span": [0, 3]}
    alone = {"source": ["nein"], "source_span": [3, 7], "target": [], "target_span": None}
    lines = "".join(json.dumps(record) + "\n" for record in (pair, alone, alone, {"source": "gut", "target": ""}))
    done = weft("convert", "-", "--to", *options, stdin=lines)
    assert (done.returncode, done.stdout.count("\n")) == (0, 4)
    assert done.stderr.splitlines() == [
        f"weft: stdin:4: the target side is empty. {stand_in} takes its place.",
        "weft: lines without a sentence pair: 1.",
        f"weft: sentences without a counterpart: 2. {stand_in} takes the place of each.",
    ]


def test_sentence_pairs_become_a_translation_memory(weft, tmp_path):
    (tmp_path / "pairs.tsv").write_text("id\tsource\ttarget\na1\tdas Haus\tthe house & <b>\na2\tja\t\na3\tA\x01\tB\n")
    options = ("--columns", "id,source,target", "--source-language", "de")
    done = weft("convert", "pairs.tsv", "pairs.tmx", *options, cwd=tmp_path)
    assert (done.returncode, "give --source-language and --target-language" in done.stderr) == (2, True)
    assert not (tmp_path / "pairs.tmx").exists()
    done = weft("convert", "pairs.tsv", "pairs.tmx", *options, "--target-language", "en", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "weft: pairs.tsv:3: the target side is empty. It is left out.\n" in done.stderr
    assert "weft: left out 1 line without a sentence pair.\n" in done.stderr
    assert "weft: control characters that XML forbids were left out of 1 unit.\n" in done.stderr
    assert '<tu tuid="a1"><tuv xml:lang="de"><seg>das Haus</seg>' in (tmp_path / "pairs.tmx").read_text()
    back = weft("convert", "pairs.tmx", "--to", "tsv", cwd=tmp_path)
    assert back.stdout == "das Haus\tthe house & <b>\nA\tB\n"
    swapped = weft("convert", "pairs.tsv", "--to", "tmx", *options, "--target-language", "en", "--swap", cwd=tmp_path)
    assert '<tu tuid="a3"><tuv xml:lang="en"><seg>B</seg></tuv><tuv xml:lang="de"><seg>A</seg>' in swapped.stdout


def test_documents_that_were_aligned_become_a_translation_memory(weft, tmp_path):
    (tmp_path / "de.txt").write_text("Der Hund bellt laut. Das ist ein Satz ohne Gegenstück, ganz und gar fremd.\n")
    (tmp_path / "en.txt").write_text("The dog barks loudly.\n")
    paired = weft("align", "--documents", "de.txt", "en.txt", "-o", "both.jsonl", cwd=tmp_path)
    assert "1 sentence has no counterpart" in paired.stderr
    languages = ("--source-language", "de", "--target-language", "en")
    done = weft("convert", "both.jsonl", "--to", "tmx", *languages, cwd=tmp_path)
    assert done.stderr == "weft: left out 1 line without a sentence pair.\n"
    assert done.stdout.count("<tu>") == 1
    assert "<seg>Der Hund bellt laut.</seg>" in done.stdout


def test_links_do_not_become_a_translation_memory(weft, tmp_path):
    (tmp_path / "mine.talp").write_text("0-0 1p1\n")
    languages = ("--source-language", "de", "--target-language", "en")
    done = weft("convert", "mine.talp", "mine.tmx", *languages, cwd=tmp_path)
    assert (done.returncode, "expected 'source ||| target'" in done.stderr) == (1, True)
    done = weft("convert", "mine.talp", "--from", "talp", "--to", "naacl", *languages, cwd=tmp_path)
    assert (done.returncode, "only work with sentence pairs, not with links" in done.stderr) == (2, True)
