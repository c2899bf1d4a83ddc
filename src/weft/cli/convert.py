"""`weft convert`: link files and sentence-pair files from one format to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import partial
from operator import itemgetter
from typing import Annotated

import typer

from weft.applications.remapping import Remap, remapped, sentencepieces, split_at_white_space
from weft.applications.spans import split_at_blanks
from weft.cli.badlines import BadLines
from weft.cli.options import LINKS, TEXT, ColumnsOption, SourceFieldOption, TargetFieldOption
from weft.cli.output import noting_none, refuse_other_kinds, say, speak_of, write_lines
from weft.errors import FormatError, SettingError, WeftError, number_of
from weft.text.cells import RowWriter, row_writer
from weft.text.fields import SIDES, PairFields, TextPair
from weft.text.files import ending
from weft.text.lines import display_name, rereadable
from weft.text.links import LinkFormat, format_links, recognised_links
from weft.text.memories import MemoryWriter, Unit, unit_of
from weft.text.other_fields import SIDED, OtherFields
from weft.text.pair_formats import PairFormat
from weft.text.pair_lines import format_pairs, format_record
from weft.text.pairs import PLAIN, EmptySideError, read_text_pairs, split_sides
from weft.text.rows import is_csv, is_named_for_pairs, is_named_for_units
from weft.text.tables import HEADING
from weft.text.translations import NoTextError
from weft.types import Alignment, SentencePair


class Format(StrEnum):
    """Every format of links and of sentence pairs that can be written."""

    PHARAOH = "pharaoh"
    PHARAOH_SCORES = "pharaoh-scores"
    TALP = "talp"
    NAACL = "naacl"
    JSONL = "jsonl"
    BARS = "bars"
    TSV = "tsv"
    TMX = "tmx"


class GivenFormat(StrEnum):
    """Those that can be read; `auto` looks at the file."""

    AUTO = "auto"
    PHARAOH = "pharaoh"
    PHARAOH_SCORES = "pharaoh-scores"
    TALP = "talp"
    NAACL = "naacl"
    JSONL = "jsonl"
    BARS = "bars"
    TSV = "tsv"
    CSV = "csv"
    TMX = "tmx"
    XLIFF = "xliff"


_BY_ENDING = {
    "json": Format.JSONL,
    "jsonl": Format.JSONL,
    "talp": Format.TALP,
    "naacl": Format.NAACL,
    "tsv": Format.TSV,
    "csv": Format.TSV,
    "tmx": Format.TMX,
}
_UNITS = {"tmx", "xliff"}
_PAIRS = {"bars", "tsv", "csv", *_UNITS}
_SAME_FOR_LINKS = {"auto", "jsonl"}  # formats that may hold pairs or links
_COUNTED_FROM_ANYWHERE = {"pharaoh", "pharaoh-scores", "talp"}
_ONLY_SURE = {"pharaoh", "pharaoh-scores"}


def convert(
    input: Annotated[str, typer.Argument(metavar="IN", help="The file to read; - is stdin.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="The file to write; - is stdout.")] = "-",
    to_format: Annotated[
        Format | None,
        typer.Option(
            "--to",
            help="Format of OUT; tsv becomes CSV if OUT ends in .csv.",
            show_default="from the name of OUT, or pharaoh",
            rich_help_panel="Format",
        ),
    ] = None,
    from_format: Annotated[
        GivenFormat, typer.Option("--from", help="Format of IN.", rich_help_panel="Format")
    ] = GivenFormat.AUTO,
    from_base: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1,
            metavar="0|1",
            help="Whether words in IN are numbered from 0 or 1.",
            show_default="0, with a warning if no word has number 0",
            rich_help_panel=LINKS,
        ),
    ] = None,
    to_base: Annotated[
        int,
        typer.Option(
            min=0, max=1, metavar="0|1", help="Whether to number words in OUT from 0 or 1.", rich_help_panel=LINKS
        ),
    ] = 0,
    swap: Annotated[bool, typer.Option("--swap", help="Swap source and target.", rich_help_panel=LINKS)] = False,
    remap: Annotated[
        Remap | None,
        typer.Option(
            help="Renumber the links in the JSONL output of weft align, for words split at spaces or for "
            "SentencePiece pieces.",
            rich_help_panel=LINKS,
        ),
    ] = None,
    source_spm: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="For --remap pieces: SentencePiece model of the source.", rich_help_panel=LINKS
        ),
    ] = None,
    target_spm: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="For --remap pieces: SentencePiece model of the target.", rich_help_panel=LINKS
        ),
    ] = None,
    source_field: SourceFieldOption = None,
    target_field: TargetFieldOption = None,
    columns: ColumnsOption = None,
    source_language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE",
            help="Language code of the source side of IN, such as de. TMX output needs it; in a TMX file with several "
            "languages, it chooses the source.",
            rich_help_panel=TEXT,
        ),
    ] = None,
    target_language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="Language code of the target side; works in the same way.", rich_help_panel=TEXT
        ),
    ] = None,
) -> None:
    """Convert links or sentence pairs to another format.

    Links: pharaoh, pharaoh-scores, talp, naacl, jsonl. Pairs: bars ('source ||| target'), tsv or CSV, jsonl, tmx;
    xliff can only be read. Only talp, naacl and jsonl distinguish sure links from possible ones.

    Example: weft convert gold.naacl gold.talp --from naacl --to talp
    """
    speak_of({"input_format": "--from", "raw": "--raw"})
    to_format = to_format or _BY_ENDING.get(ending(output), Format.PHARAOH)
    if (to_format, ending(output)) != (Format.TMX, "tmx"):
        refuse_other_kinds(output, "a table's name ends in .tsv or .csv, JSONL in .jsonl, TMX in .tmx.")
    if remap is not None or source_spm or target_spm:
        write_lines(output, _remapped(input, to_format, remap, (source_spm, target_spm), row_writer(output)))
        return
    fields = PairFields.of(source_field, target_field, columns, (source_language, target_language))
    if _holds_pairs(input, from_format, to_format, fields):
        written = PairFormat.CSV if to_format is Format.TSV and is_csv(output) else to_format
        _convert_pairs(input, output, (from_format, written), fields, swap)
        return
    if fields != PLAIN:
        raise SettingError(
            "--columns and the options for fields and languages only work with sentence pairs, not with links."
        )
    if to_base and to_format not in _COUNTED_FROM_ANYWHERE:
        raise SettingError(f"{to_format} has a fixed base; leave out --to-base.")
    if from_base and from_format in (GivenFormat.NAACL, GivenFormat.JSONL):
        raise SettingError(f"{from_format} has a fixed base; leave out --from-base.")
    _convert_links(input, output, (from_format, to_format), (from_base, to_base), swap)


def _convert_links(
    input: str, output: str, formats: tuple[GivenFormat, Format], bases: tuple[int | None, int], swap: bool
) -> None:
    from_format, to_format = formats
    found, rows = recognised_links(input, format=LinkFormat(from_format), base=bases[0] or 0)
    seen = _Seen()
    alignments = seen.watched(Alignment.of(row.links, row.score) for row in noting_none(rows))
    if swap:
        alignments = (alignment.swapped() for alignment in alignments)
    try:
        write_lines(output, format_links(alignments, LinkFormat(to_format), base=bases[1]))
    except FormatError as error:
        if from_format is GivenFormat.AUTO and to_format is Format.JSONL:
            say("if these are sentence pairs, not links, name their format: --from bars, tsv, csv, tmx or xliff.")
        raise error
    if seen.links and not seen.first_words and bases[0] is None and found in _COUNTED_FROM_ANYWHERE:
        say(f"{display_name(input)} has no index 0. If its word indices start at 1, add --from-base 1.")
    if seen.possible and to_format in _ONLY_SURE:
        written = "1 possible link was written as a sure one" if seen.possible == 1 else ""
        written = written or f"{seen.possible:,} possible links were written as sure ones"
        say(f"{written}, because {to_format} has no possible links. To keep the difference, add --to talp.")


class _Seen:
    """Counts what a conversion may lose or get wrong, while the links go by."""

    def __init__(self) -> None:
        self.links = 0
        self.possible = 0
        self.first_words = 0

    def watched(self, alignments: Iterable[Alignment]) -> Iterator[Alignment]:
        for alignment in alignments:
            for link in alignment.links:
                self.links += 1
                self.possible += not link.sure
                self.first_words += 0 in (link.source, link.target)
            yield alignment


def _remapped(
    path: str, to_format: Format, kind: Remap | None, models: tuple[str | None, str | None], as_row: RowWriter
) -> Iterator[str]:
    if kind is not Remap.PIECES and any(models):
        raise SettingError("--source-spm and --target-spm only work with --remap pieces.")
    if kind is Remap.PIECES and not all(models):
        raise SettingError("--remap pieces needs --source-spm and --target-spm.")
    if to_format not in (Format.PHARAOH, Format.TSV):
        raise SettingError("--remap needs --to pharaoh or --to tsv.")
    in_tables = kind is Remap.SPACES and to_format is Format.TSV
    at_spaces = split_at_white_space if in_tables else split_at_blanks
    cut = [at_spaces if model is None else sentencepieces(model) for model in models]
    with rereadable(path) as copy:
        for row in noting_none(remapped(copy, (cut[0], cut[1]))):
            links = " ".join(f"{link.source}-{link.target}" for link in row.alignment.links)
            texts = [row.source, row.target]
            if in_tables:  # with no other white space, words are the same to all who read the table
                texts = [" ".join(text.split()) for text in texts]
            yield as_row((*texts, links)) if to_format is Format.TSV else f"{links}\n"


def _holds_pairs(path: str, from_format: str, to_format: str, fields: PairFields) -> bool:
    """Whether the input is sentence pairs: a format says so, a name of a column, or else the name of the file."""
    if _PAIRS & {from_format, to_format}:
        return True
    if from_format not in _SAME_FOR_LINKS:
        return False
    return fields != PLAIN or (from_format == GivenFormat.AUTO and is_named_for_pairs(path))


def _convert_pairs(path: str, output: str, formats: tuple[str, str], fields: PairFields, swap: bool) -> None:
    from_format, to_format = formats
    _check_pair_formats(path, from_format, to_format, fields)
    if to_format == Format.TMX:
        _convert_to_memory(path, output, from_format, fields, swap)
        return
    stand_in = "A record without words" if to_format == Format.JSONL else "A blank line"
    bad_lines = BadLines(f"{stand_in} takes its place.", strict=False)
    is_memory = from_format in _UNITS or is_named_for_units(path)

    on_error = partial(_report, bad_lines, is_memory=is_memory)
    rows = read_text_pairs(path, format=_readable(from_format), fields=fields, on_error=on_error)
    without = 0

    def pairs() -> Iterator[tuple[SentencePair, TextPair]]:
        nonlocal without
        for row in rows:
            without += row.sides is None and row is not HEADING
            pair = split_sides(row.sides)
            yield SentencePair(pair.target, pair.source) if swap else pair, row

    found = bad_lines.watching(pairs(), display_name(path), itemgetter(0))
    if to_format == Format.JSONL:
        others = OtherFields(path, SIDED if swap else SIDES)
        write_lines(output, (f"{format_record(pair, others.kept(row.extra, row.sides))}\n" for pair, row in found))
    else:
        write_lines(output, format_pairs((pair for pair, _ in found), to_format))
    bad_lines.summarise(f"{'units' if is_memory else 'lines'} without a sentence pair: {bad_lines.count:,}.")
    if alone := without - bad_lines.count:
        say(f"sentences without a counterpart: {alone:,}. {stand_in} takes the place of each.")


def _convert_to_memory(path: str, output: str, from_format: str, fields: PairFields, swap: bool) -> None:
    source, target = fields.languages
    writer = MemoryWriter((target, source) if swap else (source, target))
    bad_lines = BadLines("It is left out.", strict=False)
    is_memory = from_format in _UNITS or is_named_for_units(path)
    on_error = partial(_report, bad_lines, is_memory=is_memory)
    written = without = 0

    def units() -> Iterator[Unit]:
        nonlocal written, without
        for row in read_text_pairs(path, format=_readable(from_format), fields=fields, on_error=on_error):
            unit = unit_of(row)
            if unit is not None:
                written += 1
                yield Unit(unit.target, unit.source, unit.id) if swap else unit
            elif row is not HEADING:
                without += 1
        if not written:
            raise WeftError(f"{display_name(path)} contains no sentence pairs.")

    write_lines(output, writer.lines(units()))
    if without:
        say(f"left out {number_of(without, 'unit' if is_memory else 'line')} without a sentence pair.")
    if writer.changed:
        say(f"control characters that XML forbids were left out of {number_of(writer.changed, 'unit')}.")


def _report(bad_lines: BadLines, error: FormatError, *, is_memory: bool) -> None:
    # Text that is being translated has sentences without a translation, and weft's own output has blank lines.
    if not is_memory and not _lacks_a_side(error):
        raise error
    bad_lines(error)


def _readable(format: str) -> str:
    """TMX and XLIFF are known by how they begin."""
    return PairFormat.AUTO if format in _UNITS else format


def _lacks_a_side(error: FormatError) -> bool:
    """Whether a line is in order, but a sentence or its translation is empty, null or not there."""
    reason = error.__cause__
    return isinstance(reason, EmptySideError) or isinstance(getattr(reason, "__cause__", None), NoTextError)


def _check_pair_formats(path: str, from_format: str, to_format: str, fields: PairFields) -> None:
    known = {*PairFormat, *_UNITS}
    if from_format not in known:
        raise SettingError(
            f"cannot convert {from_format} to {to_format}: one is for sentence pairs, the other for links."
        )
    if to_format not in known:
        hint = " If the file contains links, name their format, as in --from talp."
        raise SettingError(
            f"{display_name(path)}: sentence pairs cannot be written as {to_format}; choose --to bars, tsv, jsonl or "
            f"tmx.{hint if from_format == GivenFormat.AUTO and fields == PLAIN else ''}"
        )
