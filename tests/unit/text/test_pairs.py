from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FormatError, LineCountError, SettingError
from weft.text.pair_formats import PairFormat
from weft.text.pairs import NOTHING, read_pairs, read_texts, split_words
from weft.types import SentencePair

GOOD = SentencePair(("das", "ist", "gut"), ("that", "is", "good"))


@pytest.fixture
def write(tmp_path):
    def write(content: str | bytes, name: str = "pairs.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "line",
    [
        "das ist gut ||| that is good",
        "  das  ist\tgut |||  that is good \t",
        "das ist gut\tthat is good",
        "das ist gut\tthat is good\teuroparl\t17",
        '{"source": "das ist gut", "target": "that is good"}',
        '{"id": 3, "source": ["das", "ist", "gut"], "target": ["that", "is", "good"]}',
    ],
)
def test_every_format_is_recognised(write, line):
    assert list(read_pairs(write(line + "\n"))) == [GOOD]


def test_a_line_of_braces_is_not_json(write):
    assert list(read_pairs(write("{ a } ||| { b }\n"))) == [SentencePair(("{", "a", "}"), ("{", "b", "}"))]


def test_the_format_is_found_behind_bad_lines(write):
    problems = []
    pairs = list(read_pairs(write("\nno separator\na b\tc\nd\n"), on_error=problems.append))
    assert pairs == [NOTHING, NOTHING, SentencePair(("a", "b"), ("c",)), NOTHING]
    assert [error.line for error in problems] == [1, 2, 4]


def test_an_odd_first_line_with_a_tab_does_not_spoil_a_file_of_bars(write):
    pairs = list(read_pairs(write("oops\tno bars\na ||| b\nc\td ||| e\n")))
    assert pairs[1:] == [SentencePair(("a",), ("b",)), SentencePair(("c", "d"), ("e",))]


def test_words_are_split_at_ascii_blanks_only():
    assert split_words(" 10\u00a0000\u3000円 \t a\x0bb\u2028c ") == ("10\u00a0000\u3000円", "a\x0bb\u2028c")


def test_two_parallel_files(write):
    source, target = write("das ist gut\nja\n", "a.de"), write("that is good\r\nyes", "a.en")
    assert list(read_pairs(source, target)) == [GOOD, SentencePair(("ja",), ("yes",))]


def test_two_files_of_different_length(write):
    source, target = write("a\nb\nc\n", "a.de"), write("a\n", "a.en")
    with pytest.raises(LineCountError, match=r"a\.de has 3 lines but .*a\.en has 1 line"):
        list(read_pairs(source, target))


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.TSV.gz"])
def test_in_a_file_named_for_tabs_bars_may_be_text(write, name):
    text = "\nMein Haus\tMy house ||| My home\nja\tyes\n"
    pairs = list(read_pairs(write(text, name), on_error=lambda error: None))
    assert pairs == [NOTHING, (("Mein", "Haus"), ("My", "house", "|||", "My", "home")), (("ja",), ("yes",))]
    assert list(read_pairs(write("das ist gut ||| that is good\n", name))) == [GOOD]


def test_lines_of_another_format_below_bars_are_told_how_to_be_read(write):
    problems = []
    lines = "Mein Haus\tMy house ||| My home\nja\tyes\nnein\n"
    assert len(list(read_pairs(write(lines), on_error=problems.append))) == 3
    tabs, plain = map(str, problems)
    assert "A line above has ' ||| ', so the file is read as bars; if tabs separate its columns, add" in tabs
    assert tabs.endswith("`input_format` tsv.")
    assert plain.endswith("found 0.")
    list(read_pairs(write("a ||| b,c\nja,yes\n", "pairs.csv"), on_error=problems.append))
    assert str(problems[-1]).endswith("if commas or semicolons separate its columns, add `input_format` csv.")


BAD_LINES = {
    "": "blank",
    "   \t": "blank",
    "no separator": "found 0",
    "a ||| b ||| c": "found 2",
    "a ||| b ||| c ||| d": "found 3",
    "a|||b": "found 0",
    "||| b": "source side is empty",
    "a |||": "target side is empty",
    "|||": "both sides are empty",
    b"a \xff ||| b": "expected UTF-8, found the byte ff",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_line_is_named(write, line):
    line = line if isinstance(line, bytes) else line.encode()
    path = write(b"a ||| b\n" + line + b"\nc ||| d\n")
    with pytest.raises(FormatError) as caught:
        list(read_pairs(path, format="bars"))
    assert caught.value.line == 2
    assert BAD_LINES.get(line, BAD_LINES.get(line.decode("utf-8", "ignore"), "")) in str(caught.value)


def test_no_line_is_lost_when_asked_to_keep_going(write):
    problems = []
    lines = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in BAD_LINES)
    pairs = list(read_pairs(write(b"a ||| b\n" + lines + b"\nc ||| d\n"), on_error=problems.append))
    assert pairs == [SentencePair(("a",), ("b",)), *[NOTHING] * len(BAD_LINES), SentencePair(("c",), ("d",))]
    assert [error.line for error in problems] == list(range(2, 2 + len(BAD_LINES)))


