"""`weft serve`: the web app and the REST API, on this machine's own address unless told otherwise."""

from __future__ import annotations

from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import SERVER, DeviceOption, LayersOption, OfferedModelsOption, PortOption
from weft.cli.output import say
from weft.errors import MissingExtraError, SettingError
from weft.models.known import DEFAULT_MODEL

if TYPE_CHECKING:
    from weft.aligner import Aligner

_LIMITS = "Limits"


def serve(
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 is every one.", rich_help_panel=SERVER),
    ] = "127.0.0.1",
    port: PortOption = 8080,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            envvar="WEFT_TOKEN",
            help="Let in only those who know it.",
            show_default="everybody",
            rich_help_panel=SERVER,
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A further name to answer to, such as that of a proxy; can be repeated.",
            rich_help_panel=SERVER,
        ),
    ] = None,
    root_path: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="Where a proxy shows it, such as /weft.", show_default="/", rich_help_panel=SERVER
        ),
    ] = "",
    allow_embedding: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SITE",
            help="A site that may show it in a frame, such as https://example.org; * is every one.",
            show_default="none",
            rich_help_panel=SERVER,
        ),
    ] = None,
    model: OfferedModelsOption = None,
    layer: LayersOption = None,
    device: DeviceOption = "auto",
    project: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="An annotation project, or a folder of projects.", rich_help_panel=SERVER),
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
    max_subwords: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Subwords (what the model reads) in a sentence.", rich_help_panel=_LIMITS
        ),
    ] = 1000,
    max_seconds: Annotated[
        float,
        typer.Option(min=1, metavar="N", help="Seconds until the answer, waiting included.", rich_help_panel=_LIMITS),
    ] = 30,
    queue: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Requests that may wait; more are turned away with 503.", rich_help_panel=_LIMITS
        ),
    ] = 64,
) -> None:
    """Start the web app and the REST API.

    In the app you align as you type, mend links and save them as gold.

    Example: weft serve --port 8080
    """
    try:
        from weft.annotation.shelf import Shelf
        from weft.viewing.serve.limits import Limits
        from weft.viewing.serve.run import checked_root_path, hosts_of, is_loopback, listen, run
        from weft.viewing.serve.server import create_app
    except ModuleNotFoundError as error:
        raise MissingExtraError("serve", "the web app") from error
    limits = Limits(
        body=max_body, pairs=max_pairs, words=max_words, subwords=max_subwords, seconds=max_seconds, queue=queue
    )
    root = checked_root_path(root_path)
    if token is not None and not token.strip():
        raise SettingError("`token` is empty; leave it out to let everybody in.")
    aligners = _aligners(model or [DEFAULT_MODEL], layer or [], device)
    with closing(Shelf(project)) if project else nullcontext() as shelf, listen(host, port) as listener:
        address, bound = listener.getsockname()[:2]
        if not is_loopback(address) and token is None:
            say(
                f"{host} can be reached from other machines, and there is no password: anybody who can reach it can "
                "use it. Leave --host out to keep it to yourself, or set one with --token."
            )
        app = create_app(
            aligners,
            limits=limits,
            hosts=hosts_of(host, address, allowed_host or []),
            token=token,
            root_path=root,
            frames=tuple(allow_embedding or ()),
            projects=shelf,
        )
        say(f"listening on {_shown(address, bound)} (Ctrl-C stops).")
        run(app, listener)


def _shown(address: str, port: int) -> str:
    name = "localhost" if address in ("0.0.0.0", "::") else f"[{address}]" if ":" in address else address
    return f"http://{name}:{port}"


def _aligners(models: list[str], layers: list[int], device: str) -> dict[str, Aligner]:
    """Models by the names that clients see: the last part of a path, which tells nobody where it lies."""
    from weft.aligner import Aligner

    if len(layers) > len(models):
        raise SettingError("there are more layers than models; give one --layer per --model, in the same order.")
    aligners: dict[str, Aligner] = {}
    for number, model in enumerate(models):
        layer = layers[number] if number < len(layers) else None
        name = model.rstrip("/").rpartition("/")[2] or model
        name = name if layer is None else f"{name}, layer {layer}"
        if name in aligners:
            raise SettingError(f"two models are called {name}; rename a folder, so that they can be told apart.")
        aligners[name] = Aligner.from_pretrained(model, layer=layer, device=device)
    return aligners
