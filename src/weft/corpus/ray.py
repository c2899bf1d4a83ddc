"""The Ray engine: tasks read files and cut chunks, a pool of actors aligns them, the driver writes them in order.

Reading, aligning and writing overlap; Ray Data holds the readers back when the aligners cannot keep up, and runs
again what a lost worker had in hand. A chunk is the same chunk as on one machine, so the links are the same too.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import re
import socket
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, cast

from weft.corpus.files import Task, fetched, plan, writing_to
from weft.corpus.job import (
    AlignJob,
    CorpusFiles,
    Description,
    Listeners,
    LoadedJob,
    collecting_seldom,
    log_remarks,
)
from weft.corpus.records import AlignedChunk, Chunk, Counts, OutputFormat, cut_records
from weft.corpus.workers import portion_size
from weft.errors import FormatError, MissingExtraError, SettingError, WeftError, first_line
from weft.text.files import Write

try:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # aligning should tell nobody
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what matters reaches the user as one sentence
    import pyarrow
    import ray
    import ray.data
except ImportError as error:  # pragma: no cover - a test without the extra covers it in a process of its own
    raise MissingExtraError("ray", "The Ray engine") from error

logger = logging.getLogger(__name__)

# Blocks of a few chunks: small enough that one file keeps many workers busy.
_BLOCK_BYTES = 1 << 19
_READER_CPUS = 0.5
_SECONDS_TO_ANSWER = 10
_WORKERS_A_READER = 4
_PREFIX = re.compile(r"^(?:\x1b\[[0-9;]*m|\(\w+\)|\s)+")
_AFTER_SENTENCE = re.compile(r"(?<=\.) .*")


@dataclass(frozen=True, slots=True)
class _Message:
    """What travels between readers, aligners and the driver: a chunk, what became of it, or the end of a file."""

    file: int
    work: Chunk | AlignedChunk | None = None
    bad_lines: Sequence[FormatError] = ()
    error: WeftError | None = None


def align_with_ray(
    job: AlignJob, files: CorpusFiles, listeners: Listeners, *, workers: int | None, address: str | None
) -> Counts:
    """Align a file or many on a Ray cluster; what comes back is in order.

    Args:
        job: what is to be done with each file.
        files: files, folders or patterns, here or at fsspec addresses.
        listeners: who is told what.
        workers: how many models work at a time; by default one for each GPU, or one for each machine.
        address: a running cluster; without one, a cluster is started on this machine.

    Raises:
        SettingError: files that cannot be read or written this way.
        WeftError: a cluster, a file or a model that cannot be used.
    """
    if callable(files.output):
        raise SettingError("the Ray engine reads and writes files: name the input and `output`.")
    json_lines = job.output_format is OutputFormat.JSONL
    tasks = plan(files.source, files.target, files.output, ".jsonl" if json_lines else ".txt")
    if job.output_format is OutputFormat.NAACL and any(task.output.endswith(".parquet") for task in tasks):
        raise SettingError("the output format naacl has several lines per pair, but Parquet has one row.")
    totals = Counts()
    with redirect_stdout(_Heard()), _cluster(address, workers), ExitStack() as stack:
        write: Write | None = None
        for message in _Run(job, tasks, workers).messages():
            for bad_line in message.bad_lines:
                listeners.on_bad_line(bad_line)
            if message.error is not None:
                raise message.error
            if write is None:
                write = stack.enter_context(writing_to(tasks[message.file].output, json_lines=json_lines))
            if isinstance(message.work, AlignedChunk):
                write(message.work.output)
                totals += message.work.counts
                listeners.done(message.work)
            else:
                stack.close()
                write = None
    return totals


class _Run:
    """Files through a cluster that is running."""

    def __init__(self, job: AlignJob, tasks: Sequence[Task], workers: int | None) -> None:
        self._job = job
        self._tasks = tasks
        self._workers = workers
        self._gpu = job.may_use_gpu()

    def messages(self) -> Iterator[_Message]:
        """The finished chunks of all files in order, and a message without work at the end of each file."""
        gpus = 1 if self._gpu and _gpus() else 0
        description = self._description(gpus)
        log_remarks(description.remarks)
        workers = self._workers or _usual_workers(gpu=self._gpu)
        files = ray.data.from_items(
            [{"file": k} for k in range(len(self._tasks))], override_num_blocks=len(self._tasks)
        )
        read = files.map_batches(
            _read,
            fn_args=(self._job, self._tasks, description.pace.chunk_words),
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=_READER_CPUS,
            concurrency=min(len(self._tasks), 1 + workers // _WORKERS_A_READER),
        )
        aligned = read.map_batches(
            _Aligning,
            fn_constructor_args=(self._job,),
            batch_size=portion_size(description.pace.chunks_at_once, threads=description.pace.threads),
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=workers),
            num_cpus=1,
            num_gpus=gpus or None,
        )
        try:
            for table in aligned.iter_batches(batch_size=None, batch_format="pyarrow"):
                yield from map(pickle.loads, table["message"].to_pylist())
        except ray.exceptions.RayError as error:
            raise WeftError(f"Ray gave up: {first_line(error)}") from error

    def _description(self, gpus: int) -> Description:
        """Ask a worker, where the model can be loaded; its process must not sit on a GPU afterwards."""
        ask = ray.remote(num_cpus=_READER_CPUS, num_gpus=gpus, max_calls=1)(_describe)
        try:
            said = ray.get(ask.remote(self._job))
        except ray.exceptions.RayError as error:
            raise WeftError(f"Ray gave up: {first_line(error)}") from error
        if isinstance(said, WeftError):
            raise said
        return cast(Description, said)


def _describe(job: AlignJob) -> Description | WeftError:
    """Runs in a Ray task. Errors are results: Ray would try again and wrap them."""
    try:
        return replace(job.load().describe(), tokenize=None)
    except (WeftError, OSError) as error:
        return _as_weft_error(error)


def _read(table: Any, job: AlignJob, tasks: Sequence[Task], words: int) -> Iterator[Any]:
    """Runs in a Ray task: one file to chunks."""
    for number in table["file"].to_pylist():
        for message in _read_file(number, job, tasks[number], words):
            yield _row(message)


def _read_file(number: int, job: AlignJob, task: Task, words: int) -> Iterator[_Message]:
    bad_lines: list[FormatError] = []
    try:
        with ExitStack() as stack:
            source, jsonl = stack.enter_context(fetched(task.source, job.fields))
            target = stack.enter_context(fetched(task.target))[0] if task.target is not None else None
            shown = dict(zip((source, target), task.shown, strict=True))
            try:
                records = job.read(source, target, lambda error: bad_lines.append(_renamed(error, shown)), jsonl=jsonl)
                for chunk in cut_records(records, words):
                    yield _Message(number, chunk, tuple(bad_lines))
                    bad_lines.clear()
            except FormatError as error:
                raise _renamed(error, shown) from error
    except (WeftError, OSError) as error:
        yield _Message(number, error=_as_weft_error(error))
    else:
        yield _Message(number)


class _Aligning:
    """Runs in a Ray actor: a model that stays loaded."""

    def __init__(self, job: AlignJob) -> None:
        self._job = job
        self._loaded_job: LoadedJob | None = None
        self._loading = Lock()
        collecting_seldom().__enter__()  # for as long as the process lives

    def __call__(self, table: Any) -> Iterator[Any]:
        messages = [pickle.loads(data) for data in table["message"].to_pylist()]
        chunks = [message.work for message in messages if isinstance(message.work, Chunk)]
        message = messages[0]
        try:
            aligned = self._loaded().align(chunks) if chunks else iter(())
            for message in messages:
                yield _row(replace(message, work=next(aligned)) if isinstance(message.work, Chunk) else message)
        except (WeftError, OSError) as error:
            yield _row(replace(message, work=None, error=_as_weft_error(error)))

    def _loaded(self) -> LoadedJob:
        with self._loading:
            if self._loaded_job is None:
                self._loaded_job = self._job.load()
            return self._loaded_job


def _renamed(error: FormatError, shown: Mapping[str | None, str | None]) -> FormatError:
    """The error with its file called what the user called it, not what a copy is called."""
    return error.renamed(shown.get(error.path) or error.path)


def _row(message: _Message) -> Any:
    return pyarrow.table({"message": pyarrow.array([pickle.dumps(message)], pyarrow.large_binary())})


def _as_weft_error(error: WeftError | OSError) -> WeftError:
    if isinstance(error, WeftError):
        return error
    return WeftError(f"{error.filename}: {error.strerror}." if error.filename is not None else str(error))


@contextmanager
def _cluster(address: str | None, workers: int | None) -> Iterator[None]:
    """Join a cluster, or start one on this machine with room for the readers beside the workers."""
    cores = None if address else max(os.cpu_count() or 1, workers or 1) + 1
    try:
        _knock(address)
        with _silent_stderr():
            _init(address, cores)
    except Exception as error:  # a machine that is too busy to start Ray gets a plain one
        what = f"reach a Ray cluster at {address}" if address else "start Ray on this machine"
        raise WeftError(f"cannot {what}: {first_line(error)}") from error
    context = ray.data.DataContext.get_current()
    context.target_max_block_size = _BLOCK_BYTES
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        ray.shutdown()


def _init(address: str | None, cores: int | None) -> None:
    silence = {"include_dashboard": None if address else False, "log_to_driver": False, "logging_level": logging.ERROR}
    start = partial(ray.init, address or "local", num_cpus=cores, **silence)
    try:
        start()
    except Exception:
        if address:
            raise
        # Ray gives its own processes 30 seconds to start. On a busy machine, they may need a second chance.
        ray.shutdown()
        start()


def _knock(address: str | None) -> None:
    """Ray tries for minutes to reach a machine; that nobody is there is known in seconds."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_SECONDS_TO_ANSWER).close()


class _Heard(io.TextIOBase):
    """Ray tells on stdout of workers that died; the user hears the first sentence of each kind of news, on stderr."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        for line in text.splitlines():
            sentence = _AFTER_SENTENCE.sub("", _PREFIX.sub("", line))
            if sentence and sentence not in self._said:
                self._said.add(sentence)
                logger.warning("Ray: %s", sentence)
        return len(text)


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Ray's core announces its log level past all of Python's logging; what fails is raised as well."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _gpus() -> int:
    return int(ray.cluster_resources().get("GPU", 0))


def _usual_workers(*, gpu: bool) -> int:
    """One for each GPU; without GPUs one for each machine, since a model uses all cores of its machine."""
    return (_gpus() if gpu else 0) or len([node for node in ray.nodes() if node["Alive"]])
