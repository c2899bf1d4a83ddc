"""Load on `weft serve` over loopback: many clients for a minute, every answer compared with the library's own.

    python benchmarks/serve/load.py [--model NAME] [--layer N] [--clients 50] [--seconds 60] [--queue 64] [--slow 5]

Some of the clients are slow ones: they send pairs at and beyond the limits, long lists and slow methods, and some hang
up before the answer. All come from one address, which is the hardest case for sharing the time out. Prints throughput,
median and p99 of the time to an answer for short pairs, what became of the slow requests, and the server's memory.
Exits with 1 if an answer is wrong, a refusal has no sentence, a status is neither 200, 4xx nor 503, the p99 of short
pairs is above 2 s or the memory above 300 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import string
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
MOST_SECONDS, MOST_MEGABYTES = 2.0, 300
JSON = {"Content-Type": "application/json"}


@dataclass
class Tally:
    """What one client saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    wrong: int = 0
    speechless: int = 0


def slow_bodies() -> dict[str, bytes]:
    """Requests that hold a server up, or would: most of them are within the limits."""
    rng = random.Random(2)

    def words(count: int, letters: int) -> str:
        return " ".join("".join(rng.choices(string.ascii_lowercase, k=letters)) for _ in range(count))

    def one(count: int, letters: int, **settings: object) -> dict[str, object]:
        return {"source": words(count, letters), "target": words(count, letters), **settings}

    requests: dict[str, dict[str, object]] = {
        "500 words of 19 letters": one(500, 19),
        "100 pairs of 500 words": {"pairs": [one(500, 4) for _ in range(100)]},
        "100 pairs of 25 words": {"pairs": [one(25, 5) for _ in range(100)]},
        "280 words": one(280, 5),
        "itermax": one(150, 5, method="itermax"),
        "grow-diag-final": one(80, 5, method="softmax", symmetrize="grow-diag-final"),
    }
    return {name: json.dumps(request).encode() for name, request in requests.items()}


def slow_client(port: int, bodies: dict[str, bytes], end: float, seed: int, tally: Tally) -> None:
    """Sends slow requests one after another; every fifth time it hangs up after a moment."""
    rng = random.Random(seed)
    while time.monotonic() < end:
        connection = HTTPConnection("127.0.0.1", port, timeout=90)
        connection.request("POST", "/api/align", rng.choice(list(bodies.values())), JSON)
        if rng.random() < 0.2:
            time.sleep(0.1)
        else:
            response = connection.getresponse()
            answer = json.loads(response.read())
            tally.statuses[response.status] += 1
            tally.speechless += response.status != 200 and not str(answer.get("detail", "")).endswith(".")
        connection.close()


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
        connection.request("POST", "/api/align", body, JSON)
        response = connection.getresponse()
        answer = response.read()
        tally.statuses[response.status] += 1
        if response.status == 200:
            tally.seconds.append(time.monotonic() - start)
            tally.wrong += not _same(json.loads(answer)["alignments"][0]["links"], expected)
        else:
            tally.speechless += not str(json.loads(answer).get("detail", "")).endswith(".")
            time.sleep(PAUSE_WHEN_FULL)
    connection.close()


def _same(links: list[list[float]], expected: list[list[float]]) -> bool:
    """The same links; scores may differ in the last digits, as batches of another shape do."""
    return [link[:2] for link in links] == [link[:2] for link in expected] and all(
        abs(one[2] - other[2]) < 1e-3 for one, other in zip(links, expected, strict=True)
    )


class Memory(threading.Thread):
    """Watches how much memory a process has."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(process.pid)
        self.most = self.last = 0.0
        self.stopped = threading.Event()

    def run(self) -> None:
        """Look ten times a second."""
        while not self.stopped.wait(0.1):
            self.last = self._process.memory_info().rss / 1e6
            self.most = max(self.most, self.last)


def serve(model: str, layer: int | None, queue: int) -> tuple[subprocess.Popen[str], int]:
    options = ["--model", model, "--queue", str(queue), *(["--layer", str(layer)] if layer is not None else [])]
    command = [sys.executable, "-m", "weft", "serve", "--port", "0", *options]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert running.stderr
    for line in running.stderr:
        if match := re.search(r"http://[\w.]+:(\d+)", line):
            return running, int(match[1])
    raise SystemExit("the server did not start.")


def load(
    port: int, items: list[tuple[bytes, list[list[float]]]], clients: int, slow: int, seconds: float
) -> tuple[list[Tally], list[Tally]]:
    """What the short and the slow clients saw."""
    end = time.monotonic() + seconds
    bodies = slow_bodies()
    tallies = [Tally() for _ in range(clients)]
    threads = [
        threading.Thread(target=slow_client, args=(port, bodies, end, seed, tally))
        if seed < slow
        else threading.Thread(target=client, args=(port, items, end, seed, tally))
        for seed, tally in enumerate(tallies)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tallies[slow:], tallies[:slow]


def report(options: argparse.Namespace, short: list[Tally], slow: list[Tally], memory: Memory) -> bool:
    """Print the figures; returns whether all is well."""
    statuses = sum((tally.statuses for tally in short), Counter())
    slow_statuses = sum((tally.statuses for tally in slow), Counter())
    times = sorted(second for tally in short for second in tally.seconds)
    wrong, speechless = (sum(getattr(tally, name) for tally in short + slow) for name in ("wrong", "speechless"))
    p99 = times[int(len(times) * 0.99)]
    print(
        f"{options.clients} clients, {options.slow} of them slow, {options.seconds:.0f} s, {options.model}, "
        f"queue {options.queue}; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print(f"short pairs: {statuses[200]:,} answers ({statuses[200] / options.seconds:.0f}/s), wrong: {wrong}")
    print(f"short pairs: median {1000 * times[len(times) // 2]:.0f} ms, p99 {1000 * p99:.0f} ms")
    print(f"short pairs: {dict(sorted(statuses.items()))}; slow requests: {dict(sorted(slow_statuses.items()))}")
    print(f"refusals without a sentence: {speechless}")
    print(f"memory: {memory.most:.0f} MB at most, {memory.last:.0f} MB at the end")
    strange = {status for status in statuses | slow_statuses if status not in (200, 503) and not 400 <= status < 500}
    return not (wrong or speechless or strange or p99 > MOST_SECONDS or memory.most > MOST_MEGABYTES)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--layer", type=int)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--queue", type=int, default=64)
    parser.add_argument("--slow", type=int, default=5)
    options = parser.parse_args()
    items = work_items(options.model, options.layer)
    running, port = serve(options.model, options.layer, options.queue)
    memory = Memory(running)
    try:
        load(port, items, options.clients, 0, min(3, options.seconds))
        memory.start()
        short, slow = load(port, items, options.clients, options.slow, options.seconds)
        memory.stopped.set()
        memory.join()
    finally:
        running.terminate()
        running.wait(timeout=30)
    sys.exit(not report(options, short, slow, memory))


if __name__ == "__main__":
    main()
