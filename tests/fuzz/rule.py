"""Runs a case in a forked process, and checks the one rule.

Exit 0, 1 or 2; no traceback; a sentence for every failure; as many lines out as in; old files intact and nothing left
behind; an end in bounded time.
"""

from __future__ import annotations

import gzip
import json
import lzma
import math
import os
import re
import resource
import signal
import sys
import tempfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import forking
from fuzz.cases import Case
from fuzz.listening import Conversation
from fuzz.workshop import copy_folder

_BAD_LINES = re.compile(r"^weft: [\d,]+ bad lines?\.$", re.MULTILINE)
_MEMORY = 6 << 30
_PATIENCE = 20
_PYTHON = re.compile(r"\.py:\d+|Traceback|Error:? .*\n +File|\bat 0x[0-9a-f]{6}")
_SANDBOX = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "NO_COLOR": "1", "COLUMNS": "100"}


@dataclass(frozen=True)
class Run:
    """How a case ended; `code` is None if it had to be killed."""

    code: int | None
    stdout: bytes
    stderr: str


def try_case(case: Case, folder: Path, *, seconds: float) -> tuple[Run, list[str]]:
    """Run a case in an empty folder; returns what it did, and every breach of the rule."""
    lay_out(case, folder)
    before = _contents(folder)
    talk = Conversation(case.requests)
    run = forked(case, folder, seconds=seconds, meanwhile=talk.hold if case.requests else None)
    return run, [*talk.breaches, *_breaches(case, folder, before, run), *talk.lost(folder / "projects" / "work")]


def lay_out(case: Case, folder: Path) -> None:
    """Put a case's files into an empty folder."""
    (folder / "folder").mkdir()
    for name, source in case.folders.items():
        copy_folder(source, folder / name)
    for name, data in case.files.items():
        path = folder / os.fsencode(name).decode("utf-8", "surrogateescape")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def forked(
    case: Case,
    folder: Path,
    *,
    seconds: float,
    before: Callable[[], object] = int,
    after: Callable[[], object] = int,
    meanwhile: Callable[[int, Path], object] | None = None,
) -> Run:
    """Run a case in a process of its own.

    Args:
        case: What is run.
        folder: Where, with the case's files.
        seconds: Time of a processor after which it is ended; on a busy machine that takes a while.
        before: What the process itself does at first.
        after: What the process itself does at last.
        meanwhile: What this process does while the other runs, told its number and the file of its stderr.
    """

    def prepare() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 5))
        before()

    with tempfile.TemporaryDirectory() as place:
        streams = [Path(place) / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_bytes(case.stdin)
        sys.stdout.flush()
        child = os.fork()
        if not child:
            files = [os.open(path, os.O_WRONLY | os.O_CREAT if k else os.O_RDONLY) for k, path in enumerate(streams)]
            environment = {**os.environ, **_SANDBOX, "HOME": place, "TMPDIR": place}
            forking.become(case.arguments, folder, files, environment, prepare, after)
        if meanwhile is not None:
            meanwhile(child, streams[2])
        code = forking.ended(child, _PATIENCE * seconds)
        return Run(code, streams[1].read_bytes(), streams[2].read_text(errors="backslashreplace"))


def _breaches(case: Case, folder: Path, before: dict[str, bytes], run: Run) -> Iterator[str]:
    if run.code in (None, -signal.SIGXCPU):
        yield "did not end in time"
        return
    if run.code not in (0, 1, 2) and not (case.requests and run.code == 128 + signal.SIGTERM):
        yield f"exit code {run.code}"
    if found := _PYTHON.search(run.stderr):
        yield f"Python's own words on stderr: {found[0]!r}"
    if run.code and not run.stderr.strip():
        yield "failed without a sentence"
    after = _contents(folder)
    yield from _lost(case, before, after, run)
    if run.code == 0 or (run.code == 1 and "could not be aligned" in run.stderr):
        yield from _wrong_lines(case, before, after, run)


def _lost(case: Case, before: dict[str, bytes], after: dict[str, bytes], run: Run) -> Iterator[str]:
    """Inputs are as they were; so is an output of a run that failed. Half a file has no place anywhere."""
    written = {case.output, *_written_names(case)} if run.code == 0 else set()
    if run.code == 1 and ("could not be aligned" in run.stderr or _BAD_LINES.search(run.stderr)):
        written = {case.output}  # every line was bad: each has an empty one in the output
    if "tune" in case.arguments[:1] and run.code == 0:
        written.add("model/weft.json")
    for name, data in before.items():
        if name not in written and after.get(name) != data:
            yield f"{name} was changed or lost"
    for name in after.keys() - before.keys():
        if name.endswith(".partial") or "/.partial" in name:
            yield f"{name} was left behind"


def _written_names(case: Case) -> Iterator[str]:
    for option, value in zip(case.arguments, case.arguments[1:], strict=False):
        if option in ("--report", "--target-output", "-o", "--output"):
            yield value
        if option == "--marian":
            yield from (os.path.join(value, name) for name in ("lex.s2t", "lex.t2s"))


def _wrong_lines(case: Case, before: dict[str, bytes], after: dict[str, bytes], run: Run) -> Iterator[str]:
    format = _last_given(case, "--output-format")
    # Documents are cut into sentences, however many lines they have.
    if case.lines_of is None or {"--help", "--documents"} & set(case.arguments) or format == "naacl":
        return
    given = before.get(case.lines_of, case.stdin)
    written = run.stdout if case.output == "-" else after.get(case.output, b"")
    if case.output.endswith(".gz"):
        written = gzip.decompress(written)
    if case.output.endswith(".xz"):
        written = lzma.decompress(written)
    expected, found = _count(_unpacked(given)), _count(written)
    if expected != found:
        yield f"{expected} lines in, {found} lines out"
    if case.json_lines and format in (None, "jsonl"):
        yield from (f"no JSON: {line[:80]!r}" for line in filter(None, written.split(b"\n")) if not _is_json(line))


def _last_given(case: Case, option: str) -> str | None:
    """The value of an option: that of its last occurrence if it is there twice."""
    pairs = zip(case.arguments, case.arguments[1:], strict=False)
    return next((value for name, value in reversed(list(pairs)) if name == option), None)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _unpacked(data: bytes) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data)
    return lzma.decompress(data) if data.startswith(b"\xfd7zXZ\x00") else data


def _count(data: bytes) -> int:
    data = data.removeprefix(BOM_UTF8)  # a mark alone is no line
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def cleared(folder: Path) -> Path:
    """The folder, empty."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
