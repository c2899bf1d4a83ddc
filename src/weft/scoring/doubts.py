"""Whether a system that scores badly was only written down in another way: target first, or shifted by a line."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from weft.scoring.counts import Counts, Rates, count_sentence
from weft.types import GoldAlignment, WordPair

# Systems that people compare have an AER below 60, those that are swapped or shifted 80 to 100.
_BAD_AER, _FAR_BETTER = 60.0, 0.6
_FEWEST_SENTENCES = 5
_AER = "AER would be {better:.1f} instead of {own:.1f}."
_REASONS = {
    "swapped": f"with source and target swapped, {_AER} weft convert --swap swaps them.",
    "next": f"if each line belonged to the next line of the gold file, {_AER} Is the first line missing?",
    "previous": f"if each line belonged to the previous line of the gold file, {_AER} Is the first line one too many?",
}


class MisplacedLinks:
    """Counts how a system would score if its links were swapped, or shifted by a line."""

    most_sentences = 1000
    """After so many it is known."""

    def __init__(self) -> None:
        self._counts = {name: np.zeros(len(Counts._fields), dtype=np.int64) for name in ("own", *_REASONS)}
        self._before: tuple[GoldAlignment, Set[WordPair]] | None = None
        self._sentences = 0

    def add(self, gold: GoldAlignment, links: Set[WordPair]) -> None:
        """Look at the next sentence."""
        if self._sentences >= self.most_sentences:
            return
        self._sentences += 1
        self._count("own", gold, links)
        self._count("swapped", gold, {(target, source) for source, target in links})
        if self._before is not None:
            self._count("next", gold, self._before[1])
            self._count("previous", self._before[0], links)
        self._before = gold, links

    def _count(self, name: str, gold: GoldAlignment, links: Set[WordPair]) -> None:
        self._counts[name] += count_sentence(gold, links)

    def remark(self) -> str | None:
        """What to say of the system's links; None if they seem to be in their place."""
        aer = {name: Rates.of(Counts(*counts.tolist())).aer for name, counts in self._counts.items()}
        own = aer.pop("own")
        better, name = min((rate, name) for name, rate in aer.items())
        if self._sentences < _FEWEST_SENTENCES or own < _BAD_AER or better > _FAR_BETTER * own:
            return None
        return _REASONS[name].format(own=own, better=better)
