"""Labels in JSONL records, on one side of a sentence pair: spans of characters or words, or a tag for each word."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from weft.applications.columns import is_label, spans_of
from weft.applications.projection import Run, Span
from weft.errors import FormatError, SettingError
from weft.text.fields import PairFields, nested_field, sentence_field
from weft.text.json_objects import parse_json_object, shorten
from weft.text.lines import FilePath, OnError, decode, display_name, read_lines
from weft.text.pairs import NOTHING, PLAIN
from weft.text.segment import Segmented, Segmenter
from weft.text.translations import LanguageOrder
from weft.types import SentencePair

_WORD = re.compile(r"[^ \t]+")


class Unit(StrEnum):
    """What spans count; `auto` counts characters where a side is text and words where it is a list."""

    AUTO = "auto"
    CHARACTERS = "characters"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair: its words, and where they stand in its text if it has one."""

    words: tuple[str, ...]
    text: str | None = None
    offsets: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """One line: the record as it was read, its sides, and its spans over words beside their own form.

    With `tags`, the record has a tag for each word instead of spans.
    """

    record: dict[str, Any]
    pair: SentencePair
    other: Side
    spans: tuple[Span, ...]
    given: tuple[list[Any] | dict[str, Any], ...]
    tags: tuple[str, ...] = ()


BAD_RECORD = SpanRecord({}, NOTHING, Side(()), (), ())
"""Stands for a line that holds no record, so that line n of the output still belongs to line n of the input."""


def split_at_blanks(text: str) -> Segmented:
    """The words of a text that is split already, with the places where they stand."""
    found = [(match.group(), match.span()) for match in _WORD.finditer(text)]
    return Segmented(tuple(word for word, _ in found), tuple(place for _, place in found))


def words_in(offsets: Sequence[Run], start: int, end: int) -> Run:
    """The words that characters from `start` up to `end` touch; an empty run where they touch none."""
    first = bisect_right(offsets, start, key=lambda place: place[1])
    behind = bisect_left(offsets, end, key=lambda place: place[0]) if start < end else first
    return (first, max(first, behind))


def read_span_records(
    path: FilePath,
    *,
    labelled: str = "source",
    unit: Unit | str = Unit.AUTO,
    segmenters: tuple[Segmenter, Segmenter] = (split_at_blanks, split_at_blanks),
    fields: PairFields = PLAIN,
    spans_field: str | None = None,
    of_words: bool = False,
    raw: bool = False,
    on_error: OnError | None = None,
) -> Iterator[SpanRecord]:
    """Stream the records of a file. `labelled` says which side the spans are on.

    `fields` and `spans_field` name the fields that hold the sentences and the spans, where they are not the usual ones.
    In place of spans there may be a tag for each word, as in Hugging Face's datasets; `of_words` are tags of any kind.
    With tags, `raw` text of the other side becomes a list of words, beside its text and their places in it.
    A record without the spans' field has no spans, but in one record of the file it must be. A bad line raises a
    FormatError; with `on_error` it is handed over, and a record with the same fields but without words and spans
    takes its place, or `BAD_RECORD` if it has no fields.
    """
    absent: FormatError | None = None
    found = False
    order = LanguageOrder(fields.languages)
    for number, line in enumerate(read_lines(path), start=1):
        record: dict[str, Any] = {}
        to_list = ""
        try:
            record = _parse_object(decode(line, path, number))
            given = _given_spans(record, labelled, spans_field)
            found = found or given is not None
            if not found and absent is None:
                absent = FormatError(display_name(path), number, _without_spans(record, spans_field))
            names = fields.names_in(record, order)
            if given and all(isinstance(item, str) for item in given):
                to_list = names[labelled == "source"] if raw else ""
                yield _tag_record(record, given, names, labelled, segmenters, of_words=of_words, raw=raw)
            else:
                yield _span_record(record, given or [], names, labelled, Unit(unit), segmenters)
        except SettingError:
            raise
        except (FormatError, ValueError) as error:
            located = error if isinstance(error, FormatError) else FormatError(display_name(path), number, str(error))
            if on_error is None:
                raise located from error
            on_error(located)
            if isinstance(text := record.get(to_list), str):  # all records have fields of the same kinds
                record = _with_words(record, to_list, Side((), text))
            yield replace(BAD_RECORD, record=record) if record else BAD_RECORD
    if absent is not None and not found:
        raise absent


