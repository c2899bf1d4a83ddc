from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FormatError, SettingError
from weft.text.fields import PairFields, TextPair
from weft.text.pairs import PairReader, read_pairs, read_text_pairs, read_texts
from weft.text.tables import HEADING
from weft.types import SentencePair

GOOD = SentencePair(("das", "ist", "gut"), ("that", "is", "good"))


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes, name: str = "pairs"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        ({"de": "das ist gut", "en": "that is good"}, ("de", "en")),
        ({"en": "that is good", "de": ["das", "ist", "gut"]}, ("de", "en")),
        ({"translation": {"de": "das ist gut", "en": "that is good"}}, (None, None)),
        ({"translation": {"en": "that is good", "fr": "c'est bon", "de": "das ist gut"}}, ("de", "en")),
        ({"source": "das ist gut", "target": "that is good", "translation": "no"}, (None, None)),
        ({"text": {"de-DE": "das ist gut", "more": {"en": "that is good"}}}, ("text.de-DE", "text.more.en")),
        ({"text.de": "das ist gut", "text": {"de": "no", "en": "that is good"}}, ("text.de", "text.en")),
    ],
)
def test_sentences_are_found_under_any_name(write, record, fields):
    path = write(json.dumps(record) + "\n")
    assert list(read_pairs(path, fields=PairFields.of(*fields))) == [GOOD]


def test_semicolons_within_quotes_do_not_separate_cells(write):
    path = write('"ja; ja; ja",yes\n', "pairs.csv")
    assert list(read_pairs(path)) == [SentencePair(("ja;", "ja;", "ja"), ("yes",))]


@pytest.mark.parametrize(
    ("record", "fields", "message"),
    [
        (
            {"de": "a", "en": "b"},
            (),
            r'expected "source", found the fields \'de, en\'\. Choose two with `source_field`',
        ),
        ({"de": "a", "en": "b"}, ("de", "fr"), 'expected "fr", found'),
        ({"source": "a"}, (), 'expected "target"'),
        (
            {"text": {"de": "a"}},
            ("text.de", "text.en"),
            'expected "text.en".*outer.inner',
        ),
        ({"text": "a"}, ("text.de", "text.en"), 'expected "text.de"'),
        ({"source": None, "target": "b"}, (), 'expected "source" to be a sentence or a list of words, found'),
        ({"translation": "a"}, (), 'expected "source"'),
    ],
)
def test_what_is_missing_is_named(write, record, fields, message):
    with pytest.raises(FormatError, match=message):
        list(read_pairs(write(json.dumps(record) + "\n"), format="jsonl", fields=PairFields.of(*fields)))


@given(
    extra=st.dictionaries(
        st.text(min_size=1).filter(lambda name: name not in ("source", "target", "translation")),
        st.none() | st.integers() | st.text() | st.lists(st.integers()),
    )
)
def test_other_fields_are_kept_as_they_are(tmp_path_factory, extra):
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    path.write_text(json.dumps({"id": 3, **extra, "source": "a", "target": "b"}) + "\n")
    [found] = read_text_pairs(path)
    assert found.sides == ("a", "b")
    assert found.extra == {"id": 3, **extra}


def test_columns_of_tsv_are_named(write):
    path = write("7\tthat is good\tx\tdas ist gut\trest\n\n8\tonly\n")
    fields = PairFields.of(columns="id,target,-,source")
    problems: list[FormatError] = []
    first, *bad = read_text_pairs(path, fields=fields, on_error=problems.append)
    assert first is not None
    assert (first.sides, first.extra) == (("das ist gut", "that is good"), {"id": "7"})
    assert bad == [TextPair(None), TextPair(None)]
    assert "blank" in str(problems[0])
    assert "expected 4 columns separated by tabs, found 2" in str(problems[1])


@pytest.mark.parametrize("columns", ["id,source", "source,source,target", "a,b", ["x"]])
def test_columns_must_hold_both_sides(columns):
    with pytest.raises(SettingError, match="`columns` must name source and target once each"):
        PairFields.of(columns=columns)


