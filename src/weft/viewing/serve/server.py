"""The web app: a REST API over the models that are loaded, and the page that uses it.

Nothing that a client sends is ever opened as a path: models go by the names the server gave them, and the page's files
are read once, when the server starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from itertools import chain

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from weft.aligner import Aligner
from weft.annotation.shelf import Shelf
from weft.errors import SettingError, WeftError
from weft.extraction.methods import METHODS
from weft.extraction.scores import Scores
from weft.text.pairs import words_of
from weft.text.segment import Segmented, segmenter_for
from weft.types import Alignment, SentencePair
from weft.version import __version__
from weft.viewing.serve.address import OneAddress
from weft.viewing.serve.desk import Desk, FullError, remembering
from weft.viewing.serve.files import FILE_ROUTES, LARGEST_FILES, add_file_routes
from weft.viewing.serve.guards import BodyLimit, SafeHeaders
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.projects import add_project_routes
from weft.viewing.serve.requests import (
    AlignedPair,
    AlignRequest,
    AlignResponse,
    Health,
    LimitsOut,
    ModelOut,
    ModelsResponse,
    PairIn,
    Problem,
)

LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_PROBLEMS: dict[int | str, dict[str, object]] = {
    400: {"model": Problem, "description": "The body is no JSON, or the host is not this server."},
    413: {"model": Problem, "description": "The body is larger than the limit."},
    422: {"model": Problem, "description": "A field makes no sense, or a limit on words or pairs is exceeded."},
    503: {"model": Problem, "description": "Too many requests wait already; try again in a second."},
}


def create_app(
    aligners: Mapping[str, Aligner],
    *,
    limits: Limits | None = None,
    hosts: tuple[str, ...] = LOOPBACK,
    projects: Shelf | None = None,
) -> FastAPI:
    """The application over named aligners, of which the first is the default.

    Args:
        aligners: the models that clients may choose, by the names they will use.
        limits: bounds on requests and on the queue.
        hosts: the names this server answers to, so that no other site can reach it through a name of its own.
        projects: annotation projects on disk, if there are any.
    """
    limits = limits or Limits()
    shelf = {name: remembering(aligner) for name, aligner in aligners.items()}
    desk = Desk(limits.queue)
    app = FastAPI(
        title="weft",
        version=__version__,
        description="Which words of a sentence and its translation correspond?",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.desk = desk
    app.add_middleware(OneAddress)
    app.add_middleware(BodyLimit, limit=limits.body, larger=dict.fromkeys(FILE_ROUTES, LARGEST_FILES))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))
    app.add_middleware(SafeHeaders)
    _explain_errors(app)
    _add_files(app)
    add_file_routes(app)
    add_project_routes(app, projects)

    @app.get("/health", summary="Is the server there?")
    async def health() -> Health:
        return Health(status="ok", version=__version__, waiting=desk.waiting)

    @app.get("/api/models", summary="Models, methods and limits to choose from")
    async def models() -> ModelsResponse:
        return _models(shelf, limits)

    @app.post("/api/align", summary="Align one pair or many", responses=_PROBLEMS, response_model_exclude_none=True)
    async def align(request: AlignRequest) -> AlignResponse:
        name = request.model or next(iter(shelf))
        if name not in shelf:
            raise SettingError(f"there is no model {name[:40]!r} here; /api/models lists them.")
        _check(request.all_pairs(), limits)
        return await desk.do(lambda: _align(name, shelf[name], request, limits))

    return app


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


def _check(pairs: list[PairIn], limits: Limits) -> None:
    if len(pairs) > limits.pairs:
        raise SettingError(f"{len(pairs):,} pairs were sent, but one request may hold at most {limits.pairs:,}.")
    for side in chain.from_iterable((pair.source, pair.target) for pair in pairs):
        characters = len(side) if isinstance(side, str) else sum(map(len, side))
        if characters > limits.characters:
            raise SettingError(
                f"a sentence has {characters:,} characters, but at most {limits.characters:,} are allowed."
            )


def _check_words(words: Sequence[str], limits: Limits) -> None:
    if len(words) > limits.words:
        raise SettingError(f"a sentence has {len(words):,} words, but at most {limits.words:,} are allowed.")


def _align(name: str, aligner: Aligner, request: AlignRequest, limits: Limits) -> AlignResponse:
    """The work itself, on the desk's thread."""
    settings = aligner.settings.updated(
        method=request.method,
        threshold=request.threshold,
        alpha=request.alpha,
        cost=request.cost,
        symmetrize=request.symmetrize,
        null=request.null,
    )
    sides = [_cut(pair, request, limits) for pair in request.all_pairs()]
    pairs = [SentencePair(source.words, target.words) for source, target in sides]
    alignments = Aligner(aligner.encoder, settings).align_batch(pairs, scores=request.scores)
    return AlignResponse(
        model=name,
        method=settings.method,
        threshold=settings.effective_threshold,
        alignments=[_written(*pair, found, request) for pair, found in zip(sides, alignments, strict=True)],
    )


def _cut(pair: PairIn, request: AlignRequest, limits: Limits) -> tuple[Segmented, Segmented]:
    languages = (request.source_language, request.target_language)
    source, target = (
        _segmented(side, request.raw, language)
        for side, language in zip((pair.source, pair.target), languages, strict=True)
    )
    for side in (source, target):
        _check_words(side.words, limits)
    return source, target


def _segmented(side: str | list[str], raw: bool, language: str | None) -> Segmented:
    if raw and isinstance(side, str):
        return segmenter_for(language)(side)
    return Segmented(words_of(side if isinstance(side, str) else tuple(side)), ())


def _written(source: Segmented, target: Segmented, alignment: Alignment, request: AlignRequest) -> AlignedPair:
    scored = request.scores is not Scores.NONE
    return AlignedPair(
        source=list(source.words),
        target=list(target.words),
        links=[[*link.indices, link.score or 0.0] if scored else list(link.indices) for link in alignment.links],
        score=alignment.score,
        unknown=alignment.unknown or None,
        source_offsets=list(source.offsets) or None,
        target_offsets=list(target.offsets) or None,
    )


def _explain_errors(app: FastAPI) -> None:
    """Every refusal is a sentence under `detail`, and no answer holds a traceback."""

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        message = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        return _problem(422, f"{place}: {message}." if place else f"{message}.")

    @app.exception_handler(WeftError)
    async def refused(request: Request, error: WeftError) -> Response:
        return _problem(422, str(error))

    @app.exception_handler(FullError)
    async def full(request: Request, error: FullError) -> Response:
        bound = app.state.desk.bound
        return _problem(503, f"{bound} requests wait already, which is the limit; try again in a second.", retry=True)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        response = _problem(error.status_code, str(error.detail))
        response.headers.update(error.headers or {})
        return response


def _problem(status: int, sentence: str, *, retry: bool = False) -> JSONResponse:
    return JSONResponse({"detail": sentence}, status, headers={"Retry-After": "1"} if retry else None)


def _add_files(app: FastAPI) -> None:
    folder = files("weft.viewing") / "static"
    known = {file.name: file.read_bytes() for file in folder.iterdir() if "." in file.name}

    def answer(name: str) -> Response:
        content = known.get(name)
        if content is None:
            raise HTTPException(404, "there is no such file.")
        return Response(content, media_type=_TYPES.get(name[name.rindex(".") :], "text/plain"))

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return answer("index.html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        return answer(name)