def _parse_object(text: str) -> dict[str, Any]:
    if not text.strip(" \t"):
        raise ValueError("the line is blank; expected a JSON object.")
    return parse_json_object(text)


def _given_spans(record: dict[str, Any], labelled: str, name: str | None) -> list[Any] | None:
    """The spans as they stand there, in the field that was named or a usual one; None without such a field."""
    usual = f"{labelled}_spans" if f"{labelled}_spans" in record else "spans"
    try:
        given = nested_field(record, name or usual)
    except KeyError:
        return None
    if given is None:
        return []
    if not isinstance(given, list):
        what = "a list of [start, end, label], or of a tag for each word"
        raise ValueError(f'expected "{name or "spans"}" to be {what}, found {_shown(given)}.')
    return given


def _without_spans(record: dict[str, Any], name: str | None) -> str:
    """What to say of a file in which no record has the field with the spans."""
    hint = "" if name else " Name the field with `spans_field`."
    return (
        f'expected "{name or "spans"}" with a list of [start, end, label], which no line has; '
        f"this one has the fields {shorten(', '.join(record))}.{hint}"
    )


def _span_record(
    record: dict[str, Any],
    given: list[Any],
    names: tuple[str, str],
    labelled: str,
    unit: Unit,
    segmenters: tuple[Segmenter, Segmenter],
) -> SpanRecord:
    source, target = (side_of(record, name, cut) for name, cut in zip(names, segmenters, strict=True))
    labels, other = (source, target) if labelled == "source" else (target, source)
    spans = tuple(_span(item, labels, unit) for item in given)
    if unit is Unit.CHARACTERS and other.text is None:
        raise ValueError("spans count characters, but a side is a list of words without its text.")
    return SpanRecord(record, SentencePair(source.words, target.words), other, spans, tuple(given))


def _tag_record(
    record: dict[str, Any],
    tags: Sequence[str],
    names: tuple[str, str],
    labelled: str,
    segmenters: tuple[Segmenter, Segmenter],
    *,
    of_words: bool,
    raw: bool,
) -> SpanRecord:
    at_labels = 0 if labelled == "source" else 1
    cut = [segmenters[0], segmenters[1]]
    cut[at_labels] = split_at_blanks  # the tags count the words that are there
    sides = [side_of(record, name, split) for name, split in zip(names, cut, strict=True)]
    labels, other, name = sides[at_labels], sides[1 - at_labels], names[1 - at_labels]
    if len(tags) != len(labels.words):
        listed = "" if labels.text is None else " Words are separated by spaces; a list of words says what they are."
        raise ValueError(f"expected a tag for each of the {len(labels.words)} words, found {len(tags)}.{listed}")
    if raw and isinstance(sentence_field(record, name), str):  # without its words, nobody could count its tags
        record = _with_words(record, name, other)
    wrong = None if of_words else next((tag for tag in tags if not is_label(tag)), None)
    if wrong is not None:
        raise ValueError(
            f"expected O or a tag such as B-PER, found {shorten(wrong)}. For tags of single words, such as parts of "
            "speech, set `scheme` to word."
        )
    spans = () if of_words else tuple(spans_of(tags))
    return SpanRecord(record, SentencePair(sides[0].words, sides[1].words), other, spans, (), tuple(tags))


def _with_words(record: dict[str, Any], name: str, side: Side) -> dict[str, Any]:
    """The record with the words of a side in place of its text, and that and their places beside them."""
    return {**record, name: side.words, f"{name}_text": side.text, f"{name}_offsets": side.offsets}


