"""A bilingual lexicon: which words are linked with which, how often, and in which sentence to look at it.

Memory grows with the number of different word pairs, not with the corpus: words are numbered once, a pair of words is
one integer, and of the examples only line numbers are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from weft.types import Alignment, SentencePair

NULL = 0
"""The number of the empty word, which words without a link correspond to."""

_SHIFT = 32
_LINE_BITS = 40
_LONGEST = 1 << 12


@dataclass(frozen=True, slots=True)
class Entry:
    """One word pair: how often it is linked, the two conditional probabilities, and the line of an example.

    An empty word means that the other word has no link; `count` then says how often.
    """

    source: str
    target: str
    count: int
    target_given_source: float
    source_given_target: float
    line: int


class Vocabulary(dict[str, int]):
    """Words to numbers from 1 on; 0 is the empty word."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self) + 1
        return number

    def spelt(self) -> list[str]:
        """The words by their numbers."""
        return ["", *self]


class Lexicon:
    """Counts linked words, sentence by sentence.

    With `unlinked`, a word without a link counts as linked to the empty word. The probabilities then also say how often
    a word has no counterpart.
    """

    def __init__(self, *, lowercase: bool = False, unlinked: bool = False) -> None:
        self._lowercase, self._unlinked = lowercase, unlinked
        self._sources, self._targets = Vocabulary(), Vocabulary()
        self._pairs: Counter[int] = Counter()
        self._examples: dict[int, int] = {}

    def add(self, pair: SentencePair, alignment: Alignment, line: int) -> None:
        """Count the links of one sentence pair. The shortest pair with a link becomes its example."""
        sources = [self._sources[word.lower() if self._lowercase else word] for word in pair.source]
        targets = [self._targets[word.lower() if self._lowercase else word] for word in pair.target]
        length = min(len(sources) + len(targets), _LONGEST - 1)
        here = length << _LINE_BITS | line
        found = [(sources[link.source], targets[link.target]) for link in alignment.links]
        if self._unlinked:
            alone = _alone(len(sources), len(targets), alignment)
            found += [(sources[word], NULL) for word in alone[0]] + [(NULL, targets[word]) for word in alone[1]]
        for source, target in found:
            key = source << _SHIFT | target
            self._pairs[key] += 1
            if here < self._examples.get(key, here + 1):
                self._examples[key] = here

    def entries(self, *, min_count: int = 1, best: int | None = None, punctuation: bool = True) -> Iterator[Entry]:
        """Yield entries, the most frequent first.

        Probabilities are shares of all links of a word, including those that are not listed.

        Args:
            min_count: leave out pairs of words that are linked less often.
            best: the maximum number of translations of each source word.
            punctuation: also list pairs without any letter or digit, such as two full stops.
        """
        sources, targets = self._sources.spelt(), self._targets.spelt()
        of_source, of_target = self._totals()
        listed: Counter[int] = Counter()
        kept = [key for key, count in self._pairs.items() if count >= min_count]
        kept.sort(key=lambda key: (-self._pairs[key], sources[key >> _SHIFT], targets[key & (1 << _SHIFT) - 1]))
        for key in kept:
            source, target, count = key >> _SHIFT, key & (1 << _SHIFT) - 1, self._pairs[key]
            if not punctuation and not has_letters(sources[source] + targets[target]):
                continue
            listed[source] += 1
            if best is None or listed[source] <= best:
                line = self._examples[key] & (1 << _LINE_BITS) - 1
                yield Entry(
                    sources[source], targets[target], count, count / of_source[source], count / of_target[target], line
                )

    def shortlist(
        self, *, to_source: bool = False, min_count: int = 1, best: int | None = None
    ) -> Iterator[tuple[str, str, float]]:
        """Yield `(word, given word, probability)` as in Marian's shortlists: the target word comes first.

        Args:
            to_source: the other direction, `(source, target, p(source | target))`.
            min_count: leave out pairs of words that are linked less often.
            best: the maximum number of translations of each given word.
        """
        listed: Counter[str] = Counter()
        for entry in self.entries(min_count=min_count):
            word, given = (entry.source, entry.target) if to_source else (entry.target, entry.source)
            listed[given] += 1
            # Columns are separated by blanks, and NULL has a meaning of its own.
            if (best is None or listed[given] <= best) and all(map(_fits_into_a_column, (word, given))):
                yield word, given, entry.source_given_target if to_source else entry.target_given_source

    def _totals(self) -> tuple[Counter[int], Counter[int]]:
        of_source: Counter[int] = Counter()
        of_target: Counter[int] = Counter()
        for key, count in self._pairs.items():
            of_source[key >> _SHIFT] += count
            of_target[key & (1 << _SHIFT) - 1] += count
        return of_source, of_target


def _alone(sources: int, targets: int, alignment: Alignment) -> tuple[list[int], list[int]]:
    """The words of both sides that have no link."""
    linked = {link.source for link in alignment.links}, {link.target for link in alignment.links}
    found = [
        [word for word in range(size) if word not in has] for size, has in zip((sources, targets), linked, strict=True)
    ]
    return found[0], found[1]


def has_letters(text: str) -> bool:
    """Whether there is a letter or a digit, of whatever script."""
    return any(map(str.isalnum, text))


def _fits_into_a_column(word: str) -> bool:
    return word.split() == [word] and word != "NULL"


class LexicalWeights:
    """Probabilities of single words for phrase tables; unlike a lexicon it counts words without links, as NULL."""

    def __init__(self) -> None:
        self._sources, self._targets = Vocabulary(), Vocabulary()
        self._pairs: Counter[int] = Counter()
        self._of_source: Counter[int] = Counter()
        self._of_target: Counter[int] = Counter()

    def add(self, pair: SentencePair, alignment: Alignment) -> None:
        """Count the links, and the words without any, of one sentence pair."""
        sources = [self._sources[word] for word in pair.source]
        targets = [self._targets[word] for word in pair.target]
        alone = _alone(len(sources), len(targets), alignment)
        for link in alignment.links:
            self._count(sources[link.source], targets[link.target])
        for word in alone[0]:
            self._count(sources[word], NULL)
        for word in alone[1]:
            self._count(NULL, targets[word])

    def _count(self, source: int, target: int) -> None:
        self._pairs[source << _SHIFT | target] += 1
        self._of_source[source] += 1
        self._of_target[target] += 1

    def of_source(self, source: str, targets: Iterable[str]) -> float:
        """Mean of p(source | target) over the linked targets; over NULL if there are none."""
        number = self._sources.get(source, NULL) << _SHIFT
        others = [self._targets.get(target, NULL) for target in targets] or [NULL]
        return sum(self._pairs[number | other] / self._of_target[other] for other in others) / len(others)

    def of_target(self, target: str, sources: Iterable[str]) -> float:
        """Mean of p(target | source) over the linked sources; over NULL if there are none."""
        number = self._targets.get(target, NULL)
        others = [self._sources.get(source, NULL) for source in sources] or [NULL]
        return sum(self._pairs[other << _SHIFT | number] / self._of_source[other] for other in others) / len(others)
