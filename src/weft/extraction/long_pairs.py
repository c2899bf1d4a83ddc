"""Long pairs as many short ones: which stretches may belong together, and the links of those that do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from weft.arrays import IntArray, array_namespace
from weft.encoding.encoder import Encoded
from weft.encoding.subwords import Subwords, TokenizedPairs, unknown_words
from weft.encoding.transfer import to_host
from weft.extraction.pair_evidence import WEIGHTS, Weights, gain, pair_evidence, skip_evidence
from weft.extraction.pairing import StretchPair, best_way, likeliest_way, likely_pairs
from weft.extraction.sounds import Sounds
from weft.extraction.stretch_states import StretchStates
from weft.types import Alignment, Link


class _Pairing(NamedTuple):
    """How readily stretches are left without a counterpart.

    Attributes:
        slack: ways that gain so much less than the best by states alone are tried too, by their words' links.
        skip: what a stretch without a counterpart gains by states.
        most: how many pairs are tried for each stretch of texts that repeat themselves. Others have far fewer.
        weights: what counts for a pair, and for a stretch without a counterpart, by links.
    """

    slack: float
    skip: float
    most: int
    weights: Weights


# A translation, in which everything should have a counterpart, and texts of which either may lack sentences.
_CLOSELY = _Pairing(slack=5.0, skip=-4.0, most=3, weights=WEIGHTS._replace(skip=WEIGHTS.skip - 3.0))
_LOOSELY = _Pairing(slack=7.0, skip=0.0, most=24, weights=WEIGHTS)

Span = tuple[int, int, int, int]
"""Where a source and a target stretch begin and end among all subwords."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A pair of stretches, where they lie, and the numbers of their first words.

    `edges` has, for either side, where its stretches begin among the words of the piece, and behind them their number.
    Only links of source words in `kept` count, where a piece reaches into its neighbours.
    """

    stretches: StretchPair
    span: Span
    first: tuple[int, int]
    edges: tuple[tuple[int, ...], tuple[int, ...]]
    kept: range | None = None

    @property
    def n_words(self) -> int:
        """The words of both sides."""
        return self.edges[0][-1] + self.edges[1][-1]

    def links(self, found: Alignment) -> Iterator[Link]:
        """The links of this piece as links of the long pair."""
        source, target = self.first
        for link in found.links:
            if self.kept is None or link.source + source in self.kept:
                yield link._replace(source=link.source + source, target=link.target + target)


@dataclass(frozen=True, slots=True)
class LongPair:
    """The pieces of a long pair that may belong together, and stretches that may have no counterpart.

    `n_words` are those of both sides. `weights` say what counts for a pair, `sounds` which stretches sound alike.
    `marks` are the numbers of words without a letter or digit: their links with other words are no evidence.
    """

    pieces: list[Piece]
    skips: list[tuple[StretchPair, Weights]]
    n_words: int
    weights: Weights = _CLOSELY.weights
    sounds: Sounds | None = None
    marks: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())

    def evidence(self, found: Sequence[Alignment]) -> list[tuple[StretchPair, Weights]]:
        """What the links of each piece say for it, and what speaks for stretches without a counterpart."""
        pieces = zip(self.pieces, found, strict=True)
        return [*((piece.stretches, self._of_piece(piece, links)) for piece, links in pieces), *self.skips]

    def _of_piece(self, piece: Piece, links: Alignment) -> Weights:
        if any(self.marks):
            links = replace(links, links=tuple(link for link in links.links if self._is_evidence(piece, link)))
        evidence = pair_evidence(links, piece.edges)
        if self.sounds is None:
            return evidence
        source, source_end, target, target_end, _ = piece.stretches
        alike, unheard = self.sounds.evidence(slice(source, source_end), slice(target, target_end))
        return evidence._replace(alike=alike, unheard=unheard)

    def _is_evidence(self, piece: Piece, link: Link) -> bool:
        ours, theirs = (first + place for first, place in zip(piece.first, link[:2], strict=True))
        return (ours in self.marks[0]) == (theirs in self.marks[1])

    def chosen(self, found: Sequence[Alignment]) -> list[tuple[StretchPair, Alignment | None]]:
        """The likeliest way through both texts by links, with those of each step; None for one side alone."""
        aligned = dict(zip((piece.stretches[:4] for piece in self.pieces), found, strict=True))
        pairs = [pair._replace(gain=gain(evidence, self.weights)) for pair, evidence in self.evidence(found)]
        return [(pair, aligned.get(pair[:4])) for pair in likeliest_way(pairs)]

    def joined(self, found: Sequence[Alignment]) -> Alignment:
        """Links of the pieces that belong together."""
        pieces = list(zip(self.pieces, found, strict=True))
        if any(piece.kept is None for piece in self.pieces):
            chosen = {pair[:4] for pair, _ in self.chosen(found)}
            pieces = [(piece, links) for piece, links in pieces if piece.stretches[:4] in chosen]
        return Alignment.of((link for piece, links in pieces for link in piece.links(links)), self._score(pieces))

    def _score(self, pieces: Sequence[tuple[Piece, Alignment]]) -> float | None:
        """The mean score of the pieces, by words; what was skipped counts as 0."""
        scores = [(piece.n_words, links.score) for piece, links in pieces]
        if any(score is None for _, score in scores):
            return None
        words = max(self.n_words, sum(n_words for n_words, _ in scores))
        return round(sum(n_words * (score or 0.0) for n_words, score in scores) / words, 6) if words else 0.0


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
    first_words: list[tuple[int, int]] = []
    long: list[LongPair | None] = []
    for (source, target), is_long in zip(pairs.tolist(), stretches.long.tolist(), strict=True):
        if is_long:
            sides = stretches.starts[source], stretches.starts[target]
            soft = stretches.soft[source] or stretches.soft[target]
            pair = (_overlapping if soft else alternatives)(subwords, sides, encode_stretches)
            long.append(pair)
            spans.extend(piece.span for piece in pair.pieces)
            first_words.extend(piece.first for piece in pair.pieces)
        else:
            long.append(None)
            first_words.append((0, 0))  # which may be a blank one, without subwords
            spans.append((*subwords.starts[source : source + 2], *subwords.starts[target : target + 2]))
    edges = np.array(spans, dtype=np.int64).reshape(-1, 2)
    parts = subwords.parts(edges[:, 0], edges[:, 1], np.array(first_words, dtype=np.int64).reshape(-1))
    cut = np.repeat([pair is not None for pair in long], [2 if pair is None else 2 * len(pair.pieces) for pair in long])
    return ShortPairs(replace(parts, pieces=cut), np.arange(len(edges)).reshape(-1, 2), tuple(long))


def pairs_of(pieces: Sequence[Piece], subwords: Subwords, unknown: int | None) -> TokenizedPairs:
    """Pieces as pairs of their own.

    Args:
        pieces: any of those of a long pair.
        subwords: those of the long pair.
        unknown: the id that stands for what the vocabulary lacks.
    """
    edges = np.array([piece.span for piece in pieces], dtype=np.int64).reshape(-1, 2)
    parts, pairs = subwords.parts(edges[:, 0], edges[:, 1]), np.arange(len(edges)).reshape(-1, 2)
    return TokenizedPairs(parts, pairs, np.ones(len(pairs), dtype=np.bool_), unknown_words(parts, unknown)[pairs])


def alternatives(
    subwords: Subwords,
    starts: tuple[IntArray, IntArray],
    encode_stretches: Callable[[Subwords], Encoded],
    *,
    may_differ: bool = False,
    sounds: Sounds | None = None,
) -> LongPair:
    """Sentences: several ways to pair them, from which their links will choose.

    Args:
        subwords: those of both texts.
        starts: where the sentences of each text begin among the subwords, and behind them where the last one ends.
        encode_stretches: the encoder's way to read the stretches of one text.
        may_differ: whether sentences of either text may well be missing in the other.
        sounds: which sentences sound alike, if that is known.
    """
    pairing = _LOOSELY if may_differ else _CLOSELY
    states = (_states(subwords, side, encode_stretches) for side in starts)
    found = likely_pairs(*states, slack=pairing.slack, skip=pairing.skip, most=pairing.most, sounds=sounds)
    pieces = [_piece(subwords, pair, starts) for pair in found if not pair.is_skip]
    skips = [(pair, skip_evidence(_n_subwords(pair, starts))) for pair in found if pair.is_skip]
    return LongPair(pieces, skips, _n_words(subwords, starts), pairing.weights, sounds)


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
    return LongPair(pieces, [], _n_words(subwords, starts))


def _n_words(subwords: Subwords, starts: tuple[IntArray, IntArray]) -> int:
    """The words of both sides that have subwords, which blank ones have not."""
    words = subwords.words
    return sum(int(np.count_nonzero(np.diff(words[side[0] : side[-1]], prepend=-1))) for side in starts)


def _n_subwords(pair: StretchPair, starts: tuple[IntArray, IntArray]) -> int:
    source, target = starts
    return int(source[pair.source_end] - source[pair.source] + target[pair.target_end] - target[pair.target])


def _states(subwords: Subwords, starts: IntArray, encode_stretches: Callable[[Subwords], Encoded]) -> StretchStates:
    encoded = encode_stretches(subwords.parts(starts[:-1], starts[1:]))
    xp = array_namespace(encoded.states)
    return StretchStates(to_host(xp.astype(encoded.states, xp.float32, copy=False))(), encoded.starts)


def _piece(
    subwords: Subwords, pair: StretchPair, starts: tuple[IntArray, IntArray], kept: range | None = None
) -> Piece:
    bounds = starts[0][pair.source : pair.source_end + 1], starts[1][pair.target : pair.target_end + 1]
    span = (int(bounds[0][0]), int(bounds[0][-1]), int(bounds[1][0]), int(bounds[1][-1]))
    first, edges = zip(*(_word_edges(subwords.words, side) for side in bounds), strict=True)
    return Piece(pair, span, first, edges, kept)


def _word_edges(words: IntArray, starts: IntArray) -> tuple[int, tuple[int, ...]]:
    """The number of the first word of some stretches, and where they begin, counted from it, and end."""
    first = int(words[starts[0]])
    return first, (*(words[starts[:-1]] - first).tolist(), int(words[starts[-1] - 1]) - first + 1)
