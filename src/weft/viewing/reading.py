"""Files of pairs, links and gold to what is looked at."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, repeat
from os.path import basename

from weft.aligner import Aligner
from weft.errors import FormatError
from weft.models.languages import unknown_words_remark
from weft.text.gold import GoldFile, check_range
from weft.text.json_objects import parse_json_object
from weft.text.lines import (
    FilePath,
    OnError,
    decode,
    display_name,
    first_lines,
    read_lines,
    read_together,
    read_two_together,
)
from weft.text.links import NumberedLinks, links_of_record, read_numbered_links
from weft.text.pairs import NOTHING, PairReader, split_words
from weft.text.rows import read_rows
from weft.types import Alignment, GoldAlignment, SentencePair
from weft.viewing.comparison import Comparison, ViewedPair

logger = logging.getLogger(__name__)

_LINKS = re.compile(rb"\s*\d+[-p]\d+(:\S+)?(\s+\d+[-p]\d+(:\S+)?)*\s*")


def read_comparison(
    path: FilePath,
    target: FilePath | None,
    links: Sequence[FilePath],
    gold: FilePath | None,
    *,
    lines: range,
    reader: PairReader = PairReader(),  # noqa: B008 - it is frozen
    gold_base: int | None = None,
    system_base: int = 0,
    on_error: OnError,
) -> Comparison:
    """Read pairs with the links of each system and the gold, line by line together.

    Args:
        path: the pairs, or the source side.
        target: the target side, if it is a file of its own.
        links: one file a system.
        gold: gold links; with `gold_base` None it is found out whether they count from 0 or 1.
        lines: which lines to take, counted from 0.
        reader: how `path` is read.
        gold_base: number of the first word in `gold`.
        system_base: number of the first word in `links`.
        on_error: gets the lines that hold no pair; they are left out.
    """
    pairs = reader.pairs(path, target, on_error=on_error)
    rows = _with_gold(pairs, gold, gold_base, display_name(path))
    together = _with_systems(rows, links, system_base, display_name(path))
    option = "base" if len(links) == 1 else ""  # of several files, one may count from 0
    viewed = []
    numbered_rows = enumerate(together, start=1)
    for number, ((pair, truth), row) in islice(numbered_rows, lines.start, lines.stop):
        if pair.source and pair.target:
            for file, numbered in zip(links, row, strict=True):
                check_range(file, numbered.line, numbered.links, pair, base=system_base, option=option)
            systems = tuple(Alignment.of(found.links, found.score) for found in row)
            viewed.append(ViewedPair(number, pair, systems, truth))
    cut = next(numbered_rows, None) is not None
    return Comparison(viewed, names_of(links), names_of([gold])[0] if gold is not None else None, cut=cut)


_Row = tuple[SentencePair, GoldAlignment | None]


def _with_gold(pairs: Iterator[SentencePair], gold: FilePath | None, base: int | None, name: str) -> Iterator[_Row]:
    if gold is None:
        return zip(pairs, repeat(None), strict=False)
    rows = GoldFile(gold, pairs, base=base, pairs_name=name, skip_unread=True, option="gold_base")
    return ((row.pair or NOTHING, row.gold) for row in rows)


def _with_systems(
    rows: Iterator[_Row], links: Sequence[FilePath], base: int, name: str
) -> Iterator[tuple[_Row, tuple[NumberedLinks, ...]]]:
    if not links:
        return zip(rows, repeat(()), strict=False)
    names = [display_name(file) for file in links]
    found = read_together(names, [read_numbered_links(file, base=base) for file in links])
    return read_two_together((name, names[0]), rows, found)


def names_of(paths: Sequence[FilePath], endings: Sequence[str] | None = None) -> tuple[str, ...]:
    """What files or models are called on a page: without their folders where that tells them apart."""
    full = [display_name(path).rstrip("/") for path in paths]
    short = [basename(name) or name for name in full]
    for names in (short, full):
        ended = tuple(name + ending for name, ending in zip(names, endings or [""] * len(names), strict=True))
        if len(set(ended)) == len(ended):
            break
    return ended


def holds_links(path: FilePath) -> bool:
    """Whether a file's records carry links already, as those of `weft align --output-format jsonl` do.

    A field `links` that holds something else is passed over, but not in silence.
    """
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            try:
                record = parse_json_object(decode(line, path, number))
            except (ValueError, FormatError):
                return False
            return "links" in record and _are_links(record, path)
    return False


def _are_links(record: dict[str, object], path: FilePath) -> bool:
    try:
        links_of_record(record)
    except ValueError:
        logger.warning(
            '%s: the field "links" does not contain links as weft writes them, so a model aligns the pairs.',
            display_name(path),
        )
        return False
    return True


def holds_pairs(path: FilePath, reader: PairReader) -> bool:
    """Whether the first line with words is a sentence pair, and not one side of two parallel files."""
    plain = replace(reader, split=(split_words, split_words), again=True)  # doubts come when it is read in earnest
    for number, line in enumerate(read_rows(path)):
        if line.strip():
            # The first line may hold the names of columns.
            first = islice(plain.pairs(path, on_error=lambda error: None), number, number + 2)
            return any(pair != NOTHING for pair in first)
    return True


def looks_like_links(path: FilePath) -> bool:
    """Whether the first lines of a file are links, as in `0-0 1p2`, and not sentences."""
    lines = first_lines(path)
    return bool(lines) and all(map(_LINKS.fullmatch, lines))


def with_model(comparison: Comparison, aligner: Aligner, name: str) -> Comparison:
    """The same pairs with links of a model."""
    alignments = aligner.align_batch([viewed.pair for viewed in comparison.pairs])
    if unknown := sum(alignment.unknown > 0 for alignment in alignments):
        logger.warning("%s", unknown_words_remark(unknown, aligner.languages))
    pairs = [
        replace(viewed, systems=(*viewed.systems, alignment))
        for viewed, alignment in zip(comparison.pairs, alignments, strict=True)
    ]
    return replace(comparison, pairs=pairs, systems=(*comparison.systems, name))


def with_similarities(comparison: Comparison, aligners: Sequence[Aligner], names: Sequence[str]) -> Comparison:
    """The same pairs with the cosine similarities that each model sees in them."""
    pairs = [
        replace(
            viewed,
            similarities=tuple(aligner.similarity(viewed.pair.source, viewed.pair.target) for aligner in aligners),
        )
        for viewed in comparison.pairs
    ]
    return replace(comparison, pairs=pairs, models=tuple(names))
