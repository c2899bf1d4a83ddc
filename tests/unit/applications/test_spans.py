from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.applications.projection import Span
from weft.applications.spans import BAD_RECORD, read_span_records, split_at_blanks, words_in, write_spans, write_tags
from weft.errors import FormatError, SettingError
from weft.text.fields import PairFields
from weft.text.pairs import split_words
from weft.text.segment import segmenter_for
from weft.types import SentencePair


def read(tmp_path, *records, **options):
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    (tmp_path / "records").write_text("".join(line + "\n" for line in lines))
    return list(read_span_records(tmp_path / "records", **options))


@settings(deadline=None)
@given(st.text("ab \t\u00a0\u3000", max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_characters_to_words(text, start, end):
    segmented = split_at_blanks(text)
    assert segmented.words == split_words(text)
    assert all(text[a:b] == word for word, (a, b) in zip(segmented.words, segmented.offsets, strict=True))
    first, behind = words_in(segmented.offsets, start, end)
    touched = [k for k, (a, b) in enumerate(segmented.offsets) if a < end and b > start]
    assert list(range(first, behind)) == (touched if start < end else [])


def test_text_counts_characters_and_lists_count_words(tmp_path):
    text = {"source": "ab cd ef", "target": "x", "spans": [[3, 5, "A"], [1, 4, "B"], [2, 3, "C"]]}
    words = {"source": ["ab", "c d"], "target": ["x"], "spans": [{"start": 1, "end": 2, "label": "A"}]}
    raw = {**words, "source_text": "abc d", "source_offsets": [[0, 2], [2, 5]]}
    first, second, third = read(tmp_path, text, words, raw)
    assert first.spans == (Span(1, 2, "A"), Span(0, 2, "B"), Span(1, 1, "C"))
    assert second.spans == (Span(1, 2, "A"),)
    assert third.spans == (Span(0, 1, "A"),)
    assert read(tmp_path, text | {"spans": [[1, 2, "A"]]}, unit="words")[0].spans == (Span(1, 2, "A"),)


def test_spans_are_written_in_the_form_they_came_in(tmp_path):
    record = {"source": "ab cd", "target": "uvw xy", "spans": [[0, 2, 7], {"start": 3, "end": 5, "k": 1}], "id": "é"}
    (read_back,) = read(tmp_path, record)
    line = write_spans(read_back, [[(1, 2)], [(0, 2)]], labelled="source", unit="auto")
    assert json.loads(line) == record | {"target_spans": [[4, 6, 7], {"start": 0, "end": 6, "k": 1}]}
    assert "é" in line
    assert json.loads(write_spans(read_back, [[], [(0, 1)]], labelled="source", unit="words"))["target_spans"] == [
        {"start": 0, "end": 1, "k": 1}
    ]
    assert write_spans(BAD_RECORD, [], labelled="source", unit="auto") == "{}"


def test_projected_spans_can_go_back(tmp_path):
    record = {"source": "a b", "target": "x y", "spans": [[0, 1, "A"]], "target_spans": [[2, 3, "A"]]}
    assert read(tmp_path, record, labelled="target")[0].spans == (Span(1, 2, "A"),)


PAIR = {"source": "ab", "target": "x"}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("", "the line is blank; expected a JSON object."),
        ("[]", "expected a JSON object, found '[]'."),
        (PAIR | {"spans": [None]}, "expected a span [start, end, label] or {\"start\": …}, found 'null'."),
        (PAIR | {"spans": [[0, 3, "A"]]}, "the span '[0, 3, \"A\"]' does not lie within the 2 characters of its side."),
        (
            PAIR | {"spans": [{"start_offset": 0, "end_offset": 1}]},
            'the span \'{"start_offset": 0, "end_offset": 1}\' has no "start" and no "end"; rename its fields.',
        ),
        (PAIR | {"spans": [{"start": 0, "label": "A"}]}, 'has no "end"; rename its fields.'),
        (PAIR | {"spans": [[True, 1, "A"]]}, "does not lie within the 2 characters of its side."),
        (PAIR | {"source": ["a"], "spans": [[0, 2, "A"]]}, "does not lie within the 1 words of its side."),
        (PAIR | {"source": 3, "spans": []}, "expected \"source\" to be a sentence or a list of words, found '3'."),
        (PAIR | {"target": " ", "spans": []}, "the target side is empty."),
        (
            {"source": ["a"], "source_text": "a", "source_offsets": [[0, 2]], "target": "b", "spans": []},
            'expected "source_offsets" to hold [start, end] for each of the 1 words.',
        ),
    ],
)
def test_bad_records(tmp_path, record, message):
    with pytest.raises(FormatError) as caught:
        read(tmp_path, record)
    assert str(caught.value).endswith(message)
    errors = []
    good = PAIR | {"spans": []}
    kept = read(tmp_path, good, record, good, on_error=errors.append)[1]
    assert kept == replace(BAD_RECORD, record=record if isinstance(record, dict) else {})
    assert [error.line for error in errors] == [2]


def test_a_record_without_spans_has_none_if_another_has_some(tmp_path):
    one, two, three = read(tmp_path, PAIR | {"id": 1}, PAIR | {"spans": None}, PAIR | {"spans": [[0, 2, "A"]]})
    assert (one.spans, two.spans, three.spans) == ((), (), (Span(0, 1, "A"),))
    assert one.pair == three.pair
    line = write_spans(one, [], labelled="source", unit="auto")
    assert json.loads(line) == PAIR | {"id": 1, "target_spans": []}


