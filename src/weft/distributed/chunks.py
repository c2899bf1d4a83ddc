"""The unit of work: the records that the aligner encodes together, whatever process or machine does it.

A pair's scores depend in the last digit on the pairs it is batched with. So every engine cuts the same chunks from the
same file, and their results are equal byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol

from weft.aligner import cut_into_chunks
from weft.encoding.preparation import Preparation, Prepared
from weft.errors import FormatError, SettingError, WeftError
from weft.types import SentencePair


class Item(Protocol):
    """Anything that carries a sentence pair."""

    @property
    def pair(self) -> SentencePair:
        """The words of both sides."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines that follow each other; `first` is the number of the first one, from 1.

    Where somebody `prepared` them, nothing is left of the items but their number.
    """

    first: int
    items: Sequence[Any]
    prepared: Prepared | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """What a loaded model tells those who send it work; `remarks` are sentences for the user."""

    remarks: Sequence[str]
    chunk_words: int
    chunks_at_once: int = 1
    threads: bool = False
    preparation: Preparation | None = None
    """How to prepare its text elsewhere, if that is worth a process; for those who need no words afterwards."""


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a chunk: the output's bytes, and how many sentences were too long for the encoder at once."""

    first: int
    lines: int
    output: bytes
    long_sentences: int = 0


class Worker(Protocol):
    """A model that is loaded and stays loaded."""

    def describe(self) -> Description:
        """How it wants its chunks, and what the user should know."""
        ...

    def identity(self) -> dict[str, Any]:
        """All that results depend on besides the input, as JSON; it may take the time to read the model's files."""
        ...

    def start(self, chunk: Chunk) -> Callable[[], Finished]:
        """Begin with a chunk; what is returned ends it. May be called from several threads."""
        ...


class Job(Protocol):
    """What is to be done, in a form that can be sent to other processes."""

    def read(
        self, path: str, target: str | None, on_error: Callable[[FormatError], None], *, jsonl: bool = False
    ) -> Iterator[Any]:
        """The items of a file or of two parallel files, one for each line; `jsonl` overrules the job's format."""
        ...

    def load(self) -> Worker:
        """Load the model."""
        ...


def cut(items: Iterable[Item], words: int) -> Iterator[Chunk]:
    """Cut items into chunks of about as many words, where `Aligner.stream` would."""
    first = 1
    for chunk in cut_into_chunks(items, words, attrgetter("pair")):
        yield Chunk(first, chunk)
        first += len(chunk)


def portable(error: WeftError) -> WeftError:
    """The same error in a form that can be sent between processes: only its sentence and its exit code survive."""
    return SettingError(str(error)) if isinstance(error, SettingError) else WeftError(str(error))
