"""Tell translations from noise: score sentence pairs by their links and keep the best."""

from __future__ import annotations

import struct
from array import array
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from math import sqrt
from tempfile import TemporaryFile

from weft.errors import SettingError
from weft.text.lines import FilePath, read_whole_lines
from weft.text.pair_formats import PairFormat, recognised
from weft.text.rows import TableRow, UnitRow, is_csv, read_rows
from weft.text.tables import csv_separator
from weft.types import Alignment, SentencePair

BAD = -1.0
"""The score of a line that holds no pair; such a line is never kept."""

_FEWEST = 4.0
_STEPS = 1 << 16
_BATCH = 1 << 16


def pair_score(pair: SentencePair, alignment: Alignment) -> float:
    """How well two sentences go together, from 0 to 1: the score that the aligner gave the pair.

    For an alignment without a score, it is the share of words with a link, times the mean probability of the links.
    Links without scores count as certain, so only the share of linked words matters. A side that repeats the same few
    words over and over lowers the score, because anything can be linked to such a side.
    """
    return min(map(_variety, pair)) * min(1.0, max(0.0, _linked_score(pair, alignment)))


def _variety(words: Sequence[str]) -> float:
    """1 for all that people say; less if one word is said more than 16 times, or as few words as that for the length.

    Longer text repeats more words, about as the square root of its length. In 1.3 million sentence pairs of 34
    languages, no side has less than 1.
    """
    return min(1.0, _FEWEST * len(set(words)) / sqrt(len(words))) if words else 1.0


def _linked_score(pair: SentencePair, alignment: Alignment) -> float:
    if alignment.score is not None:
        return alignment.score
    if not alignment.links:
        return 0.0
    linked = len({link.source for link in alignment.links}) + len({link.target for link in alignment.links})
    coverage = linked / (len(pair.source) + len(pair.target))
    scores = [1.0 if link.score is None else link.score for link in alignment.links]
    return coverage * sum(scores) / len(scores)


def rows_as_they_came(path: FilePath) -> Iterator[bytes]:
    """The rows that `read_rows` finds, with their line ends, and with a byte order mark before the first.

    Units of TMX and XLIFF files have no lines of their own; they are JSON records, a line each. Rows of a table in
    UTF-16 are without their quotes, which nobody would take for such in UTF-8.
    """
    rows, lines = read_rows(path), read_whole_lines(path)
    first, line = next(rows, None), next(lines, None)
    if first is None or line is None:
        return
    rows = chain([first], rows)
    if isinstance(first, UnitRow):
        yield from (row + b"\n" for row in rows)
        return
    lines = chain([line], lines)
    for row in rows:
        count = row.lines if isinstance(row, TableRow) else row.count(b"\n") + 1
        came = b"".join(islice(lines, count))
        yield _without_quotes(came, row) if isinstance(row, TableRow) else came


def _without_quotes(came: bytes, row: TableRow) -> bytes:
    """A row with the mark before it and the line end after it that it came with."""
    mark = BOM_UTF8 if came.startswith(BOM_UTF8) else b""
    return mark + row + came[len(came.rstrip(b"\r\n")) :]


def column_separator(path: FilePath, format: PairFormat | str) -> str:
    """What is written between a score and its line, so that the file stays a table: a tab, but in CSV what it has."""
    text = next((text for row in read_rows(path) if (text := row.decode("utf-8", "replace")).strip()), "")
    reads_csv = format == PairFormat.CSV or (is_csv(path) and format == PairFormat.AUTO and recognised(text) is None)
    return csv_separator(text) if reads_csv else "\t"


def keep_above(scores: Iterable[float], threshold: float) -> Iterator[tuple[float, bool]]:
    """Yield each score, and whether it reaches the threshold."""
    for score in scores:
        yield score, score >= max(threshold, 0.0)


def keep_share(scores: Iterable[float], share: float) -> Iterator[tuple[float, bool]]:
    """Yield each score, and whether it is among the best `share` of all scores. The number is exact.

    All scores must be known before the first result. They are stored in a temporary file, and a histogram with 65,536
    steps finds the cut-off, so memory use does not grow with the corpus. Within the step at the cut-off, earlier lines
    win.
    """
    if not 0.0 <= share <= 1.0:
        raise SettingError(f"a share must be between 0 and 1, got {share}.")
    counts = array("q", bytes(8 * (_STEPS + 1)))
    with TemporaryFile() as file:
        for batch in _batches(scores):
            file.write(struct.pack(f"{len(batch)}d", *batch))
            for score in batch:
                if score >= 0.0:
                    counts[_step(score)] += 1
        border, left = _border(counts, round(share * sum(counts)))
        file.seek(0)
        while data := file.read(8 * _BATCH):
            for score in struct.unpack(f"{len(data) // 8}d", data):
                step = _step(score) if score >= 0.0 else -1
                on_border = step == border and left > 0
                left -= on_border
                yield score, step > border or on_border


def _step(score: float) -> int:
    return round(score * _STEPS)


def _border(counts: array[int], wanted: int) -> tuple[int, int]:
    """The lowest step of which something is kept, and how much of it."""
    for step in range(len(counts) - 1, -1, -1):
        if counts[step] >= wanted:
            return step, wanted
        wanted -= counts[step]
    return 0, wanted


def _batches(scores: Iterable[float]) -> Iterator[list[float]]:
    batch: list[float] = []
    for score in scores:
        batch.append(score)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
