"""What an encoder is: subwords in, one hidden state for each out. All encoders share all but the forward pass."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import ClassVar, Protocol

import numpy as np

from weft.arrays import BoolArray, ChunkIds, ChunkStates, IntArray, RowStates
from weft.encoding.batches import Batch, RowSpans, pad_rows, token_batches
from weft.encoding.processes import ProcessBound
from weft.encoding.subwords import PairTokenizer, Subwords, Tokenizer
from weft.encoding.transfer import on_device_of
from weft.encoding.windows import Window, n_windows, windows, windows_abreast
from weft.errors import WeftError
from weft.types import SentencePair, Words

CHUNK_WORDS = 16_384


@dataclass(frozen=True, slots=True)
class Encoded:
    """The hidden states of several sentences, one after the other and without special tokens.

    `states` has the shape (subwords, width) and lies on the encoder's device; `words` (subwords,) is each subword's
    word; sentence k owns the rows from `starts[k]` to `starts[k + 1]`.
    """

    states: ChunkStates
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


@dataclass(frozen=True, slots=True)
class Pace:
    """How an encoder wants a long text: what suits its device."""

    chunk_words: int = CHUNK_WORDS
    """How many words of a corpus to encode together: it bounds the memory; longer stretches sort better by length."""
    chunks_at_once: int = 1
    """How many such chunks to work on at a time: more than one where most of the time is not Python's."""
    threads: bool = False
    """Whether each of them gets a thread; a device that works by itself needs none."""
    read_ahead: bool = False
    """Whether the device is so fast that cutting text into subwords is worth a process of its own."""


# The GPU encodes one chunk while Python reads the next and writes down the one before.
GPU_PACE = Pace(chunk_words=1 << 18, chunks_at_once=2, read_ahead=True)


class Encoder(Protocol):
    """Anything that turns sentence pairs into hidden states: first `tokenize`, then `encode`."""

    source: str | None
    """The folder that the model was loaded from; None for one that has no files."""
    layer: int | None
    """The layer whose states it gives; None where nobody has a choice."""
    runs_in_torch: bool
    """Whether it runs in torch, and not in onnxruntime."""
    device_name: str
    """Where it runs, as torch names devices."""
    joint: bool
    """Whether it reads the two sentences of a pair together."""
    tokenize: PairTokenizer
    """How its text is cut into subwords."""
    pace: Pace
    long_sentences: int
    """How many sentences and texts so far were too long for it, and read in pieces."""

    def encode(self, subwords: Subwords) -> Encoded:
        """The states of sentences that `tokenize` gave."""
        ...

    def encode_stretches(self, subwords: Subwords) -> Encoded:
        """The states of the stretches of a text that is too long to be read at once, each read by itself."""
        ...

    def save_changes(self, folder: Path) -> bool:
        """Write weights that were changed in memory into a copy of the model, and say whether there were any."""
        ...

    def device_stream(self) -> AbstractContextManager[object]:
        """Where one chunk is worked on, from its subwords to its links, beside others; entered as often as need be."""
        ...


def encode_pairs(encoder: Encoder, pairs: Sequence[SentencePair]) -> tuple[Encoded, IntArray]:
    """Encode pairs, none of them with an empty side, all at once.

    Returns:
        The states of their sentences, and the numbers of each pair's two sentences, of shape (pairs, 2).
    """
    tokenized = encoder.tokenize(pairs)
    return encoder.encode(tokenized.subwords), tokenized.pairs


