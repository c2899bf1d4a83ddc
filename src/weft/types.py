"""The values that travel through weft: sentence pairs, links, alignments and gold alignments."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

Words = tuple[str, ...]
WordPair = tuple[int, int]


class SentencePair(NamedTuple):
    """A sentence and its translation, both split into words.

    Like a link, this is a named tuple and not a dataclass, because there is one for each line of a corpus.
    """

    source: Words
    target: Words


class Link(NamedTuple):
    """One source word and the target word that it corresponds to. Both indices start at 0.

    This is a named tuple and not a dataclass, because corpora have billions of links, and tuples hash and compare in C.
    """

    source: int
    target: int
    score: float | None = None
    sure: bool = True

    @property
    def indices(self) -> WordPair:
        """The two word indices without the score."""
        return (self.source, self.target)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The links of one sentence pair, in order. Each word pair occurs once.

    `print(alignment)` prints the Pharaoh format, `len(alignment)` is the number of links, and iterating yields the
    links. In a notebook, an alignment is shown as a drawing.

    Attributes:
        links: the links, ordered by source and then by target index.
        score: how well the whole pair is linked, from 0 to 1.
        pair: the sentences, if they are known. Comparisons ignore it: alignments with the same links and score are
            equal.
        unknown: how many words of both sentences the model cannot read, if these are more than a third of the words of
            either sentence; otherwise 0. The link probabilities are then lowered by that share.
    """

    links: tuple[Link, ...] = ()
    score: float | None = None
    pair: SentencePair | None = field(default=None, compare=False, repr=False)
    unknown: int = field(default=0, compare=False, repr=False)

    @classmethod
    def of(cls, links: Iterable[Link], score: float | None = None) -> Alignment:
        """Sort links. If two links join the same words, a sure one wins, then the one with the higher score."""
        best: dict[WordPair, Link] = {}
        for link in links:
            known = best.get(link.indices)
            if known is None or _strength(link) > _strength(known):
                best[link.indices] = link
        return cls(tuple(best[words] for words in sorted(best)), score)

    @property
    def pairs(self) -> frozenset[WordPair]:
        """The linked word pairs as a set of index pairs."""
        return frozenset(link.indices for link in self.links)

    @property
    def word_pairs(self) -> tuple[tuple[str, str], ...]:
        """The linked words themselves, source and target, in the order of the links.

        Raises:
            ValueError: the alignment was read from a file of links and does not know its sentences. Use `with_pair`
                first.
        """
        if self.pair is None:
            raise ValueError("this alignment does not know its sentences; use alignment.with_pair(pair).word_pairs.")
        source, target = self.pair
        return tuple((source[link.source], target[link.target]) for link in self.links)

    def with_pair(self, pair: SentencePair) -> Alignment:
        """These links together with the sentences they belong to."""
        return Alignment(self.links, self.score, pair, self.unknown)

    def without_scores(self) -> Alignment:
        """The same links without scores, and without the score of the pair."""
        return replace(self, links=tuple(link._replace(score=None) for link in self.links), score=None)

    def at_least(self, score: float) -> Alignment:
        """The links with at least this score. Links without a score are kept."""
        kept = tuple(link for link in self.links if link.score is None or link.score >= score)
        return replace(self, links=kept)

    def swapped(self) -> Alignment:
        """This alignment with source and target swapped."""
        links = (link._replace(source=link.target, target=link.source) for link in self.links)
        turned = Alignment.of(links, self.score)
        return turned if self.pair is None else turned.with_pair(SentencePair(self.pair.target, self.pair.source))

    def __len__(self) -> int:
        return len(self.links)

    def __iter__(self) -> Iterator[Link]:
        return iter(self.links)

    def __str__(self) -> str:
        return " ".join([f"{link[0]}-{link[1]}" for link in self.links])

    def _repr_html_(self) -> str:
        if self.pair is None:
            return f"<code>{self}</code>"
        drawn: str = sys.modules["weft"]._drawn(self)
        return drawn


@dataclass(frozen=True, slots=True)
class GoldAlignment:
    """Links made by annotators. `possible` includes the sure links too, like P in the AER formula."""

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
        """The same gold with only its sure links."""
        return GoldAlignment(self.sure, self.sure)


def _strength(link: Link) -> tuple[bool, float]:
    return (link.sure, float("-inf") if link.score is None else link.score)