def test_a_number_chooses_an_item_of_a_list(write):
    record = '{"texts": [{"text": "ja gut"}, ["yes", "fine"]], "a.0": "b", "0": {"1": "c"}}\n'

    def read(source, target):
        [pair] = read_pairs(write(record), fields=PairFields.of(source, target))
        return pair

    assert read("texts.0.text", "texts.1") == SentencePair(("ja", "gut"), ("yes", "fine"))
    assert read("texts.1.1", "a.0") == SentencePair(("fine",), ("b",))
    assert read("0.1", "texts.1.0") == SentencePair(("c",), ("yes",))
    for name in (
        "texts.2",
        "texts.-1",
        "texts.x",
        "texts",
        "texts.0",
        "texts.0.text.0",
        "texts.1.0.0",
        "texts.00000000000",
    ):
        with pytest.raises(FormatError, match="expected"):
            read(name, "a.0")
    with pytest.raises(FormatError, match=r"the first item of a list outer\.0"):
        read("texts.2", "a.0")


def test_names_that_do_not_fit_together_are_refused(write):
    with pytest.raises(SettingError, match="or neither"):
        PairFields.of("de", None)
    with pytest.raises(SettingError, match="`columns` are for TSV and CSV; the format is jsonl"):
        read_pairs(write(""), format="jsonl", fields=PairFields.of(columns="source,target"))


def ids(lines: int) -> str:
    return "".join(f"doc1.s{number}\tdas ist gut\tthat is good\n" for number in range(lines))


@pytest.mark.parametrize("lines", [2, 3, 30])
def test_a_first_column_of_ids_is_noticed_once(write, caplog, lines):
    caplog.set_level(logging.WARNING, "weft")
    list(read_pairs(write(ids(lines))))
    [record] = caplog.records
    assert "the first column looks like ids (doc1.s0, doc1.s1" in record.getMessage()
    assert "`columns`" in record.getMessage()


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (ids(1), {}),
        ("1990\tin 1990\n1991\tin 1991\n", {}),
        ("nr\twhat\nnr\twhat\n" + ids(5), {}),
        (ids(5) + "das ist gut\tthat is good\n", {}),
        ("1\tone\n1\tone\n2\ttwo\n", {}),
        (ids(5), {"fields": PairFields.of(columns="id,source,target")}),
        ("a1 ||| b\na2 ||| b\na3 ||| b\n", {}),
    ],
)
def test_other_files_are_not_suspected(write, caplog, content, options):
    caplog.set_level(logging.WARNING, "weft")
    list(read_pairs(write(content), **options))
    assert caplog.records == []


CSV = '7,"Das Haus, das wir kauften","The house we bought"\n8,"Sie sagte ""nein"".",She said no.\n'


@pytest.mark.parametrize(("name", "options"), [("table.csv", {}), ("table", {"format": "csv"})])
def test_csv_is_known_by_name_or_option(write, name, options):
    fields = PairFields.of(columns="id,source,target")
    records = list(read_text_pairs(write(CSV, name), fields=fields, **options))
    assert [record.sides for record in records if record] == [
        ("Das Haus, das wir kauften", "The house we bought"),
        ('Sie sagte "nein".', "She said no."),
    ]
    assert [record.extra for record in records if record] == [{"id": "7"}, {"id": "8"}]


def test_csv_may_have_semicolons_and_files_with_its_name_tabs(write):
    for text in ("das ist;that, is;it\n", "das ist\tthat, is\n", "das ist ||| that, is\n"):
        assert list(read_texts(write(text, "table.csv"))) == [("das ist", "that, is")]


def test_a_quoted_cell_of_csv_may_hold_line_ends(write):
    problems: list[FormatError] = []
    found = list(read_texts(write('a,"b\nc"\nx,y\nz\n"u,v\n', "t.csv"), on_error=problems.append))
    assert found == [("a", "b c"), ("x", "y"), None, None]
    assert "expected 2 columns separated by commas, found 1" in str(problems[0])
    assert "A quoted cell never ends." in str(problems[1])


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ";"), ("t.csv", ","), ("t.tsv", "\t")])
def test_columns_are_chosen_by_the_names_in_the_first_line(write, name, separator):
    rows = [
        ["\ufeffNr", "English", "source", "Deutsch"],
        ["7", "that is good", "s", "das ist gut"],
        ["8", "", "s", "ja"],
    ]
    path = write("".join(separator.join(row) + "\r\n" for row in rows), name)
    problems: list[FormatError] = []
    fields = PairFields.of("Deutsch", "English")
    heading, first, bad = read_text_pairs(path, fields=fields, on_error=problems.append)
    assert heading == TextPair(None)
    assert first == TextPair(("das ist gut", "that is good"), {"Nr": "7", "source_column": "s"})
    assert bad == TextPair(None, {"Nr": "8", "source_column": "s"})
    assert [problem.line for problem in problems] == [3]


