"""`weft phrases`: the phrase table of aligned text, as Moses reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer

from weft.cli.badlines import BadLines
from weft.cli.groups import AligningOptions, TextOptions, expanded
from weft.cli.linked import InputArgument, LinksBaseOption, LinksOption, TargetArgument, linked_input
from weft.cli.options import OutputOption, StrictOption
from weft.cli.output import write_lines
from weft.cli.progress import counted
from weft.errors import FormatError, SettingError
from weft.text.json_objects import shorten
from weft.text.lines import display_name
from weft.text.pairs import NOTHING
from weft.text.rows import is_csv
from weft.types import Alignment, SentencePair

_ENTRIES = "Entries"


@expanded
def phrases(
    input: InputArgument = "-",
    target: TargetArgument = None,
    links: LinksOption = None,
    output: OutputOption = "-",
    max_length: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of words in a phrase.", rich_help_panel=_ENTRIES)
    ] = 7,
    min_count: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Leave out phrase pairs that occur fewer than N times.", rich_help_panel=_ENTRIES
        ),
    ] = 1,
    text: TextOptions = TextOptions(),  # noqa: B008 - it is frozen
    links_base: LinksBaseOption = 0,
    aligning: AligningOptions = AligningOptions(),  # noqa: B008
    strict: StrictOption = False,
) -> None:
    """Extract phrase pairs into a Moses phrase table.

    Fields: source ||| target ||| scores ||| links ||| counts.

    Example: weft phrases pairs.txt --links pairs.links --max-length 5 -o phrase-table.gz
    """
    from weft.applications.phrases import PhraseTable

    if is_csv(output):
        raise SettingError(
            "a phrase table separates its fields with |||, so it is not CSV; give the output another name, such as "
            "phrase-table.gz. For a table of words as CSV, use weft lexicon."
        )
    bad_lines = BadLines("This pair is left out.", strict=strict)
    with linked_input(
        input, target, links, base=links_base, aligning=aligning, text=text, bad_lines=bad_lines
    ) as given:
        fit = _fit(counted(given.pairs, "pairs", quiet=False), display_name(given.sentences), bad_lines)
        table = PhraseTable(max_length=max_length, min_count=min_count)
        write_lines(output, (entry.moses() + "\n" for entry in table.entries(fit)))
    bad_lines.summarise()


def _fit(
    joined: Iterable[tuple[SentencePair, Alignment]], name: str, on_error: Callable[[FormatError], None]
) -> Iterator[tuple[SentencePair, Alignment]]:
    """The pairs whose words a phrase table can hold."""
    from weft.applications.phrases import unfit_word

    for line, (pair, alignment) in enumerate(joined, start=1):
        word = unfit_word(pair)
        if word is not None:
            on_error(FormatError(name, line, f"a phrase table cannot contain the word {shorten(word)}."))
        elif pair != NOTHING:
            yield pair, alignment
