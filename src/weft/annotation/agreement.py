"""How far two annotators of a project agree on the pairs that both have finished."""

from __future__ import annotations

from weft.annotation.project import Project
from weft.annotation.record import State
from weft.scoring.agreement import Agreement, count_agreement
from weft.types import GoldAlignment


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
