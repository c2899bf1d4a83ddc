"""What an encoder is: sentences in, one hidden state a subword out. Both halves share all but the forward pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from weft.encoding.batching import token_batches
from weft.encoding.subwords import Subwords, Tokenizer, Window, Words, windows

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

    def encode(self, sentences: Sequence[Words]) -> Encoded:
        """Encode sentences; each must have at least one word."""
        ...


class _Row(NamedTuple):
    """One row of a batch: a window of a sentence, and where the states that are kept go."""

    ids: list[int]
    window: Window
    destination: int


class TransformerEncoder(ABC):
    """Tokenise, cut into windows, batch by length, run, and put the states back in order."""

    def __init__(self, tokenizer: Tokenizer, *, width: int, max_length: int, batch_tokens: int) -> None:
        self.tokenizer = tokenizer
        self.width = width
        self.batch_tokens = batch_tokens
        self.window = max_length - len(tokenizer.prefix) - len(tokenizer.suffix)
        self.long_sentences = 0

    def encode(self, sentences: Sequence[Words]) -> Encoded:
        """Encode sentences; each must have at least one word."""
        pieces = self.tokenizer.split(sentences)
        lengths = [len(piece.ids) for piece in pieces]
        self.long_sentences += sum(length > self.window for length in lengths)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        states = self._empty(int(starts[-1]))
        rows = [row for piece, start in zip(pieces, starts, strict=False) for row in self._rows(piece, int(start))]
        for batch in token_batches([len(row.ids) for row in rows], self.batch_tokens):
            self._run([rows[number] for number in batch], states)
        words = np.concatenate([np.asarray(piece.words, dtype=np.int64) for piece in pieces])
        return Encoded(states, words, starts)

    def _rows(self, piece: Subwords, start: int) -> list[_Row]:
        before, after = self.tokenizer.prefix, self.tokenizer.suffix
        return [
            _Row([*before, *piece.ids[window.start : window.end], *after], window, start + window.keep_start)
            for window in windows(len(piece.ids), self.window)
        ]

    def _run(self, rows: list[_Row], states: Any) -> None:
        longest = max(len(row.ids) for row in rows)
        ids = np.full((len(rows), longest), self.tokenizer.pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row.ids)] = row.ids
            mask[number, : len(row.ids)] = 1
        hidden = self._forward(ids, mask)  # (rows, longest, width)
        taken, put = self._places(rows, longest)
        states[self._indices(put)] = hidden.reshape(-1, self.width)[self._indices(taken)]

    def _places(self, rows: list[_Row], longest: int) -> tuple[IntArray, IntArray]:
        """Which of the batch's positions are kept, and which rows of `states` they become."""
        taken, put = [], []
        for number, (_, window, destination) in enumerate(rows):
            first = number * longest + len(self.tokenizer.prefix) + window.keep_start - window.start
            count = window.keep_end - window.keep_start
            taken.append(np.arange(first, first + count))
            put.append(np.arange(destination, destination + count))
        return np.concatenate(taken), np.concatenate(put)

    @abstractmethod
    def _empty(self, subwords: int) -> Any:
        """An uninitialised float array of shape (subwords, width) on the device."""

    @abstractmethod
    def _indices(self, places: IntArray) -> Any:
        """An index array on the device."""

    @abstractmethod
    def _forward(self, ids: IntArray, mask: IntArray) -> Any:
        """Ids and mask of shape (rows, length) to hidden states of shape (rows, length, width)."""
