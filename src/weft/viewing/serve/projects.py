"""The routes of annotation projects: pairs, what an annotator says, what changed, and how far two agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import Field

from weft.annotation.agreement import agreement_of, finished_by_both
from weft.annotation.gold import progress
from weft.annotation.names import ADJUDICATED, LONGEST_NAME, annotator_name
from weft.annotation.project import ConflictError, Project
from weft.annotation.record import Annotation, State
from weft.annotation.shelf import Shelf
from weft.errors import SettingError
from weft.text.pairs import NOTHING, PairReader
from weft.text.segment import word_splitters
from weft.types import Alignment
from weft.viewing.serve.files import (
    PLAIN_TEXT,
    REFUSALS,
    FileIn,
    WireLink,
    WrittenFormat,
    imported,
    pair_out,
    read_link,
    written_lines,
)
from weft.viewing.serve.requests import Language, Problem, Strict, Text

Annotator = Annotated[Text, Field(max_length=LONGEST_NAME, description="Who annotates.")]
Number = Annotated[int, Path(description="Which pair, counted from 0.")]


class Conflict(Problem):
    """What was wrong, and what stands there now."""

    current: dict[str, Any]


_CONFLICT: dict[int | str, dict[str, object]] = {
    **REFUSALS,
    409: {"model": Conflict, "description": "There is something newer than `base`; `current` holds it."},
}


class NewProject(Strict):
    """A project to make of files."""

    name: Annotated[Text, Field(max_length=LONGEST_NAME)]
    files: Annotated[list[FileIn], Field(min_length=1, max_length=2)]
    raw: Annotated[bool, Field(description="Split the text into words first.")] = False
    source_language: Language | None = None
    target_language: Language | None = None

    def reader(self) -> PairReader:
        """What reads the files so."""
        if not self.raw and not (self.source_language or self.target_language):
            return PairReader()
        return PairReader(split=word_splitters(self.raw, self.source_language, self.target_language))


class Saying(Strict):
    """What an annotator says about a pair."""

    annotator: Annotator
    links: list[WireLink]
    state: State = State.OPEN
    comment: Text = ""
    base: Annotated[
        int | None, Field(description="The revision that the annotator saw; something newer is a conflict, 409.")
    ] = None


def add_project_routes(app: FastAPI, shelf: Shelf | None) -> None:
    """The routes over the projects of a folder; without one there are no projects."""
    app.state.projects = shelf
    _explain(app)

    def project(name: str) -> Project:
        if shelf is None:
            raise SettingError("this server has no projects; start it with weft annotate DIR.")
        return shelf.project(name)

    @app.get("/api/projects", summary="Annotation projects", tags=["projects"], responses=REFUSALS)
    def projects() -> dict[str, Any]:
        if shelf is None:
            return {"available": False, "can_create": False, "projects": []}
        listed = [_about(name, shelf.project(name)) for name in shelf.names()]
        return {"available": True, "can_create": shelf.can_create, "projects": listed}

    @app.post("/api/projects", summary="Make a project of files", tags=["projects"], responses=REFUSALS)
    def create(request: NewProject) -> dict[str, Any]:
        if shelf is None:
            raise SettingError("this server keeps no projects; start it with weft annotate DIR.")
        found = imported(request.files, reader=request.reader())
        if not found.pairs:
            raise SettingError("a project needs sentence pairs; this file contains only links.")
        made = shelf.create(request.name, found.pairs, found.links)
        return _about(made.folder.name, made)

    _add_annotating(app, project)
    _add_results(app, project)


def _add_annotating(app: FastAPI, project: Callable[[str], Project]) -> None:
    """What one annotator sees and says."""

    @app.get(
        "/api/projects/{name}", summary="A project as one annotator sees it", tags=["projects"], responses=REFUSALS
    )
    def whole(name: str, annotator: Annotator) -> dict[str, Any]:
        return _seen_by(name, project(name), annotator)

    @app.put(
        "/api/projects/{name}/pairs/{number}",
        summary="Annotate a pair",
        tags=["projects"],
        responses=_CONFLICT,
    )
    def put(name: str, number: Number, saying: Saying) -> dict[str, Any]:
        said = Annotation(Alignment.of(map(read_link, saying.links)).links, saying.state, saying.comment)
        return _sent(project(name).put(saying.annotator, number, said, base=saying.base))

    @app.get(
        "/api/projects/{name}/changes", summary="What changed since a revision", tags=["projects"], responses=REFUSALS
    )
    def changes(name: str, annotator: Annotator, since: int) -> dict[str, Any]:
        here = project(name)
        who = annotator_name(annotator, here.annotations)
        mine = [{"number": number, **_sent(said)} for other, number, said in here.changes(since) if other == who]
        return {
            "revision": here.revision,
            "changes": mine,
            "annotators": _annotators(here),
            "confirmed": len(here.confirmed),
        }


def _add_results(app: FastAPI, project: Callable[[str], Project]) -> None:
    """What comes of it: agreement and gold."""

    @app.get(
        "/api/projects/{name}/agreement", summary="How well two annotators agree", tags=["projects"], responses=REFUSALS
    )
    def agreement(name: str, first: Annotator, second: Annotator) -> dict[str, Any]:
        return _agreement(project(name), first, second)

    @app.get(
        "/api/projects/{name}/export",
        summary="Links of an annotator, or the gold",
        tags=["projects"],
        responses=PLAIN_TEXT,
    )
    def export(
        name: str,
        format: WrittenFormat,
        who: Annotated[str, Query(description="An annotator; the gold of the project if left out.")] = "",
    ) -> PlainTextResponse:
        here = project(name)
        here.checkpoint()
        return PlainTextResponse("".join(_exported(here, who, format)))


def _explain(app: FastAPI) -> None:
    @app.exception_handler(ConflictError)
    async def conflict(request: Request, error: ConflictError) -> Response:
        return JSONResponse({"detail": str(error), "current": _sent(error.current)}, 409)

    @app.exception_handler(OSError)
    async def broken(request: Request, error: OSError) -> Response:
        return JSONResponse({"detail": f"the server could not save this: {error.strerror}."}, 507)


def _about(name: str, project: Project) -> dict[str, Any]:
    return {
        "name": name,
        "title": project.name,
        "pairs": _pairs(project),
        "annotators": _annotators(project),
        "confirmed": len(project.confirmed),
    }


def _pairs(project: Project) -> int:
    """How many lines hold a pair."""
    return sum(entry.pair != NOTHING for entry in project.pairs)


def _annotators(project: Project) -> list[dict[str, Any]]:
    total = _pairs(project)
    return [{"name": name, **progress(said, total)} for name, said in sorted(project.annotations.items())]


def _seen_by(name: str, project: Project, annotator: str) -> dict[str, Any]:
    """Everything but what the others said: a second annotator works without seeing the first."""
    who = annotator_name(annotator, project.annotations)
    return {
        **_about(name, project),
        "annotator": who,
        "key": project.key,
        "revision": project.revision,
        "guidelines": project.guidelines,
        "sentences": [pair_out(entry) for entry in project.pairs],
        "suggestions": [
            None if each is None else {"links": each.links, "score": each.score} for each in project.suggestions
        ],
        "said": {number: _sent(said) for number, said in project.annotations.get(who, {}).items()},
    }


def _sent(said: Annotation) -> dict[str, Any]:
    return {
        "links": said.links,
        "state": said.state,
        "comment": said.comment,
        "time": said.time,
        "revision": said.revision,
    }


def _agreement(project: Project, first: str, second: str) -> dict[str, Any]:
    names = [_somebody(project, name) for name in (first, second)]
    numbers = finished_by_both(project, *names)
    found = agreement_of(project, *names)
    worst = found.disagreements
    sentences = [
        {
            "number": numbers[place],
            "first": project.annotations[names[0]][numbers[place]].links,
            "second": project.annotations[names[1]][numbers[place]].links,
            "rates": found.by_sentence[place],
        }
        for place in worst
    ]
    low, high = found.interval
    return {
        "first": names[0],
        "second": names[1],
        "sentences": len(numbers),
        "rates": found.rates,
        "low": low,
        "high": high,
        "settled": sorted(
            number for number, said in project.annotations.get(ADJUDICATED, {}).items() if said.state is State.DONE
        ),
        "disagreements": sentences,
    }


def _somebody(project: Project, name: str) -> str:
    """The name of somebody who annotated; a misspelt one must not look like an annotator who agrees in everything."""
    known = annotator_name(name, project.annotations)
    if known not in project.annotations:
        raise SettingError(f"nobody called {name!r} annotated this project.")
    return known


def _exported(project: Project, who: str, format: WrittenFormat) -> Sequence[str]:
    """One alignment for each line of the file that the project was made of; empty where there is none.

    The gold as JSONL has the confirmed pairs alone: there, "no links" is a statement, and each says which pair it is.
    """
    if not who and format is WrittenFormat.JSONL:
        return list(project.gold_lines())
    if who:
        said = project.annotations[_somebody(project, who)]
        found = {number: each.alignment for number, each in said.items()}
    else:
        found = dict(project.confirmed)
    alignments = [found.get(number, Alignment()) for number in range(len(project.pairs))]
    return list(written_lines([entry.pair for entry in project.pairs], alignments, format))
