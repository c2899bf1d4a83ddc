"""How a student does on dev sets while it learns: a quick look, not the measure that is reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from flatbert import FlatBert
from rows import Segments, Sentences, both_ways_with_null, by_length, flat, group
from store import AROUND, Array, read

MOST_PAIRS, SHIFT, THRESHOLD = 60, 17, 0.15


@torch.no_grad()
def look(model: FlatBert, folder: Path, device: str, null: float) -> dict[str, float]:
    """AER on joined sets with English and without, F1 on content words likewise, and links of unrelated sentences."""
    found: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.xz")):
        kind, pair = path.stem.split("-", 1)
        shard = read(path)
        sentences = Sentences([shard], device)
        numbers = np.arange(min(MOST_PAIRS, len(shard["counts"])))
        numbers = numbers[(sentences.lengths[2 * numbers] > 0) & (sentences.lengths[2 * numbers + 1] > 0)]
        links = links_of(model, sentences, 2 * numbers, 2 * numbers + 1, device, null)
        gold = gold_of(shard, numbers)
        name = f"{kind} {'with' if pair.endswith('-en') else 'without'} English"
        score = aer if kind == "joined" else content_f1
        found.setdefault(name, []).append(score(links, gold))
        if len(numbers) > 2 * SHIFT:
            shifted = np.roll(numbers, SHIFT)
            strangers = links_of(model, sentences, 2 * numbers, 2 * shifted + 1, device, null)
            words = shard["words"]
            counts = [1 + int(words[start : start + length].max()) if length else 0
                      for start, length in zip(sentences.starts, sentences.lengths, strict=True)]  # fmt: skip
            shorter = sum(min(counts[2 * a], counts[2 * b + 1]) for a, b in zip(numbers, shifted, strict=True))
            found.setdefault("unrelated", []).append(sum(map(len, strangers)) / shorter)
            if pair.split("-")[0] in ("te", "bn") and kind == "joined":
                found[f"joined {pair}"] = [score(links, gold)]
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def links_of(
    model: FlatBert, sentences: Sentences, sources: Array, targets: Array, device: str, null: float
) -> list[set[tuple[int, int]]]:
    """Links between words for pairs of sentences."""
    rows = Segments.empty(len(sources))
    for side, which in enumerate((sources, targets)):
        rows.put(np.arange(len(which)), side, 0, sentences, which, 0)
    tokens = int(rows.length.sum()) + 2 * AROUND * len(sources)
    batch = flat(rows, sentences, tokens=tokens, rows=len(sources))
    with torch.autocast(device, torch.bfloat16, enabled=device != "cpu"):
        states = model(batch.ids, batch.positions, batch.types, batch.ends)
    result: list[set[tuple[int, int]]] = [set() for _ in sources]
    for some in by_length(batch.lengths, np.arange(len(sources))):
        padded = group(batch, some, device)
        forward, backward, _, _ = both_ways_with_null(states, padded, null)
        b, i, j = torch.nonzero(torch.minimum(forward, backward) > np.log(THRESHOLD), as_tuple=True)
        words = [batch.word[places] % 128 for places in padded.places]
        for row, source, target in zip(b.tolist(), words[0][b, i].tolist(), words[1][b, j].tolist(), strict=True):
            result[some[row]].add((source, target))
    return result


def gold_of(shard: dict[str, Array], numbers: Array) -> list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]:
    """Sure and all links of pairs."""
    counts = shard["counts"].astype(np.int64)
    ends = np.cumsum(counts)
    result = []
    for k in numbers:
        part = slice(ends[k] - counts[k], ends[k])
        pairs = [(int(i), int(j)) for i, j in shard["links"][part]]
        result.append(({pair for pair, sure in zip(pairs, shard["sure"][part], strict=True) if sure}, set(pairs)))
    return result


def aer(links: list[set[tuple[int, int]]], gold: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]) -> float:
    """Alignment error rate in percent."""
    both = [
        (len(a & sure) + len(a & possible), len(a) + len(sure)) for a, (sure, possible) in zip(links, gold, strict=True)
    ]
    right, all_of_them = np.sum(both, axis=0)
    return float(100 * (1 - right / all_of_them))


def content_f1(
    links: list[set[tuple[int, int]]], gold: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]
) -> float:
    """F1 in percent over links between words that both have a gold link."""
    right = guessed = wanted = 0
    for found, (_, true) in zip(links, gold, strict=True):
        sources, targets = {i for i, _ in true}, {j for _, j in true}
        inside = {(i, j) for i, j in found if i in sources and j in targets}
        right, guessed, wanted = right + len(inside & true), guessed + len(inside), wanted + len(true)
    return 200 * right / (guessed + wanted)
