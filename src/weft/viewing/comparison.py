"""What is looked at: sentence pairs with the links of one or two systems, and gold where there is some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from weft.scoring.corpus import CorpusScore, score
from weft.types import Alignment, GoldAlignment, SentencePair, WordPair


class Kind(StrEnum):
    """What a link is to the one who looks: who found it, and what the gold says."""

    LINK = "link"
    POSSIBLE = "possible"
    HIT = "hit"
    WRONG = "wrong"
    BOTH = "both"
    ONLY_A = "a"
    ONLY_B = "b"
    MISSED = "missed"


_MEANINGS = {
    Kind.LINK: "linked",
    Kind.POSSIBLE: "possible link",
    Kind.HIT: "right",
    Kind.WRONG: "not in the gold",
    Kind.BOTH: "found by both",
    Kind.MISSED: "gold, missed",
}


def named(kind: Kind, systems: Sequence[str]) -> str:
    """What a kind of link is called in a legend.

    Args:
        kind: the kind.
        systems: what the systems are called.
    """
    if kind in (Kind.ONLY_A, Kind.ONLY_B):
        number = kind is Kind.ONLY_B
        return f"only {systems[number] if number < len(systems) else 'AB'[number]}"
    return _MEANINGS[kind]


@dataclass(frozen=True, slots=True)
class Mark:
    """One cell of a pair's matrix that somebody linked. `kind` is None for a possible gold link nobody took."""

    source: int
    target: int
    kind: Kind | None
    scores: tuple[float | None, ...]
    found: tuple[bool, ...]
    gold: str | None

    @property
    def strength(self) -> float:
        """How strongly it is drawn: the highest score, or 1 where there is none."""
        known = [score for score in self.scores if score is not None]
        return max(0.0, min(1.0, max(known))) if known else 1.0


@dataclass(frozen=True, slots=True)
class ViewedPair:
    """A sentence pair with everything that is known about its links."""

    number: int
    pair: SentencePair
    systems: tuple[Alignment, ...] = ()
    gold: GoldAlignment | None = None
    similarities: tuple[npt.NDArray[np.float32], ...] = ()

    def marks(self) -> list[Mark]:
        """All cells that a system or the gold links, in order."""
        links = [{link.indices: link for link in system.links} for system in self.systems]
        cells: set[WordPair] = set().union(*links, self.gold.possible if self.gold else ())
        return [self._mark(cell, [system.get(cell) for system in links]) for cell in sorted(cells)]

    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of links that a legend must tell apart; none where there is but one."""
        if len(self.systems) > 1:
            return (Kind.BOTH, Kind.ONLY_A, Kind.ONLY_B, *((Kind.MISSED,) if self.gold else ()))
        if self.systems and self.gold:
            return (Kind.HIT, Kind.WRONG, Kind.MISSED)
        return ()

    def _mark(self, cell: WordPair, links: Sequence[object]) -> Mark:
        found = tuple(link is not None for link in links)
        scores = tuple(getattr(link, "score", None) for link in links)
        gold = None
        if self.gold and cell in self.gold.possible:
            gold = "sure" if cell in self.gold.sure else "possible"
        sure = all(getattr(link, "sure", True) for link in links)
        return Mark(*cell, _kind(found, gold, self.gold is not None, sure), scores, found, gold)


def _kind(found: Sequence[bool], gold: str | None, with_gold: bool, sure: bool) -> Kind | None:
    if not any(found):
        return Kind.MISSED if gold == "sure" else None
    if len(found) > 1:
        return Kind.BOTH if all(found) else Kind.ONLY_A if found[0] else Kind.ONLY_B
    if with_gold:
        return Kind.HIT if gold else Kind.WRONG
    return Kind.LINK if sure else Kind.POSSIBLE


@dataclass(frozen=True, slots=True)
class Comparison:
    """Pairs and the names of what is compared on them."""

    pairs: Sequence[ViewedPair]
    systems: tuple[str, ...] = ()
    gold: str | None = None
    models: tuple[str, ...] = ()
    cut: bool = False  # there were more pairs than are shown

    def scores(self) -> Iterator[CorpusScore]:
        """Each system's score against the gold."""
        for number, name in enumerate(self.systems):
            yield score(
                [viewed.gold for viewed in self.pairs if viewed.gold],
                [viewed.systems[number] for viewed in self.pairs if viewed.gold],
                name=name,
            )
