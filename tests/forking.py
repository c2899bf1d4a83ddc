"""Commands in processes forked from one that has imported weft already: a start takes hundredths of a second.

`become` is the one way in which a forked process turns into `weft`; the fuzzer forks itself, and `Server` is a program
of its own that forks for the tests of commands, because pytest has threads and holds far more than weft.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import logging
import multiprocessing.util
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import NoReturn, Self

import weft.__main__
import weft.cli.main
import weft.cli.output
from asking import ask
from weft.text.segment import segment

# Threads that a library starts when it is imported would not be there after a fork.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_SECONDS = 300.0
_LIGHT = (
    *("fastapi", "lxml.html", "onnxruntime", "scipy.optimize", "uvicorn"),
    *("weft.applications.documents", "weft.applications.labels", "weft.applications.phrases"),
    *("weft.corpus.align", "weft.corpus.shards", "weft.encoding.native.encoder", "weft.encoding.onnx", "weft.tuning"),
    *("weft.viewing.reading", "weft.viewing.serve.run", "weft.viewing.serve.server"),
)


def import_light_half() -> None:
    """What is imported once is there in every forked process; what is not installed is not."""
    for name in _LIGHT:
        with contextlib.suppress(ImportError):
            import_module(name)
    weft.cli.main.command_line()
    sys.argv = ["weft", "convert", os.devnull, os.devnull]
    with contextlib.suppress(SystemExit):
        weft.cli.main.main()  # reading the first command line imports more
    weft.cli.output._options.clear()
    logging.getLogger("weft").handlers.clear()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    segment("l'homme, 1.5", None)  # its rules are compiled once


def import_torch_half() -> None:
    """The same for training, exporting, and models in torch."""
    import transformers

    import weft.encoding.torch
    import weft.models.averaging
    import weft.models.export
    import weft.training.loop  # noqa: F401

    transformers.BertModel, transformers.AutoTokenizer, transformers.BertForMaskedLM  # noqa: B018 - lazy imports


def become(
    arguments: Sequence[str],
    folder: str | Path,
    streams: Sequence[int],
    environment: Mapping[str, str],
    before: Callable[[], object] = int,
    after: Callable[[], object] = int,
) -> NoReturn:
    """A forked process turns into `python -m weft`; it never returns.

    Args:
        arguments: The words after `weft`.
        folder: Where it runs.
        streams: Descriptors that become stdin, stdout and stderr.
        environment: All its variables.
        before: What the process does just before.
        after: What it does afterwards, unless an error came through.
    """
    code = 70
    try:
        os.setsid()
        _forget_what_the_parent_does_at_its_end()
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.argv = [weft.__main__.__file__, *arguments]
        sys.modules["__main__"] = weft.__main__  # as after `python -m weft`; processes that are spawned look there
        before()
        code = _code_of_main()
        after()
    except BaseException:
        traceback.print_exc()
    finally:
        _leave(code)


def _forget_what_the_parent_does_at_its_end() -> None:
    """Its temporary folders are not this process's to remove."""
    atexit._clear()
    weakref.finalize._registry.clear()
    weakref.finalize._registered_with_atexit = False


def _code_of_main() -> int:
    try:
        weft.cli.main.main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0


def _leave(code: int) -> NoReturn:
    """End threads, processes and streams as Python does.

    It does not take itself apart: libraries would wait for threads of the parent.
    """
    try:
        threading._shutdown()
        multiprocessing.util._exit_function()
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        code = 120
    finally:
        os._exit(code)


def ended(child: int, seconds: float) -> int | None:
    """The exit code of a child, or None if it had to be killed with all its children because its time was over."""
    handle = os.pidfd_open(child)
    try:
        in_time = bool(select.select([handle], [], [], seconds)[0])
        if not in_time:
            os.killpg(child, signal.SIGKILL)
    finally:
        os.close(handle)
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status) if in_time else None


class Server:
    """A program that forks a process for every command; it is started when the first one comes."""

    def __init__(self, place: Path, *, torch: bool) -> None:
        """`place` is the socket at which it is asked; `torch` lets it import that too."""
        self.place = place
        self._torch = torch
        self._program: subprocess.Popen[bytes] | None = None

    def run(
        self, arguments: Sequence[str], *, stdin: bytes, cwd: str | Path, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        """Like `subprocess.run` with `capture_output`.

        Raises:
            subprocess.TimeoutExpired: If the command did not end in time.
        """
        self.start()
        pipes = [os.pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        with ask(self.place, arguments, cwd, env, theirs) as line, ThreadPoolExecutor(3) as threads:
            for descriptor in theirs:
                os.close(descriptor)
            threads.submit(_write_all, pipes[0][1], stdin)
            said = [threads.submit(_read_all, pipe[0]) for pipe in pipes[1:]]
            line.settimeout(_SECONDS)
            try:
                code = json.loads(line.recv(64))
            except TimeoutError:
                line.shutdown(socket.SHUT_RDWR)
                raise subprocess.TimeoutExpired(list(arguments), _SECONDS) from None
            return subprocess.CompletedProcess(arguments, code, said[0].result(), said[1].result())

    def start(self) -> None:
        """Start the program unless it runs."""
        if self._program is None:
            with socket.socket(socket.AF_UNIX) as ears:
                ears.bind(str(self.place))
                ears.listen()
                command = [sys.executable, __file__, str(ears.fileno()), *["torch"] * self._torch]
                environment = os.environ | ONE_THREAD
                self._program = subprocess.Popen(
                    command, stdin=subprocess.PIPE, pass_fds=[ears.fileno()], env=environment
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._program is not None:
            self._program.communicate(timeout=400)


def _write_all(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb") as pipe:
        pipe.write(data)


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb") as pipe:
        return pipe.read()


def _serve(ears: socket.socket) -> NoReturn:
    """Fork for every request, and tell whoever asked how it ended; when stdin is closed, all is over."""
    waiting = selectors.DefaultSelector()
    for each in (ears, sys.stdin):
        waiting.register(each, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is sys.stdin:
                os._exit(0)
            elif key.fileobj is ears:
                line = ears.accept()[0]
                child = _child_for(line)
                handle = os.pidfd_open(child)
                waiting.register(handle, selectors.EVENT_READ, (child, line))
                waiting.register(line, selectors.EVENT_READ, (child, handle))
            elif isinstance(key.fileobj, int):
                child, line = key.data
                waiting.unregister(key.fileobj)
                os.close(key.fileobj)
                with contextlib.suppress(KeyError):
                    waiting.unregister(line)
                with contextlib.suppress(OSError), line:
                    line.sendall(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
            else:  # whoever asked has gone
                waiting.unregister(key.fileobj)
                os.killpg(key.data[0], signal.SIGKILL)


def _child_for(line: socket.socket) -> int:
    length, streams, _, _ = socket.recv_fds(line, 8, 3)
    request = b""
    while len(request) < int.from_bytes(length):
        request += line.recv(1 << 20)
    child = os.fork()
    if not child:
        arguments, folder, environment = json.loads(request)
        become(arguments, folder, streams, environment)
    for stream in streams:
        os.close(stream)
    return child


if __name__ == "__main__":
    number, *more = sys.argv[1:]
    sys.path.remove(str(Path(__file__).parent))  # a command does not see the helpers of the tests
    import_light_half()
    if more == ["torch"]:
        import_torch_half()
    gc.freeze()
    _serve(socket.socket(fileno=int(number)))