def test_a_file_without_any_spans_is_an_error(tmp_path):
    with pytest.raises(FormatError) as caught:
        read(tmp_path, PAIR | {"id": 1}, PAIR, on_error=lambda error: None)
    assert str(caught.value).endswith(
        'records:1: expected "spans" with a list of [start, end, label], which no line has; '
        "this one has the fields 'source, target, id'. Name the field with `spans_field`."
    )


def test_characters_need_texts(tmp_path):
    with pytest.raises(FormatError, match="a side is a list of words without its text"):
        read(tmp_path, {"source": "a", "target": ["x"], "spans": []}, unit="characters")


def test_the_first_record_says_which_language_is_the_source(tmp_path):
    records = [{"translation": {"de": "ab", "en": "x"}, "spans": []}, {"translation": {"en": "x", "de": "ab"}}]
    assert [found.pair for found in read(tmp_path, *records)] == [SentencePair(("ab",), ("x",))] * 2


def test_fields_of_other_names(tmp_path):
    record = {"text": {"de": "ab cd"}, "en": "x", "ner": {"spans": [[3, 5, "A"]]}}
    (found,) = read(tmp_path, record, fields=PairFields.of("text.de", "en"), spans_field="ner.spans")
    assert (found.pair, found.spans) == (SentencePair(("ab", "cd"), ("x",)), (Span(1, 2, "A"),))
    (found,) = read(tmp_path, {"translation": {"de": "ab cd", "en": "x"}, "spans": []})
    assert found.pair == SentencePair(("ab", "cd"), ("x",))
    with pytest.raises(FormatError, match=r'expected "ner.spans" with a list .* has the fields .text, en.\.$'):
        read(
            tmp_path, {"text": {"de": "ab"}, "en": "x"}, fields=PairFields.of("text.de", "en"), spans_field="ner.spans"
        )


def test_of_three_languages_two_must_be_chosen(tmp_path):
    record = {"translation": {"de": "a", "en": "b", "fr": "c"}, "spans": []}
    with pytest.raises(SettingError, match="text in de, en and fr"):
        list(read(tmp_path, record, on_error=lambda error: None))


def test_a_tag_for_each_word(tmp_path):
    record = {"source": ["a", "b c", "d"], "target": "x y", "spans": ["B-A", "I-A", "O"], "id": 1}
    (found,) = read(tmp_path, record, unit="characters")
    assert (found.spans, found.tags) == ((Span(0, 2, "A"),), ("B-A", "I-A", "O"))
    assert found.pair == SentencePair(("a", "b c", "d"), ("x", "y"))
    line = write_tags(found, ["O", "B-A"], labelled="source")
    assert json.loads(line) == {**record, "target_spans": ["O", "B-A"]}
    (found,) = read(tmp_path, {**record, "spans": ["NOUN", "ADJ", "7"]}, of_words=True)
    assert (found.spans, found.tags) == ((), ("NOUN", "ADJ", "7"))


def test_tags_on_listed_words_and_a_translation_that_is_not_split(tmp_path):
    record = {"words": ["Anna", "sleeps."], "de": "Anna schläft.", "spans": ["B-A", "O"]}
    options = {"segmenters": (segmenter_for("en"), segmenter_for("de")), "raw": True}
    (found,) = read(tmp_path, record, fields=PairFields.of("words", "de"), **options)
    assert found.pair == SentencePair(("Anna", "sleeps."), ("Anna", "schläft", "."))
    split = {"de": ["Anna", "schläft", "."], "de_text": "Anna schläft.", "de_offsets": [[0, 4], [5, 12], [12, 13]]}
    written = json.loads(write_tags(found, ["B-A", "O", "O"], labelled="source"))
    assert written == {**record, **split, "target_spans": ["B-A", "O", "O"]}
    by_name = {"fields": PairFields.of("words", "de"), "spans_field": "target_spans"}
    (again,) = read(tmp_path, written, labelled="target", **by_name)
    assert (again.pair, again.tags) == (found.pair, ("B-A", "O", "O"))
    # Tags count the words that spaces separate, whatever weft would make of them.
    (text,) = read(tmp_path, {**record, "words": "Anna sleeps."}, fields=PairFields.of("words", "de"), **options)
    assert text.pair == found.pair
    (turned,) = read(tmp_path, record, fields=PairFields.of("de", "words"), labelled="target", **options)
    assert turned.pair == SentencePair(*reversed(found.pair))
    # Tables, such as Parquet, need the same kinds of fields in all records.
    (bad,) = read(tmp_path, {**record, "de": ""}, fields=PairFields.of("words", "de"), on_error=[].append, **options)
    written = json.loads(write_tags(bad, [], labelled="source"))
    assert written == {**record, "de": [], "de_text": "", "de_offsets": [], "target_spans": []}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"spans": ["O", "O"]}, "expected a tag for each of the 1 words, found 2."),
        ({"spans": ["NOUN"]}, "expected O or a tag such as B-PER, found 'NOUN'."),
        ({"spans": [3]}, "replace them by the names of the classes"),
        ({"spans": ["O", "O"], "source": "a."}, "of the 1 words, found 2. Words are separated by spaces"),
    ],
)
def test_bad_tags(tmp_path, record, message):
    with pytest.raises(FormatError) as caught:
        read(tmp_path, {"source": ["a"], "target": ["x"], **record}, segmenters=(segmenter_for("en"), split_at_blanks))
    assert message in str(caught.value)