def test_keep_going_over_two_files_names_the_bad_one(write):
    problems = []
    source, target = write(b"a\n\nb\nc\n", "s"), write(b"a\nb\n\xff\n\n", "t")
    assert list(read_pairs(source, target, on_error=problems.append))[1:] == [NOTHING] * 3
    assert [(error.path[-1], error.line) for error in problems] == [("s", 2), ("t", 3), ("t", 4)]


@pytest.mark.parametrize(
    "record",
    [
        '{"source": "a"}',
        '{"source": 3, "target": "b"}',
        '{"source": ["a", 3], "target": "b"}',
        '["a", "b"]',
        '{"source": "a", "target": "b"',
        '{"source": "\\ud800", "target": "b"}',
        '{"source": ' + "[" * 100_000,
    ],
)
def test_bad_json_is_a_format_error(write, record):
    with pytest.raises(FormatError, match=r"pairs\.txt:1: "):
        list(read_pairs(write(record + "\n"), format="jsonl"))


def test_texts_stay_raw_until_somebody_splits_them(write):
    assert list(read_texts(write("Das ist, gut! ||| That's  good.\n"))) == [("Das ist, gut!", "That's  good.")]


@given(st.binary(max_size=300), st.sampled_from(list(PairFormat)))
def test_random_bytes_give_pairs_or_a_format_error(tmp_path_factory, content, format):
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_bytes(content)
    try:
        for pair in read_pairs(path, format=format):
            assert pair.source
            assert pair.target
    except FormatError as error:
        assert str(path) in str(error)


@given(st.text(st.sampled_from('{}[]"\\:,ud8|\t 0sourcetarget\n')), st.sampled_from(list(PairFormat)))
def test_nearly_valid_text_keeps_its_lines(tmp_path_factory, content, format):
    path = tmp_path_factory.mktemp("fuzz") / "file"
    path.write_text(content, newline="")
    problems = []
    pairs = list(read_pairs(path, format=format, on_error=problems.append))
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    assert len(pairs) == lines or (format == "csv" and len(pairs) < lines)  # cells may go on over several lines
    assert pairs.count(NOTHING) == len(problems)


def test_a_missing_file_fails_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_pairs(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        read_pairs(__file__, tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        read_pairs(tmp_path)


def test_cells_of_csv_may_hold_line_ends_whatever_the_name_of_the_file(write):
    path = write('ja,yes\n"das ist\r\ngut","that is\ngood"\n')
    assert list(read_texts(path, format="csv")) == [("ja", "yes"), ("das ist gut", "that is good")]


def test_messages_name_the_line_of_the_file_and_errors_number_the_rows(write):
    for name, content, shown in (
        ("t.csv", b'"a\nb",c\n\nd,\n"\xff",f\n', ["3", "4", "5:2"]),
        (
            "m.tmx",
            b'<tmx>\n<body>\n<tu><tuv lang="de"><seg>ja</seg></tuv>\n<tuv lang="en"><seg>yes</seg></tuv></tu>\n\n'
            b"<tu></tu>\n\n<tu></tu></body></tmx>\n",
            ["6", "8"],
        ),
    ):
        path = write(content, name)
        problems: list[FormatError] = []
        pairs = list(read_pairs(path, on_error=problems.append))
        assert [str(error).removeprefix(f"{path}:").split(": ")[0] for error in problems] == shown
        assert [error.line for error in problems] == [n for n, pair in enumerate(pairs, start=1) if pair == NOTHING]


PO = '# German.\nmsgid ""\nmsgstr ""\n\nmsgid "Yes"\nmsgstr "Ja"\n'


def test_gettext_files_are_named_in_one_sentence(tmp_path):
    path, unnamed = tmp_path / "de.po", tmp_path / "texts"
    for file in (path, unnamed):
        file.write_text(PO)
    bad: list[FormatError] = []
    with pytest.raises(FormatError, match=r"de\.po: this is a gettext PO file, .* po2tmx"):
        list(read_pairs(path, on_error=bad.append))
    for pair in ((path, unnamed), (unnamed, path)):
        with pytest.raises(FormatError, match=r"de\.po: this is a gettext PO file"):
            list(read_pairs(*pair, on_error=bad.append))
    assert bad == []
    with pytest.raises(SettingError, match="this is a gettext PO file"):
        list(read_pairs(unnamed, on_error=bad.append))
