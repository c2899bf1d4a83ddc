"""What an encoder is: sentences in, one hidden state a subword out. Both halves share all but the forward pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from threading import Lock
from typing import Any, Protocol

import numpy as np

from weft.encoding.batching import token_batches
from weft.encoding.layout import Batch, Rows, laid_out
from weft.encoding.preparation import Preparation
from weft.encoding.subwords import IntArray, Subwords, Tokenizer
from weft.encoding.transfer import beside
from weft.encoding.windows import Window, n_windows, windows, windows_abreast
from weft.types import Words

CHUNK_WORDS = 16_384


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

    @property
    def n_words(self) -> IntArray:
        """Words of each sentence."""
        return self.words[self.starts[1:] - 1] + 1


class Encoder(Protocol):
    """Anything that turns sentences into hidden states."""

    long_sentences: int
    joint: bool
    """Whether the two sentences of a pair must be encoded together, by `encode_pairs`."""
    chunk_words: int
    """How many words of a corpus to encode together: it bounds the memory; longer stretches sort better by length."""
    chunks_at_once: int
    """How many such chunks to work on at a time: more than one where most of the time is not Python's."""
    threads: bool
    """Whether each of them gets a thread; a device that works by itself needs none."""

    def encode(self, sentences: Sequence[Words]) -> Encoded:
        """Encode sentences; each must have at least one word."""
        ...

    def encode_pairs(self, pairs: Sequence[tuple[Words, Words]]) -> Encoded:
        """Encode pairs whose sentences see each other; sentences 2k and 2k + 1 of the result are pair k."""
        ...

    def lane(self) -> AbstractContextManager[object]:
        """Where one chunk is worked on, from its words to its links, beside others; entered as often as need be."""
        ...


class TransformerEncoder(ABC):
    """Tokenise, cut into windows, batch by length, run, and put the states back in order."""

    outruns_python = False
    """Whether preparing its text is worth a process of its own."""

    def __init__(
        self, tokenizer: Tokenizer, *, width: int, max_length: int, batch_tokens: int, joint: bool = False
    ) -> None:
        self.tokenizer = tokenizer
        self.width = width
        self.batch_tokens = batch_tokens
        self.special = len(tokenizer.prefix) + len(tokenizer.suffix)
        self.window = max_length - self.special
        self.joint = joint
        self.chunk_words = CHUNK_WORDS
        self.chunks_at_once, self.threads = 1, False
        self.preparation = Preparation(tokenizer, joint)
        self.long_sentences = 0
        self._counting = Lock()

    def lane(self) -> AbstractContextManager[object]:
        """Where one chunk is worked on; a device with streams has one for each."""
        return nullcontext()

    def encode(self, sentences: Sequence[Words]) -> Encoded:
        """Encode sentences; each must have at least one word."""
        return self._encode(self.tokenizer.split(sentences), sides=1)

    def encode_pairs(self, pairs: Sequence[tuple[Words, Words]]) -> Encoded:
        """Encode pairs whose sentences see each other; sentences 2k and 2k + 1 of the result are pair k."""
        return self._encode(self.tokenizer.split(list(chain.from_iterable(pairs))), sides=2)

    def encode_subwords(self, subwords: Subwords) -> Encoded:
        """Encode what was prepared elsewhere (`preparation`)."""
        return self._encode(subwords, sides=2 if self.joint else 1)

    def batches(self, pairs: Sequence[tuple[Words, Words]]) -> Iterator[Batch]:
        """The batches that these pairs would be encoded in, for whoever wants to look inside a model."""
        subwords = self.tokenizer.split(list(chain.from_iterable(pairs)))
        for rows in self._batches(subwords, sides=2 if self.joint else 1):
            yield laid_out(rows, subwords.ids, self.tokenizer)[0]

    def _encode(self, subwords: Subwords, *, sides: int) -> Encoded:
        states = self._empty(len(subwords.ids) + 1)  # the last row takes what nobody wants
        self._run_all(self._batches(subwords, sides=sides), beside(states, subwords.ids), states)
        return Encoded(states[:-1], subwords.words, subwords.starts)

    def _batches(self, subwords: Subwords, *, sides: int) -> list[Rows]:
        rows = self._rows(subwords.starts, sides)
        lengths = (rows.end - rows.start + self.special).sum(axis=1)
        return [rows[batch] for batch in token_batches(lengths, self.batch_tokens)]

    def _rows(self, starts: IntArray, sides: int) -> Rows:
        """One row for each sentence or pair; those that are too long become several, after all others."""
        first, last = starts[:-1].reshape(-1, sides), starts[1:].reshape(-1, sides)
        long = last - first > self.window
        with self._counting:
            self.long_sentences += int(long.sum())
        fitting = ~long.any(axis=1)
        rows = [(first[fitting], last[fitting], first[fitting], last[fitting])]
        for number in np.flatnonzero(~fitting).tolist():
            cut = np.array(self._windows((last - first)[number].tolist()))  # (sides, windows, 4)
            begin = first[number][:, None]
            rows.append(tuple((cut[:, :, k] + begin).T for k in range(4)))
        return Rows(*(np.concatenate(parts) for parts in zip(*rows, strict=True)))

    def _windows(self, lengths: list[int]) -> list[list[Window]]:
        if len(lengths) == 1:
            return [windows(lengths[0], self.window)]
        count = max(n_windows(length, self.window) for length in lengths)
        return [windows_abreast(length, self.window, count) for length in lengths]

    def _run_all(self, batches: Sequence[Rows], ids: Any, states: Any) -> None:
        """Run batches one after the other; an encoder that uses one core at a time may run several at once."""
        for rows in batches:
            self._run(rows, ids, states)

    def _run(self, rows: Rows, ids: Any, states: Any) -> None:
        batch, gives = laid_out(rows, ids, self.tokenizer)
        states[gives] = self._forward(batch)  # (rows, longest, width)

    @abstractmethod
    def _empty(self, subwords: int) -> Any:
        """An uninitialised float array of shape (subwords, width) on the device."""

    @abstractmethod
    def _forward(self, batch: Batch) -> Any:
        """Hidden states of shape (rows, length, width)."""
