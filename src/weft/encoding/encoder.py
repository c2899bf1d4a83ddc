"""What an encoder is: sentences in, one hidden state a subword out. Both halves share all but the forward pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from weft.encoding.batching import token_batches
from weft.encoding.subwords import Subwords, Tokenizer, Window, Words, n_windows, windows, windows_abreast

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Encoded:
    """The hidden states of several sentences, one after the other and without special tokens.

    `states` has the shape (subwords, width) and lies on the encoder's device; `words` (subwords,) is each subword's
    word; sentence k owns the rows from `starts[k]` to `starts[k + 1]`.
    """

    states: Any
    words: IntArray
    starts: IntArray

    @property
    def lengths(self) -> IntArray:
        """Subwords of each sentence."""
        return np.diff(self.starts)


class Encoder(Protocol):
    """Anything that turns sentences into hidden states."""

    long_sentences: int
    joint: bool
    """Whether the two sentences of a pair must be encoded together, by `encode_pairs`."""

    def encode(self, sentences: Sequence[Words]) -> Encoded:
        """Encode sentences; each must have at least one word."""
        ...

    def encode_pairs(self, pairs: Sequence[tuple[Words, Words]]) -> Encoded:
        """Encode pairs whose sentences see each other; sentences 2k and 2k + 1 of the result are pair k."""
        ...


class Batch(NamedTuple):
    """Padded rows, all of shape (rows, length): ids, attention mask, first or second sentence, place in it."""

    ids: IntArray
    mask: IntArray
    types: IntArray
    positions: IntArray


class _Part(NamedTuple):
    """A window of a sentence in a row, and where the states that are kept go."""

    ids: Sequence[int]
    window: Window
    destination: int


_Row = tuple[_Part, ...]


class TransformerEncoder(ABC):
    """Tokenise, cut into windows, batch by length, run, and put the states back in order."""

    def __init__(
        self, tokenizer: Tokenizer, *, width: int, max_length: int, batch_tokens: int, joint: bool = False
    ) -> None:
        self.tokenizer = tokenizer
        self.width = width
        self.batch_tokens = batch_tokens
        self.window = max_length - len(tokenizer.prefix) - len(tokenizer.suffix)
        self.joint = joint
        self.long_sentences = 0

    def encode(self, sentences: Sequence[Words]) -> Encoded:
        """Encode sentences; each must have at least one word."""
        return self._encode(self.tokenizer.split(sentences), sides=1)

    def encode_pairs(self, pairs: Sequence[tuple[Words, Words]]) -> Encoded:
        """Encode pairs whose sentences see each other; sentences 2k and 2k + 1 of the result are pair k."""
        return self._encode(self.tokenizer.split(list(chain.from_iterable(pairs))), sides=2)

    def _encode(self, pieces: list[Subwords], *, sides: int) -> Encoded:
        lengths = [len(piece.ids) for piece in pieces]
        self.long_sentences += sum(length > self.window for length in lengths)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        states = self._empty(int(starts[-1]))
        placed = list(zip(pieces, starts.tolist(), strict=False))
        rows = [row for k in range(0, len(placed), sides) for row in self._rows(placed[k : k + sides])]
        for batch in token_batches([self._length(row) for row in rows], self.batch_tokens):
            self._run([rows[number] for number in batch], states)
        words = np.concatenate([np.asarray(piece.words, dtype=np.int64) for piece in pieces])
        return Encoded(states, words, starts)

    def _rows(self, placed: Sequence[tuple[Subwords, int]]) -> Iterator[_Row]:
        """The rows of one sentence, or of two that see each other."""
        lengths = [len(piece.ids) for piece, _ in placed]
        if len(placed) == 1:
            cut = [windows(lengths[0], self.window)]
        else:
            count = max(n_windows(length, self.window) for length in lengths)
            cut = [windows_abreast(length, self.window, count) for length in lengths]
        for together in zip(*cut, strict=True):
            yield tuple(
                _Part(piece.ids[window.start : window.end], window, start + window.keep_start)
                for (piece, start), window in zip(placed, together, strict=True)
            )

    def _length(self, row: _Row) -> int:
        special = len(self.tokenizer.prefix) + len(self.tokenizer.suffix)
        return sum(len(part.ids) + special for part in row)

    def _run(self, rows: list[_Row], states: Any) -> None:
        prefix, suffix = self.tokenizer.prefix, self.tokenizer.suffix
        longest = max(map(self._length, rows))
        batch = Batch(
            np.full((len(rows), longest), self.tokenizer.pad, dtype=np.int64),
            *(np.zeros((len(rows), longest), dtype=np.int64) for _ in range(3)),
        )
        taken, put = [], []
        for number, row in enumerate(rows):
            first = 0
            for kind, (ids, window, destination) in enumerate(row):
                end = first + len(prefix) + len(ids) + len(suffix)
                batch.ids[number, first:end] = [*prefix, *ids, *suffix]
                batch.types[number, first:end] = kind
                batch.positions[number, first:end] = np.arange(end - first)
                # Which of the batch's positions are kept, and which rows of `states` they become.
                begin = number * longest + first + len(prefix) + window.keep_start - window.start
                count = window.keep_end - window.keep_start
                taken.append(np.arange(begin, begin + count))
                put.append(np.arange(destination, destination + count))
                first = end
            batch.mask[number, :first] = 1
        hidden = self._forward(batch)  # (rows, longest, width)
        kept = self._indices(np.concatenate(taken))
        states[self._indices(np.concatenate(put))] = hidden.reshape(-1, self.width)[kept]

    @abstractmethod
    def _empty(self, subwords: int) -> Any:
        """An uninitialised float array of shape (subwords, width) on the device."""

    @abstractmethod
    def _indices(self, places: IntArray) -> Any:
        """An index array on the device."""

    @abstractmethod
    def _forward(self, batch: Batch) -> Any:
        """Hidden states of shape (rows, length, width)."""
