"""What stands before the application: the names it answers to, a bound on bodies, headers that protect its pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, MutableMapping
from ipaddress import ip_address
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "::1")
EVERY_ADDRESS = ("0.0.0.0", "::")
_BODY_SECONDS = 20
_BODIES = 32  # times the bound of one: bytes of all bodies that are held at a time

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def policy(
    *, scripts: str = "'self'", styles: str = "'self'", forms: str = "'none'", frames: Iterable[str] = ()
) -> str:
    """What a page may load and run, and which sites may show it in a frame."""
    own = f"script-src {scripts}; style-src {styles}; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'"
    sites = " ".join(frames) or "'none'"
    return f"default-src 'none'; {own}; form-action {forms}; frame-ancestors {sites}"


class Hosts:
    """Answers only to this server's own names, so that no other site can reach it through a name of its own.

    `*` among the names lets every name in. `0.0.0.0` and `::` stand for every address in digits: no other site can turn
    one of those into its own, as it can turn a name.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = {name.lower().strip("[]") for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        host = _host(dict(scope.get("headers", ())).get(b"host", b"")) if scope["type"] == "http" else ""
        if scope["type"] != "http" or self._knows(host):
            await self._app(scope, receive, send)
        else:
            called = f"not to {host[:80]!r}" if host else "and the request has no Host header"
            names = ", ".join(sorted(self._names - set(EVERY_ADDRESS)))
            sentence = f"this server answers to {names}, {called}; start it with --allowed-host to add a name."
            await answer(send, 400, sentence)

    def _knows(self, host: str) -> bool:
        if host in self._names or "*" in self._names:
            return True
        if any(name.startswith("*.") and host.endswith(name[1:]) for name in self._names):
            return True
        return bool(self._names.intersection(EVERY_ADDRESS)) and _is_address(host)


def _host(header: bytes) -> str:
    """A Host header without its port."""
    host = header.decode("latin-1").strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].rstrip(".")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


class BodyLimit:
    """Reads bodies up to a bound and within a time, before anything is parsed; answers 413, 408 or 503 beyond that."""

    def __init__(
        self, app: ASGIApp, limit: int, larger: Mapping[str, int] | None = None, seconds: float = _BODY_SECONDS
    ) -> None:
        self._app = app
        self._limit = limit
        self._larger = larger or {}  # paths that have a bound of their own
        self._seconds = seconds
        self._most = max(_BODIES * limit, *self._larger.values(), 0)
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"].removeprefix(scope.get("root_path", "")), self._limit)
        declared = _number(dict(scope["headers"]).get(b"content-length", b"0"))
        if declared > limit:
            await self._too_large(send, limit)
        elif self._held + declared > self._most:
            await answer(send, 503, "too many requests are being read already; try again in a second.", retry=True)
        else:
            await self._pass_on(scope, receive, send, limit)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        body = bytearray()
        try:
            async with asyncio.timeout(self._seconds):
                fits = await self._read(receive, body, limit)
        except TimeoutError:
            await answer(send, 408, f"the body did not arrive within {self._seconds:.0f} seconds.")
            return
        finally:
            self._held -= len(body)
        if fits is False:
            await self._too_large(send, limit)
        elif fits:
            await self._app(scope, _replay(bytes(body), receive), send)

    async def _read(self, receive: Receive, body: bytearray, limit: int) -> bool | None:
        """Whether the body fits; None if the client went away."""
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            body += part
            self._held += len(part)
            more = message.get("more_body", False)
            if len(body) > limit:
                return False
        return True

    async def _too_large(self, send: Send, limit: int) -> None:
        await answer(send, 413, f"the body is larger than {limit:,} bytes; send fewer pairs at once.")


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


async def answer(
    send: Send, status: int, sentence: str, *, retry: bool = False, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Refuse a request before the application has seen it: a sentence in JSON.

    Args:
        send: where the answer goes.
        status: its status.
        sentence: what is wrong, and what to do.
        retry: whether the same request may be sent again in a second.
        headers: further headers.
    """
    body = json.dumps({"detail": sentence}).encode()
    own = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    own += [(b"retry-after", b"1")] if retry else []
    await send(
        {"type": "http.response.start", "status": status, "headers": [*own, *headers, (b"connection", b"close")]}
    )
    await send({"type": "http.response.body", "body": body})


class SafeHeaders:
    """Adds the headers to every answer, and answers HEAD as GET without a body."""

    def __init__(self, app: ASGIApp, frames: Iterable[str] = ()) -> None:
        self._app = app
        values = {"Content-Security-Policy": policy(frames=frames), **_HEADERS}
        self._headers = [(name.lower().encode(), value.encode()) for name, value in values.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        only_head = scope["method"] == "HEAD"

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message.get("headers", [])}
                added = [header for header in self._headers if header[0] not in given]
                message["headers"] = [*message.get("headers", []), *added]
            elif only_head:
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"} if only_head else scope, receive, with_headers)
