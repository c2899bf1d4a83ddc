"""`weft annotate`: the web app over a project on disk."""

from __future__ import annotations

from typing import Annotated

import typer

from weft.cli.options import MODEL, SERVER, DeviceOption, PortOption
from weft.cli.output import say
from weft.cli.serve import serve

_PAIRS = "A new project"


def annotate(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A project, or a folder of projects; made if it is not there.")
    ],
    pairs: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Make DIR a project of these sentence pairs.", rich_help_panel=_PAIRS),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The target sentences, if --pairs holds the source alone.", rich_help_panel=_PAIRS
        ),
    ] = None,
    links: Annotated[
        str | None, typer.Option(metavar="FILE", help="Links to begin with, line by line.", rich_help_panel=_PAIRS)
    ] = None,
    only_create: Annotated[
        bool, typer.Option("--only-create", help="Make the project and stop.", rich_help_panel=_PAIRS)
    ] = False,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.", rich_help_panel=SERVER)] = (
        "127.0.0.1"
    ),
    port: PortOption = 8080,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Models that suggest links, the default first; can be repeated.",
            show_default="weft-mini",
            rich_help_panel=MODEL,
        ),
    ] = None,
    device: DeviceOption = "auto",
) -> None:
    """Make gold alignments in the browser, kept in plain files.

    Every change is on the disk before the page says that it is saved. Several people and tabs can work on a project.

    Example: weft annotate gold-de-en --pairs de-en.txt
    """
    from weft.annotation.importing import create_from_files
    from weft.annotation.project import is_project
    from weft.errors import SettingError

    if pairs is not None:
        count, bad = create_from_files(folder, [pairs] if target is None else [pairs, target], links)
        say(f"{folder} is a project of {count:,} pairs." + (f" {bad:,} lines hold no pair." if bad else ""))
    elif target is not None or links is not None or only_create:
        raise SettingError("--target, --links and --only-create go with --pairs.")
    if not only_create:
        if not is_project(folder):
            say(f"{folder} is a folder for projects; the page makes one of each file that is opened.")
        serve(host=host, port=port, model=model, device=device, project=folder)
