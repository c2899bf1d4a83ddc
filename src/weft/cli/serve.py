"""`weft serve`: the web app and the REST API, on this machine's own address unless told otherwise."""

from __future__ import annotations

import socket
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import MODEL, DeviceOption, LayersOption
from weft.cli.output import say
from weft.errors import MissingExtraError, SettingError, WeftError

if TYPE_CHECKING:
    from weft.aligner import Aligner

# Each connection may hold a body in memory before its turn comes.
_CONNECTIONS = 256

_SERVER = "Server"
_LIMITS = "Limits"


def serve(
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 is every one.", rich_help_panel=_SERVER),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="0 takes a free one.", rich_help_panel=_SERVER)
    ] = 8080,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Models to offer, the default first; can be repeated.",
            show_default="weft-mini",
            rich_help_panel=MODEL,
        ),
    ] = None,
    layer: LayersOption = None,
    device: DeviceOption = "auto",
    project: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="An annotation project, or a folder of projects.", rich_help_panel=_SERVER),
    ] = None,
    max_body: Annotated[
        int, typer.Option(min=1, metavar="N", help="Bytes in a request.", rich_help_panel=_LIMITS)
    ] = 1_000_000,
    max_pairs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Pairs in a request.", rich_help_panel=_LIMITS)
    ] = 100,
    max_words: Annotated[
        int, typer.Option(min=1, metavar="N", help="Words in a sentence.", rich_help_panel=_LIMITS)
    ] = 500,
    queue: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Requests that may wait; more are turned away with 503.", rich_help_panel=_LIMITS
        ),
    ] = 32,
) -> None:
    """Start the web app and the REST API.

    In the app you align as you type, mend links and save them as gold.

    Example: weft serve --port 8080
    """
    try:
        import uvicorn

        from weft.annotation.shelf import Shelf
        from weft.viewing.serve.limits import Limits
        from weft.viewing.serve.server import LOOPBACK, create_app
    except ModuleNotFoundError as error:
        raise MissingExtraError("serve", "the web app") from error
    limits = Limits(body=max_body, pairs=max_pairs, words=max_words, queue=queue)
    aligners = _aligners(model or ["weft-mini"], layer or [], device)
    with closing(Shelf(project)) if project else nullcontext() as shelf, _listening(host, port) as listener:
        address, bound = listener.getsockname()[:2]
        outside = not _is_loopback(address)
        if outside:
            say(
                f"{host} can be reached from other machines, and there is no password: anybody who can reach it can "
                "use it. Leave --host out to keep it to yourself."
            )
        app = create_app(aligners, limits=limits, hosts=("*",) if outside else LOOPBACK, projects=shelf)
        shown = "localhost" if address in ("0.0.0.0", "::") else f"[{address}]" if ":" in address else address
        say(f"listening on http://{shown}:{bound} (Ctrl-C stops).")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            limit_concurrency=_CONNECTIONS,
        )
        uvicorn.Server(config).run(sockets=[listener])


def _aligners(models: list[str], layers: list[int], device: str) -> dict[str, Aligner]:
    """Models by the names that clients see: the last part of a path, which tells nobody where it lies."""
    from weft.aligner import Aligner

    if len(layers) > len(models):
        raise SettingError("there are more layers than models; --layer goes with --model, in the same order.")
    aligners: dict[str, Aligner] = {}
    for number, model in enumerate(models):
        layer = layers[number] if number < len(layers) else None
        name = model.rstrip("/").rpartition("/")[2] or model
        name = name if layer is None else f"{name}, layer {layer}"
        if name in aligners:
            raise SettingError(f"two models are called {name}; rename a folder, so that they can be told apart.")
        aligners[name] = Aligner.from_pretrained(model, layer=layer, device=device)
    return aligners


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]  # the rest repeats the address
        raise WeftError(f"cannot listen on {host}:{port} ({reason}); choose another with --port.") from error


def _is_loopback(address: str) -> bool:
    return address == "::1" or address.startswith("127.")
