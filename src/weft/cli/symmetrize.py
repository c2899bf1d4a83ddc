"""`weft symmetrize`: two directional link files to one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from weft.cli.options import LINKS, OUTPUT, OutputOption
from weft.cli.output import noting_none, only_one_stdin, refuse_other_kinds, write_lines
from weft.extraction.symmetrize import Symmetrization, symmetrize_alignments
from weft.text.lines import display_name, read_together
from weft.text.links import LinkFormat, format_links, read_links
from weft.types import Alignment


def symmetrize(
    forward: Annotated[str, typer.Argument(metavar="FORWARD", help="Links found from source to target; - is stdin.")],
    backward: Annotated[
        str,
        typer.Argument(
            metavar="BACKWARD", help="Links found from target to source, but written source first, like FORWARD."
        ),
    ],
    method: Annotated[
        Symmetrization, typer.Option(help="How to combine the links.", rich_help_panel=LINKS)
    ] = Symmetrization.GROW_DIAG_FINAL_AND,
    output: OutputOption = "-",
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Write i-j:score, with the mean of the two directions' scores.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    reversed_backward: Annotated[
        bool,
        typer.Option(
            "--reversed-backward", help="Use this if BACKWARD is written target first.", rich_help_panel=LINKS
        ),
    ] = False,
) -> None:
    """Combine the links of both directions into one set.

    Example: weft symmetrize forward.links backward.links --method grow-diag-final-and > both.links
    """
    only_one_stdin(forward, backward)
    refuse_other_kinds(output, "the links are written as text, as in both.links.")
    lines = LinkFormat.PHARAOH_SCORES if scores else LinkFormat.PHARAOH
    write_lines(output, format_links(noting_none(_combined(forward, backward, method, reversed_backward)), lines))


def _combined(forward: str, backward: str, method: Symmetrization, turn: bool) -> Iterator[Alignment]:
    names = [display_name(forward), display_name(backward)]
    for there, back in read_together(names, [read_links(forward), read_links(backward)]):
        yield symmetrize_alignments(there, back.swapped() if turn else back, method)
