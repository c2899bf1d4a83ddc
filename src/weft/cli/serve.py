"""`weft serve`: the web app and the REST API, on this machine's own address unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from weft.cli.options import SERVER, DeviceOption, LayersOption, OfferedModelsOption, PortOption
from weft.cli.output import say
from weft.errors import MissingExtraError
from weft.models.known import DEFAULT_MODEL

_LIMITS = "Limits"
HostOption = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS", help="Address to listen on; 0.0.0.0 means all network interfaces.", rich_help_panel=SERVER
    ),
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        envvar="WEFT_TOKEN",
        help="Token that clients must send.",
        show_default="none",
        rich_help_panel=SERVER,
    ),
]


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    token: TokenOption = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another host name to accept requests for, such as a proxy's; can be repeated.",
            rich_help_panel=SERVER,
        ),
    ] = None,
    root_path: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help="Path under which a proxy serves the app, such as /weft.",
            show_default="/",
            rich_help_panel=SERVER,
        ),
    ] = "",
    allow_embedding: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SITE",
            help="Site that may embed the app in a frame, such as https://example.org; * allows all.",
            show_default="none",
            rich_help_panel=SERVER,
        ),
    ] = None,
    model: OfferedModelsOption = None,
    layer: LayersOption = None,
    device: DeviceOption = "auto",
    project: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Annotation project to serve, or a folder of projects.", rich_help_panel=SERVER
        ),
    ] = None,
    max_body: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum bytes per request.", rich_help_panel=_LIMITS)
    ] = 1_000_000,
    max_pairs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum pairs per request.", rich_help_panel=_LIMITS)
    ] = 100,
    max_words: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum words per sentence.", rich_help_panel=_LIMITS)
    ] = 500,
    max_subwords: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Maximum subwords (the model's tokens) per sentence.", rich_help_panel=_LIMITS
        ),
    ] = 1000,
    max_seconds: Annotated[
        float,
        typer.Option(
            min=1,
            metavar="N",
            help="Maximum seconds per request, including time in the queue.",
            rich_help_panel=_LIMITS,
        ),
    ] = 30,
    queue: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Maximum requests waiting or in progress; further ones are refused with status 503.",
            rich_help_panel=_LIMITS,
        ),
    ] = 64,
) -> None:
    """Start the web app and the REST API.

    In the app, links appear as you type. You can correct them and save them as gold links.

    Example: weft serve --port 8080
    """
    run = library_server()
    from weft.corpus.documents import align_documents
    from weft.viewing.serve.limits import Limits

    limits = Limits(
        body=max_body, pairs=max_pairs, words=max_words, subwords=max_subwords, seconds=max_seconds, queue=queue
    )
    run(
        model or [DEFAULT_MODEL],
        say=say,
        layers=layer or [],
        device=device,
        host=host,
        port=port,
        token=token,
        allowed_hosts=allowed_host or [],
        root_path=root_path,
        frames=allow_embedding or [],
        project=project,
        limits=limits,
        documents=align_documents,
    )


def library_server() -> Callable[..., None]:
    """The function that serves, if the packages that it needs are there."""
    try:
        from weft.viewing.serve.run import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtraError("serve", "The web app") from error
    return run
