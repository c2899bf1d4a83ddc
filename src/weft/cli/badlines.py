"""Lines that a command cannot use: named on stderr, counted, and summed up at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import typer

from weft.cli.output import EMPTY, noting_none, say
from weft.errors import FormatError, WeftError, number_of
from weft.text.pair_formats import NO_FORMAT
from weft.text.pairs import NOTHING
from weft.types import SentencePair

T = TypeVar("T")

_MOST_NAMED = 10

NO_PAIRS = "the input contains no sentence pairs."
"""What to say of a file whose lines are in order and hold no pair, as one with the names of columns alone."""


class BadLines:
    """Counts the lines that cannot be used and names the first of them on stderr; in strict mode one ends the run."""

    def __init__(self, consequence: str, *, strict: bool) -> None:
        self.count = 0
        self.lines = 0
        self.without_format = False  # the first bad line was in no format of sentence pairs
        self._consequence = consequence
        self._strict = strict

    def __call__(self, error: FormatError) -> None:
        """Take note of one bad line."""
        if self._strict:
            raise error
        if not self.count:
            self.without_format = NO_FORMAT in str(error)
        self.count += 1
        if self.count <= _MOST_NAMED:
            say(f"{error} {self._consequence}")

    def watching(self, items: Iterator[T], name: str, pair_of: Callable[[T], SentencePair]) -> Iterator[T]:
        """The pairs as they come; an error at their end if every line of the file was bad, a word if there was none.

        Args:
            items: whatever holds a pair, one for each line.
            name: how messages call the file.
            pair_of: an item's pair.
        """
        lines = found = 0
        for item in items:
            lines += 1
            found += pair_of(item) != NOTHING
            yield item
        if lines and self.count >= lines:
            self._say_how_many_were_named()
            which = f"none of the {lines:,} lines in {name}" if lines > 1 else f"the only line in {name}"
            raise WeftError(f"{which} is {'a' if lines > 1 else 'not a'} sentence pair.")
        if not found:
            say(NO_PAIRS if lines else EMPTY)

    def counted(self, items: Iterator[T]) -> Iterator[T]:
        """The items as they come; `lines` says how many there were."""
        for item in noting_none(items):
            self.lines += 1
            yield item

    def _say_how_many_were_named(self) -> None:
        if self.count > _MOST_NAMED:
            say(f"only the first {_MOST_NAMED:,} bad lines are listed.")

    def summarise(self, sentence: str | None = None, *, lines: int | None = None) -> None:
        """Say how many there were, if any, in a sentence of the command's own or a plain one.

        Args:
            sentence: what to say.
            lines: how many lines there were in all. If every one of them was bad, the command ends with exit code 1.
        """
        self._say_how_many_were_named()
        if self.count:
            say(sentence or f"{number_of(self.count, 'bad line')}.")
        if lines and self.count >= lines:
            raise typer.Exit(1)


class MissingTerms:
    """Counts terms that a line's source has and its target has not, and names the first of them on stderr."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, line: int, term: str) -> None:
        """Take note of one."""
        self._count += 1
        if self._count <= _MOST_NAMED:
            say(f"line {line:,}: the translation is missing from the target: {term}.")

    def summarise(self) -> None:
        """Say how many there were, if any."""
        if self._count > _MOST_NAMED:
            say(f"only the first {_MOST_NAMED:,} terms without their translation are listed.")
        if self._count:
            say(f"terms without their translation: {self._count:,}. Their words are linked as usual.")
