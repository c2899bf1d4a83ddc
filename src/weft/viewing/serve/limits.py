"""What one request may ask for, and how many may wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The server's bounds; a request beyond one of them is refused with a sentence that says the bound."""

    body: int = 1_000_000  # bytes
    pairs: int = 100
    words: int = 500  # in a sentence
    characters: int = 10_000  # in a sentence
    queue: int = 32  # requests that wait or are being worked on
