"""`weft phrases`: the phrase table of aligned text, as Moses reads it or as a table for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.badlines import BadLines
from weft.cli.groups import AligningOptions, TextOptions, expanded
from weft.cli.linked import InputArgument, LinksBaseOption, LinksOption, TargetArgument, linked_input
from weft.cli.options import OUTPUT, OutputOption, StrictOption
from weft.cli.output import refuse_other_kinds, write_lines
from weft.cli.progress import counted
from weft.errors import FormatError, SettingError
from weft.text.cells import protected, row_writer
from weft.text.files import ending
from weft.text.json_objects import shorten
from weft.text.lines import display_name
from weft.text.pairs import NOTHING
from weft.text.rows import is_csv
from weft.types import Alignment, SentencePair

if TYPE_CHECKING:
    from weft.applications.phrases import PhrasePair

_ENTRIES = "Entries"
_COLUMNS = ("source", "target", "count", "target_given_source", "source_given_target")


class PhrasesFormat(StrEnum):
    """How phrase pairs are written."""

    MOSES = "moses"
    TSV = "tsv"


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
    format: Annotated[
        PhrasesFormat | None,
        typer.Option(
            help="Output format; tsv writes a table with column names, as CSV if the output file ends in .csv.",
            show_default="from the file name, or moses",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    text: TextOptions = TextOptions(),  # noqa: B008 - it is frozen
    links_base: LinksBaseOption = 0,
    aligning: AligningOptions = AligningOptions(),  # noqa: B008
    strict: StrictOption = False,
) -> None:
    """Extract phrase pairs into a Moses phrase table, TSV or CSV.

    A Moses phrase table has the fields source ||| target ||| scores ||| links ||| counts. TSV and CSV have the columns
    source, target, count, p(target|source) and p(source|target).

    Example: weft phrases pairs.txt --links pairs.links --max-length 5 -o phrase-table.gz
    """
    from weft.applications.phrases import PhraseTable

    refuse_other_kinds(output, "a name that ends in .tsv or .csv gives a table, any other a Moses phrase table.")
    format = format or _format_of(output)
    if is_csv(output) and format is PhrasesFormat.MOSES:
        raise SettingError(
            "a phrase table separates its fields with |||, so it is not CSV; give the output another name, such as "
            "phrase-table.gz, or leave out --format."
        )
    bad_lines = BadLines("This pair is left out.", strict=strict)
    with linked_input(
        input, target, links, base=links_base, aligning=aligning, text=text, bad_lines=bad_lines
    ) as given:
        pairs = counted(given.pairs, "pairs", quiet=False)
        fit = _fit(pairs, display_name(given.sentences), bad_lines, bars=format is PhrasesFormat.TSV)
        table = PhraseTable(max_length=max_length, min_count=min_count)
        entries = table.entries(fit)
        if format is PhrasesFormat.MOSES:
            write_lines(output, (entry.moses() + "\n" for entry in entries))
        else:
            write_lines(output, _table(entries, output))
    bad_lines.summarise()


def _format_of(output: str) -> PhrasesFormat:
    """The format that the name of the output says."""
    return PhrasesFormat.TSV if ending(output) in ("tsv", "csv") else PhrasesFormat.MOSES


def _table(entries: Iterable[PhrasePair], output: str) -> Iterator[str]:
    """The phrase pairs as rows for people, who have no use for phrases without letters."""
    from weft.applications.lexicon import has_letters

    row = protected(row_writer(output))
    yield row(_COLUMNS)
    for entry in entries:
        if has_letters(entry.source) and has_letters(entry.target):
            probabilities = (f"{entry.target_given_source:.6f}", f"{entry.source_given_target:.6f}")
            yield row((entry.source, entry.target, str(entry.count), *probabilities))


def _fit(
    joined: Iterable[tuple[SentencePair, Alignment]],
    name: str,
    on_error: Callable[[FormatError], None],
    *,
    bars: bool,
) -> Iterator[tuple[SentencePair, Alignment]]:
    """The pairs whose words the table can hold; `bars` says whether ||| may be a word."""
    from weft.applications.phrases import BARS, unfit_word

    for line, (pair, alignment) in enumerate(joined, start=1):
        word = unfit_word(pair, bars=bars)
        if word is not None:
            hint = " TSV and CSV can." if word == BARS else ""
            on_error(FormatError(name, line, f"a phrase table cannot contain the word {shorten(word)}.{hint}"))
        elif pair != NOTHING:
            yield pair, alignment
