"""Links of a statistical aligner, to begin with where the model cannot read a language yet.

Eflomal's sampler, as the library sil-thot (LGPL, installed by itself) has it; both directions are joined by grow-diag.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from weft.errors import MissingExtraError, WeftError
from weft.extraction.symmetrize import symmetrize
from weft.text.files import write_whole
from weft.types import SentencePair, WordPair, Words

logger = logging.getLogger(__name__)

# In small corpora inflected forms are too rare to be learned one by one.
_SMALL = 100_000
_STEM = 5


class StatisticalLinks(NamedTuple):
    """Links between words (source, target): those of both directions grown along the diagonals, and all others."""

    grown: list[WordPair]
    others: list[WordPair]


def statistical_links(pairs: Sequence[SentencePair]) -> Iterator[StatisticalLinks]:
    """Align sentence pairs with each other's help, and nothing else.

    Args:
        pairs: all of them; those without words get no links.

    Returns:
        The links of each pair.
    """
    for there, back in both_directions(pairs):
        grown = symmetrize(there, back, "grow-diag")
        yield StatisticalLinks(sorted(grown), sorted((there | back) - grown))


def both_directions(pairs: Sequence[SentencePair]) -> Iterator[tuple[set[WordPair], set[WordPair]]]:
    """Each pair's links of one direction and of the other, both as (source, target)."""
    stem = _STEM if len(pairs) < _SMALL else None
    sides = [
        [_forms(words, stem) for words in side] for side in zip(*((p.source, p.target) for p in pairs), strict=True)
    ]
    with ThreadPoolExecutor(2) as threads:  # the library works without Python's lock
        forward, backward = threads.map(_directed, sides, reversed(sides))
    for there, turned in zip(forward, backward, strict=True):
        yield there, {(i, j) for j, i in turned}


def _forms(words: Words, stem: int | None) -> list[str]:
    return [word.lower()[:stem] for word in words]


def _directed(source: Sequence[list[str]], target: Sequence[list[str]]) -> list[set[tuple[int, int]]]:
    """Each target word's source word, as links (source, target)."""
    model = _aligner()
    model.emit_training_alignments = True
    model.deterministic = True
    there = [bool(x and y) for x, y in zip(source, target, strict=True)]
    if not any(there):
        raise WeftError("there is no sentence pair to align.")
    for x, y, is_pair in zip(source, target, there, strict=True):
        if is_pair:
            model.add_sentence_pair(x, y, 1)
    model.start_training()
    for _ in range(model.scheduled_iterations):
        model.train()
    model.end_training()
    found = iter(range(model.num_training_alignments))
    return [_links(model.get_training_alignment(next(found))[1]) if is_pair else set() for is_pair in there]


def _links(matrix: Any) -> set[tuple[int, int]]:
    rows, columns = matrix.to_numpy().nonzero()
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def _aligner() -> Any:
    try:
        from thot.alignment import EflomalAlignmentModel
    except ImportError as error:
        raise MissingExtraError("guide", "A statistical guide") from error
    return EflomalAlignmentModel()


def write_links(pairs: Sequence[SentencePair], path: Path, *, share: float = 1.0) -> None:
    """Align pairs and write their links line by line; the file appears when it is complete.

    A link that only one direction has is a possible one: it may be right, and should not be punished.

    Args:
        pairs: all of them; they help to align each other.
        path: the file to write.
        share: of how many pairs links are written, evenly spread. The others get a blank line.
    """
    logger.info("aligning %d pairs statistically", len(pairs))
    lines = (
        _line(links) if int((number + 1) * share) > int(number * share) else ""
        for number, links in enumerate(statistical_links(pairs))
    )
    write_whole(path, "".join(f"{line}\n" for line in lines))


def _line(links: StatisticalLinks) -> str:
    return " ".join([*(f"{i}-{j}" for i, j in links.grown), *(f"{i}p{j}" for i, j in links.others)])
