"""`weft annotate`: the web app over a project on disk."""

from __future__ import annotations

from os.path import exists, isfile
from shlex import quote
from typing import Annotated

import typer

from weft.cli.groups import TextOptions, expanded
from weft.cli.options import MODEL, DeviceOption, PortOption
from weft.cli.output import say
from weft.cli.serve import HostOption, TokenOption, library_server
from weft.models.known import DEFAULT_MODEL

_PAIRS = "New project"


@expanded
def annotate(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A project, or a folder of projects; created if it does not exist.")
    ],
    pairs: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Create a project in DIR from these sentence pairs.", rich_help_panel=_PAIRS),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Target sentences, if --pairs contains only the source side.", rich_help_panel=_PAIRS
        ),
    ] = None,
    links: Annotated[
        str | None, typer.Option(metavar="FILE", help="Links to start from, one line per pair.", rich_help_panel=_PAIRS)
    ] = None,
    only_create: Annotated[
        bool, typer.Option("--only-create", help="Create the project and exit.", rich_help_panel=_PAIRS)
    ] = False,
    *,
    text: TextOptions,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    token: TokenOption = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Model that suggests links. Can be repeated; the first is the default.",
            show_default="weft-mini",
            rich_help_panel=MODEL,
        ),
    ] = None,
    device: DeviceOption = "auto",
) -> None:
    """Create gold alignments in the browser and save them to disk.

    A project is a folder of plain files. Every change is on disk before the page reports it as saved. Several people
    can work on one project at once.

    Example: weft annotate gold-de-en --pairs de-en.txt
    """
    from weft.annotation.importing import create_from_files
    from weft.annotation.project import is_project
    from weft.errors import SettingError, number_of

    server = None if only_create else library_server()  # what is missing is known before anything is created
    if pairs is not None:
        if is_project(folder):
            raise SettingError(f"{folder} is a project already. To open it: weft annotate {quote(folder)}")
        paths = [pairs] if target is None else [pairs, target]
        count, bad = create_from_files(folder, paths, links, reader=text.reader())
        say(
            f"created the project {folder} with {number_of(count, 'pair')}."
            + (f" Lines that are not pairs: {bad:,}." if bad else "")
        )
    elif target is not None or links is not None or only_create or text != TextOptions():
        raise SettingError("--target, --links, --only-create and the text options only work with --pairs.")
    if server is not None:
        if isfile(folder):
            raise SettingError(
                f"{folder} is a file. To create a project from it, run: weft annotate DIR --pairs {quote(folder)}"
            )
        if not exists(folder):
            say(f"{folder} does not exist; creating it as a folder for projects.")
        elif not is_project(folder):
            say(f"{folder} is a folder for projects. Each file you open on the page becomes a project in it.")
        from weft.corpus.documents import align_documents

        models = model or [DEFAULT_MODEL]
        network = {"host": host, "port": port, "token": token}
        server(models, say=say, device=device, **network, project=folder, documents=align_documents)
