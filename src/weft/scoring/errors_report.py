"""Where a system goes wrong: the word pairs it gets wrong most often, and its worst sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field
from heapq import heappush, heappushpop

from weft.types import GoldAlignment, SentencePair, WordPair

_Words = tuple[str, str]


@dataclass(frozen=True, slots=True, order=True)
class SentenceErrors:
    """One sentence's wrong and missing links, ordered by how many there are."""

    errors: int
    number: int
    sentence: SentencePair = field(compare=False)
    wrong: tuple[_Words, ...] = field(compare=False)
    missing: tuple[_Words, ...] = field(compare=False)


class ErrorReport:
    """Collects errors sentence by sentence. A link is wrong if not even possible, missing if sure and not found."""

    def __init__(self, *, worst: int = 5) -> None:
        self.wrong: Counter[_Words] = Counter()
        self.missing: Counter[_Words] = Counter()
        self._worst: list[SentenceErrors] = []
        self._keep = worst
        self._number = 0

    def add(
        self, sentence: SentencePair, gold: GoldAlignment, links: Set[WordPair], *, number: int | None = None
    ) -> None:
        """Compare one sentence with its gold.

        Args:
            sentence: the words of both sides.
            gold: its gold links.
            links: the links that the system found, as index pairs.
            number: the sentence's number, from 1; that after the last one by default.
        """
        self._number = self._number + 1 if number is None else number
        wrong = _spelt(links - gold.possible, sentence)
        missing = _spelt(gold.sure - links, sentence)
        self.wrong.update(wrong)
        self.missing.update(missing)
        # The number is negated so that of two equally bad sentences the earlier one is kept.
        item = SentenceErrors(len(wrong) + len(missing), -self._number, sentence, wrong, missing)
        if len(self._worst) < self._keep:
            heappush(self._worst, item)
        else:
            heappushpop(self._worst, item)

    @property
    def worst_sentences(self) -> list[tuple[int, SentenceErrors]]:
        """Sentence numbers (from 1) with their errors, worst first; sentences without errors are left out."""
        return [(-item.number, item) for item in sorted(self._worst, reverse=True) if item.errors]


def _spelt(links: Set[WordPair], sentence: SentencePair) -> tuple[_Words, ...]:
    return tuple((sentence.source[source], sentence.target[target]) for source, target in sorted(links))
