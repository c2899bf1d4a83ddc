"""`weft view`: pairs and their links as a page, in the terminal, or one of them as a picture."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from weft.cli.badlines import BadLines
from weft.cli.groups import TextOptions, expanded
from weft.cli.linked import doubt_subtitles
from weft.cli.options import (
    LINKS,
    MODEL,
    OUTPUT,
    TEXT,
    DeviceOption,
    LayersOption,
    MethodOption,
    OutputOption,
    ThresholdOption,
)
from weft.cli.output import only_one_stdin, open_output, say
from weft.cli.score import GoldBase, doubt_bases
from weft.errors import SettingError, WeftError
from weft.text.lines import rereadable
from weft.text.pairs import PairReader

if TYPE_CHECKING:
    from weft.aligner import Aligner
    from weft.viewing.comparison import Comparison

_DEFAULT_MODEL = "weft-mini"


class ViewFormat(StrEnum):
    """What `weft view` makes."""

    HTML = "html"
    TEXT = "text"
    SVG = "svg"
    PNG = "png"
    PDF = "pdf"
    TIKZ = "tikz"
    CSV = "csv"


_ENDINGS = {
    ".html": "html",
    ".htm": "html",
    ".svg": "svg",
    ".png": "png",
    ".pdf": "pdf",
    ".tex": "tikz",
    ".tikz": "tikz",
    ".csv": "csv",
    ".txt": "text",
    "": "text",
}
_OF_ONE_PAIR = (ViewFormat.SVG, ViewFormat.PNG, ViewFormat.PDF, ViewFormat.TIKZ)


@expanded
def view(
    input: Annotated[
        str, typer.Argument(metavar="INPUT", help="Sentence pairs, or the source side; - is stdin.")
    ] = "-",
    links: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="LINKS",
            help="Links from one or two systems. If INPUT is only the source side, put the target file before them.",
        ),
    ] = None,
    output: OutputOption = "-",
    target: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Target side, if INPUT is only the source side.", rich_help_panel=TEXT),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Gold links, made by hand: talp, Pharaoh, NAACL or JSONL.", rich_help_panel=LINKS
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Same as --format text.", rich_help_panel=OUTPUT)] = False,
    format: Annotated[
        ViewFormat | None,
        typer.Option(
            "--format",
            help="Output format.",
            show_default="from the name of the output file, or text",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    pair: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Show only pair N, counting from 1.", show_default="all", rich_help_panel=TEXT
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Show at most the first N lines.", rich_help_panel=TEXT)
    ] = 5000,
    similarity: Annotated[
        bool,
        typer.Option(
            "--similarity",
            help="Draw the cosine similarity of every word pair; two models appear side by side.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Model to align with, instead of or in addition to LINKS; can be given twice.",
            show_default="weft-mini",
            rich_help_panel=MODEL,
        ),
    ] = None,
    layer: LayersOption = None,
    device: DeviceOption = "auto",
    method: MethodOption = None,
    threshold: ThresholdOption = None,
    reading: TextOptions = TextOptions(),  # noqa: B008 - it is frozen
    gold_base: Annotated[
        GoldBase, typer.Option(help="Whether words in the gold links are numbered from 0 or 1.", rich_help_panel=LINKS)
    ] = GoldBase.AUTO,
    system_base: Annotated[
        int,
        typer.Option(
            min=0, max=1, metavar="0|1", help="Whether words in LINKS are numbered from 0 or 1.", rich_help_panel=LINKS
        ),
    ] = 0,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="Title of the page.", rich_help_panel=OUTPUT)
    ] = "Word alignments",
) -> None:
    """Show alignments as text, as a web page or as a picture.

    Without LINKS, a model aligns the pairs. The extension of the output file sets the format: .html, .svg, .png, .pdf,
    .tex or .csv.

    Example: weft view pairs.txt mine.links theirs.links --gold gold.talp -o page.html
    """
    only_one_stdin(input, target, gold, *(links or []))
    doubt_subtitles(input, target)
    wanted = _format(output, format, text, similarity)
    reader = reading.reader()
    target, links = _sides(input, target, links or [], reader)
    reader = replace(reader, watch=not links)  # links that are there tell what the words are
    models = _models(model, layer, links, similarity)
    lines = range(pair - 1, pair) if pair else range(limit)
    base = None if gold_base is GoldBase.AUTO else int(gold_base)
    if len(links) > 1:
        doubt_bases(links, system_base)
    comparison = _read(input, target, links, gold, models, lines, reader, base, system_base)
    if not comparison.pairs:
        raise WeftError(f"there is no pair {pair} in {input}." if pair else f"{input} contains no pairs.")
    if comparison.cut and not pair:
        say(f"only the first {limit:,} lines are shown; use --limit to change that.")
    if not comparison.systems and not models:
        models = [Model(_DEFAULT_MODEL, None)]
    aligners = [_aligner(chosen, device, method, threshold, reading.languages) for chosen in models]
    _write(output, _with_models(comparison, models, aligners, similarity), wanted, title)


class Model(NamedTuple):
    """A model with the layer to take, if one was named."""

    name: str
    layer: int | None


def _sides(input: str, target: str | None, links: list[str], reader: PairReader) -> tuple[str | None, list[str]]:
    """The target side and the links: after a file of source sentences the first name is that of the target side."""
    from weft.viewing.reading import holds_pairs, looks_like_links

    if target is not None or not links or not os.path.isfile(input) or holds_pairs(input, reader):
        return target, links
    if os.path.isfile(links[0]) and looks_like_links(links[0]):
        raise SettingError(f"{links[0]} contains links; name the file with the translations before it.")
    return links[0], links[1:]


def _format(output: str, format: ViewFormat | None, text: bool, similarity: bool) -> ViewFormat:
    """What was asked for, or what the output's name ends in, or text."""
    if text and format not in (None, ViewFormat.TEXT):
        raise SettingError(f"--text and --format {format} cannot be combined.")
    wanted = ViewFormat.TEXT if text else format or _format_by_name(output)
    if similarity and wanted not in (ViewFormat.HTML, ViewFormat.SVG, ViewFormat.PNG, ViewFormat.PDF):
        raise SettingError(
            "--similarity draws a page or a picture; the name of the output must end in .html, .svg, .png or .pdf."
        )
    return wanted


