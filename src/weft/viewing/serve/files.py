"""Files that the page opens and saves, read and written with weft's own readers and writers."""

from __future__ import annotations

import base64
import json
import logging
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from pydantic import Field

from weft.annotation.importing import Imported, read_files
from weft.annotation.sentences import ProjectPair
from weft.errors import SettingError
from weft.text import watches
from weft.text.lines import NamedCopy
from weft.text.links import line_writer
from weft.text.pairs import PairReader
from weft.types import Alignment, Link, SentencePair
from weft.viewing.serve.requests import Problem, Strict, Text

LARGEST_FILES = 64_000_000
"""Bytes in a request that carries files: about 200,000 pairs."""
FILE_ROUTES = ("/api/files/read", "/api/files/write", "/api/projects")

REFUSALS: dict[int | str, dict[str, object]] = {
    400: {"model": Problem, "description": "The body is not JSON in UTF-8, or the host is not this server."},
    413: {"model": Problem, "description": "The body is larger than the limit."},
    415: {"model": Problem, "description": "The body was not sent as application/json."},
    422: {"model": Problem, "description": "A field is invalid, or a file cannot be read."},
    507: {"model": Problem, "description": "The disk is full or broken; nothing was changed."},
}
PLAIN_TEXT: dict[int | str, dict[str, object]] = {**REFUSALS, 200: {"content": {"text/plain": {}}}}

WireLink = Annotated[
    list[int | float | bool | None],
    Field(min_length=2, max_length=4, description="[i, j, score, sure], counted from 0; score may be null."),
]


class FileIn(Strict):
    """A file as the browser has it."""

    name: Annotated[Text, Field(max_length=300, description="Name used in messages; never opened as a path.")]
    content: Annotated[str, Field(description="Its bytes in base64, compressed or not.")]


class WordsIn(Strict):
    """A pair whose words are split."""

    source: list[Text]
    target: list[Text]


class ReadRequest(Strict):
    """One file, or a source and a target file."""

    files: Annotated[list[FileIn], Field(min_length=1, max_length=2)]
    pairs: Annotated[
        list[WordsIn] | None, Field(description="The pairs that a file of links belongs to, if one may come.")
    ] = None


class PairOut(Strict):
    """A pair of a file, or why its line holds none."""

    source: list[str]
    target: list[str]
    problem: str


class ReadResponse(Strict):
    """Pairs, links or both; one entry for each line."""

    pairs: list[PairOut]
    links: list[list[WireLink] | None]
    scores: list[float | None]
    base: Annotated[int, Field(description="The number that a file of links gives to the first word.")] = 0
    listed: Annotated[
        list[bool],
        Field(
            default_factory=list, description="Where a file lists the words of pairs: for each line, whether it does."
        ),
    ]
    unsplit: Annotated[bool, Field(description="Whether the text does not seem to be split into words.")] = False
    remarks: Annotated[
        list[str],
        Field(
            default_factory=list,
            description="What looks as if the file should be read in another way, in sentences.",
        ),
    ]


class LinkedPair(WordsIn):
    """A pair with its links."""

    links: list[WireLink]


class WrittenFormat(StrEnum):
    """How links can be written."""

    PHARAOH = "pharaoh"
    PHARAOH_SCORES = "pharaoh-scores"
    TALP = "talp"
    NAACL = "naacl"
    JSONL = "jsonl"


class WriteRequest(Strict):
    """What to write, and how."""

    format: WrittenFormat
    pairs: list[LinkedPair]


def add_file_routes(app: FastAPI) -> None:
    """Reading and writing of files, for pages that have no readers of their own."""

    @app.post("/api/files/read", summary="Read files of pairs or links", tags=["files"], responses=REFUSALS)
    def read(request: ReadRequest) -> ReadResponse:
        known = None
        if request.pairs is not None:
            known = [SentencePair(tuple(pair.source), tuple(pair.target)) for pair in request.pairs]
        with _doubts() as doubts:
            found = imported(request.files, known)
        return read_response(found, doubts)

    @app.post(
        "/api/files/write",
        summary="Write links in any format",
        tags=["files"],
        responses=PLAIN_TEXT,
    )
    def write(request: WriteRequest) -> PlainTextResponse:
        pairs = [SentencePair(tuple(pair.source), tuple(pair.target)) for pair in request.pairs]
        alignments = [Alignment.of(map(read_link, pair.links)) for pair in request.pairs]
        return PlainTextResponse("".join(written_lines(pairs, alignments, request.format)))