def side_of(record: dict[str, Any], name: str, cut: Segmenter) -> Side:
    """A side as text or words; words with `_text` and `_offsets` beside them are what `weft align --raw` writes."""
    value = sentence_field(record, name)
    text, offsets = (record.get(key) for key in (f"{name}_text", f"{name}_offsets"))
    if isinstance(value, str):
        segmented = cut(value)
        side = Side(segmented.words, value, segmented.offsets)
    elif isinstance(value, list) and all(isinstance(word, str) for word in value):
        side = Side(tuple(value))
        if isinstance(text, str) and isinstance(offsets, list):
            side = Side(tuple(value), text, _checked_offsets(offsets, len(value), text, name))
    else:
        raise ValueError(f'expected "{name}" to be a sentence or a list of words, found {_shown(value)}.')
    if not side.words:
        raise ValueError(f"the {name} side is empty.")
    return side


def _checked_offsets(offsets: list[Any], words: int, text: str, name: str) -> tuple[Run, ...]:
    places = tuple((item[0], item[1]) for item in offsets if _is_place(item, len(text)))
    flat = [end for place in places for end in place]
    if len(places) != words or len(offsets) != words or flat != sorted(flat):
        raise ValueError(f'expected "{name}_offsets" to hold [start, end] for each of the {words} words.')
    return places


def _is_place(item: object, length: int) -> bool:
    return (
        isinstance(item, list)
        and len(item) == 2
        and all(type(end) is int for end in item)
        and 0 <= item[0] <= item[1] <= length
    )


def _span(item: object, side: Side, unit: Unit) -> Span:
    if type(item) is int:
        raise ValueError(
            "expected tags such as B-PER, found numbers of classes; replace them by the names of the classes, which a "
            'Hugging Face dataset lists in `features["ner_tags"].feature.names`.'
        )
    if isinstance(item, dict):
        if missing := [f'"{key}"' for key in ("start", "end") if key not in item]:
            raise ValueError(f"the span {_shown(item)} has no {' and no '.join(missing)}; rename its fields.")
        start, end, label = (item.get(key) for key in ("start", "end", "label"))
    elif isinstance(item, list) and len(item) == 3:
        start, end, label = item
    else:
        raise ValueError(f'expected a span [start, end, label] or {{"start": …}}, found {_shown(item)}.')
    characters = unit is Unit.CHARACTERS or (unit is Unit.AUTO and side.text is not None)
    if characters and side.text is None:
        raise ValueError("spans count characters, but a side is a list of words without its text.")
    length = len(side.text or "") if characters else len(side.words)
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= length:
        what = "characters" if characters else "words"
        raise ValueError(f"the span {_shown(item)} does not lie within the {length} {what} of its side.")
    if characters:
        start, end = words_in(side.offsets, start, end)
    return Span(start, end, label if isinstance(label, str) else json.dumps(label, ensure_ascii=False))


def _shown(value: object) -> str:
    return shorten(json.dumps(value, ensure_ascii=False))


def write_spans(record: SpanRecord, runs: Sequence[Sequence[Run]], *, labelled: str, unit: Unit | str) -> str:
    """The record as a line, with the spans of the other side added in the form that its own spans have."""
    if not record.record:
        return "{}"
    characters = unit != Unit.WORDS and record.other.text is not None
    offsets = record.other.offsets
    spans = [
        _in_form(given, *((offsets[start][0], offsets[end - 1][1]) if characters else (start, end)))
        for given, places in zip(record.given, runs, strict=True)
        for start, end in places
    ]
    return _with_labels(record, labelled, spans)


def write_tags(record: SpanRecord, tags: Sequence[str], *, labelled: str) -> str:
    """The record as a line, with a tag for each word of the other side."""
    return _with_labels(record, labelled, tags)


def _with_labels(record: SpanRecord, labelled: str, labels: Sequence[Any]) -> str:
    name = "target_spans" if labelled == "source" else "source_spans"
    return json.dumps({**record.record, name: labels}, ensure_ascii=False)


def _in_form(given: list[Any] | dict[str, Any], start: int, end: int) -> list[Any] | dict[str, Any]:
    return {**given, "start": start, "end": end} if isinstance(given, dict) else [start, end, given[2]]
