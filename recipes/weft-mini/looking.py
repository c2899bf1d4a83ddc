"""How a student does on dev sets while it learns: a quick look, not the measure that is reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from flatbert import FlatBert
from rows import Segments, Sentences, both_ways_with_null, by_length, flat, group
from store import AROUND, MOST_SIDE, Shard, read

from weft.arrays import IntArray
from weft.scoring.counts import count_sentence, rates
from weft.types import GoldAlignment, Link, WordPair

MOST_PAIRS, SHIFT, THRESHOLD = 60, 17, 0.15


@torch.no_grad()
def look(model: FlatBert, folder: Path, device: str) -> dict[str, float]:
    """AER on joined sets with English and without, F1 on content words likewise, and links of unrelated sentences."""
    found: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.xz")):
        kind, pair = path.stem.split("-", 1)
        shard = read(path)
        sentences = Sentences([shard], device)
        numbers = np.arange(min(MOST_PAIRS, len(shard["counts"])))
        numbers = numbers[(sentences.lengths[2 * numbers] > 0) & (sentences.lengths[2 * numbers + 1] > 0)]
        links = links_of(model, sentences, 2 * numbers, 2 * numbers + 1, device)
        gold = gold_of(shard, numbers)
        name = f"{kind} {'with' if pair.endswith('-en') else 'without'} English"
        score = aer if kind == "joined" else content_f1
        found.setdefault(name, []).append(score(links, gold))
        if len(numbers) > 2 * SHIFT:
            shifted = np.roll(numbers, SHIFT)
            strangers = links_of(model, sentences, 2 * numbers, 2 * shifted + 1, device)
            words = shard["words"]
            counts = [1 + int(words[start : start + length].max()) if length else 0
                      for start, length in zip(sentences.starts, sentences.lengths, strict=True)]  # fmt: skip
            shorter = sum(min(counts[2 * a], counts[2 * b + 1]) for a, b in zip(numbers, shifted, strict=True))
            found.setdefault("unrelated", []).append(sum(map(len, strangers)) / shorter)
            if pair.split("-")[0] in ("te", "bn") and kind == "joined":
                found[f"joined {pair}"] = [score(links, gold)]
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def links_of(
    model: FlatBert, sentences: Sentences, sources: IntArray, targets: IntArray, device: str
) -> list[set[WordPair]]:
    """Links between words for pairs of sentences."""
    rows = Segments.empty(len(sources))
    for side, which in enumerate((sources, targets)):
        rows.put(np.arange(len(which)), side, 0, sentences, which, 0)
    tokens = int(rows.length.sum()) + 2 * AROUND * len(sources)
    batch = flat(rows, sentences, tokens=tokens, rows=len(sources))
    with torch.autocast(device, torch.bfloat16, enabled=device != "cpu"):
        states = model(batch.ids, batch.positions, batch.types, batch.ends)
    result: list[set[WordPair]] = [set() for _ in sources]
    for some in by_length(batch.lengths, np.arange(len(sources))):
        padded = group(batch, some, device)
        forward, backward, _, _ = both_ways_with_null(states, padded)
        b, i, j = torch.nonzero(torch.minimum(forward, backward) > np.log(THRESHOLD), as_tuple=True)
        words = [batch.word[places] % MOST_SIDE for places in padded.places]
        for row, source, target in zip(b.tolist(), words[0][b, i].tolist(), words[1][b, j].tolist(), strict=True):
            result[some[row]].add((source, target))
    return result


def gold_of(shard: Shard, numbers: IntArray) -> list[GoldAlignment]:
    """The gold links of pairs."""
    ends = np.cumsum(shard["counts"].astype(np.int64))
    parts = [slice(ends[k] - shard["counts"][k], ends[k]) for k in numbers]
    rows = (zip(shard["links"][part].tolist(), shard["sure"][part].tolist(), strict=True) for part in parts)
    return [GoldAlignment.of(Link(i, j, sure=sure) for (i, j), sure in row) for row in rows]


def aer(links: list[set[WordPair]], gold: list[GoldAlignment]) -> float:
    """Alignment error rate in percent."""
    counts = np.array([count_sentence(true, found) for true, found in zip(gold, links, strict=True)])
    return float(rates(counts.sum(axis=0))[0])


def content_f1(links: list[set[WordPair]], gold: list[GoldAlignment]) -> float:
    """F1 in percent over links between words that both have a gold link."""
    right = guessed = wanted = 0
    for found, true in zip(links, (each.possible for each in gold), strict=True):
        sources, targets = {i for i, _ in true}, {j for _, j in true}
        inside = {(i, j) for i, j in found if i in sources and j in targets}
        right, guessed, wanted = right + len(inside & true), guessed + len(inside), wanted + len(true)
    return 200 * right / (guessed + wanted)
