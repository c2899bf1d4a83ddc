"""An encoder that remembers what somebody plays with, within a bound on memory."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from threading import Lock

from weft.aligner import Aligner
from weft.encoding.encoder import Encoded, Encoder
from weft.encoding.subwords import Subwords

_MOST_RESULTS = 16
_MOST_BYTES = 1 << 24
# A tokenizer remembers how words are cut; strangers can send any number of them.
_MOST_CHARACTERS = 1 << 20


class RememberingEncoder:
    """An encoder that keeps the last few results: moving a threshold does not read the sentences again."""

    def __init__(self, encoder: Encoder, most_bytes: int = _MOST_BYTES) -> None:
        self._encoder = encoder
        self.source, self.layer, self.joint = encoder.source, encoder.layer, encoder.joint
        self.runs_in_torch, self.device_name = encoder.runs_in_torch, encoder.device_name
        self.tokenize, self.save_changes = encoder.tokenize, encoder.save_changes
        self.encode_stretches = encoder.encode_stretches
        self.long_sentences = encoder.long_sentences
        # Requests are small.
        self.pace = replace(encoder.pace, chunks_at_once=1, threads=False)
        self._most_bytes = most_bytes
        self._known: OrderedDict[tuple[bytes, bytes], Encoded] = OrderedDict()
        self._lock = Lock()

    def device_stream(self) -> AbstractContextManager[object]:
        """One stream for all: what is remembered belongs to no chunk."""
        return nullcontext()

    def encode(self, subwords: Subwords) -> Encoded:
        """Encode sentences, or remember them."""
        if len(subwords) > 2:  # many pairs at once are not what somebody plays with
            return self._encoder.encode(subwords)
        # Sentences with the same subwords have the same states, but maybe other words.
        key = (subwords.ids.tobytes() + subwords.words.tobytes(), subwords.starts.tobytes())
        with self._lock:
            found = self._known.get(key)
        if found is None:
            found = self._encoder.encode(subwords)
        with self._lock:
            self._known[key] = found
            self._known.move_to_end(key)
            while self._known and (len(self._known) > _MOST_RESULTS or self._bytes() > self._most_bytes):
                self._known.popitem(last=False)
        return found

    def _bytes(self) -> int:
        return sum(int(encoded.states.nbytes) for encoded in self._known.values())


def remembering(aligner: Aligner) -> Aligner:
    """The same aligner with a memory of its last results, and one of words that does not grow without end."""
    tokenizer = aligner.encoder.tokenize.tokenizer
    if hasattr(tokenizer, "most_characters"):
        tokenizer.most_characters = _MOST_CHARACTERS
    return Aligner(RememberingEncoder(aligner.encoder), aligner.settings)
