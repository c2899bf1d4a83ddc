"""A small tagger for the measurements here: an averaged perceptron over words, shapes and neighbours.

It stands where a real application has a strong named-entity model. It is trained on the labels it is given and on
nothing else, which is what makes projected labels measurable.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from weft.applications.columns import column_of, spans_of
from weft.applications.projection import Span

Sentence = tuple[Sequence[str], Sequence[str]]


class Tagger:
    """Greedy left to right, with the two labels before as features."""

    def __init__(self, sentences: Sequence[Sentence], *, epochs: int = 5, seed: int = 1) -> None:
        self._weights: dict[str, dict[str, float]] = {}
        self._labels = sorted({label for _, labels in sentences for label in labels})
        self._learn(list(sentences), epochs, random.Random(seed))

    def spans(self, words: Sequence[str]) -> list[Span]:
        """The named entities of a sentence."""
        found = list(spans_of(self._predict(words)))
        return list(spans_of(column_of(found, len(words))))

    def _predict(self, words: Sequence[str]) -> list[str]:
        before = ["-", "-"]
        for place in range(len(words)):
            before.append(self._best(list(_features(words, place, before))))
        return before[2:]

    def _best(self, features: Iterable[str]) -> str:
        scores: defaultdict[str, float] = defaultdict(float)
        for feature in features:
            for label, weight in self._weights.get(feature, {}).items():
                scores[label] += weight
        return max(self._labels, key=lambda label: (scores[label], label))

    def _learn(self, sentences: list[Sentence], epochs: int, rng: random.Random) -> None:
        totals: defaultdict[tuple[str, str], float] = defaultdict(float)
        stamps: defaultdict[tuple[str, str], int] = defaultdict(int)
        step = 0

        def change(feature: str, label: str, amount: float) -> None:
            weights = self._weights.setdefault(feature, {})
            known = weights.get(label, 0.0)
            totals[feature, label] += (step - stamps[feature, label]) * known
            stamps[feature, label] = step
            weights[label] = known + amount

        for _ in range(epochs):
            rng.shuffle(sentences)
            for words, labels in sentences:
                before = ["-", "-"]
                for place, truth in enumerate(labels):
                    step += 1
                    features = list(_features(words, place, before))
                    guess = self._best(features)
                    if guess != truth:
                        for feature in features:
                            change(feature, truth, 1.0)
                            change(feature, guess, -1.0)
                    before.append(guess)
        for feature, weights in self._weights.items():
            for label in weights:
                change(feature, label, 0.0)
                weights[label] = totals[feature, label] / max(step, 1)


def _features(words: Sequence[str], place: int, before: Sequence[str]) -> Iterator[str]:
    word = words[place]
    yield "bias"
    yield f"w={word}"
    yield f"3={word[-3:]}"
    yield f"p={word[:3]}"
    yield f"s={_shape(word)}"
    yield f"first={place == 0}{_shape(word)}"
    yield f"-1={before[-1]}"
    yield f"-2={before[-2]}{before[-1]}"
    yield f"-1s={before[-1]}{_shape(word)}"
    for distance in (-2, -1, 1, 2):
        near = words[place + distance] if 0 <= place + distance < len(words) else ""
        yield f"{distance}w={near.lower()}"
        yield f"{distance}s={_shape(near)}"


def _shape(word: str) -> str:
    kinds = ["X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c for c in word[:12]]
    return "".join(kind for kind, previous in zip(kinds, ["", *kinds], strict=False) if kind != previous)
