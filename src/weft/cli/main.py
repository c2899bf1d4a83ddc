"""`weft`: the commands put together, and every failure turned into one sentence and an exit code."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import signal
import sys
from importlib import import_module
from itertools import zip_longest

import typer

from weft.cli.foreign import explain_foreign_options
from weft.cli.help import Command, Group
from weft.cli.output import finish_stdout, say, with_options
from weft.errors import SettingError, WeftError
from weft.version import __version__

# Every command is a module of this package, in the order of `weft --help`; a function with another name is named.
_COMMANDS = {
    "align": "align", "score": "score", "view": "view", "serve": "serve", "annotate": "annotate", "page": "page",
    "train": "train", "tune": "tune", "model": "app", "project": "project", "lexicon": "lexicon", "phrases": "phrases",
    "filter": "filter_pairs", "symmetrize": "symmetrize", "convert": "convert",
}  # fmt: skip


def command_line(*names: str) -> typer.Typer:
    """The commands of these names, or all of them.

    A command's options are read from its annotations, which takes longer than most of what is done before the first
    link. So whoever runs one command does not wait for the others.
    """
    app = typer.Typer(
        name="weft",
        cls=Group,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(options)
    for name in names or _COMMANDS:
        found = getattr(import_module(f"weft.cli.{name}"), _COMMANDS[name])
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name, cls=Command)(found)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"weft {__version__}")
        raise typer.Exit


def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Find which words in a sentence correspond to which words in its translation.

    Example: echo 'das ist gut ||| that is good' | weft align
    """


def main() -> None:
    """Run the command line. Exit codes: 0 fine, 1 failed, 2 bad usage."""
    # Products of two sentences' states are small: threads that share one wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # At exit Python looks for cycles among all objects, which takes as long as a fifth of the imports, for nothing.
    atexit.register(gc.freeze)
    _mend_streams()
    _log_to_stderr()
    try:
        try:
            explain_foreign_options(sys.argv[1:])
            arguments = _with_optional_values(_help_as_option(sys.argv[1:]))
            command = [name for name in arguments[:1] if name in _COMMANDS and "_WEFT_COMPLETE" not in os.environ]
            command_line(*command)(arguments)
        finally:
            finish_stdout()
    except SettingError as error:
        _fail(error, str(error), 2)
    except WeftError as error:
        _fail(error, str(error), 1)
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename or repr(error.filename)}: "
        hint = _hint(error.filename) if isinstance(error, FileNotFoundError) else _folder_hint(error)
        _fail(error, f"{place}{error.strerror}.{hint}" if error.strerror else str(error), 1)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)


_STOPPING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_PATTERN_HINT = " Patterns need --engine ray; without it, align one file at a time."
_FOLDER_HINT = " Folders need --engine ray; without it, align one file at a time."
_SENTENCE_HINT = " If this is a sentence and not a file, type: echo 'SENTENCE ||| TRANSLATION' | weft align --raw"


def _hint(name: object) -> str:
    """What a name that is no file's may have been meant for."""
    is_pattern = isinstance(name, str) and "*" in name and sys.argv[1:2] == ["align"]
    return _PATTERN_HINT if is_pattern else _SENTENCE_HINT if _is_sentence(name) else ""


def _folder_hint(error: OSError) -> str:
    """What reads a folder that was named as a file."""
    before = dict(zip(sys.argv[2:], sys.argv[1:], strict=False)).get(error.filename)
    is_input = isinstance(error, IsADirectoryError) and before not in (None, "-o", "--output", "--terms")
    return _FOLDER_HINT if is_input and sys.argv[1] == "align" else ""


def _is_sentence(name: object) -> bool:
    """Whether a name may be a sentence in place of a file: it has blanks, but no folder and no extension."""
    return isinstance(name, str) and " " in name and os.sep not in name and not os.path.splitext(name)[1].strip(". ")


def _mend_streams() -> None:
    """A closed stderr is silence, and being told to stop is a way to end in order."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it lives as long as the process
    for number in _STOPPING:
        signal.signal(number, _stop)


def _stop(number: int, frame: object) -> None:
    # `timeout` tells a process and its group: the second signal would come while Python is ending, and disturb it.
    for each in _STOPPING:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def _help_as_option(arguments: list[str]) -> list[str]:
    """Let `weft help align` mean `weft align --help`."""
    return [*arguments[1:], "--help"] if arguments[:1] == ["help"] else arguments


def _with_optional_values(arguments: list[str]) -> list[str]:
    """Let `--scores` stand alone or before `raw` or `calibrated`; typer has no options with optional values."""
    if arguments[:1] != ["align"]:
        return arguments
    kinds = ("raw", "calibrated", "none")
    spelt = []
    for argument, following in zip_longest(arguments, arguments[1:]):
        spelt.append("--scores=calibrated" if argument == "--scores" and following not in kinds else argument)
    return spelt


class _Saying(logging.Handler):
    """What the library logs is said as everything else is: past a running count, and to nobody if nobody listens.

    A file that is read several times raises the same doubts each time; they are said once.
    """

    def __init__(self) -> None:
        super().__init__()
        self._doubts: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        message = self.format(record)
        if record.name.startswith("weft.text."):
            if message in self._doubts:
                return
            self._doubts.add(message)
        say(message)


def _log_to_stderr() -> None:
    handler = _Saying()
    handler.setFormatter(_Formatter("%(message)s"))
    logging.getLogger("weft").addHandler(handler)


class _Formatter(logging.Formatter):
    """Writes what the library logs in the words of the command line."""

    def format(self, record: logging.LogRecord) -> str:
        return with_options(super().format(record))


def _fail(error: Exception, message: str, code: int) -> None:
    """Say what went wrong and what was noted about it, such as what can still be done."""
    for sentence in (message, *getattr(error, "__notes__", ())):
        say(sentence)
    sys.exit(code)
