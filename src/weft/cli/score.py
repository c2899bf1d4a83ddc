"""`weft score`: AER, precision, recall and F1 with intervals, tests between systems, and where the errors are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from os.path import isfile, join, split
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import LINKS, OUTPUT, TEXT, OutputOption
from weft.cli.output import only_one_stdin, refuse_other_kinds, say, write_lines
from weft.errors import SettingError
from weft.text.cells import RowWriter, row_writer
from weft.text.gold import counted_from
from weft.text.lines import first_lines, read_lines
from weft.types import GoldAlignment, SentencePair, WordPair

if TYPE_CHECKING:
    from weft.scoring.agreement import Agreement
    from weft.scoring.corpus import CorpusScore
    from weft.scoring.errors_report import ErrorReport

_LOOKED_AT = 1000  # lines
_MAY_BE_LINK = re.compile(rb"(?:^|\s)\d+(?:[-p]\d|\s|$)")


class GoldBase(StrEnum):
    """The number of the first word in the gold file."""

    AUTO = "auto"
    ZERO = "0"
    ONE = "1"


class ScoreFormat(StrEnum):
    """How the scores are printed."""

    TEXT = "text"
    JSON = "json"
    LATEX = "latex"
    MARKDOWN = "markdown"
    TSV = "tsv"


def score(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD",
            help="Gold links, made by hand: talp, Pharaoh, NAACL or JSONL, or the folder of an annotation project.",
        ),
    ],
    systems: Annotated[list[str], typer.Argument(metavar="SYSTEM", help="Links from one or more systems.")],
    gold_base: Annotated[
        GoldBase, typer.Option(help="Whether words in GOLD are numbered from 0 or 1.", rich_help_panel=LINKS)
    ] = GoldBase.AUTO,
    system_base: Annotated[
        int,
        typer.Option(
            min=0, max=1, metavar="0|1", help="Whether words in SYSTEM are numbered from 0 or 1.", rich_help_panel=LINKS
        ),
    ] = 0,
    ignore_possible: Annotated[
        bool, typer.Option("--ignore-possible", help="Ignore the possible links in GOLD.", rich_help_panel=LINKS)
    ] = False,
    skip_unannotated: Annotated[
        bool,
        typer.Option(
            "--skip-unannotated",
            help="Leave out the lines that have no links in GOLD; with --agreement, those that have no links in at "
            "least one of the two files.",
            rich_help_panel=LINKS,
        ),
    ] = False,
    format: Annotated[
        ScoreFormat,
        typer.Option(
            "--format", help="Output format; tsv becomes CSV if the output file ends in .csv.", rich_help_panel=OUTPUT
        ),
    ] = ScoreFormat.TEXT,
    source: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Source sentences, for checks and the error report.", rich_help_panel=TEXT),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Target sentences, for checks and the error report.", rich_help_panel=TEXT),
    ] = None,
    agreement: Annotated[
        bool,
        typer.Option(
            "--agreement",
            help="Treat GOLD and SYSTEM as two annotators, and measure how well they agree.",
            rich_help_panel=LINKS,
        ),
    ] = False,
    names: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="Names for the systems in the output.",
            show_default="their file names",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="With --format latex: add the intervals; the other formats always include them.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    output: OutputOption = "-",
) -> None:
    """Score links against gold links: AER, precision, recall, F1.

    Scores come with 95% confidence intervals; in LaTeX tables, only with --intervals. The first system is the baseline;
    the others are tested against it.

    Example: weft score gold.talp mine.links theirs.links
    """
    from weft.cli import score_output
    from weft.scoring.corpus import score_files
    from weft.scoring.errors_report import ErrorReport

    if (source is None) != (target is None):
        raise SettingError("give both --source and --target, or neither.")
    refuse_other_kinds(output, "--format chooses between text, tables and JSON.")
    called = names.split(",") if names is not None else systems
    if len(called) != len(systems):
        raise SettingError(f"--names needs {len(systems)} names, one per system; got {len(called)}.")
    only_one_stdin(gold, *systems, source, target)
    gold = _gold_of_project(gold)
    _refuse_sentences([gold, *systems])
    texts = (source, target) if source is not None and target is not None else None
    base = None if gold_base is GoldBase.AUTO else int(gold_base)
    if agreement:
        found = _agreement_of([gold, *systems], base, texts, skip_unannotated=skip_unannotated)
        write_lines(output, _agreement(*found, format, row_writer(output)))
        return
    reports = [ErrorReport() for _ in systems] if texts else []

    def observe(number: int, sentence: SentencePair, truth: GoldAlignment, links: list[set[WordPair]]) -> None:
        for report, found in zip(reports, links, strict=True):
            report.add(sentence, truth, found, number=number)

    doubt_bases(systems, system_base)
    _doubt_order(gold, systems)
    scores = score_files(
        gold,
        systems,
        gold_base=base,
        system_base=system_base,
        ignore_possible=ignore_possible,
        skip_unannotated=skip_unannotated,
        sentences=texts,
        observe=observe,
    )
    if names is not None:
        scores = [replace(found, name=name.strip()) for found, name in zip(scores, called, strict=True)]
    if reports and format not in (ScoreFormat.TEXT, ScoreFormat.JSON):
        say(f"{format} output has no error report; use --format text or json to get it.")
    if format is ScoreFormat.LATEX:
        write_lines(output, score_output.as_latex(scores, reports, intervals=intervals))
    else:
        write_lines(output, _formatted(scores, reports, format, row_writer(output)))


def _formatted(
    scores: Sequence[CorpusScore], reports: Sequence[ErrorReport], format: ScoreFormat, row: RowWriter
) -> Iterator[str]:
    from weft.cli import score_output

    if format is ScoreFormat.TSV:
        return map(row, score_output.score_rows(scores))
    shown: Iterator[str] = getattr(score_output, f"as_{format}")(scores, reports)
    return shown


def _agreement_of(
    files: list[str], base: int | None, texts: tuple[str, str] | None, *, skip_unannotated: bool
) -> tuple[Agreement, Sequence[int]]:
    from weft.annotation.agreement import agreement_of_files

    if len(files) != 2:
        raise SettingError("--agreement compares two annotators; give two files.")
    first, second = files
    found, lines = agreement_of_files(first, second, base=base, skip_unannotated=skip_unannotated, sentences=texts)
    if not len(found.counts):
        raise SettingError("the two annotators have no finished sentence in common.")
    return found, lines


def _agreement(found: Agreement, lines: Sequence[int], format: ScoreFormat, row: RowWriter) -> Iterator[str]:
    from weft.cli import score_output

    if found.rates.kappa is None and format not in (ScoreFormat.TEXT, ScoreFormat.JSON):
        say("for kappa, add --source and --target.")
    if format is ScoreFormat.TSV:
        return map(row, score_output.agreement_rows(found))
    shown: Iterator[str] = getattr(score_output, f"agreement_{format}")(found, lines)
    return shown


def _gold_of_project(gold: str) -> str:
    """The file of a project with its confirmed pairs; any other file as it is."""
    from weft.annotation.project import gold_file, is_project

    return str(gold_file(gold)) if is_project(gold) else gold


def _refuse_sentences(paths: Iterable[str]) -> None:
    """Sentences where links belong are known by a first line in which nothing looks like a link."""
    for path in filter(isfile, paths):
        first = first_lines(path, 1)
        if first and first[0][:1] not in b"{#" and not _MAY_BE_LINK.search(first[0]):
            raise SettingError(
                f"{path} contains text, not links. GOLD and SYSTEM are links; name sentences with --source and "
                "--target."
            )


def _doubt_order(gold: str, systems: Iterable[str]) -> None:
    """Possible links are a matter of gold; they are scored as told, but not in silence."""
    for system in filter(isfile, systems):
        if isfile(gold) and _has_possible_links(system) and not _has_possible_links(gold):
            say(f"{system} has possible links, but {gold} has none. Are the files swapped? The gold file comes first.")


def _has_possible_links(path: str) -> bool:
    """Whether a file begins with links of the talp format, one of them possible."""
    lines = (line for line, _ in zip(read_lines(path), range(_LOOKED_AT), strict=False))
    return any(re.search(rb"(?:^| )\d+p\d+(?:$| )", line.strip()) for line in lines)


def doubt_bases(systems: Sequence[str], base: int) -> None:
    """Systems that seem to count words from another number than was said are read as told, but not in silence.

    Raises:
        SettingError: a system cannot count from 1 as others do.
    """
    found = {system: counted_from(system) if isfile(system) else None for system in systems}
    from_0 = [system for system in systems if found[system] == 0]
    from_1 = [system for system in systems if found[system] == 1]
    if base == 0:
        for system in from_1:
            way = f"convert it first: {_conversion(system)}" if from_0 else "add --system-base 1."
            say(f"{system} has no index 0. If its word indices start at 1, {way}")
    elif from_0 and len(systems) > 1:
        ways = " && ".join(map(_conversion, from_1))
        convert = f", and convert the others first: {ways}" if ways else "."
        raise SettingError(
            f"{from_0[0]} has an index 0, so its word indices do not start at 1. Leave out --system-base 1{convert}"
        )


def _conversion(system: str) -> str:
    folder, name = split(system)
    return f"weft convert {quote(system)} {quote(join(folder, f'from-0-{name}'))} --from-base 1"
