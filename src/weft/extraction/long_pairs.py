"""Long pairs as many short ones: which stretches may belong together, and the links of those that do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace

from weft.arrays import IntArray
from weft.encoding.encoder import Encoded
from weft.encoding.subwords import Subwords, TokenizedPairs
from weft.encoding.transfer import to_host
from weft.extraction.pairing import StretchPair, StretchStates, best_way, likely_pairs
from weft.types import Alignment, Link


class _Pairing(NamedTuple):
    """How texts are paired.

    Attributes:
        slack: ways that gain so much less than the best by states alone are tried too, by their words' links.
        skip: what a stretch without a counterpart gains by states.
        skipped_words: what it gains by links.
        needed: how surely words must be linked on average.
        several: how much it counts that a pair has several stretches.
    """

    slack: float
    skip: float
    skipped_words: float
    needed: float
    several: float


# A translation, in which everything should have a counterpart, and texts of which either may lack sentences.
_CLOSELY = _Pairing(slack=20.0, skip=-8.0, skipped_words=-3.0, needed=0.25, several=0.0)
_LOOSELY = _Pairing(slack=40.0, skip=-1.0, skipped_words=0.0, needed=0.45, several=0.5)

Span = tuple[int, int, int, int]
"""Where a source and a target stretch begin and end among all subwords."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A pair of stretches, where they lie, the numbers of their first words, and the words of both sides.

    Only links of source words in `kept` count, where a piece reaches into its neighbours.
    """

    stretches: StretchPair
    span: Span
    first: tuple[int, int]
    n_words: int
    kept: range | None = None

    def links(self, found: Alignment) -> Iterator[Link]:
        """The links of this piece as links of the long pair."""
        source, target = self.first
        for link in found.links:
            if self.kept is None or link.source + source in self.kept:
                yield link._replace(source=link.source + source, target=link.target + target)

    def gain(self, found: Alignment, needed: float) -> float:
        """How surely words are linked, over all words, beyond what is needed on average."""
        best: dict[tuple[int, int], float] = {}
        for link in found.links:
            score = 1.0 if link.score is None else link.score
            for word in ((0, link.source), (1, link.target)):
                best[word] = max(score, best.get(word, 0.0))
        return sum(best.values()) - needed * self.n_words


@dataclass(frozen=True, slots=True)
class LongPair:
    """The pieces of a long pair that may belong together, and stretches that may have no counterpart."""

    pieces: list[Piece]
    skips: list[StretchPair]
    needed: float = _CLOSELY.needed
    several: float = _CLOSELY.several

    def chosen(self, found: Sequence[Alignment]) -> list[tuple[StretchPair, Alignment | None]]:
        """The way through both texts that links most words, with the links of each step; None for one side alone."""
        aligned = dict(zip((piece.stretches[:4] for piece in self.pieces), found, strict=True))
        gains = [
            piece.stretches._replace(gain=piece.gain(links, self.needed) + self.several * piece.stretches.shape_gain)
            for piece, links in zip(self.pieces, found, strict=True)
        ]
        return [(pair, aligned.get(pair[:4])) for pair in best_way([*gains, *self.skips])]

    def joined(self, found: Sequence[Alignment]) -> Alignment:
        """Links of the pieces that together link most words."""
        chosen = {pair[:4] for pair, _ in self.chosen(found)}
        links = (
            link
            for piece, links in zip(self.pieces, found, strict=True)
            if piece.kept is not None or piece.stretches[:4] in chosen
            for link in piece.links(links)
        )
        return Alignment.of(links)


@dataclass(frozen=True, slots=True)
class ShortPairs:
    """Pairs of which none is long, made from pairs of which some may have been.

    Attributes:
        subwords: their sentences.
        pairs: the numbers of each pair's two sentences, shape (pairs, 2).
    """

    subwords: Subwords
    pairs: IntArray
    _long: tuple[LongPair | None, ...] | None = None
    """For each pair that there was, its pieces if it was long; None if none of them was."""

    def whole(self, found: list[Alignment]) -> list[Alignment]:
        """Alignments of these pairs as those of the pairs that there were."""
        if self._long is None:
            return found
        rest = iter(found)
        return [next(rest) if pair is None else pair.joined([next(rest) for _ in pair.pieces]) for pair in self._long]


def shortened(lines: TokenizedPairs, encode_stretches: Callable[[Subwords], Encoded]) -> ShortPairs:
    """Replace long pairs by pairs of their stretches.

    Args:
        lines: pairs, with the stretches of those that are long.
        encode_stretches: the encoder's way to read the stretches of one text.
    """
    subwords, pairs, stretches = lines.subwords, lines.pairs, lines.stretches
    if stretches is None:
        return ShortPairs(subwords, pairs)
    spans: list[Span] = []
    long: list[LongPair | None] = []
    for (source, target), is_long in zip(pairs.tolist(), stretches.long.tolist(), strict=True):
        if is_long:
            sides = stretches.starts[source], stretches.starts[target]
            soft = stretches.soft[source] or stretches.soft[target]
            pair = (_overlapping if soft else alternatives)(subwords, sides, encode_stretches)
            long.append(pair)
            spans.extend(piece.span for piece in pair.pieces)
        else:
            long.append(None)
            spans.append((*subwords.starts[source : source + 2], *subwords.starts[target : target + 2]))
    edges = np.array(spans, dtype=np.int64).reshape(-1, 2)
    return ShortPairs(subwords.parts(edges[:, 0], edges[:, 1]), np.arange(len(edges)).reshape(-1, 2), tuple(long))


def alternatives(
    subwords: Subwords,
    starts: tuple[IntArray, IntArray],
    encode_stretches: Callable[[Subwords], Encoded],
    *,
    may_differ: bool = False,
) -> LongPair:
    """Sentences: several ways to pair them, from which their links will choose.

    Args:
        subwords: those of both texts.
        starts: where the sentences of each text begin among the subwords, and behind them where the last one ends.
        encode_stretches: the encoder's way to read the stretches of one text.
        may_differ: whether sentences of either text may well be missing in the other.
    """
    slack, skip, skipped_words, needed, several = _LOOSELY if may_differ else _CLOSELY
    found = likely_pairs(*(_states(subwords, side, encode_stretches) for side in starts), slack=slack, skip=skip)
    pieces = [_piece(subwords, pair, starts) for pair in found if not pair.is_skip]
    return LongPair(pieces, [pair._replace(gain=skipped_words) for pair in found if pair.is_skip], needed, several)


def _overlapping(
    subwords: Subwords, starts: tuple[IntArray, IntArray], encode_stretches: Callable[[Subwords], Encoded]
) -> LongPair:
    """Stretches that end anywhere: each pair of them together with its neighbours, as no pair is a translation."""
    found = best_way(
        likely_pairs(*(_states(subwords, side, encode_stretches) for side in starts), slack=0.0, skip=_CLOSELY.skip)
    )
    pairs = [pair for pair in found if not pair.is_skip]
    pieces = []
    for number, pair in enumerate(pairs):
        before, after = pairs[max(0, number - 1)], pairs[min(len(pairs), number + 2) - 1]
        around = StretchPair(before.source, after.source_end, before.target, after.target_end)
        kept_start = starts[0][pair.source if number else 0]
        kept_end = starts[0][pairs[number + 1].source if number + 1 < len(pairs) else -1]
        kept = range(subwords.words[kept_start], subwords.words[kept_end - 1] + 1)
        pieces.append(_piece(subwords, around, starts, kept))
    return LongPair(pieces, [])


def _states(subwords: Subwords, starts: IntArray, encode_stretches: Callable[[Subwords], Encoded]) -> StretchStates:
    encoded = encode_stretches(subwords.parts(starts[:-1], starts[1:]))
    xp = array_namespace(encoded.states)
    return StretchStates(to_host(xp.astype(encoded.states, xp.float32, copy=False))(), encoded.starts)


def _piece(
    subwords: Subwords, pair: StretchPair, starts: tuple[IntArray, IntArray], kept: range | None = None
) -> Piece:
    source, source_end = (int(starts[0][number]) for number in pair[0:2])
    target, target_end = (int(starts[1][number]) for number in pair[2:4])
    words = subwords.words
    first, last = (words[source], words[target]), (words[source_end - 1], words[target_end - 1])
    n_words = int(last[0] - first[0] + last[1] - first[1]) + 2
    return Piece(pair, (source, source_end, target, target_end), (int(first[0]), int(first[1])), n_words, kept)
