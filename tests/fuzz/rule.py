"""Runs a case in a forked process, and checks the one rule.

Exit 0, 1 or 2; no traceback; a sentence for every failure; as many lines out as in; old files intact and nothing left
behind; an end in bounded time.
"""

from __future__ import annotations

import gzip
import io
import json
import logging
import lzma
import os
import re
import resource
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from fuzz.cases import Case
from fuzz.workshop import copy_folder

_MEMORY = 6 << 30
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
    run = forked(case, folder, seconds=seconds)
    return run, list(_breaches(case, folder, before, run))


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
    case: Case, folder: Path, *, seconds: float, before: Callable[[], object] = int, after: Callable[[], object] = int
) -> Run:
    """Run a case in a process of its own, which calls `before` and `after` itself."""
    with tempfile.TemporaryDirectory() as place:
        streams = [Path(place) / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_bytes(case.stdin)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _become(case, folder, streams, before, after)
        handle = os.pidfd_open(child)
        try:
            ended = bool(select.select([handle], [], [], seconds)[0])
            if not ended:
                os.kill(child, signal.SIGKILL)
        finally:
            os.close(handle)
        status = os.waitpid(child, 0)[1]
        code = os.waitstatus_to_exitcode(status) if ended else None
        return Run(code, streams[1].read_bytes(), streams[2].read_text(errors="backslashreplace"))


def _become(
    case: Case, folder: Path, streams: list[Path], before: Callable[[], object], after: Callable[[], object]
) -> None:
    """The forked process turns into `weft` with its own streams; it never returns."""
    code = 70
    try:
        os.setsid()
        os.chdir(folder)
        os.environ.update(_SANDBOX, HOME=str(streams[0].parent), TMPDIR=str(streams[0].parent))
        tempfile.tempdir = None
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        for number, path in enumerate(streams):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(path, flags, 0o600), number)
        sys.stdin, sys.stdout = (io.TextIOWrapper(os.fdopen(number, mode)) for number, mode in ((0, "rb"), (1, "wb")))
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", 0), "utf-8", "backslashreplace", write_through=True)
        logging.getLogger("weft").handlers.clear()
        sys.argv = ["weft", *case.arguments]
        before()
        code = _code_of_main()
        after()
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _code_of_main() -> int:
    from weft.cli.main import main

    try:
        main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0


def _breaches(case: Case, folder: Path, before: dict[str, bytes], run: Run) -> Iterator[str]:
    if run.code is None:
        yield "did not end in time"
        return
    if run.code not in (0, 1, 2):
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
    if run.code == 1 and "could not be aligned" in run.stderr:
        written = {case.output}
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
    if case.lines_of is None or "--help" in case.arguments:
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
    if case.json_lines:
        for line in filter(None, written.split(b"\n")):
            json.loads(line)


def _unpacked(data: bytes) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data)
    return lzma.decompress(data) if data.startswith(b"\xfd7zXZ\x00") else data


def _count(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def cleared(folder: Path) -> Path:
    """The folder, empty."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
