"""AER on packed gold while training: both directions' probabilities over a threshold, sides joined or apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from flatbert import FlatBert
from packed import Corpus, flat_batch, read_shard
from similarity import both_ways

THRESHOLDS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3)


@torch.no_grad()
def held_out_aer(model: FlatBert, folder: Path, device: str) -> dict[str, object]:
    """AER (with all links taken as sure) by mode, threshold and language."""
    result: dict[str, object] = {}
    for mode in ("joint", "apart"):
        by_language = {path.stem: _counts(model, path, device, mode == "apart") for path in sorted(folder.glob("*.xz"))}
        aer = {
            name: 100 * (1 - 2 * counts[:, 1] / (counts[:, 0] + counts[:, 2])) for name, counts in by_language.items()
        }
        mean = np.mean(list(aer.values()), axis=0)
        best = int(mean.argmin())
        result[mode] = {
            "threshold": THRESHOLDS[best], "mean": round(float(mean[best]), 2), "at 0.001": round(float(mean[0]), 2),
            **{name: round(float(values[best]), 1) for name, values in aer.items()},
        }  # fmt: skip
    return result


def _counts(model: FlatBert, path: Path, device: str, apart: bool) -> np.ndarray:
    corpus = Corpus([read_shard(path)], [0], device)
    numbers = np.arange(len(corpus))
    total = np.zeros((len(THRESHOLDS), 3))
    for some in np.array_split(numbers, max(1, len(numbers) // 64)):
        tokens = int((corpus.lengths[some].sum(axis=1) + 4).sum())
        flags = np.full(len(some), apart)
        batch = flat_batch(corpus, some, swapped=np.zeros(len(some), dtype=bool), apart=flags, tokens=tokens,
                           rows=2 * len(some) + 1, edges=(32, 128))  # fmt: skip
        with torch.autocast(device, torch.bfloat16):
            states = model(batch.ids, batch.positions, batch.types, batch.ends)
        for group in batch.groups:
            weakest = torch.minimum(*both_ways(states, group)).exp()
            for k in range(len(group.pairs)):
                n, m = int(group.inside[0][k].sum()), int(group.inside[1][k].sum())
                total += _pair_counts(
                    weakest[k, :n, :m],
                    (group.guide | group.possible)[k, :n, :m],
                    group.words[0][k, :n],
                    group.words[1][k, :m],
                )
    return total


def _pair_counts(weakest: torch.Tensor, guide: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> np.ndarray:
    values, gold, x, y = (part.cpu().numpy() for part in (weakest, guide, source, target))
    rows, columns = np.flatnonzero(np.diff(x, prepend=-1)), np.flatnonzero(np.diff(y, prepend=-1))
    best = np.maximum.reduceat(np.maximum.reduceat(values, rows, axis=0), columns, axis=1)
    links = gold[np.ix_(rows, columns)]
    return np.array([[(best > c).sum(), ((best > c) & links).sum(), links.sum()] for c in THRESHOLDS])