class TransformerEncoder(ProcessBound):
    """Cut into windows, batch by length, run, and put the states back in order: all but the forward pass."""

    source: str | None = None
    layer: int | None = None
    runs_in_torch = False
    device_name = "cpu"
    pace = Pace()
    _bound: ClassVar[tuple[str, ...]] = ("_counting",)

    def __init__(
        self, tokenizer: Tokenizer, *, width: int, max_length: int, batch_tokens: int, joint: bool = False
    ) -> None:
        self.tokenizer = tokenizer
        self.width = width
        self.batch_tokens = batch_tokens
        self.special = len(tokenizer.prefix) + len(tokenizer.suffix)
        self.window = max_length - self.special
        if self.window < 1:
            raise WeftError(
                f"the model's tokenizer is damaged: it puts {self.special} special tokens round a sentence, and a row"
                f" holds {max_length}."
            )
        self.joint = joint
        self.tokenize = PairTokenizer(tokenizer, joint, self.window)
        self.long_sentences = 0
        self.bind()

    def _bind(self) -> None:
        self._counting = Lock()

    def save_changes(self, folder: Path) -> bool:
        """Write weights that were changed in memory into a copy of the model; here nobody can change them."""
        return False

    def device_stream(self) -> AbstractContextManager[object]:
        """Where one chunk is worked on; a device with streams has one for each."""
        return nullcontext()

    def encode(self, subwords: Subwords) -> Encoded:
        """The states of sentences; where pairs are joint, of pairs whose two sentences stand in a row."""
        return self._encode(subwords, sides=2 if self.joint else 1)

    def encode_stretches(self, subwords: Subwords) -> Encoded:
        """The states of the stretches of a text that is too long to be read at once, each read by itself."""
        with self._counting:
            self.long_sentences += 1
        return self._encode(replace(subwords, pieces=np.ones(len(subwords), dtype=np.bool_)), sides=1)

    def _encode(self, subwords: Subwords, sides: int) -> Encoded:
        states = self._empty(len(subwords.ids) + 1)  # the last row takes what nobody wants
        self._run_all(self._batches(subwords, sides), on_device_of(states, subwords.ids), states)
        return Encoded(states[:-1], subwords.words, subwords.starts)

    def batches(self, pairs: Sequence[tuple[Words, Words]]) -> Iterator[Batch]:
        """The batches that these pairs would be encoded in, for whoever wants to look inside a model."""
        subwords = self.tokenizer.split(list(chain.from_iterable(pairs)))
        for rows in self._batches(subwords, sides=2 if self.joint else 1):
            yield pad_rows(rows, subwords.ids, self.tokenizer)[0]

    def _batches(self, subwords: Subwords, sides: int) -> list[RowSpans]:
        rows = self._rows(subwords.starts, sides, subwords.pieces)
        lengths = (rows.end - rows.start + self.special).sum(axis=1)
        return [rows[batch] for batch in token_batches(lengths, self.batch_tokens)]

    def _rows(self, starts: IntArray, sides: int, pieces: BoolArray | None) -> RowSpans:
        """One row for each sentence or pair; those that are too long become several, after all others."""
        first, last = starts[:-1].reshape(-1, sides), starts[1:].reshape(-1, sides)
        long = last - first > self.window
        # The sentences that pieces come from were counted before.
        counted = long if pieces is None else long & ~pieces.reshape(-1, sides)
        with self._counting:
            self.long_sentences += int(counted.sum())
        fitting = ~long.any(axis=1)
        rows = [(first[fitting], last[fitting], first[fitting], last[fitting])]
        for number in np.flatnonzero(~fitting).tolist():
            cut = np.array(self._windows((last - first)[number].tolist()))  # (sides, windows, 4)
            begin = first[number][:, None]
            rows.append(tuple((cut[:, :, k] + begin).T for k in range(4)))
        return RowSpans(*(np.concatenate(parts) for parts in zip(*rows, strict=True)))

    def _windows(self, lengths: list[int]) -> list[list[Window]]:
        if len(lengths) == 1:
            return [windows(lengths[0], self.window)]
        count = max(n_windows(length, self.window) for length in lengths)
        return [windows_abreast(length, self.window, count) for length in lengths]

    def _run_all(self, batches: Sequence[RowSpans], ids: ChunkIds, states: ChunkStates) -> None:
        """Run batches one after the other; an encoder that uses one core at a time may run several at once."""
        for rows in batches:
            self._run(rows, ids, states)

    def _run(self, rows: RowSpans, ids: ChunkIds, states: ChunkStates) -> None:
        batch, stored_at = pad_rows(rows, ids, self.tokenizer)
        states[stored_at] = self._forward(batch)  # (rows, longest, width)

    @abstractmethod
    def _empty(self, subwords: int) -> ChunkStates:
        """An uninitialised float array of shape (subwords, width) on the device."""

    def _forward(self, batch: Batch) -> RowStates:
        """Hidden states of shape (rows, length, width). An encoder that needs no padding overrides `_run` instead."""
        raise NotImplementedError
