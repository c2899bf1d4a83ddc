"""How time and memory of `weft align` grow: with the number of pairs, and with the words of a sentence.

    python benchmarks/speed/growth.py [--model weft-mini] [--pairs 1000,10000,100000] [--words 10,100,1000,2000]

Text is made of the words of `examples/pairs.txt`. The runs over longer sentences hold the same number of words each.
Prints a table and draws it as `growth.svg` beside this file.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "pairs.txt"
PAIR_WORDS = 15
TOTAL_WORDS = 40_000


class Run(NamedTuple):
    """One measured run."""

    size: int
    pairs: int
    seconds: float
    megabytes: float


def write_pairs(path: Path, pairs: int, words: int) -> None:
    """Sentences of random words; no two are the same, so that no cache helps."""
    vocabulary = [
        line.split(" ||| ")[side].split() for line in EXAMPLES.read_text("utf-8").split("\n")[:-1] for side in (0, 1)
    ]
    flat = [word for sentence in vocabulary for word in sentence]
    source = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(pairs):
            sides = (" ".join(source.choices(flat, k=words)) for _ in range(2))
            file.write(" ||| ".join(sides) + "\n")


def measured(model: str, size: int, pairs: int, words: int) -> Run:
    """Run `weft align` over so many pairs in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "pairs")
        write_pairs(text, pairs, words)
        command = [sys.executable, "-m", "weft", "align", str(text), "-o", os.devnull, "--model", model]
        began = time.perf_counter()
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        return Run(size, pairs, time.perf_counter() - began, usage.ru_maxrss / 1000)


def drawn(title: str, label: str, runs: list[Run], left: int) -> str:
    """Two lines over a logarithmic axis: seconds (solid; logarithmic too), and megabytes (dashed; from 0)."""
    from math import log10

    width, height = 300, 180
    low, high = log10(runs[0].size), log10(runs[-1].size)
    across = [left + 40 + width * (log10(run.size) - low) / max(high - low, 1e-9) for run in runs]
    parts = [f'<text x="{left + 40}" y="20" font-weight="bold">{title}</text>']
    lines = (
        ("seconds", "#0072b2", "", [run.seconds for run in runs]),
        ("MB", "#d55e00", "5 4", [run.megabytes for run in runs]),
    )
    for number, (unit, colour, dashes, values) in enumerate(lines):
        least, most = min(values), max(values)
        if unit == "seconds":
            shares = [log10(value / least) / max(log10(most / least), 1e-9) for value in values]
        else:
            shares = [value / most for value in values]
        heights = [40 + height * (1 - share) for share in shares]
        points = " ".join(f"{x:.0f},{y:.0f}" for x, y in zip(across, heights, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
        )
        parts.append(
            f'<text x="{left + 45 + 130 * number}" y="36" fill="{colour}">{unit}, {least:,.0f} to {most:,.0f}</text>'
        )
    ticks = zip(across, runs, strict=True)
    parts += [f'<text x="{x:.0f}" y="{height + 58}" text-anchor="middle">{run.size:,}</text>' for x, run in ticks]
    parts.append(f'<path d="M{left + 40} 40 V{height + 40} H{left + 40 + width}" fill="none" stroke="#888"/>')
    parts.append(f'<text x="{left + 40 + width / 2:.0f}" y="{height + 76}" text-anchor="middle">{label}</text>')
    return "".join(parts)


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--pairs", default="1000,10000,100000")
    parser.add_argument("--words", default="10,30,100,300,1000,2000")
    options = parser.parse_args()
    by_pairs, by_words = [], []
    for size in map(int, options.pairs.split(",")):
        by_pairs.append(measured(options.model, size, size, PAIR_WORDS))
        print(f"{size:9,} pairs of {PAIR_WORDS} words: {_described(by_pairs[-1])}", flush=True)
    for size in map(int, options.words.split(",")):
        by_words.append(measured(options.model, size, TOTAL_WORDS // size, size))
        print(f"{by_words[-1].pairs:9,} pairs of {size:5,} words: {_described(by_words[-1])}", flush=True)
    draw(by_pairs, by_words)


def draw(by_pairs: list[Run], by_words: list[Run]) -> None:
    """Both pictures side by side, as `growth.svg` beside this file."""
    pictures = drawn("Pairs", f"pairs of {PAIR_WORDS} words", by_pairs, 0) + drawn(
        "Words", f"words of a sentence, {TOTAL_WORDS:,} words in all", by_words, 400
    )
    (HERE / "growth.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 270" font-family="sans-serif" font-size="12">'
        f'<rect width="800" height="270" fill="white"/>{pictures}</svg>\n'
    )


def _described(run: Run) -> str:
    return f"{run.seconds:7.1f} s {run.pairs / run.seconds:8.1f} pairs/s {run.megabytes:6.0f} MB"


if __name__ == "__main__":
    main()