def test_a_column_that_is_not_there_is_an_error_at_once(write):
    path = write("Deutsch,English\nja,yes\n", "t.csv")
    with pytest.raises(SettingError, match=r"no column of the table is called Englisch; .* has Deutsch, English"):
        list(read_pairs(path, fields=PairFields.of("Deutsch", "Englisch"), on_error=print))


def test_a_title_above_the_names_is_not_taken_for_them(write):
    path = write("Produktkatalog 2024,,,\nNr,Deutsch,English,Stand\n1,ja,yes,ok\n", "t.csv")
    with pytest.raises(SettingError) as raised:
        list(read_pairs(path, fields=PairFields.of("Deutsch", "English")))
    assert str(raised.value) == (
        "no column of the table is called Deutsch; its first line has only Produktkatalog 2024. Delete the lines above "
        "the one with the names of the columns. Or delete that one too, and name all columns in their order with "
        "`columns`."
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.csv", "Nr;Français;English\n1;été;summer\n2;chat;cat\n"), ("t.txt", "Français\tEnglish\nchat\tcat\n")],
)
def test_names_in_another_encoding_are_an_error_at_once(write, name, text):
    path = write(text.encode("cp1252"), name)
    problems: list[FormatError] = []
    with pytest.raises(FormatError, match="expected UTF-8, found the byte e7"):
        list(read_pairs(path, fields=PairFields.of("Français", "English"), on_error=problems.append))
    assert problems == []


def test_a_record_in_another_encoding_is_one_bad_line(write):
    path = write('{"fr": "été", "en": "summer"}\n'.encode("cp1252") + b'{"fr": "chat", "en": "cat"}\n')
    problems: list[FormatError] = []
    found = list(read_pairs(path, fields=PairFields.of("fr", "en"), on_error=problems.append))
    assert found[1] == (("chat",), ("cat",))
    assert [problem.line for problem in problems] == [1]


def test_a_row_without_both_sentences_is_not_called_blank(write):
    path = write("id;de;en\nProduktkatalog 2024;;;;;\n\n1;ja;yes\n", "t.csv")
    problems: list[FormatError] = []
    list(read_pairs(path, fields=PairFields.of("de", "en"), on_error=problems.append))
    said = [str(problem).split(": ")[1] for problem in problems]
    assert said == [
        f"{found}; expected a sentence and its translation." for found in ("both sides are empty", "the line is blank")
    ]


@pytest.mark.parametrize(
    ("names", "fields", "message"),
    [
        ("ID,Text,Text,Status", ("Text", "Text"), "2 columns of the table are called Text; its first line has ID, "
         "Text, Text, Status. Name all columns in their order with `columns` instead, as in ID,source,target,Status; "
         "weft then skips that line."),
        ("Text,Text,", ("Text", "Text"), "2 columns of the table are called Text; its first line has Text, Text, . "
         "Name all columns in their order with `columns` instead, as in source,target,-."),
        ("a,b,a", ("a", "b"), "2 columns of the table are called a; its first line has a, b, a. Name all columns in "
         "their order with `columns` instead, as in id,source,target."),
        ("a,b", ("a", "a"), "`source_field` and `target_field` are both a; choose two columns of the table: a, b."),
    ],
)  # fmt: skip
def test_names_that_several_columns_have_are_answered_with_advice_that_works(write, names, fields, message):
    path = write(f"{names}\n1,ja,yes,ok\n", "t.csv")
    with pytest.raises(SettingError) as raised:
        list(read_pairs(path, fields=PairFields.of(*fields)))
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("ID,Text,Text,Status\n1,ja,yes,ok\n", "ID,source,target,Status"),
        ("Nr ;Original;Übersetzung;Prüfer\n1;ja;yes;KH\n", "nr,source,target,-"),
        ("source,target\nja,yes\n", "source,target"),
    ],
)
def test_a_first_line_with_the_names_that_were_given_is_no_pair(write, caplog, text, columns):
    caplog.set_level(logging.WARNING, "weft")
    path, fields = write(text, "t.csv"), PairFields.of(columns=columns)
    heading, pair = read_text_pairs(path, fields=fields)
    assert heading is HEADING
    assert pair.sides == ("ja", "yes")
    assert PairReader(fields=fields).headings(path) == {1}
    assert caplog.records == []


