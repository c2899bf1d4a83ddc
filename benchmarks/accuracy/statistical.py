"""How far links are from those of a statistical aligner: for languages that have text and no gold.

    python benchmarks/accuracy/statistical.py WORK [--model FOLDER] [--least 5000]

`WORK` holds `words/LANG.tsv` (words, English words) and eflomal's links in both directions, `silver/LANG.fwd` and
`LANG.rev`; `recipes/weft-mini` makes them. What both directions agree on counts as sure, what one of them has as
possible. Printed: the AER on 150 random pairs of 5 to 40 English words of each language.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from aligners import aligner_options, chosen_aligner

from weft import Aligner

SAMPLE, WORDS = 150, range(5, 41)


def main() -> None:
    parser = aligner_options(__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--least", type=int, default=5000, help="pairs that a language must have")
    options = parser.parse_args()
    aligner = chosen_aligner(options)
    found = dict(measured(aligner, options.work, options.least))
    print(f"{len(found)} languages, mean {mean(found.values()):.1f}, highest {max(found.values()):.1f}")


def measured(aligner: Aligner, work: Path, least: int) -> Iterator[tuple[str, float]]:
    for path in sorted((work / "words").glob("*.tsv")):
        pairs = [(line.split("\t")[0].split(), line.split("\t")[1].split()) for line in lines_of(path)]
        silver = [work / "silver" / f"{path.stem}.{direction}" for direction in ("fwd", "rev")]
        if len(pairs) < least or not all(file.exists() for file in silver):
            continue
        chosen = [number for number, (_, english) in enumerate(pairs) if len(english) in WORDS]
        chosen = random.Random(1).sample(chosen, min(SAMPLE, len(chosen)))
        there, back = ([links_of(lines[number]) for number in chosen] for lines in map(lines_of, silver))
        ours = [alignment.pairs for alignment in aligner.align_batch(pairs[number] for number in chosen)]
        right = sum(len(a & f & b) + len(a & (f | b)) for a, f, b in zip(ours, there, back, strict=True))
        size = sum(len(a) + len(f & b) for a, f, b in zip(ours, there, back, strict=True))
        print(f"{path.stem}\t{len(pairs):,} pairs\t{100 * (1 - right / size):.1f}", flush=True)
        yield path.stem, 100 * (1 - right / size)


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def links_of(line: str) -> set[tuple[int, ...]]:
    return {tuple(map(int, link.split("-"))) for link in line.split()}


if __name__ == "__main__":
    main()
