"""The pairs of a project: one for each line they came from, also where a line held none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from weft.errors import FormatError
from weft.text.json_objects import parse_json_object
from weft.text.lines import decode, read_lines
from weft.text.pairs import NOTHING
from weft.types import SentencePair

# What a project writes itself.
_OWN_FIELDS = {"problem", "source", "target", "links", "sure", "possible", "score", "unknown"}


class ProjectPair(NamedTuple):
    """A pair, or the reason why its line holds none, and what else the line says, such as an id."""

    pair: SentencePair = NOTHING
    problem: str = ""
    extra: Mapping[str, Any] = MappingProxyType({})


def written_pair(pair: ProjectPair) -> dict[str, Any]:
    """A pair as it is written; a line without one says why, and no reader takes it for a pair."""
    others = {name: value for name, value in pair.extra.items() if name not in _OWN_FIELDS}
    if pair.problem:
        return {**others, "problem": pair.problem}
    return {**others, "source": pair.pair.source, "target": pair.pair.target}


def read_project_pairs(path: Path) -> list[ProjectPair]:
    """The pairs of a project.

    Raises:
        FormatError: a line is neither a pair nor a problem.
    """
    return [_read(decode(line, path, number), path, number) for number, line in enumerate(read_lines(path), start=1)]


def _read(text: str, path: Path, number: int) -> ProjectPair:
    try:
        record = parse_json_object(text)
        if "problem" in record:
            return ProjectPair(NOTHING, str(record["problem"]), record)
        return ProjectPair(SentencePair(_words(record, "source"), _words(record, "target")), extra=record)
    except ValueError as error:
        raise FormatError(str(path), number, str(error)) from error


def _words(record: dict[str, Any], side: str) -> tuple[str, ...]:
    words = record.get(side)
    if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
        raise ValueError(f'expected "{side}" to be a list of words.')
    return tuple(words)
