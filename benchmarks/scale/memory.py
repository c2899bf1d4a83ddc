"""Does memory stay flat? A million pairs through the local engine, its shards and Ray, with the memory of each process.

    python benchmarks/scale/memory.py [--lines 1000000] [--ways shards,ray] [--workers 2] [--model weft-mini]

For each tenth of the run the script prints the memory that the driver and the largest worker have to themselves
(without Ray's shared store) in MB, and how much they grew from the fourth tenth, when all have started, to the ninth.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from soak import WORDS

TENTHS = 10


def write_corpus(path: Path, lines: int) -> None:
    """Pairs of a usual length, from few words: what is remembered of words is full early."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            first = [WORDS[(number * k) % len(WORDS)] for k in range(1, 8 + number % 25)] + [str(number % 997)]
            file.write(f"{' '.join(first)} ||| {' '.join(reversed(first))}\n")


def memory(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().uss / 2**20)
    except psutil.Error:
        return 0.0


def watch(command: list[str], folder: Path) -> list[tuple[float, float, float]]:
    """Seconds since the start, the driver's memory and the largest worker's, once a second."""
    running = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    driver = psutil.Process(running.pid)
    start = time.perf_counter()
    seen = []
    while running.poll() is None:
        workers = [child for child in children(driver) if is_worker(child)]
        largest = max(map(memory, workers), default=0.0)
        seen.append((time.perf_counter() - start, memory(driver), largest))
        time.sleep(1)
    if running.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {running.returncode}")
    return seen


def children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []


def is_worker(process: psutil.Process) -> bool:
    try:
        line = " ".join(process.cmdline())
    except psutil.Error:
        return False
    return "MapWorker" in line or "MapBatches" in line or "spawn_main" in line


def report(way: str, lines: int, seen: list[tuple[float, float, float]]) -> None:
    seconds = seen[-1][0]
    print(f"{way}: {lines:,} pairs in {seconds:.0f} s, {lines / seconds:,.0f} pairs/s")
    tenths = [
        [sample for sample in seen if part * seconds / TENTHS <= sample[0] <= (part + 1) * seconds / TENTHS]
        for part in range(TENTHS)
    ]
    for who, column in (("driver", 1), ("largest worker", 2)):
        peaks = [max((sample[column] for sample in part), default=0.0) for part in tenths]
        grown = peaks[-2] - peaks[3]
        print(f"  {who:14} {' '.join(f'{peak:5.0f}' for peak in peaks)} MB; grew by {grown:+.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--ways", default="one,shards,ray")
    parser.add_argument("--workers", default="2")
    options = parser.parse_args()
    extra = {
        "one": [],
        "shards": ["--shards", "50", "--workers", options.workers],
        "ray": ["--engine", "ray", "--workers", options.workers],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "pairs", options.lines)
        for way in options.ways.split(","):
            command = [sys.executable, "-m", "weft", "align", "pairs", "-o", way, "--model", options.model, *extra[way]]
            report(way, options.lines, watch(command, folder))
        results = {(folder / way).read_bytes() for way in options.ways.split(",")}
        print("all results identical" if len(results) == 1 else "RESULTS DIFFER")


if __name__ == "__main__":
    main()
