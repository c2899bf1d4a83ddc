"""What one request may ask for, how long it may take, and how many may wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The server's bounds; a request beyond one of them is refused with a sentence that says the bound."""

    body: int = 1_000_000  # bytes
    pairs: int = 100
    words: int = 500  # in a sentence
    characters: int = 10_000  # in a sentence
    subwords: int = 1_000  # in a sentence: what the model reads, and what time and memory depend on
    terms: int = 1_000
    seconds: float = 30  # until the answer, waiting included
    queue: int = 64  # requests that wait or are being worked on

    @property
    def request_seconds(self) -> float:
        """How long a request may take by itself: others want their turn within the same time."""
        return self.seconds / 3

    @property
    def pair_seconds(self) -> float:
        """How long a pair may take: nobody else is served meanwhile."""
        return self.seconds / 15
