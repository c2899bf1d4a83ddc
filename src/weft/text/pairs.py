"""Sentence pairs in files: `source ||| target`, TSV, CSV, JSONL, or two parallel files; in and out.

Words are separated by ASCII space and tab only. NBSP, U+3000 and their kin are parts of words in real data, and
splitting at them would shift every index after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from typing import Any

from weft.errors import FormatError, SettingError, chosen
from weft.text.fields import NoPairError, PairFields, Sides, TextPair
from weft.text.lines import FilePath, OnError, decode, display_name, read_lines, read_together
from weft.text.pair_formats import TABLES, PairFormat, PairParser
from weft.text.rows import as_csv, is_csv, is_tsv, read_named_rows, read_rows, refuse_po, with_lines
from weft.text.tables import HEADING
from weft.text.watches import PairsWatch, TableWatch, watched
from weft.types import SentencePair, Words

PLAIN = PairFields()
"""Files without column names, and JSONL with the fields `source` and `target`, or `translation`."""

NOTHING = SentencePair((), ())
"""Stands for a line that holds no pair, so that line n of the output still belongs to line n of the input."""


class EmptySideError(ValueError):
    """A line is in order, but it lacks a sentence or its translation; `sides` are what it has."""

    def __init__(self, message: str, sides: Sides) -> None:
        super().__init__(message)
        self.sides = sides


Split = Callable[[str], Words]


def split_words(text: str) -> Words:
    """Split at ASCII space and tab, and nowhere else."""
    words = text.split(" ")
    if "\t" in text or "" in words:  # seldom
        return tuple(filter(None, text.replace("\t", " ").split(" ")))
    return tuple(words)


def read_pairs(
    path: FilePath,
    target: FilePath | None = None,
    *,
    format: PairFormat | str = PairFormat.AUTO,
    fields: PairFields = PLAIN,
    split: tuple[Split, Split] | None = None,
    on_error: OnError | None = None,
) -> Iterator[SentencePair]:
    """Stream the sentence pairs of one file or of two parallel files.

    Args:
        path: the pairs, or the source sentences; `-` is stdin.
        target: the target sentences, if they are in a separate file.
        format: `bars`, `tsv`, `csv` or `jsonl`; `auto` looks at the lines, and for CSV at the file's name.
        fields: the names of columns or JSONL fields, if they are not the usual ones.
        split: functions that split the raw text of each side into words; by default, words are separated by spaces.
        on_error: called with the FormatError of each line that is not a pair. `NOTHING` takes the line's place, so no
            line is ever lost.

    Raises:
        FormatError: without `on_error`, a line is not a pair: it is blank, has bad UTF-8, no separator or an empty
            side.
        LineCountError: the two files have different numbers of lines.
    """
    return PairReader(format, fields, split).pairs(path, target, on_error=on_error)


def split_sides(sides: Sides | None) -> SentencePair:
    """The words of both sides; `NOTHING` where there are none."""
    return SentencePair(words_of(sides[0]), words_of(sides[1])) if sides else NOTHING


def _segmented(
    texts: Iterator[Sides | None], path: FilePath, split: tuple[Split, Split], on_error: OnError | None
) -> Iterator[SentencePair]:
    for number, sides in enumerate(texts, start=1):
        words = [cut(side) if isinstance(side, str) else side for side, cut in zip(sides or (), split, strict=False)]
        if sides and not all(words):
            _report(ValueError("one side has no words, only spaces."), path, number, on_error)
        yield SentencePair(words[0], words[1]) if all(words) and sides else NOTHING


def words_of(side: str | Words) -> Words:
    """The words of one side: split if it is text, as they are if somebody split it already."""
    if isinstance(side, tuple):
        return side
    # JSON may hold line ends in a sentence.
    return split_words(side.replace("\r\n", " ").replace("\n", " ") if "\n" in side else side)


@dataclass(frozen=True, slots=True)
class PairReader:
    """How files of sentence pairs are read: arguments of `read_pairs` that belong together."""

    format: PairFormat | str = PairFormat.AUTO
    fields: PairFields = PLAIN
    split: tuple[Split, Split] | None = None
    watch: bool = False  # warn of text that should have been split
    again: bool = False  # the files were read before, so what there is to warn of has been said

    def pairs(
        self, path: FilePath, target: FilePath | None = None, *, on_error: OnError | None = None
    ) -> Iterator[SentencePair]:
        """Stream the pairs of one file, or of two."""
        records = read_text_pairs(
            path, target, format=self.format, fields=self.fields, on_error=on_error, doubts=not self.again
        )
        texts = (record.sides for record in records)
        if self.split is not None:
            return _segmented(texts, path, self.split, on_error)
        return map(split_sides, watched(texts, path) if self.watch and not self.again else texts)

    def headings(self, path: FilePath) -> frozenset[int]:
        """The numbers, from 1, of the rows before a table's first pair that name columns, or say what is between."""
        found: set[int] = set()
        bad: list[FormatError] = []
        rows = read_text_pairs(path, format=self.format, fields=self.fields, on_error=bad.append, doubts=False)
        for number, row in enumerate(rows, start=1):
            if row is HEADING:
                found.add(number)
            elif row.sides or number > len(bad) + len(found):  # the first row that is not bad
                break
        return frozenset(found)

    def records(
        self, path: FilePath, target: FilePath | None = None, *, on_error: OnError | None = None
    ) -> Iterator[tuple[SentencePair, dict[str, Any]]]:
        """Stream the pairs, each with the other fields of its line."""
        found, again = tee(read_text_pairs(path, target, format=self.format, fields=self.fields, on_error=on_error))
        sides = (record.sides for record in found)
        pairs = map(split_sides, sides) if self.split is None else _segmented(sides, path, self.split, on_error)
        return zip(pairs, (record.extra for record in again), strict=True)


