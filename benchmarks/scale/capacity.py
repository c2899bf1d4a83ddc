"""How long for a billion pairs, and what runs out first: a simulation of the chunks' way through a cluster.

    python benchmarks/scale/capacity.py --rates rates.json [--gpu-rates 5000,20000] [--gpus 1,8,64] [--pairs 1e9]

Rates of single stages on one core come from rates.py; a GPU's is measured with `rates.py --device cuda`, or assumed.
The simulation sends chunks through readers, a bounded queue, workers and one driver that takes them in order and writes
them, with service times that vary as sentences do. It prints the time, how busy each stage is, and the busiest one. It
knows nothing of networks and disks beyond the bytes a second that it prints.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from dataclasses import dataclass
from pathlib import Path

CHUNK_PAIRS = 650
WORKERS_A_READER = 4
AHEAD = 2
SPREAD = 0.15
UNLIMITED = 1e12


@dataclass(frozen=True)
class Cluster:
    """Pairs a second of each part."""

    readers: int
    reader: float
    workers: int
    worker: float
    driver: float


@dataclass(frozen=True)
class Outcome:
    """Pairs a second of the whole, and the share of the time that each stage works."""

    rate: float
    busy: dict[str, float]

    @property
    def limit(self) -> str:
        """The busiest stage."""
        return max(self.busy, key=lambda stage: self.busy[stage])


def simulate(cluster: Cluster, chunks: int, seed: int = 1) -> Outcome:
    """Chunk after chunk: when it is read, aligned and written, given what was there before it.

    Readers stop when as many chunks wait as the workers may have ahead; the driver takes chunks in order.
    """
    generator = random.Random(seed)
    readers = [0.0] * cluster.readers
    workers = [0.0] * cluster.workers
    written: list[float] = []
    time = {"reading": 0.0, "aligning": 0.0, "writing": 0.0}
    room = AHEAD * cluster.workers + cluster.workers
    for number in range(chunks):
        size = CHUNK_PAIRS * max(0.2, generator.gauss(1, SPREAD))
        # Back-pressure: a chunk is read only when an earlier one has left.
        may_begin = written[number - room] if number >= room else 0.0
        read = max(heapq.heappop(readers), may_begin) + size / cluster.reader
        heapq.heappush(readers, read)
        aligned = max(heapq.heappop(workers), read) + size / cluster.worker
        heapq.heappush(workers, aligned)
        begin = max(aligned, written[-1] if written else 0.0)
        written.append(begin + size / cluster.driver)
        time["reading"] += size / cluster.reader / cluster.readers
        time["aligning"] += size / cluster.worker / cluster.workers
        time["writing"] += size / cluster.driver
    return Outcome(chunks * CHUNK_PAIRS / written[-1], {stage: spent / written[-1] for stage, spent in time.items()})


def both(first: float, second: float) -> float:
    """Pairs a second when one core does two things one after the other."""
    return 1 / (1 / first + 1 / second)


def clusters(rates: dict[str, float], worker: float, gpus: int) -> dict[str, Cluster]:
    """The local engine reads, sends and writes in one process; Ray reads in several and writes in the driver."""
    reader, driver = both(rates["reading"], rates["sending"]), both(rates["writing"], rates["receiving"])
    return {
        "local": Cluster(1, both(reader, driver), gpus, worker, UNLIMITED),
        "ray": Cluster(1 + gpus // WORKERS_A_READER, reader, gpus, worker, driver),
    }


def spelt(seconds: float) -> str:
    return f"{seconds / 86400:.1f} days" if seconds > 2 * 86400 else f"{seconds / 3600:.1f} hours"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=Path, required=True)
    parser.add_argument("--gpu-rates", default="5000,20000")
    parser.add_argument("--gpus", default="1,8,64")
    parser.add_argument("--pairs", type=float, default=1e9)
    parser.add_argument("--chunks", type=int, default=20_000)
    options = parser.parse_args()
    rates = json.loads(options.rates.read_text())
    print("| a GPU's pairs/s | GPUs | engine | pairs/s | time | reading | aligning | writing | limit | MB/s in, out |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for worker in map(float, options.gpu_rates.split(",")):
        for gpus in map(int, options.gpus.split(",")):
            for engine, cluster in clusters(rates, worker, gpus).items():
                if engine == "local" and gpus > 8:
                    continue  # no machine has so many
                outcome = simulate(cluster, options.chunks)
                busy = " | ".join(f"{share:.0%}" for share in outcome.busy.values())
                moved = ", ".join(f"{outcome.rate * rates[way] / 1e6:.1f}" for way in ("bytes_in", "bytes_out"))
                print(
                    f"| {worker:,.0f} | {gpus} | {engine} | {outcome.rate:,.0f} "
                    f"| {spelt(options.pairs / outcome.rate)} | {busy} | {outcome.limit} | {moved} |"
                )


if __name__ == "__main__":
    main()
