"""Gold of some sentence pairs of a text: which pairs they are, and lines that nobody may have annotated.

In JSONL, each line of the gold may say which pair of the text it belongs to, as the gold of an annotation project does.
In the other formats a line is a pair, and one without links may be a pair without links or one that nobody looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from os.path import isfile
from typing import TypeVar

from weft.errors import SettingError, number_of
from weft.text.gold import GoldRow
from weft.text.json_objects import parse_json_object
from weft.text.lines import FilePath, display_name, read_lines
from weft.text.links import NumberedLinks

PAIR_NUMBER = "pair"
"""The field that holds the number of a pair, from 1."""

T = TypeVar("T")


def pair_numbers(gold: FilePath) -> list[int] | None:
    """The pair that each line of the gold belongs to, from 1; None where the gold does not say so for every line."""
    numbers = [0]
    if not isfile(gold):  # a pipe can be read only once
        return None
    for line in read_lines(gold):
        try:
            number = parse_json_object(line.decode("utf-8")).get(PAIR_NUMBER) if line.startswith(b"{") else None
        except ValueError:  # whoever reads the links says what is wrong
            return None
        if type(number) is not int or number <= numbers[-1]:
            return None
        numbers.append(number)
    return numbers[1:] or None


def rows_of_pairs(rows: Iterator[T], numbers: Sequence[int] | None, path: FilePath, gold: FilePath) -> Iterator[T]:
    """The rows of a file that belong to the gold, whether the file has a line for each pair of the gold or of the text.

    Args:
        rows: the lines of the file.
        numbers: the pairs of the gold; None takes all rows.
        path: the file.
        gold: the file with the gold.

    Raises:
        SettingError: the file has neither number of lines.
    """
    return rows if numbers is None else _chosen(rows, numbers, path, gold)


def _chosen(rows: Iterator[T], numbers: Sequence[int], path: FilePath, gold: FilePath) -> Iterator[T]:
    first = list(islice(rows, numbers[-1]))
    if len(first) == len(numbers):
        yield from first
    elif len(first) == numbers[-1]:
        yield from (first[number - 1] for number in numbers)
    else:
        raise SettingError(
            f"{display_name(path)} has {number_of(len(first), 'line')}, but {display_name(gold)} has "
            f"{number_of(len(numbers), 'pair')}, the last of which is number {numbers[-1]:,}; expected a line for each "
            f"of these pairs, or for each pair up to number {numbers[-1]:,}."
        )


class BlankGold:
    """Lines for which the gold has no links: left out, or counted so that the user hears of them.

    Args:
        skip: leave them out.
    """

    def __init__(self, *, skip: bool) -> None:
        self._skip = skip
        self._lines = self._blamed = 0

    def passed(
        self, rows: Iterable[tuple[GoldRow, Sequence[NumberedLinks]]], numbers: Sequence[int] | None
    ) -> Iterator[tuple[int, tuple[GoldRow, Sequence[NumberedLinks]]]]:
        """The rows that are scored, each after the number of its sentence, from 1.

        Args:
            rows: the gold and each system's links, sentence by sentence.
            numbers: the pairs of the gold, if it says which they are: then they were annotated, with links or without.
        """
        for place, (row, others) in enumerate(rows):
            self._lines += 1
            if not row.links and numbers is None:
                if self._skip:
                    continue
                self._blamed += any(other.links for other in others)
            yield (place + 1 if numbers is None else numbers[place]), (row, others)

    def remark(self) -> str | None:
        """What to say of lines where the gold has no links, but a system has; None if there are none."""
        if not self._blamed:
            return None
        have, they = ("has", "It counts") if self._blamed == 1 else ("have", "They count")
        return (
            f"{self._blamed:,} of {number_of(self._lines, 'line')} {have} no links here, although a system has links "
            f"there. {they} against precision. If nobody annotated these lines, leave them out with `skip_unannotated`."
        )