def read_texts(
    path: FilePath,
    target: FilePath | None = None,
    *,
    format: PairFormat | str = PairFormat.AUTO,
    fields: PairFields = PLAIN,
    on_error: OnError | None = None,
) -> Iterator[Sides | None]:
    """Stream pairs before words are split: each side is text, or words where the file lists them.

    Arguments and errors are those of `read_pairs`; a line that holds no pair gives None.
    """
    records = read_text_pairs(path, target, format=format, fields=fields, on_error=on_error)
    return (record.sides for record in records)


def read_text_pairs(
    path: FilePath,
    target: FilePath | None = None,
    *,
    format: PairFormat | str = PairFormat.AUTO,
    fields: PairFields = PLAIN,
    on_error: OnError | None = None,
    doubts: bool = True,
) -> Iterator[TextPair]:
    """Stream pairs before words are split, together with the other fields of their lines.

    Arguments and errors are those of `read_pairs`; a line that holds no pair has no sides. Without `doubts`, nothing is
    said of lines that look as if they should be read in another way.
    """
    format = chosen("format", PairFormat, format)
    if target is not None:
        refuse_po(path)
        refuse_po(target)
        return _read_two_files((path, target), (read_lines(path), read_lines(target)), on_error, doubts)
    if format is PairFormat.AUTO:
        refuse_po(path)
    named_csv = is_csv(path)
    if fields.columns and format is PairFormat.AUTO:
        format = PairFormat.CSV if named_csv else PairFormat.TSV
    if fields.columns and format not in TABLES:
        raise SettingError(f"`columns` are for TSV and CSV; the format is {format}.")
    path = as_csv(path) if format is PairFormat.CSV else path
    is_table = format in TABLES or (format is PairFormat.AUTO and named_csv)
    rows = read_rows(path) if fields.source is None else read_named_rows(path, is_table=is_table)
    named = PairFormat.CSV if named_csv else PairFormat.TSV if is_tsv(path) else None
    return _read_one_file(path, rows, PairParser(format, fields, named=named), on_error, doubts)


def _read_one_file(
    path: FilePath, rows: Iterator[bytes], parser: PairParser, on_error: OnError | None, doubts: bool
) -> Iterator[TextPair]:
    watch = TableWatch(path, by_order=bool(parser.fields.columns))
    watch.done = not doubts
    parse, first = parser.parse, 1
    for number, (begins, row) in enumerate(with_lines(rows), start=1):
        pair = None
        try:
            pair = parse(decode(row, path, number, begins))
            _check(pair.sides, is_blank=not row.strip(b" \t"))
        except SettingError:
            raise
        except (FormatError, ValueError) as error:
            _report(error, path, number, on_error, begins)
            extra = error.extra if isinstance(error, NoPairError) else pair.extra if pair else {}
            yield TextPair(None, extra)
        else:
            first += pair is HEADING and parser.fields.source is None  # it says what separates the cells
            if not watch.done and parser.reads_table and pair.sides:
                watch.look(pair.sides, parser.row, begins, is_first=number == first)
            yield pair
    watch.finish()


def _read_two_files(
    paths: tuple[FilePath, FilePath], readers: Sequence[Iterator[bytes]], on_error: OnError | None, doubts: bool
) -> Iterator[TextPair]:
    source, target = paths
    lines = read_together([display_name(path) for path in paths], readers, texts=True)
    watch = PairsWatch(source)
    watch.done = not doubts
    for number, (source_line, target_line) in enumerate(lines, start=1):
        path = source
        try:
            source_text = decode(source_line, source, number)
            path = target
            target_text = decode(target_line, target, number)
            path = target if source_text.strip(" \t") else source
            _check((source_text, target_text))
        except (FormatError, ValueError) as error:
            _report(error, path, number, on_error)
            yield TextPair(None)
        else:
            if not watch.done:
                watch.look(source_text)
            yield TextPair((source_text, target_text))


def _report(
    error: FormatError | ValueError, path: FilePath, number: int, on_error: OnError | None, begins: int | None = None
) -> None:
    located = error
    if not isinstance(located, FormatError):
        located = FormatError(display_name(path), number, str(error), begins=begins)
        located.__cause__ = error  # by which those who are told can tell kinds of mistakes apart
    if on_error is None:
        raise located
    on_error(located)


def _check(sides: Sides | None, *, is_blank: bool = True) -> None:
    if sides is None or (sides[0] and sides[1] and sides[0][0] not in " \t" and sides[1][0] not in " \t"):
        return  # the names of columns, or the usual line, which takes no closer look
    empty = [side.strip(" \t") == "" if isinstance(side, str) else not side for side in sides]
    if all(empty):
        is_list = isinstance(sides[0], tuple)
        found = "the line is blank" if is_blank else "both sides are empty"
        message = "the record has no words." if is_list else f"{found}; expected a sentence and its translation."
        raise EmptySideError(message, sides)
    if any(empty):
        raise EmptySideError(f"the {'source' if empty[0] else 'target'} side is empty.", sides)
