"""The values that travel through weft: sentence pairs, links, alignments and gold alignments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

Words = tuple[str, ...]
WordPair = tuple[int, int]


class SentencePair(NamedTuple):
    """A sentence and its translation, both split into words.

    A named tuple and not a dataclass, as links are: there is one for each line of a corpus.
    """

    source: Words
    target: Words


class Link(NamedTuple):
    """One source word corresponds to one target word; both are counted from 0.

    A named tuple and not a dataclass: corpora hold billions of links, and tuples hash and compare in C.
    """

    source: int
    target: int
    score: float | None = None
    sure: bool = True

    @property
    def words(self) -> WordPair:
        """The two word indices without the score."""
        return (self.source, self.target)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The links of one sentence pair, in order and each word pair once; `score` rates the whole pair."""

    links: tuple[Link, ...] = ()
    score: float | None = None

    @classmethod
    def of(cls, links: Iterable[Link], score: float | None = None) -> Alignment:
        """Put links in order. Of two links between the same words a sure one wins, then the higher score."""
        best: dict[WordPair, Link] = {}
        for link in links:
            known = best.get(link.words)
            if known is None or _strength(link) > _strength(known):
                best[link.words] = link
        return cls(tuple(best[words] for words in sorted(best)), score)

    @property
    def pairs(self) -> frozenset[WordPair]:
        """The linked word pairs as a set of index pairs."""
        return frozenset(link.words for link in self.links)

    def swapped(self) -> Alignment:
        """The same alignment seen from the other side."""
        links = (link._replace(source=link.target, target=link.source) for link in self.links)
        return Alignment.of(links, self.score)


@dataclass(frozen=True, slots=True)
class GoldAlignment:
    """What annotators agreed on. `possible` holds the sure links too, as P does in the AER formula."""

    sure: frozenset[WordPair]
    possible: frozenset[WordPair]

    def __post_init__(self) -> None:
        if not self.sure <= self.possible:
            object.__setattr__(self, "possible", self.sure | self.possible)

    @classmethod
    def of(cls, links: Iterable[Link]) -> GoldAlignment:
        """Split links into sure and possible ones."""
        links = tuple(links)
        sure = frozenset([(link[0], link[1]) for link in links if link[3]])
        if len(sure) == len(links):
            return cls(sure, sure)
        return cls(sure, frozenset([(link[0], link[1]) for link in links]))

    def only_sure(self) -> GoldAlignment:
        """The same without its possible links."""
        return GoldAlignment(self.sure, self.sure)


def _strength(link: Link) -> tuple[bool, float]:
    return (link.sure, float("-inf") if link.score is None else link.score)
