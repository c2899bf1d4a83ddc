"""Labels in columns (CoNLL): a word a line, its label in one of the columns, a blank line after each sentence.

Reading understands every common scheme at once: BIO (IOB2), IOB1, BILOU and BIOES, also mixed up. Labels of single
words, such as parts of speech, are another kind of column: any label is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from weft.applications.projection import Span
from weft.errors import FormatError
from weft.text.json_objects import shorten
from weft.text.lines import FilePath, OnError, decode, display_name, first_lines, read_lines
from weft.text.pairs import split_words
from weft.types import Alignment, Link

OUTSIDE = "O"
NO_LABEL = "_"
"""What a word gets that has no label of its own."""
DOCUMENT_START = "-DOCSTART-"
"""The word of a line that begins a document, as in every file of CoNLL-2003; no sentence."""
_LABEL = re.compile(r"([BIMLEUSW])(?:-(.*))?", re.DOTALL)
# In CoNLL-U, words that are written as one (`1-2`) and words that are not written (`1.1`) have lines of their own.
_NOT_A_WORD = re.compile(r"\d+[-.]\d+")
_CONLLU_COLUMNS = 10
_IN_COMMENTS = frozenset({"=", "newdoc", "newpar"})
_OPENING, _CLOSING = frozenset("BUSW"), frozenset("LEUSW")


class Scheme(StrEnum):
    """How the words of a label are told apart in a column; `auto` follows what was read."""

    AUTO = "auto"
    BIO = "bio"
    IOB1 = "iob1"
    BILOU = "bilou"
    BIOES = "bioes"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence of a column file: its words, its labels as they stand there, and what separates the columns."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    spans: tuple[Span, ...]
    separator: str = "\t"

    @property
    def starts_document(self) -> bool:
        """Whether it is no sentence, but says that a document begins."""
        return self.words == (DOCUMENT_START,)


def read_columns(
    path: FilePath,
    *,
    word_column: int = 0,
    label_column: int = -1,
    of_words: bool = False,
    on_error: OnError | None = None,
) -> Iterator[Tagged]:
    """Stream the sentences of a file. Columns are separated by tabs, or by spaces in lines without a tab.

    A line that has no such columns or no label raises a FormatError; with `on_error` it is handed over instead, and
    its word keeps its place without a label. `of_words` are labels of single words, which may be anything.
    """
    rows: list[tuple[str, str]] = []
    separator = "\t"
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip(b" \t"):
            if rows:
                yield _tagged(rows, separator, of_words=of_words)
                rows = []
            continue
        try:
            text = decode(line, path, number)
            columns = text.split("\t") if "\t" in text else split_words(text)
            if (not rows and _is_comment(text, columns, of_words=of_words)) or _is_no_word(columns, word_column):
                continue
            separator = "\t" if "\t" in text else " "
            if not rows and columns[0] == DOCUMENT_START:
                yield Tagged((DOCUMENT_START,), (_label_or(OUTSIDE, columns, label_column),), (), separator)
                continue
            rows.append(_word_and_label(columns, word_column, label_column, of_words=of_words))
        except (FormatError, ValueError) as error:
            located = error if isinstance(error, FormatError) else FormatError(display_name(path), number, str(error))
            if on_error is None:
                raise located from error
            on_error(located)
            rows.append((_salvaged(line, word_column), NO_LABEL if of_words else OUTSIDE))
    if rows:
        yield _tagged(rows, separator, of_words=of_words)


def has_columns(path: FilePath) -> bool:
    """Whether a file looks like columns: its first lines have tabs, or labels at their ends."""
    lines = [line for line in first_lines(path) if not line.startswith(b"#")]
    return bool(lines) and all(b"\t" in line or is_label(line.split()[-1].decode(errors="replace")) for line in lines)


def _tagged(rows: Sequence[tuple[str, str]], separator: str, *, of_words: bool) -> Tagged:
    words, labels = zip(*rows, strict=True)
    return Tagged(words, labels, () if of_words else tuple(spans_of(labels)), separator)


def _is_comment(text: str, columns: Sequence[str], *, of_words: bool) -> bool:
    """`# text = …` before a sentence; a word # with a label is a word."""
    return text.startswith("# ") and not (_IN_COMMENTS.isdisjoint(columns) if of_words else is_label(columns[-1]))


def _is_no_word(columns: Sequence[str], word_column: int) -> bool:
    """Whether a line of CoNLL-U, where words stand behind their numbers, describes no single word of its sentence."""
    return word_column > 0 and len(columns) == _CONLLU_COLUMNS and _NOT_A_WORD.fullmatch(columns[0]) is not None


def _label_or(default: str, columns: Sequence[str], label_column: int) -> str:
    return columns[label_column] if -len(columns) < label_column < len(columns) else default


def _word_and_label(columns: Sequence[str], word_column: int, label_column: int, *, of_words: bool) -> tuple[str, str]:
    needed = max(word_column, label_column, 1) + 1
    if len(columns) < needed:
        raise ValueError(f"expected at least {needed} columns, a word and its label among them, found {len(columns)}.")
    word, label = columns[word_column].strip(" "), columns[label_column].strip(" ")
    if not word:
        raise ValueError(f"column {word_column + 1} contains no word.")
    if of_words:
        return word, label or NO_LABEL
    if not is_label(label):
        raise ValueError(f"expected O or a label such as B-PER, found {shorten(label)}.")
    return word, label


def is_label(label: str) -> bool:
    """Whether a label is O or one of a scheme, such as B-PER."""
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


def labels_of_words(labels: Sequence[str], length: int, alignment: Alignment) -> list[str]:
    """Give each word of the other side the label of the word that it is linked with most probably.

    Args:
        labels: those of the source words.
        length: how many words the other side has.
        alignment: links to it. Without scores, the first of several source words counts.
    """
    best: dict[int, Link] = {}
    for link in alignment.links:
        known = best.get(link.target)
        if known is None or _score(link) > _score(known):
            best[link.target] = link
    return [labels[best[word].source] if word in best else NO_LABEL for word in range(length)]


def _score(link: Link) -> float:
    return 1.0 if link.score is None else link.score


def recognise_scheme(columns: Iterable[Iterable[str]]) -> Scheme:
    """BILOU or BIOES if their own letters occur, else BIO."""
    prefixes = {label[0] for column in columns for label in column if label != OUTSIDE}
    if prefixes & {"L", "U"}:
        return Scheme.BILOU
    return Scheme.BIOES if prefixes & {"E", "S", "M", "W"} else Scheme.BIO
