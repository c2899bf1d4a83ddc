"""Load on `weft serve` over loopback: many clients for a minute, every answer compared with the library's own.

    python benchmarks/serve/load.py [--model NAME] [--layer N] [--clients 50] [--seconds 60] [--queue 32]

Prints throughput, median and p99 of the time to an answer, how many requests were turned away with 503, and the
server's memory after warming up and at the end. Exits with 1 if an answer is wrong or has any other status.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

import psutil

from weft import Aligner, SentencePair, read_pairs

EXAMPLES = Path(__file__).parents[2] / "examples" / "pairs.txt"
PAUSE_WHEN_FULL = 0.05
VARIANTS = 200


@dataclass
class Tally:
    """What one client saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    wrong: int = 0


def work_items(model: str, layer: int | None) -> list[tuple[bytes, list[list[float]]]]:
    """Request bodies with the links they must be answered with."""
    rng = random.Random(1)
    examples = list(read_pairs(EXAMPLES))
    pairs = []
    for _ in range(VARIANTS):
        chosen = rng.sample(examples, rng.randint(1, 3))
        source = tuple(word for pair in chosen for word in pair.source)
        target = tuple(word for pair in chosen for word in pair.target)
        pairs.append(SentencePair((*source, str(rng.randint(0, 99))), target))
    aligner = Aligner.from_pretrained(model, layer=layer)
    items = []
    for pair in pairs:
        alignment = aligner.align(pair.source, pair.target)
        body = json.dumps({"source": pair.source, "target": pair.target}).encode()
        items.append((body, [[*link.indices, link.score or 0.0] for link in alignment.links]))
    return items


def client(port: int, items: list[tuple[bytes, list[list[float]]]], end: float, seed: int, tally: Tally) -> None:
    rng = random.Random(seed)
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    while time.monotonic() < end:
        body, expected = rng.choice(items)
        start = time.monotonic()
        connection.request("POST", "/api/align", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        tally.statuses[response.status] += 1
        if response.status == 200:
            tally.seconds.append(time.monotonic() - start)
            tally.wrong += not _same(json.loads(answer)["alignments"][0]["links"], expected)
        else:
            time.sleep(PAUSE_WHEN_FULL)
    connection.close()


def _same(links: list[list[float]], expected: list[list[float]]) -> bool:
    """The same links; scores may differ in the last digits, as batches of another shape do."""
    return [link[:2] for link in links] == [link[:2] for link in expected] and all(
        abs(one[2] - other[2]) < 1e-3 for one, other in zip(links, expected, strict=True)
    )


def serve(model: str, layer: int | None, queue: int) -> tuple[subprocess.Popen[str], int]:
    options = ["--model", model, "--queue", str(queue), *(["--layer", str(layer)] if layer is not None else [])]
    command = [sys.executable, "-m", "weft", "serve", "--port", "0", *options]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert running.stderr
    for line in running.stderr:
        if match := re.search(r"http://[\w.]+:(\d+)", line):
            return running, int(match[1])
    raise SystemExit("the server did not start.")


def load(port: int, items: list[tuple[bytes, list[list[float]]]], clients: int, seconds: float) -> list[Tally]:
    end = time.monotonic() + seconds
    tallies = [Tally() for _ in range(clients)]
    threads = [
        threading.Thread(target=client, args=(port, items, end, seed, tally)) for seed, tally in enumerate(tallies)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tallies


def megabytes(process: subprocess.Popen[str]) -> float:
    return float(psutil.Process(process.pid).memory_info().rss / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--layer", type=int)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--queue", type=int, default=32)
    options = parser.parse_args()
    items = work_items(options.model, options.layer)
    running, port = serve(options.model, options.layer, options.queue)
    try:
        load(port, items, options.clients, min(10, options.seconds))
        before = megabytes(running)
        tallies = load(port, items, options.clients, options.seconds)
        after = megabytes(running)
    finally:
        running.terminate()
        running.wait(timeout=30)
    statuses = sum((tally.statuses for tally in tallies), Counter())
    times = sorted(second for tally in tallies for second in tally.seconds)
    wrong = sum(tally.wrong for tally in tallies)
    print(f"{options.clients} clients, {options.seconds:.0f} s, {options.model}, queue {options.queue}")
    print(f"answers: {statuses[200]:,} ({statuses[200] / options.seconds:.0f}/s), wrong: {wrong}")
    print(f"turned away with 503: {statuses[503]:,}, other statuses: {sorted(set(statuses) - {200, 503})}")
    print(f"median {1000 * times[len(times) // 2]:.0f} ms, p99 {1000 * times[int(len(times) * 0.99)]:.0f} ms")
    print(f"memory: {before:.0f} MB after warming up, {after:.0f} MB at the end")
    sys.exit(1 if wrong or set(statuses) - {200, 503} else 0)


if __name__ == "__main__":
    main()
