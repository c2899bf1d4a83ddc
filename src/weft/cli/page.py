"""`weft page`: the web app as a folder of files, with the model in the browser."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from weft.cli.options import MODEL, OUTPUT, OfferedModelsOption
from weft.cli.output import say
from weft.models.known import DEFAULT_MODEL


def page(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write to.", rich_help_panel=OUTPUT)
    ],
    model: OfferedModelsOption = None,
    runtime: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the npm package onnxruntime-web, for models that weft's own WebAssembly code cannot run.",
            show_default="node_modules/onnxruntime-web",
            rich_help_panel=MODEL,
        ),
    ] = None,
) -> None:
    """Write the web app to a folder that any static host can serve.

    The model runs in the visitor's browser. No text leaves their machine, and after the first visit the app works
    offline.

    Example: weft page -o site
    """
    from weft.viewing.site import write_site

    size = write_site(output, model or [DEFAULT_MODEL], runtime)
    say(f"{output}: {size / 1e6:.0f} MB. Try it: python3 -m http.server --directory {quote(str(output))}")
