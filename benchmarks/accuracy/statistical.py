"""How far links are from those of a statistical aligner: for languages that have text and no gold.

    python benchmarks/accuracy/statistical.py FOLDER [--model FOLDER] [--least 5000] [--at-once 2]

`FOLDER` holds `LANG.tsv`: words, a tab, and the words of their English translation; `recipes/weft-mini/lines.py` writes
such files. Eflomal's sampler (`pip install 'weft[guide]'`) aligns the text of a language in both directions. What both
agree on counts as sure, what one of them has as possible. Printed: the AER of the model on 150 random pairs of 5 to 40
English words of each language.
"""

from __future__ import annotations

import argparse
import random
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean

from aligners import aligner_options, chosen_aligner

from weft import SentencePair
from weft.training.statistical import both_directions

SAMPLE, WORDS = 150, range(5, 41)


def main() -> None:
    parser = aligner_options(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--least", type=int, default=5000, help="pairs that a language must have")
    parser.add_argument("--most", type=int, default=20_000, help="pairs of a language that are aligned")
    parser.add_argument("--at-once", type=int, default=2, help="languages that are aligned side by side")
    options = parser.parse_args()
    texts = {path.stem: pairs for path in sorted(options.folder.glob("*.tsv")) if (pairs := read(path, options))}
    with ProcessPoolExecutor(options.at_once) as pool:
        rates = dict(zip(texts, pool.map(measured, texts, texts.values(), [options] * len(texts)), strict=True))
    highest = max(rates, key=lambda language: rates[language])
    print(f"{len(rates)} languages, mean {mean(rates.values()):.1f}, highest {rates[highest]:.1f} ({highest})")


def read(path: Path, options: argparse.Namespace) -> list[SentencePair]:
    """Some pairs of a language, or none if it has too few."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    pairs = [SentencePair(tuple(row[0].split(" ")), tuple(row[1].split(" "))) for row in rows]
    if len(pairs) < options.least:
        return []
    return random.Random(1).sample(pairs, min(len(pairs), options.most))


def measured(language: str, pairs: list[SentencePair], options: argparse.Namespace) -> float:
    """The AER of the model, in percent, if the statistical aligner is right."""
    directions = list(both_directions(pairs))
    fitting = [number for number, pair in enumerate(pairs) if len(pair.target) in WORDS]
    chosen = random.Random(1).sample(fitting, min(SAMPLE, len(fitting)))
    ours = [one.pairs for one in chosen_aligner(options).align_batch(pairs[number] for number in chosen)]
    right = size = 0
    for found, (there, back) in zip(ours, (directions[number] for number in chosen), strict=True):
        right += len(found & there & back) + len(found & (there | back))
        size += len(found) + len(there & back)
    rate = 100 * (1 - right / size)
    print(f"{language}\t{len(pairs):,} pairs\t{rate:.1f}", flush=True)
    return rate


if __name__ == "__main__":
    main()
