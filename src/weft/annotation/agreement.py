"""How far two annotators agree: on the pairs of a project that both have finished, or on two files of links."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from os import fspath
from pathlib import Path

from weft.annotation.project import Project, is_project
from weft.annotation.record import State
from weft.errors import SettingError, number_of
from weft.scoring.agreement import Agreement, AgreementCounts, count_agreement
from weft.text.gold import GoldFile, GoldRow, read_sentences
from weft.text.lines import FilePath, display_name, read_two_together
from weft.types import GoldAlignment

logger = logging.getLogger(__name__)


def finished_by_both(project: Project, first: str, second: str) -> list[int]:
    """The numbers of the pairs, from 0, that both annotators have done.

    Args:
        project: the project.
        first: one annotator.
        second: the other.
    """
    done = [
        {number for number, said in project.annotations.get(name, {}).items() if said.state is State.DONE}
        for name in (first, second)
    ]
    return sorted(done[0] & done[1])


def agreement_of(project: Project, first: str, second: str) -> Agreement:
    """The agreement of two annotators over the pairs that both have done.

    Args:
        project: the project.
        first: one annotator.
        second: the other.
    """
    return Agreement.of(
        count_agreement(
            GoldAlignment.of(project.annotations[first][number].links),
            GoldAlignment.of(project.annotations[second][number].links),
            project.pairs[number].pair,
        )
        for number in finished_by_both(project, first, second)
    )


def agreement_of_files(
    first: FilePath,
    second: FilePath,
    *,
    base: int | None = None,
    skip_unannotated: bool = False,
    sentences: tuple[FilePath, FilePath] | None = None,
) -> tuple[Agreement, Sequence[int]]:
    """The agreement of two files of links, line by line.

    Args:
        first: the links of one annotator: a link file, or NAME.jsonl in the folder `annotations` of a project.
        second: the links of the other. For two files of one project only pairs count that both have done.
        base: the number of the first word in link files; None finds it out.
        skip_unannotated: leave out the lines of link files that an annotator left without links.
        sentences: the source and the target file; with them, or in a project, there is a kappa.

    Returns:
        The agreement, and the line of each sentence in it, from 1.
    """
    folders = [Path(fspath(path)).parent.parent for path in (first, second)]
    if folders[0].resolve() == folders[1].resolve() and is_project(folders[0]):
        project = Project.read(folders[0])
        names = [Path(fspath(path)).stem for path in (first, second)]
        for name in names:
            if name not in project.annotations:
                raise SettingError(f"nobody called {name!r} annotated {folders[0]}.")
        numbers = finished_by_both(project, names[0], names[1])
        return agreement_of(project, names[0], names[1]), [number + 1 for number in numbers]
    pairs = [None, None] if sentences is None else [read_sentences(*sentences) for _ in range(2)]
    shown = display_name(sentences[0]) if sentences else ""
    rows = [
        iter(GoldFile(path, texts, base=base, pairs_name=shown, option="gold_base"))
        for path, texts in zip((first, second), pairs, strict=True)
    ]
    blank = _BlankLines(skip=skip_unannotated)
    found = Agreement.of(blank.passed(read_two_together((display_name(first), display_name(second)), rows[0], rows[1])))
    if remark := blank.remark():
        logger.warning("%s", remark)
    return found, blank.passed_lines


class _BlankLines:
    """Lines that an annotator left without links: left out, or counted where only one of the two did."""

    def __init__(self, *, skip: bool) -> None:
        self.passed_lines: list[int] = []
        self._skip = skip
        self._blank: list[int] = []

    def passed(self, rows: Iterable[tuple[GoldRow, GoldRow]]) -> Iterator[AgreementCounts]:
        for line, (one, other) in enumerate(rows, start=1):
            linked = bool(one.links) + bool(other.links)
            if linked == 1 or (self._skip and not linked):
                self._blank.append(line)
            if linked == 2 or not self._skip:
                self.passed_lines.append(line)
                yield count_agreement(one.gold, other.gold, one.pair)

    def remark(self) -> str | None:
        if not self._blank:
            return None
        lines, first = number_of(len(self._blank), "line"), f"the first is line {self._blank[0]:,}"
        have, they, them = ("has", "It counts", "it") if len(self._blank) == 1 else ("have", "They count", "them")
        if self._skip:
            return f"left out {lines} that at least one annotator left without links ({first})."
        return (
            f"{lines} {have} no links from one annotator, but some from the other ({first}). {they} as disagreement. "
            f"If nobody annotated {them}, leave {them} out with `skip_unannotated`."
        )