def imported(
    files: Sequence[FileIn],
    known: Sequence[SentencePair] | None = None,
    *,
    reader: PairReader = PairReader(),  # noqa: B008 - it is frozen
) -> Imported:
    """What files of a request hold."""
    with _on_disk(files) as copies:
        return read_files(copies, known, reader=reader)


_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)
# What is taken for what; the advice after it is for the command line.
_DOUBT = re.compile(r".*?\b(?:is|are) read as [^.]*\.")


def _hear(record: logging.LogRecord) -> bool:
    """Keep what a reader doubts for the page that sent the file, instead of telling whoever started the server."""
    heard = _heard.get()
    if heard is None:
        return True
    heard.append(record.getMessage())
    return False


logging.getLogger(watches.__name__).addFilter(_hear)


@contextmanager
def _doubts() -> Iterator[list[str]]:
    """What the readers doubt meanwhile about how files should be read, without advice."""
    heard: list[str] = []
    doubts: list[str] = []
    token = _heard.set(heard)
    try:
        yield doubts
    finally:
        _heard.reset(token)
        doubts += [doubt[0] for doubt in map(_DOUBT.match, heard) if doubt]


@contextmanager
def _on_disk(files: Sequence[FileIn]) -> Iterator[list[NamedCopy]]:
    """Files of a request under names that the server gives, called by their own in messages."""
    with TemporaryDirectory(prefix="weft-") as folder:
        copies = []
        for number, file in enumerate(files):
            path = Path(folder) / str(number)
            try:
                path.write_bytes(base64.b64decode(file.content, validate=True))
            except ValueError as error:
                raise SettingError(f"{file.name[:80]}: the content is not base64.") from error
            copies.append(NamedCopy(file.name, str(path)))
        yield copies


def read_response(found: Imported, doubts: Sequence[str] = ()) -> ReadResponse:
    """What was read, as it is sent."""
    return ReadResponse(
        pairs=[pair_out(entry) for entry in found.pairs],
        links=[None if each is None else [list(link) for link in each.links] for each in found.links],
        scores=[None if each is None else each.score for each in found.links],
        base=found.base,
        listed=found.listed,
        unsplit=found.unsplit,
        remarks=list(doubts),
    )


def pair_out(entry: ProjectPair) -> PairOut:
    """A pair as it is sent."""
    return PairOut(source=list(entry.pair.source), target=list(entry.pair.target), problem=entry.problem)


def read_link(item: Sequence[int | float | bool | None]) -> Link:
    """A link as the page has it.

    Raises:
        SettingError: it is none.
    """
    source, target = item[:2]
    score = item[2] if len(item) > 2 else None
    sure = item[3] if len(item) > 3 else True
    if type(source) is int and type(target) is int and min(source, target) >= 0 and (score is None or _is_score(score)):
        return Link(source, target, None if score is None else float(score), sure is not False)
    raise SettingError(f"expected a link [i, j, score, sure], found {json.dumps(list(item))[:60]}.")


def _is_score(value: float) -> bool:
    """Whether a number can be written and read again; JSON in requests may have NaN, and more digits than a float."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def written_lines(
    pairs: Sequence[SentencePair], alignments: Sequence[Alignment], format: WrittenFormat
) -> Iterator[str]:
    """Links as lines with their ends; JSONL holds the words too.

    Args:
        pairs: the words of each pair.
        alignments: its links.
        format: how they are written.
    """
    write = line_writer(format)
    for number, (pair, alignment) in enumerate(zip(pairs, alignments, strict=True), start=1):
        line = write(alignment, number)
        if format is WrittenFormat.JSONL:
            line = json.dumps({**pair._asdict(), **json.loads(line)}, ensure_ascii=False)
        yield line + "\n"
