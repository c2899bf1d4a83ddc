"""Every refusal is JSON with a sentence under `detail`, and no answer holds a traceback."""

from __future__ import annotations

import json
import logging

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from weft.errors import WeftError
from weft.viewing.serve.queue import FairQueue, FullError, LateError
from weft.viewing.serve.requests import Problem, Strict
from weft.viewing.serve.wording import sentence_for

logger = logging.getLogger(__name__)

_NOT_READ = "There was an error parsing the body"  # how FastAPI says that bytes are no text
_NOT_JSON = "the body is not JSON."
_NOT_UTF8 = "the body is not UTF-8; send JSON in UTF-8."

PROBLEMS: dict[int | str, dict[str, object]] = {
    400: {"model": Problem, "description": "The body is not JSON in UTF-8, or the host is not this server."},
    401: {"model": Problem, "description": "The server requires a token."},
    413: {"model": Problem, "description": "The body is larger than the limit."},
    415: {"model": Problem, "description": "The body was not sent as application/json."},
    422: {"model": Problem, "description": "A field is invalid or has no effect, or a limit is exceeded."},
    503: {"model": Problem, "description": "Too many requests wait already, or it took too long; try again."},
}


def explain_errors(app: FastAPI, queue: FairQueue) -> None:
    """Say what went wrong, whatever it was."""

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return problem(400, _NOT_JSON)
        parts = [part for part in first["loc"] if isinstance(part, int)] if "pairs" in first["loc"] else []
        return problem(422, sentence_for(error.errors(), _fields()), pair=parts[0] if parts else None)

    @app.exception_handler(WeftError)
    async def refused(request: Request, error: WeftError) -> Response:
        return problem(422, str(error), pair=getattr(error, "pair", None))

    @app.exception_handler(FullError)
    async def full(request: Request, error: FullError) -> Response:
        sentence = f"{queue.bound} requests wait already, which is the limit; try again in a second."
        return problem(503, sentence, retry=True)

    @app.exception_handler(LateError)
    async def late(request: Request, error: LateError) -> Response:
        sentence = f"there was no answer within {queue.seconds:g} seconds; try again, or send fewer pairs."
        return problem(503, sentence, retry=True)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> Response:
        said = {
            404: f"there is nothing at {request.url.path[:80]}; /api describes what there is.",
            405: f"{request.method} is not possible at {request.url.path[:80]}; "
            f"use {(error.headers or {}).get('Allow', 'another method')}.",
        }
        not_read = _NOT_UTF8 if isinstance(error.__cause__, UnicodeDecodeError) else _NOT_JSON
        own = {"Not Found": said[404], "Method Not Allowed": said[405], _NOT_READ: not_read}
        response = problem(error.status_code, own.get(str(error.detail), str(error.detail)))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return problem(500, "the server failed at this request, and has written the reason to its log.")


def problem(status: int, sentence: str, *, retry: bool = False, pair: int | None = None) -> Response:
    """A refusal.

    Args:
        status: its status.
        sentence: what is wrong.
        retry: whether the same request may be sent again in a second.
        pair: which of several pairs it was.
    """
    content = {"detail": sentence, **({} if pair is None else {"pair": pair})}
    # Escaped, because a client's own text may hold what UTF-8 cannot.
    body = json.dumps(content).encode()
    return Response(body, status, {"Retry-After": "1"} if retry else None, "application/json")


def _fields() -> set[str]:
    """The names of all fields that requests have."""
    return {name for kind in Strict.__subclasses__() for name in kind.model_fields}
