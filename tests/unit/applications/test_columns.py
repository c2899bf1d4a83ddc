from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.applications.columns import Scheme, column_of, labels_of_words, read_columns, recognise_scheme, spans_of
from weft.applications.projection import Span
from weft.errors import FormatError
from weft.types import Alignment, Link


def read(tmp_path, text, **options):
    (tmp_path / "labels").write_text(text)
    return list(read_columns(tmp_path / "labels", **options))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("O B-A I-A O", [(1, 3, "A")]),
        ("I-A I-A B-A O", [(0, 2, "A"), (2, 3, "A")]),
        ("I-A I-B", [(0, 1, "A"), (1, 2, "B")]),
        ("B-A L-A U-B O", [(0, 2, "A"), (2, 3, "B")]),
        ("B-A I-A E-A S-A", [(0, 3, "A"), (3, 4, "A")]),
        ("B-A M-A E-A I-A", [(0, 3, "A"), (3, 4, "A")]),
        ("B I O B", [(0, 2, ""), (3, 4, "")]),
        ("B-geo-loc I-geo-loc", [(0, 2, "geo-loc")]),
        ("O", []),
        ("", []),
    ],
)
def test_schemes_are_understood(column, expected):
    assert list(spans_of(column.split())) == expected


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(["A", "B-x"])), max_size=6),
    st.sampled_from([Scheme.BIO, Scheme.IOB1, Scheme.BILOU, Scheme.BIOES]),
)
def test_what_is_written_is_read_back(rows, scheme):
    spans, position = [], 0
    for gap, length, label in rows:
        spans.append(Span(position + gap, position + gap + length, label))
        position += gap + length
    column = column_of(spans, position + 1, scheme)
    assert list(spans_of(column)) == spans
    assert column_of(spans_of(column), len(column), scheme) == column


@pytest.mark.parametrize(
    ("columns", "scheme"), [("B-A I-A", "bio"), ("U-A", "bilou"), ("B-A E-A", "bioes"), ("O", "bio")]
)
def test_the_scheme_is_recognised(columns, scheme):
    assert recognise_scheme([columns.split()]) == scheme


def test_files(tmp_path):
    text = "\n# id = 1\n# a comment\n# O\nBerlin\tB-LOC\n\n\n10\u00a0000 CD O\nEuro NN I-X"
    first, second = read(tmp_path, text)
    assert (first.words, first.spans, first.separator) == (("#", "Berlin"), (Span(1, 2, "LOC"),), "\t")
    assert (second.words, second.spans, second.separator) == (("10\u00a0000", "Euro"), (Span(1, 2, "X"),), " ")


def test_columns_are_chosen(tmp_path):
    assert read(tmp_path, "1 Rom B-A _\n", word_column=1, label_column=2)[0].words == ("Rom",)


def test_labels_of_words_may_be_anything(tmp_path):
    conllu = "# newdoc\n# id = 1\n1-2\tzum{0}\n1\tzu\tzu\tADP{1}\n2\tdem\tder\tDET{1}\n2.1\tx{0}\n3\tHaus\tHaus\t{1}\n"
    text = conllu.format("\t_" * 8, "\t_" * 6)
    (sentence,) = read(tmp_path, text, word_column=1, label_column=3, of_words=True)
    assert (sentence.words, sentence.labels) == (("zu", "dem", "Haus"), ("ADP", "DET", "_"))
    assert sentence.spans == ()


def test_numbers_are_words_where_words_stand_first(tmp_path):
    (sentence,) = read(tmp_path, "3.5" + "\t_" * 8 + "\tB-N\n" + "1-2" + "\t_" * 8 + "\tO\n")
    assert sentence.words == ("3.5", "1-2")


def test_each_word_gets_the_label_of_its_most_probable_partner():
    links = [Link(0, 1, 0.4), Link(1, 1, 0.9), Link(2, 0, 0.2)]
    assert labels_of_words(["A", "B", "C"], 3, Alignment.of(links)) == ["C", "B", "_"]
    assert labels_of_words(["A", "B"], 1, Alignment.of([Link(0, 0), Link(1, 0)])) == ["A"]


def test_a_line_that_begins_a_document_is_told_apart(tmp_path):
    start, sentence, second, word = read(
        tmp_path, "-DOCSTART- -X- O\n\na NN B-X\n\n-DOCSTART-\nb NN O\n-DOCSTART- NN O\n"
    )[:4]
    assert (start.starts_document, start.labels) == (True, ("O",))
    assert (sentence.starts_document, sentence.words) == (False, ("a",))
    assert second.starts_document
    assert word.words == ("b", "-DOCSTART-")
    [start] = read(tmp_path, "-DOCSTART- -X- O\n", label_column=1)  # no label, and no bad line
    assert start.labels == ("-X-",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Rom\n", ":1: expected at least 2 columns, a word and its label among them, found 1."),
        ("a O\nRom PER\n", ":2: expected O or a label such as B-PER, found 'PER'."),
        ("\tO\n", ":1: column 1 contains no word."),
    ],
)
def test_bad_lines(tmp_path, text, message):
    with pytest.raises(FormatError, match="labels") as caught:
        read(tmp_path, text)
    assert str(caught.value).endswith(message)
    errors = []
    sentences = read(tmp_path, text, on_error=errors.append)
    assert len(errors) == 1
    assert len(sentences[0].words) == text.count("\n")


def test_bytes_that_are_no_text_keep_their_place(tmp_path):
    (tmp_path / "labels").write_bytes(b"a B-X\n\xff B-X\nb I-X\n")
    errors = []
    (sentence,) = read_columns(tmp_path / "labels", on_error=errors.append)
    assert sentence.words == ("a", "\ufffd", "b")
    assert sentence.labels == ("B-X", "O", "I-X")
    assert errors[0].byte == 1
