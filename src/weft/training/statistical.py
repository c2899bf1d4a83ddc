"""Links of a statistical aligner, to begin with where the model cannot read a language yet.

Eflomal's sampler, as the library sil-thot (LGPL, installed by itself) has it; both directions are joined by grow-diag.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weft.errors import MissingExtraError, WeftError
from weft.extraction.symmetrize import symmetrize
from weft.text.files import write_whole
from weft.types import SentencePair, Words

logger = logging.getLogger(__name__)

# In small corpora inflected forms are too rare to be learned one by one.
_SMALL = 100_000
_STEM = 5


def statistical_links(pairs: Sequence[SentencePair]) -> Iterator[list[tuple[int, int]]]:
    """Align sentence pairs with each other's help, and nothing else.

    Args:
        pairs: all of them; those without words get no links.

    Returns:
        Links between words (source, target) for each pair.
    """
    stem = _STEM if len(pairs) < _SMALL else None
    sides = [
        [_forms(words, stem) for words in side] for side in zip(*((p.source, p.target) for p in pairs), strict=True)
    ]
    forward = _directed(sides[0], sides[1])
    backward = [{(i, j) for j, i in links} for links in _directed(sides[1], sides[0])]
    for there, back in zip(forward, backward, strict=True):
        yield sorted(symmetrize(there, back, "grow-diag"))


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


def write_links(pairs: Sequence[SentencePair], path: Path) -> None:
    """Align pairs and write their links line by line; the file appears when it is complete."""
    logger.info("aligning %d pairs statistically", len(pairs))
    lines = (" ".join(f"{i}-{j}" for i, j in links) for links in statistical_links(pairs))
    write_whole(path, "".join(f"{line}\n" for line in lines))
