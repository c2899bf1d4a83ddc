"""Faults while a project of the annotation desk is written: what was answered as saved is there afterwards.

Unlike a command's output, a project is neither the old one nor the new one: it holds every change that was answered,
and at most the one that was being written when the process was killed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from faults.injection import KILL, KINDS, Injector
from fuzz.cases import Case
from weft.annotation import project as projects
from weft.annotation.project import Project, create_project, is_project
from weft.annotation.record import Annotation, State
from weft.annotation.sentences import ProjectPair
from weft.types import Alignment, Link, SentencePair

PAIR = SentencePair(("das", "Haus"), ("the", "house"))
CHANGES = 14
_BETWEEN = 5  # changes after which the files are written anew, instead of fifty


def main() -> None:
    """What `weft annotate` does with a project; what it cannot do is one sentence there."""
    try:
        write()
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)


def write() -> None:
    """Make the project, open it, change it, and print every change when it is saved."""
    projects._ENTRIES = _BETWEEN
    if not is_project("work"):
        create_project("work", [ProjectPair(PAIR)] * 2, [Alignment.of([Link(0, 0)])] * 2)
    project = Project.open("work")
    first = project.revision
    for number in range(CHANGES):
        said = Annotation((Link(0, 0),), State.DONE if number % 3 else State.OPEN, f"change {first + number}")
        try:
            saved = project.put("Ann" if number % 2 else "Bob", number % 4 // 2, said)
        except OSError:
            continue  # the server answers 507, and goes on
        print(json.dumps(["Ann" if number % 2 else "Bob", number % 4 // 2, saved.comment]), flush=True)
    project.close()


def breaches(injector: Injector, folder: Path, call: int, kind: int) -> Iterator[str]:
    """Everything that is wrong after one fault, and after going on without one."""
    run = injector.faulty(Case([]), call, kind)
    if run.code not in ((-9,) if kind == KILL else (0, 1)) or "Traceback" in run.stderr:
        yield f"exit code {run.code}: {run.stderr[-1500:]}"
    yield from _lost(folder, run.stdout, unanswered=kind == KILL)
    again, _ = injector.clean(Case([]), anew=False)
    if again.code != 0:
        yield f"cannot be opened again: {again.stderr[-1500:]}"
    yield from _lost(folder, again.stdout, unanswered=False)
    if list(folder.rglob("*.partial")):
        yield "something is left behind"


def _lost(folder: Path, answered: bytes, *, unanswered: bool) -> Iterator[str]:
    saved = {(name, number): comment for name, number, comment in map(json.loads, answered.splitlines())}
    known = Project.read(folder / "work").annotations if is_project(folder / "work") else {}
    found = {(name, number): each.comment for name, said in known.items() for number, each in said.items()}
    different = [key for key in {**saved, **found} if found.get(key) != saved.get(key)]
    if len(different) > unanswered:
        yield f"saved {saved}, found {found}"


def try_faults(injector: Injector, folder: Path, faults: int, random: Random) -> int:
    """Try some faults, every kind at calls from all over a run; returns the number of breaches."""
    run, calls = injector.clean(Case([]), anew=True)
    assert run.code == 0, run.stderr
    every = [(call, kind) for call in range(calls) for kind in KINDS]
    broken = 0
    for call, kind in random.sample(every, min(faults, len(every))):
        for breach in breaches(injector, folder, call, KINDS[kind]):
            broken += 1
            print(f"desk, {kind} at call {call} of {calls}: {breach}", flush=True)
    print(f"desk: {min(faults, len(every))} faults at {calls} calls, {broken} breaches.", flush=True)
    return broken
