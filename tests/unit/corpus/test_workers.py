from __future__ import annotations

import multiprocessing
import os
import time
from dataclasses import replace
from itertools import islice

import pytest

from echo import EchoJob, Item, SeeingJob
from weft.aligner import Aligner
from weft.corpus.records import Chunk, cut_records
from weft.corpus.workers import Workers, visible_gpus
from weft.encoding.onnx import OnnxEncoder
from weft.errors import SettingError, WeftError
from weft.types import SentencePair


def items(count: int) -> list[Item]:
    return [Item(SentencePair(tuple(f"w{number}" for _ in range(number % 40)), ("x",))) for number in range(count)]


def expected(count: int) -> bytes:
    return b"".join(f"{k} {' '.join(item.pair.source)}\n".encode() for k, item in enumerate(items(count), 1))


@pytest.mark.parametrize(("count", "at_once"), [(1, 2), (2, 1), (3, 2)])
def test_results_come_in_order(count, at_once):
    with Workers(EchoJob(at_once=at_once), count) as workers:
        description, identity = workers.describe(), workers.identity()
        done = list(workers.align(cut_records(items(2_000), words=300)))
    assert b"".join(part.output for part in done) == expected(2_000)
    assert sum(part.counts.lines for part in done) == 2_000
    assert identity["pid"] != os.getpid()
    assert list(description.remarks) == ["echoes have no calibration."]


def test_few_chunks_are_read_ahead():
    taken = 0

    def chunks():
        nonlocal taken
        for chunk in cut_records(items(1_000), words=10):
            taken += 1
            yield chunk

    with Workers(EchoJob(), 2) as workers:
        for number, _ in enumerate(workers.align(chunks()), start=1):
            assert taken <= number + 4


@pytest.mark.parametrize("count", [1, 2])
def test_an_error_keeps_its_sentence_and_its_exit_code(count):
    with Workers(EchoJob(refuse=True), count) as workers:
        with pytest.raises(SettingError, match="for admirers only"):
            workers.describe()
        with pytest.raises(SettingError, match="for admirers only"):
            list(workers.align(cut_records(items(10), 300)))


def test_a_killed_worker_is_told_in_a_sentence():
    with Workers(EchoJob(kill=900), 2) as workers, pytest.raises(WeftError, match="a worker process was killed"):
        list(workers.align(cut_records(items(2_000), words=300)))


def test_nobody_waits_for_work_that_is_no_longer_wanted():
    interrupted = 0.0

    def chunks():
        nonlocal interrupted
        yield from islice(cut_records(items(2_000), words=300), 2)
        interrupted = time.monotonic()
        raise KeyboardInterrupt

    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt), Workers(EchoJob(pause=60), 2) as workers:
        list(workers.align(chunks()))
    assert time.monotonic() - interrupted < 20
    assert set(multiprocessing.active_children()) <= before


def test_chunks_are_the_aligners_own(tiny_onnx):
    seen = []

    class Watching(OnnxEncoder):
        def encode(self, subwords):
            seen.append(len(subwords))
            return super().encode(subwords)

    given = [Item(SentencePair((f"s{k}",) * (k % 50 + 1), (f"t{k}",) * (k % 7 + 1))) for k in range(3_000)]
    encoder = Watching(tiny_onnx, max_length=64)
    encoder.pace = replace(encoder.pace, chunks_at_once=1)  # so that they are seen in order
    list(Aligner(encoder).stream(item.pair for item in given))
    chunks = list(cut_records(given, encoder.pace.chunk_words))
    assert [2 * chunk.lines for chunk in chunks] == seen
    assert len(seen) > 3
    assert [item for chunk in chunks for item in chunk.records] == given
    assert [chunk.first for chunk in chunks] == [1 + sum(seen[:k]) // 2 for k in range(len(seen))]
    assert isinstance(chunks[0], Chunk)


@pytest.mark.parametrize(
    ("named", "gpus"), [("0,1", ["0", "1"]), ("", []), ("-1", []), ("GPU-4f, MIG-77", ["GPU-4f", "MIG-77"])]
)
def test_gpus_are_those_that_may_be_seen(monkeypatch, named, gpus):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert visible_gpus() == gpus


def test_each_worker_sees_one_gpu():
    job = SeeingJob()
    with Workers(job, 4, gpus=["0", "GPU-4f"]) as workers:
        seen = {done.output for done in workers.align(cut_records(items(400), words=100))}
    assert seen == {b"0", b"GPU-4f"}
