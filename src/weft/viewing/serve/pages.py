"""The pages that the server shows. Their files are read once, when the server starts."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files

from fastapi import FastAPI, Response
from starlette.exceptions import HTTPException

from weft.viewing.html import embedded_page
from weft.viewing.serve.guards import policy

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


def add_pages(app: FastAPI, frames: Iterable[str]) -> None:
    """Add the web app, its reading mode, the page about the REST API, one pair for frames of other sites, and files.

    Args:
        app: where they are added.
        frames: the sites that may show them in a frame.
    """
    folder = files("weft.viewing") / "static"
    known = {file.name: file.read_bytes() for file in folder.iterdir() if "." in file.name}
    embedded = embedded_page()
    allowed = policy(scripts=embedded.script_hash, styles=embedded.style_hash, frames=frames)

    def answer(name: str) -> Response:
        content = known.get(name)
        if content is None:
            raise HTTPException(404, "there is no such file.")
        return Response(content, media_type=_TYPES.get(name[name.rindex(".") :], "text/plain"))

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return answer("index.html")

    @app.get("/read.html", include_in_schema=False)
    async def read() -> Response:
        return answer("read.html")

    @app.get("/api", include_in_schema=False)
    async def reference() -> Response:
        return answer("reference.html")

    @app.get("/embed", include_in_schema=False)
    async def embed() -> Response:
        return Response(embedded.text, media_type="text/html", headers={"Content-Security-Policy": allowed})

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        return answer(name)
