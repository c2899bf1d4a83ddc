"""200,000 lines of every kind through `weft align`: no line lost, memory flat.

    python benchmarks/scale/soak.py --model FOLDER [--lines 200000] [--ways stdin,file,gz]

Every tenth line is bad in one of many ways, and there are very long sentences. For each way in, the script prints
lines in and out, seconds, and how far the memory rose above what the model alone needs.
"""

from __future__ import annotations

import argparse
import gzip
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

WORDS = ["das", "ist", "ein", "Haus", "Berlin", "kaufen", "25", "Äpfel", ",", "私", "は", "。", "북한", "здравствуй"]
BAD = [
    b"",
    b"   \t",
    b"no separator here",
    b"a ||| b ||| c ||| d",
    b" ||| nothing on the left",
    b"nothing on the right |||",
    b"bad bytes \xff\xfe ||| here",
    b"das|||that",
]
ODD = [
    "das\x00ist \x1b[31m ||| \x7f that",
    "👩\u200d👩\u200d👧 🇩🇪 ||| 🎉 family",
    "هذا بيت صغير ||| that is a small house",
    "10\u00a0000\u3000円 ||| 10,000 yen",
    "das\rist ||| that is",
    "\u200b \ufeff das ||| that",
]


def corpus(lines: int, seed: int = 1) -> Iterator[tuple[bytes, bool]]:
    """Lines with whether they can be aligned."""
    generator = random.Random(seed)
    for number in range(lines):
        if number % 10 == 3:
            yield generator.choice(BAD), False
        elif number % 10 == 7:
            yield generator.choice(ODD).encode(), True
        else:
            long = number in (lines // 3, lines // 2)
            sides = [
                " ".join(generator.choices(WORDS, k=10_000 if long else generator.randint(1, 30))) for _ in range(2)
            ]
            yield " ||| ".join(sides).encode(), True


class Watch(threading.Thread):
    """Looks at a process five times a second and remembers its largest resident memory in MB."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        self.process = psutil.Process(process.pid)
        self.peak = 0.0

    def run(self) -> None:
        """Watch until the process ends."""
        while self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE:
            self.peak = max(self.peak, self.process.memory_info().rss / 2**20)
            time.sleep(0.2)


def peak_memory(command: list[str], data: bytes | Path, output: Path) -> tuple[float, float]:
    """Run a command; seconds and peak memory in MB."""
    start = time.perf_counter()
    source = subprocess.PIPE if isinstance(data, bytes) else data.open("rb")
    with output.open("wb") as out:
        process = subprocess.Popen(command, stdin=source, stdout=out, stderr=subprocess.DEVNULL)
        watch = Watch(process)
        watch.start()
        process.communicate(data if isinstance(data, bytes) else None)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    return time.perf_counter() - start, watch.peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--ways", default="stdin,file,gz")
    options = parser.parse_args()
    command = [sys.executable, "-m", "weft", "align", "--model", options.model]
    with tempfile.TemporaryDirectory() as folder:
        text, output = Path(folder, "pairs"), Path(folder, "links")
        fine = []
        with text.open("wb") as file, gzip.open(f"{text}.gz", "wb", compresslevel=1) as packed:
            for line, good in corpus(options.lines):
                fine.append(good)
                file.write(line + b"\n")
                packed.write(line + b"\n")
        _, model_alone = peak_memory(command, b"a ||| b\n" * 10, output)
        for way in options.ways.split(","):
            given = {"stdin": ["-"], "file": [str(text)], "gz": [f"{text}.gz"]}[way]
            seconds, peak = peak_memory(command + given, text if way == "stdin" else b"", output)
            filled = [line != b"\n" for line in output.open("rb")]
            right = len(filled) == len(fine) and all(
                good or not links for links, good in zip(filled, fine, strict=True)
            )
            empty, bad = filled.count(False), fine.count(False)
            print(f"{way:5} {len(fine):,} lines in, {len(filled):,} out: {'ok' if right else 'WRONG'}", end="; ")
            print(f"{bad:,} bad lines, {empty:,} without links; {len(fine) / seconds:,.0f} lines/s", end="; ")
            print(f"peak {peak:.0f} MB, {peak - model_alone:.0f} MB above the model", flush=True)


if __name__ == "__main__":
    main()
