"""`weft symmetrize`: two directional link files to one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from weft.cli.options import LINKS, OUTPUT, OutputOption
from weft.cli.output import noting_none, only_one_stdin, refuse_other_kinds, say, write_lines
from weft.extraction.symmetrize import Symmetrization, symmetrize_alignments
from weft.text.lines import display_name, read_together
from weft.text.links import LinkFormat, format_links, read_links
from weft.types import Alignment

# Two directions of one aligner share most of their links; turned round, hardly any but those on the diagonal.
_FEWEST_COMMON, _FAR_MORE = 20, 3


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
    agreement = _Agreement()
    combined = (
        symmetrize_alignments(there, back, method)
        for there, back in agreement.watched(_both(forward, backward, reversed_backward))
    )
    write_lines(output, format_links(noting_none(combined), lines))
    if agreement.is_greater_turned:
        advice = "Leave out --reversed-backward." if reversed_backward else "Add --reversed-backward."
        say(f"{display_name(backward)} agrees far more with {display_name(forward)} the other way round. {advice}")


def _both(forward: str, backward: str, turn: bool) -> Iterator[tuple[Alignment, Alignment]]:
    names = [display_name(forward), display_name(backward)]
    for there, back in read_together(names, [read_links(forward), read_links(backward)]):
        yield there, back.swapped() if turn else back


class _Agreement:
    """Counts the links that are in both files, and those that would be if one of them were turned round.

    Links between words of the same number are the same both ways, and do not count.
    """

    def __init__(self) -> None:
        self._common = self._turned = 0

    def watched(self, both: Iterator[tuple[Alignment, Alignment]]) -> Iterator[tuple[Alignment, Alignment]]:
        """The alignments as they come."""
        for there, back in both:
            ours = {(source, target) for source, target in there.pairs if source != target}
            self._common += len(ours & back.pairs)
            self._turned += len({(target, source) for source, target in ours} & back.pairs)
            yield there, back

    @property
    def is_greater_turned(self) -> bool:
        """Whether one of the files seems to have its sides the other way round."""
        return self._turned >= _FEWEST_COMMON and self._turned > _FAR_MORE * self._common
