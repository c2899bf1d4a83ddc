"""A job without a model: it writes each pair's words, and does on request what real ones do by accident."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from weft.corpus.job import Description
from weft.corpus.records import AlignedChunk, Chunk, Counts
from weft.encoding.encoder import Pace
from weft.errors import SettingError
from weft.text.pairs import read_pairs
from weft.types import SentencePair


@dataclass(frozen=True)
class Item:
    pair: SentencePair


@dataclass(frozen=True)
class EchoJob:
    """`refuse` cannot load; `kill` is a line at which the process dies; `pause` is how long a chunk takes."""

    refuse: bool = False
    kill: int | None = None
    at_once: int = 1
    pause: float = 0

    def read(self, path, target, on_error, *, jsonl=False):
        pairs = read_pairs(path, target, format="jsonl" if jsonl else "auto", on_error=on_error)
        return map(Item, pairs)

    def load(self):
        if self.refuse:
            raise SettingError("this model is for admirers only.")
        return EchoWorker(self)


class EchoWorker:
    def __init__(self, job: EchoJob) -> None:
        self.job = job

    def describe(self) -> Description:
        return Description(("echoes have no calibration.",), Pace(300, self.job.at_once, threads=True))

    def identity(self) -> dict[str, object]:
        return {"--model": "echo", "pid": os.getpid()}

    def align(self, chunks: Iterable[Chunk], *, at_once: int | None = None) -> Iterator[AlignedChunk]:
        return map(self.finish, chunks)

    def finish(self, chunk: Chunk) -> AlignedChunk:
        time.sleep(self.job.pause)
        if self.job.kill in range(chunk.first, chunk.first + chunk.lines):
            os.kill(os.getpid(), signal.SIGKILL)
        lines = [f"{number} {' '.join(item.pair.source)}\n" for number, item in enumerate(chunk.records, chunk.first)]
        return AlignedChunk(chunk.first, "".join(lines).encode(), Counts(len(lines), long_sentences=1))


class SeeingJob(EchoJob):
    """Writes which GPU its process may see."""

    def load(self):
        return SeeingWorker(self)


class SeeingWorker(EchoWorker):
    def finish(self, chunk: Chunk) -> AlignedChunk:
        time.sleep(0.1)  # so that there is work left when the last process has started
        return AlignedChunk(chunk.first, os.environ["CUDA_VISIBLE_DEVICES"].encode(), Counts(1))
