"""How good a whole pair is, by its links and by how much of it the model can read."""

from __future__ import annotations

from dataclasses import replace

from weft.types import Alignment


def with_pair_score(alignment: Alignment, n_words: int) -> Alignment:
    """With a null, the score is known already: the pair's support.

    Without one it is the mean probability of the links times the share of words, on both sides, that have a link.
    """
    if alignment.score is not None:
        return alignment
    if not alignment.links:
        return replace(alignment, score=0.0)
    mean = sum(link.score or 0.0 for link in alignment.links) / len(alignment.links)
    linked = len({link.source for link in alignment.links}) + len({link.target for link in alignment.links})
    return replace(alignment, score=round(mean * (linked / n_words), 6))


def doubted(alignment: Alignment, unknown: int, share: float, *, lowered: bool) -> Alignment:
    """Links to a sentence of which a large share of the words is unknown: probabilities are lowered by that share."""
    links, score = alignment.links, alignment.score
    if lowered:
        known = 1 - share
        links = tuple(link._replace(score=round(known * (link.score or 0.0), 6)) for link in links)
        score = None if score is None else round(known * score, 6)
    return replace(alignment, links=links, score=score, unknown=unknown)
