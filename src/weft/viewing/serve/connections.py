"""Connections that are open: idle ones make room, and nobody may take forever to say what they want."""

from __future__ import annotations

import json
from asyncio import Transport
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 256
_REQUEST_SECONDS = 15
_REASONS = {400: "Bad Request", 503: "Service Unavailable"}


class Connection(H11Protocol):
    """A connection that gives up its place when it is idle and another one comes."""

    most = MOST_CONNECTIONS
    seconds = _REQUEST_SECONDS
    idle_since = 0.0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Find a place for a new connection: that of the client who has most of them lying idle, the oldest first."""
        super().connection_made(transport)
        self.idle_since = self.loop.time()
        others = [other for other in self.connections if isinstance(other, Connection) and other is not self]
        if len(others) >= self.most:
            idle = [other for other in others if other.is_idle and not other.transport.is_closing()]
            if not idle:
                self._refuse(503, "too many connections are open; try again in a second.")
                return
            counts = Counter(_address(other) for other in idle)
            min(idle, key=lambda other: (-counts[_address(other)], other.idle_since)).transport.close()
        self._watch()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def on_response_complete(self) -> None:
        """An answer has been given; the next request may take its time again."""
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def _watch(self) -> None:
        """End a connection whose request never becomes whole: whoever sends a byte now and then is idle, too."""
        if self.transport.is_closing():
            return
        if self.is_idle and self.loop.time() - self.idle_since >= self.seconds:
            self.transport.close()
        else:
            self.loop.call_later(self.seconds / 3, self._watch)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered as everything else is."""
        self._refuse(400, "this is not an HTTP request.")

    def _refuse(self, status: int, sentence: str) -> None:
        body = json.dumps({"detail": sentence})
        retry = "Retry-After: 1\r\n" if status == 503 else ""
        head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: application/json\r\n{retry}"
        self.transport.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode())
        self.transport.close()


def _address(connection: Any) -> str:
    return connection.client[0] if connection.client else ""
