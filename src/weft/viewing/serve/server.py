"""The web app: a REST API over the models that are loaded, and the pages that use it.

Nothing that a client sends is ever opened as a path: models go by the names the server gave them, and the page's files
are read once, when the server starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Header, Request
from starlette.exceptions import HTTPException

from weft.aligner import Aligner
from weft.annotation.shelf import Shelf
from weft.errors import SettingError
from weft.extraction.methods import METHODS
from weft.version import __version__
from weft.viewing.serve.address import OneAddress
from weft.viewing.serve.aligning import align_in_steps, check_size, settings_of
from weft.viewing.serve.files import FILE_ROUTES, LARGEST_FILES, add_file_routes
from weft.viewing.serve.guards import LOOPBACK, BodyLimit, Hosts, SafeHeaders
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.pages import add_pages
from weft.viewing.serve.projects import add_project_routes
from weft.viewing.serve.queue import FairQueue
from weft.viewing.serve.refusals import PROBLEMS, explain_errors
from weft.viewing.serve.remembering import remembering
from weft.viewing.serve.requests import (
    AlignRequest,
    AlignResponse,
    Health,
    LimitsOut,
    ModelOut,
    ModelsResponse,
)
from weft.viewing.serve.texts import AlignDocuments, TextsRequest, TextsResponse, check_texts, texts_in_steps
from weft.viewing.serve.token import Token

T = TypeVar("T")


def create_app(
    aligners: Mapping[str, Aligner],
    *,
    limits: Limits | None = None,
    hosts: tuple[str, ...] = LOOPBACK,
    token: str | None = None,
    root_path: str = "",
    frames: tuple[str, ...] = (),
    projects: Shelf | None = None,
    documents: AlignDocuments | None = None,
) -> FastAPI:
    """The web app for named aligners, of which the first is the default.

    Args:
        aligners: the models that clients may choose from, by name.
        limits: the limits for requests and for the queue.
        hosts: the names that this server answers to, so that no other site can reach it through a name that it
            controls. `0.0.0.0` means every numeric address.
        token: the token that clients must send: `Authorization: Bearer TOKEN`, or `?token=TOKEN` in a browser.
        root_path: the path under which a proxy serves the app, such as `/weft`.
        frames: the sites that may embed its pages in a frame, such as `https://example.org`; `*` allows all.
        projects: annotation projects on disk, if there are any.
        documents: the function that aligns whole texts (`weft.align_documents`). Without it, the server does not offer
            this.
    """
    limits = limits or Limits()
    shelf = {name: remembering(aligner) for name, aligner in aligners.items()}
    queue = FairQueue(limits.queue, limits.seconds)
    app = FastAPI(
        title="weft",
        version=__version__,
        description="Which words of a sentence and its translation correspond?",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        separate_input_output_schemas=False,
        dependencies=[Depends(_only_json)],
    )
    app.root_path = root_path  # as a parameter it is deprecated
    app.add_middleware(BodyLimit, limit=limits.body, larger=dict.fromkeys(FILE_ROUTES, LARGEST_FILES))
    if token is not None:
        app.add_middleware(Token, token=token, root_path=root_path)
    app.add_middleware(OneAddress)
    app.add_middleware(Hosts, names=hosts)
    app.add_middleware(SafeHeaders, frames=frames)
    explain_errors(app, queue)
    add_pages(app, frames)
    add_file_routes(app)
    add_project_routes(app, projects)

    @app.get("/health", summary="Is the server there?")
    async def health() -> Health:
        return Health(status="ok", version=__version__, waiting=queue.waiting)

    @app.get("/api/models", summary="Models, methods and limits to choose from")
    async def models() -> ModelsResponse:
        return _models(shelf, limits)

    _add_aligning(app, shelf, queue, limits, documents)
    return app


def _add_aligning(
    app: FastAPI, shelf: Mapping[str, Aligner], queue: FairQueue, limits: Limits, documents: AlignDocuments | None
) -> None:
    post = partial(app.post, responses=PROBLEMS, response_model_exclude_none=True)

    @post("/api/align", summary="Align one pair or many")
    async def align(request: AlignRequest, connection: Request) -> AlignResponse:
        name, aligner = _chosen(shelf, request.model)
        check_size(request, limits)
        steps = align_in_steps(name, aligner, request, settings_of(request, aligner), limits)
        return await while_wanted(connection, queue.do(client_of(connection), steps))

    if documents is not None:

        @post("/api/texts", summary="Align two texts whose sentences are not paired yet")
        async def texts(request: TextsRequest, connection: Request) -> TextsResponse:
            name, aligner = _chosen(shelf, request.model)
            check_texts(request, limits)
            steps = texts_in_steps(name, aligner, request, limits, documents)
            return await while_wanted(connection, queue.do(client_of(connection), steps))


def _chosen(shelf: Mapping[str, Aligner], model: str | None) -> tuple[str, Aligner]:
    name = model or next(iter(shelf))
    if name not in shelf:
        raise SettingError(f"there is no model {name[:40]!r} here; /api/models lists them.")
    return name, shelf[name]


async def _only_json(request: Request, content_type: Annotated[str, Header(include_in_schema=False)] = "") -> None:
    """Refuse bodies that are not said to be JSON, which other sites' forms could send."""
    if request.method not in ("GET", "HEAD") and content_type.partition(";")[0].strip().lower() != "application/json":
        found = f", not as {content_type[:80]}" if content_type else ""
        sentence = f"send the body as JSON{found}: add the header 'Content-Type: application/json'"
        raise HTTPException(415, f"{sentence} (curl: -H 'Content-Type: application/json').")


def client_of(connection: Request) -> str:
    """Who asks: an address, behind a proxy on this machine the one that the proxy names."""
    return connection.client.host if connection.client else ""


async def while_wanted(connection: Request, answer: Coroutine[Any, Any, T]) -> T:
    """An answer, unless the client goes away before: then it is given up, and nothing more is computed for it."""
    working = asyncio.ensure_future(answer)
    gone = asyncio.ensure_future(_gone(connection))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise HTTPException(499, "the client went away.")
        return await working
    finally:
        gone.cancel()
        working.cancel()


async def _gone(connection: Request) -> None:
    while (await connection.receive())["type"] != "http.disconnect":
        pass


def _models(shelf: Mapping[str, Aligner], limits: Limits) -> ModelsResponse:
    listed = [
        ModelOut(
            name=name,
            method=aligner.settings.method,
            threshold=aligner.settings.effective_threshold,
            calibrated=aligner.settings.calibration is not None,
        )
        for name, aligner in shelf.items()
    ]
    return ModelsResponse(
        models=listed,
        methods=list(METHODS),
        thresholds={name: method.threshold for name, method in METHODS.items() if method.threshold is not None},
        limits=LimitsOut(**asdict(limits)),
    )
