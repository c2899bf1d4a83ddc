"""Labels in columns (CoNLL): a word a line, its label in one of the columns, a blank line after each sentence.

Reading understands every common scheme at once: BIO (IOB2), IOB1, BILOU and BIOES, also mixed up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from weft.applications.projection import Span
from weft.errors import FormatError
from weft.text.json_objects import shorten
from weft.text.lines import FilePath, OnError, decode, display_name, read_lines
from weft.text.pairs import split_words

OUTSIDE = "O"
_LABEL = re.compile(r"([BIMLEUSW])(?:-(.*))?", re.DOTALL)
_OPENING, _CLOSING = frozenset("BUSW"), frozenset("LEUSW")


class Scheme(StrEnum):
    """How the words of a label are told apart in a column; `auto` follows what was read."""

    AUTO = "auto"
    BIO = "bio"
    IOB1 = "iob1"
    BILOU = "bilou"
    BIOES = "bioes"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence of a column file: its words, its labels as they stand there, and what separates the columns."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    spans: tuple[Span, ...]
    separator: str = "\t"


def read_columns(
    path: FilePath, *, word_column: int = 0, label_column: int = -1, on_error: OnError | None = None
) -> Iterator[Tagged]:
    """Stream the sentences of a file. Columns are separated by tabs, or by spaces in lines without a tab.

    A line that has no such columns or no label raises a FormatError; with `on_error` it is handed over instead, and
    its word keeps its place without a label.
    """
    rows: list[tuple[str, str]] = []
    separator = "\t"
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip(b" \t"):
            if rows:
                yield _tagged(rows, separator)
                rows = []
            continue
        try:
            text = decode(line, path, number)
            columns = text.split("\t") if "\t" in text else split_words(text)
            if not rows and _is_comment(text, columns):
                continue
            separator = "\t" if "\t" in text else " "
            rows.append(_word_and_label(columns, word_column, label_column))
        except (FormatError, ValueError) as error:
            located = error if isinstance(error, FormatError) else FormatError(display_name(path), number, str(error))
            if on_error is None:
                raise located from error
            on_error(located)
            rows.append((_salvaged(line, word_column), OUTSIDE))
    if rows:
        yield _tagged(rows, separator)


def _tagged(rows: Sequence[tuple[str, str]], separator: str) -> Tagged:
    words, labels = zip(*rows, strict=True)
    return Tagged(words, labels, tuple(spans_of(labels)), separator)


def _is_comment(text: str, columns: Sequence[str]) -> bool:
    """`# text = …` before a sentence; a word # with a label is a word."""
    return text.startswith("# ") and not _is_label(columns[-1])


def _word_and_label(columns: Sequence[str], word_column: int, label_column: int) -> tuple[str, str]:
    needed = max(word_column, label_column, 1) + 1
    if len(columns) < needed:
        raise ValueError(f"expected at least {needed} columns, a word and its label among them, found {len(columns)}.")
    word, label = columns[word_column].strip(" "), columns[label_column].strip(" ")
    if not word:
        raise ValueError(f"column {word_column + 1} contains no word.")
    if not _is_label(label):
        raise ValueError(f"expected O or a label such as B-PER, found {shorten(label)}.")
    return word, label


def _is_label(label: str) -> bool:
    return label == OUTSIDE or _LABEL.fullmatch(label) is not None


def _salvaged(line: bytes, word_column: int) -> str:
    """Some word for a line that could not be read: the words behind it must keep their numbers."""
    columns = split_words(line.decode("utf-8", "replace"))
    return columns[word_column] if word_column < len(columns) else "\ufffd"


def spans_of(labels: Iterable[str]) -> Iterator[Span]:
    """The spans that a column of labels describes, whatever its scheme."""
    start, kind, number = 0, None, 0
    for number, label in enumerate(labels):
        match = _LABEL.fullmatch(label)
        prefix, this = (match[1], match[2] or "") if match else (OUTSIDE, None)
        if kind is not None and (prefix in _OPENING or this != kind):
            yield Span(start, number, kind)
            kind = None
        if this is not None and kind is None:
            start, kind = number, this
        if kind is not None and prefix in _CLOSING:
            yield Span(start, number + 1, kind)
            kind = None
    if kind is not None:
        yield Span(start, number + 1, kind)


def column_of(spans: Iterable[Span], length: int, scheme: Scheme | str = Scheme.BIO) -> list[str]:
    """Write spans that do not overlap as a column of labels."""
    column = [OUTSIDE] * length
    previous = Span(0, 0)
    for span in sorted(spans):
        touching = previous.end == span.start and previous.end > 0 and previous.label == span.label
        prefixes = _prefixes(span.end - span.start, Scheme(scheme), touching=touching)
        for word, prefix in enumerate(prefixes, start=span.start):
            column[word] = f"{prefix}-{span.label}" if span.label else prefix
        previous = span
    return column


def _prefixes(length: int, scheme: Scheme, *, touching: bool) -> str:
    if scheme is Scheme.IOB1:
        return ("B" if touching else "I") + "I" * (length - 1)
    if scheme in (Scheme.BILOU, Scheme.BIOES):
        last, single = ("L", "U") if scheme is Scheme.BILOU else ("E", "S")
        return single if length == 1 else "B" + "I" * (length - 2) + last
    return "B" + "I" * (length - 1)


def recognise_scheme(columns: Iterable[Iterable[str]]) -> Scheme:
    """BILOU or BIOES if their own letters occur, else BIO."""
    prefixes = {label[0] for column in columns for label in column if label != OUTSIDE}
    if prefixes & {"L", "U"}:
        return Scheme.BILOU
    return Scheme.BIOES if prefixes & {"E", "S", "M", "W"} else Scheme.BIO
