"""What stands before the application: a bound on bodies, and headers that keep pages to themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
HEADERS = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]


class BodyLimit:
    """Reads bodies up to a bound and answers 413 beyond it, before anything is parsed."""

    def __init__(self, app: ASGIApp, limit: int, larger: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._limit = limit
        self._larger = larger or {}  # paths that have a bound of their own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"], self._limit)
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        body = None if _number(declared) > limit else await self._read(receive, limit)
        if body is None:
            await _answer(send, 413, f"the body is larger than {limit:,} bytes; send fewer pairs at once.")
            return
        await self._app(scope, _replay(body, receive), send)

    async def _read(self, receive: Receive, limit: int) -> bytes | None:
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > limit:
                return None
        return bytes(body)


def _number(header: bytes) -> int:
    return int(header) if header.isdigit() and len(header) < 20 else 0


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send(
        {"type": "http.response.start", "status": status, "headers": [*headers, *HEADERS, (b"connection", b"close")]}
    )
    await send({"type": "http.response.body", "body": body})


class SafeHeaders:
    """Adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