@pytest.mark.parametrize(
    ("text", "columns"), [("1,nr,nr\nnr,ja,yes\n", "nr,source,target"), ("ja,yes\nsource,target\n", "source,target")]
)
def test_other_lines_with_such_words_are_pairs(write, text, columns):
    path, fields = write(text, "t.csv"), PairFields.of(columns=columns)
    assert len([pair for pair in read_text_pairs(path, fields=fields) if pair.sides]) == 2
    assert PairReader(fields=fields).headings(path) == set()


def test_a_first_line_with_other_names_is_doubted_with_advice_that_works(write, caplog):
    caplog.set_level(logging.WARNING, "weft")
    list(read_pairs(write("ID,Text,Text\n1,ja,yes\n", "t.csv"), fields=PairFields.of(columns="-,source,target")))
    [record] = caplog.records
    assert record.getMessage().endswith(
        "If it is one, remove it (tail -n +2 skips the first line), or call another column in `columns` what that line "
        "calls it; weft then skips the line."
    )


def test_a_record_without_a_pair_keeps_its_other_fields(write):
    lines = [
        '{"id": 1, "source": "ja", "target": null}',
        '{"id": 2, "source": "ja"}',
        '{"id": 3, "source": "", "target": ""}',
    ]
    found = list(read_text_pairs(write("\n".join(lines)), on_error=lambda error: None))
    assert found == [TextPair(None, {"id": number}) for number in (1, 2, 3)]


def test_a_sentence_without_a_counterpart_is_no_pair_and_yet_not_bad(write):
    alone = {"source": [], "source_span": None, "target": ["yes"], "target_span": [0, 3]}
    empty = {"source": [], "target": ["yes"], "target_span": [0, 3]}
    problems: list[FormatError] = []
    path = write(f"{json.dumps(alone)}\n{json.dumps(empty)}\n")
    first, second = read_text_pairs(path, on_error=problems.append)
    assert first == TextPair(None, {"source_span": None, "target_span": [0, 3]})
    assert second.sides is None
    assert [problem.line for problem in problems] == [2]
    assert PairReader(fields=PairFields.of("source", "target")).headings(path) == set()


def test_keys_of_programs_are_ids_too(write, caplog):
    caplog.set_level(logging.WARNING, "weft")
    list(read_texts(write("home.title\tdas\tthe\nmenu/file\tHaus\thouse\nsave_all\tist\tis\n")))
    [record] = caplog.records
    assert "looks like ids (home.title, menu/file, save_all, ...)" in record.getMessage()


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("a ||| b\nc ||| d\ne\n", "' ||| '"),
        ("a\tb\nc\td\ne\n", "tabs"),
        ('{"source": "a"}\n{"source": "b"}\nc\n', "JSON"),
        ("a ||| b\nc\nd\n", None),
        ("a\tb\nc ||| d\ne\n", None),
        ("a\t\nc\t\nd\n", None),
    ],
)
def test_pairs_named_as_one_side_of_two_files_are_noticed_once(write, caplog, text, sign):
    caplog.set_level(logging.WARNING, "weft")
    list(read_pairs(write(text, "source"), write("x\ny\nz\n", "target")))
    assert [f"contain {sign}, but" in record.getMessage() for record in caplog.records] == [True] * bool(sign)


@pytest.mark.parametrize(
    ("text", "name", "heading"),
    [
        ("de,en\nja,yes\n", "t.csv", 1),
        ("\n\nde\ten\nja\tyes\n", "t.tsv", 3),
        ('{"de": "ja", "en": "yes"}\n', "t.jsonl", None),
        ('{"de": "", "en": "yes"}\n', "t.jsonl", None),
        ("", "t.csv", None),
    ],
)
def test_the_row_that_names_columns_is_found(write, text, name, heading):
    assert PairReader(fields=PairFields.of("de", "en")).headings(write(text, name)) == ({heading} - {None})
    assert PairReader().headings(write(text, name)) == set()


