"""Two directional link sets to one: the heuristics of Och & Ney (2003) and Koehn et al. (2003)."""

from __future__ import annotations

from collections.abc import Iterable, Set
from enum import StrEnum
from heapq import heapify, heappop, heappush

from weft.errors import chosen
from weft.types import Alignment, Link, WordPair

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


class Symmetrization(StrEnum):
    """How the source-to-target and the target-to-source links are combined into one set."""

    INTERSECTION = "intersection"
    UNION = "union"
    FORWARD = "forward"
    BACKWARD = "backward"
    GROW_DIAG = "grow-diag"
    GROW_DIAG_FINAL = "grow-diag-final"
    GROW_DIAG_FINAL_AND = "grow-diag-final-and"


def symmetrize(forward: Set[WordPair], backward: Set[WordPair], method: Symmetrization | str) -> set[WordPair]:
    """Combine two sets of (source, target) pairs."""
    method = chosen("method", Symmetrization, method)
    if method is Symmetrization.INTERSECTION:
        return set(forward & backward)
    if method is Symmetrization.UNION:
        return set(forward | backward)
    if method is Symmetrization.FORWARD:
        return set(forward)
    if method is Symmetrization.BACKWARD:
        return set(backward)
    growing = _Growing(forward & backward)
    growing.grow(forward | backward)
    if method is not Symmetrization.GROW_DIAG:
        both_free = method is Symmetrization.GROW_DIAG_FINAL_AND
        growing.finish(forward, both_free=both_free)
        growing.finish(backward, both_free=both_free)
    return growing.links


class _Growing:
    """A growing set of links that knows which words are linked already."""

    def __init__(self, links: Iterable[WordPair]) -> None:
        self.links: set[WordPair] = set()
        self._sources: set[int] = set()
        self._targets: set[int] = set()
        for link in links:
            self._add(link)

    def _add(self, link: WordPair) -> None:
        self.links.add(link)
        self._sources.add(link[0])
        self._targets.add(link[1])

    def grow(self, candidates: Set[WordPair]) -> None:
        """Add candidates next to a link, diagonals included, that link a word without links so far.

        Links are visited from left to right and top to bottom, again and again until nothing is added. A link added
        behind the current position is visited in this round, one before it in the next.
        """
        grown = True
        while grown:
            grown = False
            to_visit = list(self.links)
            heapify(to_visit)
            while to_visit:
                here = heappop(to_visit)
                for step_source, step_target in _NEIGHBOURS:
                    neighbour = (here[0] + step_source, here[1] + step_target)
                    if neighbour in candidates and self._is_new(neighbour, both_free=False):
                        self._add(neighbour)
                        grown = True
                        if neighbour > here:
                            heappush(to_visit, neighbour)

    def finish(self, candidates: Set[WordPair], *, both_free: bool) -> None:
        """Add the candidates that link a word without links so far, or two of them if `both_free`."""
        for link in sorted(candidates):
            if self._is_new(link, both_free=both_free):
                self._add(link)

    def _is_new(self, link: WordPair, *, both_free: bool) -> bool:
        free = (link[0] not in self._sources, link[1] not in self._targets)
        return all(free) if both_free else any(free)


def symmetrize_alignments(forward: Alignment, backward: Alignment, method: Symmetrization | str) -> Alignment:
    """Combine two alignments; a link found in both directions carries the mean of its scores."""
    scores: dict[WordPair, list[float]] = {}
    for link in (*forward.links, *backward.links):
        if link.score is not None:
            scores.setdefault(link.indices, []).append(link.score)
    kept = sorted(symmetrize(forward.pairs, backward.pairs, method))
    return Alignment(tuple(Link(*indices, _mean(scores.get(indices))) for indices in kept))


def _mean(scores: list[float] | None) -> float | None:
    return sum(scores) / len(scores) if scores else None
