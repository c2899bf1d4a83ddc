"""Training pairs to padded rows: one sentence or two in each, masking, and links between subwords.

Whatever is random in a step comes from (seed, step) and is drawn for the whole batch, before it is cut into pieces or
spread over processes: a resumed run, or one on more devices, sees the same masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.arrays import BoolArray, IntArray
from weft.encoding.batches import token_batches
from weft.encoding.subwords import Tokenizer
from weft.training.packed import TrainingPair

# CUDA attention takes at most 65,535 rows, and a piece has up to two rows a pair.
_MOST_PAIRS = 1 << 14


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What masking needs: the mask token, and how many tokens there are to choose random ones from."""

    mask: int
    size: int


@dataclass(slots=True)
class Rows:
    """Padded rows, all (r, l): ids, attention mask, which hold subwords of a sentence, and places in the sentence."""

    ids: IntArray
    attention: BoolArray
    inside: BoolArray
    positions: IntArray


def single_rows(sentences: Sequence[IntArray], tokenizer: Tokenizer) -> Rows:
    """One sentence a row, between its special tokens."""
    return _rows([[sentence] for sentence in sentences], tokenizer)


def joint_rows(first: Sequence[IntArray], second: Sequence[IntArray], tokenizer: Tokenizer) -> Rows:
    """Two sentences a row, [x; y], each between its special tokens."""
    return _rows([[x, y] for x, y in zip(first, second, strict=True)], tokenizer)


def _rows(rows: list[list[IntArray]], tokenizer: Tokenizer) -> Rows:
    before, after = len(tokenizer.prefix), len(tokenizer.suffix)
    longest = max(sum(len(part) + before + after for part in row) for row in rows)
    ids = np.full((len(rows), longest), tokenizer.pad, dtype=np.int64)
    attention = np.zeros((len(rows), longest), dtype=bool)
    inside = np.zeros((len(rows), longest), dtype=bool)
    positions = np.zeros((len(rows), longest), dtype=np.int64)
    for number, row in enumerate(rows):
        place = 0
        for part in row:
            end = place + before + len(part) + after
            ids[number, place:end] = [*tokenizer.prefix, *part, *tokenizer.suffix]
            inside[number, place + before : end - after] = True
            positions[number, place:end] = np.arange(end - place)
            place = end
        attention[number, :place] = True
    return Rows(ids, attention, inside, positions)


@dataclass(slots=True)
class MaskedRows:
    """Rows with some ids replaced; `chosen` are the flat positions to predict and `labels` what stood there."""

    ids: IntArray
    attention: BoolArray
    positions: IntArray
    chosen: IntArray
    labels: IntArray


def masked(rows: Rows, draws: npt.NDArray[np.float32], vocabulary: Vocabulary, *, share: float = 0.15) -> MaskedRows:
    """Choose 15 % of the subwords; of those 80 % become the mask token, 10 % a random one, 10 % stay (section 2.2).

    The rows themselves are left as they are, so that no mask leaks into another pass.

    Args:
        rows: the rows to mask.
        draws: three uniform numbers a position, shape (r, at least l, 3): chosen or not, how, and which random token.
        vocabulary: mask token and size.
        share: how many subwords are chosen.
    """
    length = rows.ids.shape[1]
    choose, how, which = np.moveaxis(draws[:, :length], -1, 0)
    chosen = rows.inside & (choose < share)
    ids = rows.ids.copy()
    ids[chosen & (how < 0.8)] = vocabulary.mask
    swapped = chosen & (how >= 0.9)
    ids[swapped] = (which[swapped] * vocabulary.size).astype(np.int64)
    places = np.flatnonzero(chosen)
    return MaskedRows(ids, rows.attention, rows.positions, places, rows.ids.reshape(-1)[places])


def subword_links(pairs: Sequence[TrainingPair]) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Given links between all subwords of the linked words.

    Returns:
        Sure links and possible ones, both of shape (b, n, m), and which pairs were given any, shape (b,).
    """
    n, m = max(len(pair.source_ids) for pair in pairs), max(len(pair.target_ids) for pair in pairs)
    sure, possible = (np.zeros((len(pairs), n, m), dtype=bool) for _ in range(2))
    given = np.zeros(len(pairs), dtype=bool)
    for number, pair in enumerate(pairs):
        if pair.links is None or pair.sure is None:
            continue
        given[number] = True
        height, width = len(pair.source_words), len(pair.target_words)
        for kind, chosen in ((sure, pair.links[pair.sure]), (possible, pair.links[~pair.sure])):
            between_words = np.zeros((pair.source_words[-1] + 1, pair.target_words[-1] + 1), dtype=bool)
            between_words[chosen[:, 0], chosen[:, 1]] = True
            kind[number, :height, :width] = between_words[np.ix_(pair.source_words, pair.target_words)]
    return sure, possible, given


def padded_numbers(rows: Sequence[IntArray], *, fill: int = -1) -> IntArray:
    """Numbers of a batch's subwords, say of their words, shape (b, n); padding is `fill`."""
    result = np.full((len(rows), max(map(len, rows))), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        result[number, : len(row)] = row
    return result


def pieces(lengths: IntArray, numbers: Sequence[int], budget: int) -> list[list[int]]:
    """Cut some of a batch's pairs into pieces whose longer sides stay under a token budget; like with like.

    Args:
        lengths: subwords of both sides of all pairs, shape (pairs, 2).
        numbers: the pairs that are cut into pieces.
        budget: tokens.
    """
    batches = token_batches(lengths[np.asarray(numbers, dtype=np.int64)].max(axis=1, initial=0), budget)
    return [
        [numbers[k] for k in batch[first : first + _MOST_PAIRS]]
        for batch in batches
        for first in range(0, len(batch), _MOST_PAIRS)
    ]
