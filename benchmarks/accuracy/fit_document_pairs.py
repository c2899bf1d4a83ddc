"""Fit the weights by which sentences of two documents are paired: those of `weft/extraction/pair_evidence.py`.

    python benchmarks/accuracy/fit_document_pairs.py [--sets ja-en/dev zh-en/dev] [--seeds 1 2] [--only alike unheard]

The documents are those of `document_pairs.py`, of dev sets only, and besides lists: the short sentences of each set and
every third of the others. All ways through two documents share out one probability, by the evidence for their steps;
the weights give most of it to the right one. Every second document is left out once to say how good they are. With
`--only`, the other weights stay as they are: so were those of sounds fitted, which only Japanese text has.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from aligners import DATA, aligner_options, chosen_aligner
from document_pairs import Pairs, document, f1, right_pairs, text_of

from weft import Aligner
from weft.arrays import BoolArray, FloatArray
from weft.extraction.pair_evidence import WEIGHTS, Weights
from weft.extraction.pairing import StretchPair, likeliest_way, probabilities
from weft.extraction.scores import Scores
from weft.tuning import DevSet
from weft.types import SentencePair

_SHORT, _EVERY = 8, 3
_WRONG = 50.0


@dataclass(frozen=True)
class Example:
    """Two documents: steps that may be taken, the evidence for each (steps, weights), and which are right."""

    name: str
    steps: list[StretchPair]
    evidence: FloatArray
    right: BoolArray
    expected: Pairs

    def f1(self, weights: FloatArray) -> float:
        """How good the way is that these weights choose."""
        way = likeliest_way(_with_gains(self.steps, self.evidence @ weights))
        return f1({step[:4] for step in way if not step.is_skip}, self.expected)


def main() -> None:
    parser = aligner_options(__doc__)
    dev_sets = ["ja-en/dev", "zh-en/dev", "ro-en/dev", "cs-en/dev", "pud/fr-en"]
    parser.add_argument("--sets", nargs="+", default=dev_sets)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--penalty", type=float, default=2.0, help="on the squares of weights, in deviations")
    parser.add_argument("--only", nargs="+", choices=Weights._fields, help="the weights to fit; the others stay")
    options = parser.parse_args()
    aligner = chosen_aligner(options)
    examples = []
    for name in options.sets:
        pairs = DevSet.read(str(DATA / "gold" / name)).pairs
        short = [pair for number, pair in enumerate(pairs) if len(pair.target) <= _SHORT or number % _EVERY == 0]
        for seed in options.seeds:
            examples.append(_example(f"{name} {seed}", aligner, pairs, seed))
            examples.append(_example(f"{name} as a list {seed}", aligner, short, seed))
    halves = [[example for k, example in enumerate(examples) if k // 2 % 2 == half] for half in (0, 1)]
    for ours, others in (halves, halves[::-1]):
        weights = _fitted(others, options.penalty, options.only)
        for example in ours:
            now = example.f1(np.array(WEIGHTS))
            print(f"{example.name}  F1 {example.f1(weights):.1f} left out, {now:.1f} now", flush=True)
    for field, weight in zip(Weights._fields, _fitted(examples, options.penalty, options.only).tolist(), strict=True):
        print(f"    {field}: float = {weight:.3g}")


def _example(name: str, aligner: Aligner, pairs: Sequence[SentencePair], seed: int) -> Example:
    draws = random.Random(seed)
    sides = [document(len(pairs), draws, drop=0.1, merge=0.1) for _ in range(2)]
    texts = [text_of([pair[side] for pair in pairs], groups) for side, groups in enumerate(sides)]
    expected = right_pairs(sides[0], sides[1])
    candidates, found = aligner.sentence_pairs(texts[0], texts[1], scores=Scores.CALIBRATED)
    known = candidates.evidence(found)
    steps = [step for step, _ in known]
    chosen = {step[:4] for step in steps if step[:4] in expected}
    paired = [[_sides(step)[side] for step in steps if step[:4] in chosen] for side in (0, 1)]
    taken = [set(chain.from_iterable(ranges)) for ranges in paired]
    right = [all(map(set.isdisjoint, taken, _sides(step))) if step.is_skip else step[:4] in chosen for step in steps]
    return Example(name, steps, np.array([evidence for _, evidence in known]), np.array(right), expected)


def _sides(step: StretchPair) -> tuple[range, range]:
    return range(step.source, step.source_end), range(step.target, step.target_end)


def _fitted(examples: Sequence[Example], penalty: float, only: Sequence[str] | None) -> FloatArray:
    """The weights that make the right ways most probable, with a penalty on large ones."""
    free = np.isin(Weights._fields, only or Weights._fields)
    held = np.where(free, 0.0, np.array(WEIGHTS))
    deviations = np.concatenate([example.evidence for example in examples]).std(axis=0) + 1e-9
    scaled = torch.zeros(len(deviations), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([scaled], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> float:
        weights = scaled.detach().numpy()
        value, gradient = 0.5 * penalty * float(weights @ weights), penalty * weights
        for example in examples:
            surprise, slope = _surprise(example, held + weights / deviations)
            value, gradient = value + surprise, gradient + free * slope / deviations
        scaled.grad = torch.from_numpy(gradient)
        return value

    optimizer.step(loss)
    fitted: FloatArray = held + scaled.detach().numpy() / deviations
    return fitted


def _surprise(example: Example, weights: FloatArray) -> tuple[float, FloatArray]:
    """The negative logarithm of the right way's probability, and its slope."""
    gains = example.evidence @ weights
    # The right way may lack a step that nobody thought of: then that with the fewest wrong steps stands for it.
    shares, total = probabilities(_with_gains(example.steps, gains))
    right_shares, right_total = probabilities(_with_gains(example.steps, gains - _WRONG * ~example.right))
    return total - right_total, (np.array(shares) - np.array(right_shares)) @ example.evidence


def _with_gains(steps: Sequence[StretchPair], gains: FloatArray) -> list[StretchPair]:
    return [step._replace(gain=gain) for step, gain in zip(steps, gains.tolist(), strict=True)]


if __name__ == "__main__":
    main()
