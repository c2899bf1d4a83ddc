"""Files of pairs, links and gold to what is looked at."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, repeat
from os.path import basename

from weft.aligner import Aligner
from weft.errors import FormatError
from weft.scoring.base import detect_base
from weft.scoring.corpus import check_range
from weft.text.lines import OnError, Path, decode, display_name, read_lines, read_together, read_two_together
from weft.text.links import NumberedLinks, read_numbered_links
from weft.text.pairs import PairFormat, parse_json_object, read_pairs
from weft.types import Alignment, GoldAlignment
from weft.viewing.comparison import Comparison, ViewedPair

logger = logging.getLogger(__name__)


def read_comparison(
    path: Path,
    target: Path | None,
    links: Sequence[Path],
    gold: Path | None,
    *,
    lines: range,
    format: PairFormat = PairFormat.AUTO,
    gold_base: int | None = None,
    system_base: int = 0,
    on_error: OnError,
) -> Comparison:
    """Read pairs with the links of each system and the gold, line by line together.

    Args:
        path: the pairs, or the source side; a file that can be read twice if gold is given.
        target: the target side, if it is a file of its own.
        links: one file a system.
        gold: gold links; with `gold_base` None it is found out whether they count from 0 or 1.
        lines: which lines to take, counted from 0.
        format: the format of `path`.
        gold_base: number of the first word in `gold`.
        system_base: number of the first word in `links`.
        on_error: gets the lines that hold no pair; they are left out.
    """
    if gold is not None and gold_base is None:
        sentences = read_pairs(path, target, format=format, on_error=lambda error: None)
        detected = detect_base(gold, sentences)
        gold_base = detected.number
        if detected.reason:
            name = display_name(gold)
            logger.warning("%s is read as counting words from %d: %s.", name, gold_base, detected.reason)
    files = [*links, *([gold] if gold is not None else [])]
    bases = [system_base] * len(links) + [gold_base or 0] * (gold is not None)
    pairs = read_pairs(path, target, format=format, on_error=on_error)
    rows = _rows(files, bases)
    if files:
        together = read_two_together((display_name(path), display_name(files[0])), pairs, rows)
    else:
        together = zip(pairs, rows, strict=False)
    viewed = []
    numbered_rows = enumerate(together, start=1)
    for number, (pair, row) in islice(numbered_rows, lines.start, lines.stop):
        for file, base, numbered in zip(files, bases, row, strict=True):
            check_range(file, numbered.line, numbered.links, pair, base=base)
        if pair.source and pair.target:
            systems = tuple(Alignment.of(found.links, found.score) for found in row[: len(links)])
            truth = GoldAlignment.of(row[-1].links) if gold is not None else None
            viewed.append(ViewedPair(number, pair, systems, truth))
    cut = next(numbered_rows, None) is not None
    return Comparison(viewed, names_of(links), names_of([gold])[0] if gold is not None else None, cut=cut)


def _rows(files: Sequence[Path], bases: Sequence[int]) -> Iterator[tuple[NumberedLinks, ...]]:
    if not files:
        return repeat(())
    readers = [read_numbered_links(file, base=base) for file, base in zip(files, bases, strict=True)]
    return read_together([display_name(file) for file in files], readers)


def names_of(paths: Sequence[Path], endings: Sequence[str] | None = None) -> tuple[str, ...]:
    """What files or models are called on a page: without their folders where that tells them apart."""
    full = [display_name(path).rstrip("/") for path in paths]
    short = [basename(name) or name for name in full]
    for names in (short, full):
        ended = tuple(name + ending for name, ending in zip(names, endings or [""] * len(names), strict=True))
        if len(set(ended)) == len(ended):
            break
    return ended


def holds_links(path: Path) -> bool:
    """Whether a file's records carry links already, as those of `weft align --output-format jsonl` do."""
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            try:
                return "links" in parse_json_object(decode(line, path, number))
            except (ValueError, FormatError):
                return False
    return False


def with_model(comparison: Comparison, aligner: Aligner, name: str) -> Comparison:
    """The same pairs with links of a model."""
    alignments = aligner.align_batch([viewed.pair for viewed in comparison.pairs])
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
