"""`weft lexicon`: which words translate which, counted over aligned text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain
from os import makedirs
from os.path import join
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.badlines import BadLines
from weft.cli.groups import AligningOptions, TextOptions, expanded
from weft.cli.linked import (
    InputArgument,
    LinkedInput,
    LinksBaseOption,
    LinksOption,
    TargetArgument,
    linked_input,
)
from weft.cli.options import OUTPUT, OutputOption, StrictOption
from weft.cli.output import refuse_other_kinds, write_lines
from weft.cli.progress import counted
from weft.errors import SettingError
from weft.text.cells import RowWriter, csv_row, protected, row_writer
from weft.text.memories import Unit, unit_of
from weft.text.pairs import PairReader, read_text_pairs
from weft.text.rows import is_csv

if TYPE_CHECKING:
    from weft.applications.lexicon import Entry

_COLUMNS = ("source", "target", "count", "target_given_source", "source_given_target", "line")
_EXAMPLES = ("source_example", "target_example")
_ENTRIES = "Entries"
_NULL = "NULL"
_MARIAN = "Shortlists for machine translation"


class LexiconFormat(StrEnum):
    """How a lexicon is written."""

    TSV = "tsv"
    JSONL = "jsonl"


@expanded
def lexicon(
    input: InputArgument = "-",
    target: TargetArgument = None,
    links: LinksOption = None,
    output: OutputOption = "-",
    min_count: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Leave out word pairs linked fewer than N times.", rich_help_panel=_ENTRIES
        ),
    ] = 1,
    best: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Keep at most N translations per source word.",
            show_default="all",
            rich_help_panel=_ENTRIES,
        ),
    ] = None,
    lowercase: Annotated[
        bool, typer.Option("--lowercase", help="Convert words to lower case before counting.", rich_help_panel=_ENTRIES)
    ] = False,
    punctuation: Annotated[
        bool,
        typer.Option(
            "--punctuation",
            help="Also list word pairs without letters or digits, such as full stops.",
            rich_help_panel=_ENTRIES,
        ),
    ] = False,
    unlinked: Annotated[
        bool,
        typer.Option(
            "--unlinked",
            help="Also count words without links: adds rows with NULL, and includes them in the probabilities.",
            rich_help_panel=_ENTRIES,
        ),
    ] = False,
    examples: Annotated[
        bool, typer.Option("--examples", help="Add an example sentence pair to each entry.", rich_help_panel=OUTPUT)
    ] = False,
    marian: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write shortlists for Marian (lex.s2t and lex.t2s) to this folder, instead of a lexicon.",
            rich_help_panel=_MARIAN,
        ),
    ] = None,
    source_spm: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="SentencePiece model; count its pieces instead of words on the source side.",
            rich_help_panel=_MARIAN,
        ),
    ] = None,
    target_spm: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="SentencePiece model; count its pieces instead of words on the target side.",
            rich_help_panel=_MARIAN,
        ),
    ] = None,
    format: Annotated[
        LexiconFormat,
        typer.Option(
            help="Output format; tsv becomes CSV with column names if the output file ends in .csv.",
            rich_help_panel=OUTPUT,
        ),
    ] = LexiconFormat.TSV,
    text: TextOptions = TextOptions(),  # noqa: B008 - it is frozen
    links_base: LinksBaseOption = 0,
    aligning: AligningOptions = AligningOptions(),  # noqa: B008
    strict: StrictOption = False,
) -> None:
    """Build a lexicon of words and their translations.

    Columns: source, target, count, p(target|source), p(source|target), and the line number of an example. For
    multi-word expressions, use weft phrases.

    Example: weft lexicon pairs.tsv --raw --min-count 2
    """
    from weft.applications.lexicon import Lexicon
    from weft.applications.remapping import in_pieces, sentencepieces

    refuse_other_kinds(output, "a lexicon is TSV; CSV if the name ends in .csv; JSONL with --format jsonl.")
    cut = (sentencepieces(source_spm) if source_spm else None, sentencepieces(target_spm) if target_spm else None)
    if marian is not None and (examples or unlinked or output != "-" or format is not LexiconFormat.TSV):
        others = "--output, --format, --unlinked and --examples"
        raise SettingError(f"--marian writes two files of its own; leave out {others}.")
    if marian is not None:
        makedirs(marian, exist_ok=True)
    bad_lines = BadLines("This pair is left out.", strict=strict)
    with linked_input(
        *(input, target, links), base=links_base, aligning=aligning, text=text, bad_lines=bad_lines, twice=examples
    ) as given:
        counts = Lexicon(lowercase=lowercase, unlinked=unlinked)
        for line, (pair, alignment) in enumerate(counted(given.pairs, "pairs", quiet=False), start=1):
            counts.add(*(in_pieces(pair, alignment, cut) if any(cut) else (pair, alignment)), line)
        if marian is not None:
            for name, to_source in (("lex.s2t", False), ("lex.t2s", True)):
                rows = counts.shortlist(to_source=to_source, min_count=min_count, best=best)
                write_lines(join(marian, name), (f"{word} {given} {share:.8f}\n" for word, given, share in rows))
            bad_lines.summarise()
            return
        entries: Iterable[Entry] = counts.entries(min_count=min_count, best=best, punctuation=punctuation or any(cut))
        shown: dict[int, Unit] = {}
        if examples:
            entries = list(entries)
            shown = _sentences({entry.line for entry in entries}, given, text.reader())
        write_lines(
            output,
            chain(_headings(output, format, examples), _lines(entries, shown, format, protected(row_writer(output)))),
        )
    bad_lines.summarise()


def _sentences(wanted: set[int], given: LinkedInput, reader: PairReader) -> dict[int, Unit]:
    """The examples themselves, as they were before they were split; only lines that some entry points to are kept."""
    rows = read_text_pairs(
        given.sentences,
        given.others,
        format=reader.format,
        fields=reader.fields,
        on_error=lambda error: None,
        doubts=False,
    )
    units = ((line, unit_of(row)) for line, row in enumerate(rows, start=1) if line in wanted)
    return {line: unit for line, unit in units if unit is not None}


def _headings(output: str, format: LexiconFormat, examples: bool) -> Iterator[str]:
    """The names of the columns, for a spreadsheet; a table with tabs has none."""
    if format is LexiconFormat.TSV and is_csv(output):
        yield csv_row([*_COLUMNS, *(_EXAMPLES if examples else ())])


def _lines(entries: Iterable[Entry], shown: dict[int, Unit], format: LexiconFormat, row: RowWriter) -> Iterator[str]:
    for entry in entries:
        example = shown[entry.line][:2] if shown else ()
        if format is LexiconFormat.JSONL:
            yield json.dumps(_record(entry, example), ensure_ascii=False) + "\n"
        else:
            probabilities = (f"{entry.target_given_source:.6f}", f"{entry.source_given_target:.6f}")
            words = (entry.source or _NULL, entry.target or _NULL)
            yield row((*words, str(entry.count), *probabilities, str(entry.line), *example))


def _record(entry: Entry, example: Sequence[str]) -> dict[str, object]:
    record: dict[str, object] = {
        "source": entry.source or None,
        "target": entry.target or None,
        "count": entry.count,
        "target_given_source": round(entry.target_given_source, 6),
        "source_given_target": round(entry.source_given_target, 6),
        "line": entry.line,
    }
    return record | ({"example": example} if example else {})
