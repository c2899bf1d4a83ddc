"""`weft project`: labels of one side of a sentence pair, carried to the other side through links."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from weft.applications.columns import Scheme
from weft.applications.projection import Gaps
from weft.applications.spans import Unit
from weft.cli.badlines import BadLines
from weft.cli.linked import (
    AlignModelOption,
    LinksBaseOption,
    LinksOption,
    link_source,
    opened,
)
from weft.cli.options import (
    OUTPUT,
    TEXT,
    DeviceOption,
    LayerOption,
    OutputOption,
    RawOption,
    SourceLanguageOption,
    StrictOption,
    TargetLanguageOption,
)
from weft.cli.output import on_screen, open_output, say, write_lines
from weft.cli.progress import counted
from weft.errors import SettingError
from weft.text.pairs import PairFormat

if TYPE_CHECKING:
    from weft.text.segment import Segmenter

_LABELS = "Labels"


class LabelFormat(StrEnum):
    """How labels are written: in columns, as spans in JSON records, or as tags in the text."""

    CONLL = "conll"
    JSONL = "jsonl"
    MARKUP = "markup"


def project(
    labels: Annotated[str, typer.Argument(metavar="LABELS", help="The labelled sentences; - is stdin.")] = "-",
    target: Annotated[
        str | None, typer.Argument(metavar="OTHER", help="The sentences without labels, line by line.")
    ] = None,
    links: LinksOption = None,
    output: OutputOption = "-",
    format: Annotated[
        LabelFormat, typer.Option("--from", help="How the labels are written.", rich_help_panel=_LABELS)
    ] = LabelFormat.CONLL,
    gaps: Annotated[
        Gaps | None,
        typer.Option(
            help="What becomes of labels whose words stand apart.",
            show_default="fill; for tags dense",
            rich_help_panel=_LABELS,
        ),
    ] = None,
    max_gap: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="With longest and split: gaps of so many words are none.",
            rich_help_panel=_LABELS,
        ),
    ] = 1,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="The labels are on the target side of the links.", rich_help_panel=_LABELS)
    ] = False,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="List the labels that found no place.", rich_help_panel=OUTPUT)
    ] = None,
    word_column: Annotated[
        int, typer.Option(min=1, metavar="N", help="conll: the column with the words.", rich_help_panel=_LABELS)
    ] = 1,
    label_column: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="conll: that with the labels.", show_default="the last", rich_help_panel=_LABELS
        ),
    ] = None,
    scheme: Annotated[
        Scheme, typer.Option(help="conll: how labels are written out.", rich_help_panel=_LABELS)
    ] = Scheme.AUTO,
    unit: Annotated[
        Unit, typer.Option("--spans", help="jsonl: what spans count.", rich_help_panel=_LABELS)
    ] = Unit.AUTO,
    input_format: Annotated[
        PairFormat, typer.Option(help="markup: format of the pairs.", rich_help_panel=TEXT)
    ] = PairFormat.AUTO,
    raw: RawOption = False,
    source_language: SourceLanguageOption = None,
    target_language: TargetLanguageOption = None,
    links_base: LinksBaseOption = 0,
    model: AlignModelOption = None,
    layer: LayerOption = None,
    device: DeviceOption = "auto",
    strict: StrictOption = False,
) -> None:
    """Carry labels from one side of sentence pairs to the other.

    Labels stand in CoNLL columns, as spans in JSONL, or as tags in the text.

    Example: weft project labels.conll translation.txt --links pairs.links > projected.conll
    """
    if not raw and (source_language or target_language):
        raise SettingError("--source-language and --target-language go with --raw.")
    if (format is LabelFormat.CONLL) > (target is not None):
        raise SettingError("columns hold one side only; name the file with the sentences of the other.")
    if format is LabelFormat.JSONL and target is not None:
        raise SettingError("JSONL records hold both sides; leave the second file out.")
    if report == output:
        raise SettingError("two outputs have the same name; give each its own.")
    from weft.applications.labels import Listing, Projector, project_columns, project_records, project_tags

    bad_lines = BadLines("It gets no labels.", strict=strict)
    with ExitStack() as stack:
        sentences, others, link_file = stack.enter_context(opened(labels, target, links))
        write = stack.enter_context(open_output(report)) if report is not None else None
        listing = Listing(write)
        projector = Projector(
            links=link_source(link_file, links_base, model=model, layer=layer, device=device),
            segmenters=_segmenters(raw, source_language, target_language),
            gaps=gaps or (Gaps.DENSE if format is LabelFormat.MARKUP else Gaps.FILL),
            max_gap=max_gap,
            reverse=reverse,
            on_error=bad_lines,
            listing=listing,
        )
        if format is LabelFormat.CONLL and others is not None:
            columns = (word_column - 1, -1 if label_column is None else label_column - 1)
            lines = project_columns(projector, sentences, others, columns, scheme)
        elif format is LabelFormat.JSONL:
            lines = project_records(projector, sentences, unit)
        else:
            lines = project_tags(projector, sentences, others, input_format)
        write_lines(output, counted(lines, "sentences", quiet=on_screen(output)))
    bad_lines.summarise()
    for sentence in listing.summary():
        say(sentence if report is not None else f"{sentence} --report FILE lists them.")


def _segmenters(raw: bool, source: str | None, target: str | None) -> tuple[Segmenter, Segmenter]:
    from weft.applications.spans import split_at_blanks
    from weft.text.segment import segmenter_for

    return (segmenter_for(source), segmenter_for(target)) if raw else (split_at_blanks, split_at_blanks)