def test_what_is_read_again_is_not_doubted_again(write, caplog):
    caplog.set_level(logging.WARNING, "weft")
    bars, table = write("a ||| b\n" * 3, "bars"), write("id,source\n1,ja.\n2,so.\n3,na.\n", "t.csv")
    for paths in ((bars, bars), (table,)):
        assert len(list(PairReader(watch=True, again=True).pairs(*paths))) > 2
    assert not caplog.records


def test_ids_below_a_line_of_headings_are_noticed_in_csv(write, caplog):
    caplog.set_level(logging.WARNING, "weft")
    list(read_texts(write("id,source,target\n1,a,b\n2,c,d\n3,e,f\n", "t.csv")))
    list(read_texts(write("number,one,two\n1,a,b\n2,c,d\n3,e,f\n", "t.csv")))
    headings, numbers = (record.getMessage() for record in caplog.records)
    assert "t.csv:1: this looks like a line of column names (id, source, target)" in headings
    assert "as in `source_field` source `target_field` target; weft then skips the line." in headings
    assert "looks like ids (1, 2, 3, ...)" in numbers
    advice = "choose two columns by their names in the first line (number, one, two), with `source_field` and"
    assert advice in numbers
    assert "`columns`" not in numbers


def test_a_json_array_is_answered_with_how_to_cut_it(write):
    with pytest.raises(FormatError, match=r"found an array. For one object per line: jq -c '\.\[\]'"):
        list(read_texts(write('[\n{"source": "a", "target": "b"}\n]\n')))


def test_the_first_line_may_tell_excel_what_separates_the_cells(tmp_path, caplog):
    path = tmp_path / "table.csv"
    path.write_text('sep=;\r\nDeutsch;English\r\n"Ja, gern, ja";Yes\r\n', newline="")
    fields = PairFields.of("Deutsch", "English")
    assert [pair.sides for pair in read_text_pairs(path, fields=fields)] == [None, None, ("Ja, gern, ja", "Yes")]
    assert PairReader(fields=fields).headings(path) == {1, 2}
    assert not caplog.text
    assert len(list(read_text_pairs(path))) == 3
    assert "table.csv:2: this looks like a line of column names (Deutsch, English)" in caplog.text
    path.write_text("sep=|\nJa, gern, ja|Yes, so; so\n")
    assert [pair.sides for pair in read_text_pairs(path)] == [None, ("Ja, gern, ja", "Yes, so; so")]


@pytest.mark.parametrize(("name", "meant"), [("deutsch", "Deutsch"), ("ENGLISH", "English"), ("Deutch", "Deutsch")])
def test_a_column_that_is_spelt_alike_is_suggested(tmp_path, name, meant):
    path = tmp_path / "table.csv"
    path.write_text("Deutsch,English\nja,yes\n")
    with pytest.raises(SettingError, match=rf"is called {name}; .* Did you mean {meant}\?"):
        list(read_text_pairs(path, fields=PairFields.of(name, "English" if meant == "Deutsch" else "Deutsch")))


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("t.tsv", "source\ttarget\nja\tyes\n", [None, ("ja", "yes")]),
        ("t.csv", "sep=;\nsource;target\nja;yes\n", [None, None, ("ja", "yes")]),
        ("t.csv", "source,target,count,line\nja,yes,2,1\n", [None, ("ja", "yes")]),
        ("t.tsv", "source\ttarget\nsource\ttarget\n", [None, ("source", "target")]),
        ("t.tsv", "source\ttarget\tnoun\nSource\ttarget\n", [("source", "target"), ("Source", "target")]),
        ("t.txt", "source ||| target\n", [("source", "target")]),
    ],
)
def test_names_of_columns_that_weft_writes_are_no_pair(write, caplog, name, text, rows):
    path = write(text, name)
    assert list(read_texts(path)) == rows
    headings = 0 if rows[0] else len([row for row in rows if row is None])
    assert PairReader().headings(path) == frozenset(range(1, headings + 1))