def _format_by_name(output: str) -> ViewFormat:
    """What the output's name ends in; a name without an ending is text."""
    name, ending = os.path.splitext(output.lower())
    if ending in (".gz", ".xz", ".zst"):
        ending = os.path.splitext(name)[1]
    if ending not in _ENDINGS:
        known = ", ".join(filter(None, _ENDINGS))
        raise SettingError(f"cannot write {ending} files; the name of the output must end in {known}, or use --format.")
    return ViewFormat(_ENDINGS[ending])


def _models(
    names: list[str] | None, layers: list[int] | None, links: list[str] | None, similarity: bool
) -> list[Model]:
    names = names or ([_DEFAULT_MODEL] if similarity or (layers and not links) else [])
    if len(links or []) + len(names) > 2:
        raise SettingError("at most two systems can be compared; give fewer LINKS or models.")
    if layers and len(layers) > len(names):
        raise SettingError("there are more layers than models; give one --layer per --model, in the same order.")
    return [Model(name, layers[k] if layers and k < len(layers) else None) for k, name in enumerate(names)]


def _read(
    input: str,
    target: str | None,
    links: list[str],
    gold: str | None,
    models: list[Model],
    lines: range,
    reader: PairReader,
    gold_base: int | None,
    system_base: int,
) -> Comparison:
    """The pairs with all links that come from files; records that hold links need no file beside them."""
    from weft.viewing.reading import holds_links, read_comparison

    with ExitStack() as stack:
        pairs, *others = (stack.enter_context(rereadable(path)) if path else None for path in (input, target, gold))
        assert pairs is not None
        own = [pairs] if not links and not models and holds_links(pairs) else []
        bad_lines = BadLines("This pair is left out.", strict=False)
        comparison = read_comparison(
            pairs,
            others[0],
            links or own,
            others[1],
            lines=lines,
            reader=reader,
            gold_base=gold_base,
            system_base=system_base,
            on_error=bad_lines,
        )
        if bad_lines.count > 1:
            bad_lines.summarise()
        return comparison


def _aligner(
    model: Model, device: str, method: str | None, threshold: float | None, languages: tuple[str | None, str | None]
) -> Aligner:
    from weft.aligner import Aligner
    from weft.models.languages import unknown_languages

    found = Aligner.from_pretrained(model.name, layer=model.layer, device=device, method=method, threshold=threshold)
    for remark in unknown_languages(found.languages, *languages):
        say(remark)
    return found


def _with_models(comparison: Comparison, models: list[Model], aligners: list[Aligner], similarity: bool) -> Comparison:
    from weft.viewing.reading import names_of, with_model, with_similarities

    layers = ["" if model.layer is None else f", layer {model.layer}" for model in models]
    names = names_of([model.name for model in models], layers)
    if similarity:
        return with_similarities(comparison, aligners, names)
    for name, aligner in zip(names, aligners, strict=True):
        comparison = with_model(comparison, aligner, name)
    return comparison


def _write(output: str, comparison: Comparison, format: ViewFormat, title: str) -> None:
    if format in _OF_ONE_PAIR and len(comparison.pairs) > 1:
        raise SettingError(f"{format} output shows one pair; choose it with --pair.")
    with open_output(output) as write:
        for part in _parts(comparison, format, title, at_terminal=output == "-"):
            write(part if isinstance(part, bytes) else part.encode("utf-8", "backslashreplace"))


def _parts(comparison: Comparison, format: ViewFormat, title: str, *, at_terminal: bool) -> Iterable[str | bytes]:
    from weft.viewing import html, png, svg, tables, terminal

    first = comparison.pairs[0]
    if format is ViewFormat.TEXT:
        colour = at_terminal and sys.stdout.isatty() and "NO_COLOR" not in os.environ
        return terminal.text_view(comparison, width=shutil.get_terminal_size((100, 24)).columns, colour=colour)
    if format is ViewFormat.HTML:
        return [html.page(comparison, title=title)]
    if format is ViewFormat.CSV:
        return [tables.csv_table(comparison)]
    if format is ViewFormat.TIKZ:
        return [tables.tikz(first, comparison.systems)]
    drawn = (
        svg.similarity_svg(first, comparison.models) if comparison.models else svg.lines_svg(first, comparison.systems)
    )
    draw = {ViewFormat.PNG: png.png, ViewFormat.PDF: png.pdf}.get(format)
    return [draw(drawn) if draw else drawn]
