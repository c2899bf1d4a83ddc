"""What one core does in a second, stage by stage: the figures that a capacity plan is made of.

    python benchmarks/scale/rates.py PAIRS [--model FOLDER] [--lines 20000] [--output rates.json]

Checking (the survey before a sharded run), reading (lines to words), sending and receiving (chunks to another process,
links back), subwords (of words seen before), aligning (encoder and links) and writing are measured on the first lines
of PAIRS, each alone, best of three.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from weft.corpus.job import AlignJob
from weft.corpus.manifest import survey
from weft.corpus.records import cut_records
from weft.text.files import writing

TRIES = 3


def best(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(TRIES):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def ignore(error: object) -> None:
    """Bad lines cost time too."""


def measure(path: Path, model: str, device: str) -> dict[str, float]:
    job = AlignJob(model, {"device": device})
    worker = job.load()
    items = list(job.read(str(path), None, ignore))
    chunks = list(cut_records(items, worker.describe().pace.chunk_words))
    done = list(worker.align(chunks))
    packed = list(map(pickle.dumps, done))
    stages: dict[str, Callable[[], object]] = {
        "checking": lambda: survey(str(path)),
        "reading": lambda: list(cut_records(job.read(str(path), None, ignore), worker.describe().pace.chunk_words)),
        "sending": lambda: list(map(pickle.dumps, chunks)),
        "receiving": lambda: list(map(pickle.loads, packed)),
        "aligning": lambda: list(worker.align(chunks)),
        "writing": lambda: write(b"".join(part.output for part in done)),
    }
    tokenizer = getattr(worker._aligner.encoder, "tokenizer", None)
    if tokenizer is not None:
        sentences = [side for item in items for side in (item.pair.source, item.pair.target) if side]
        stages["subwords"] = lambda: tokenizer.split(sentences)
    rates = {stage: len(items) / best(work) for stage, work in stages.items()}
    return {
        **rates,
        "bytes_in": path.stat().st_size / len(items),
        "bytes_out": sum(len(part.output) for part in done) / len(items),
    }


def write(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder, writing(f"{folder}/links") as put:
        put(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder, "pairs")
        with options.pairs.open("rb") as file:
            sample.write_bytes(b"".join(islice(file, options.lines)))
        rates = measure(sample, options.model, options.device)
    for stage, rate in rates.items():
        print(f"{stage:10} {rate:12,.0f} {'bytes a pair' if 'bytes' in stage else 'pairs/s'}")
    if options.output:
        options.output.write_text(json.dumps(rates, indent=1) + "\n")


if __name__ == "__main__":
    main()
