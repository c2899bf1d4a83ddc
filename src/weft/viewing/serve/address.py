"""One address for one browser: what it keeps under `localhost` it would not find again under 127.0.0.1."""

from __future__ import annotations

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class OneAddress:
    """Sends a page that was opened as `localhost` to 127.0.0.1, where the server said that it listens."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http" and scope["path"] == "/" and (scope.get("server") or ("",))[0] == "127.0.0.1":
            name, _, port = dict(scope["headers"]).get(b"host", b"").decode("latin-1").partition(":")
            if name.lower() == "localhost" and (port.isdigit() or not port):
                query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
                address = f"http://127.0.0.1{':' if port else ''}{port}/{query}"
                await RedirectResponse(address, 307)(scope, receive, send)
                return
        await self._app(scope, receive, send)
