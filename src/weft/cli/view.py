"""`weft view`: pairs and their links as a page, in the terminal, or one of them as a picture."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from weft.cli.options import (
    LINKS,
    MODEL,
    OUTPUT,
    TEXT,
    DeviceOption,
    InputFormatOption,
    LayersOption,
    MethodOption,
    OutputOption,
    ThresholdOption,
)
from weft.cli.output import only_one_stdin, open_output, say
from weft.cli.score import GoldBase
from weft.errors import SettingError, WeftError
from weft.text.lines import rereadable
from weft.text.pairs import PairFormat

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
    TIKZ = "tikz"
    CSV = "csv"


_ENDINGS = {
    ".html": "html",
    ".htm": "html",
    ".svg": "svg",
    ".png": "png",
    ".tex": "tikz",
    ".tikz": "tikz",
    ".csv": "csv",
}
_OF_ONE_PAIR = (ViewFormat.SVG, ViewFormat.PNG, ViewFormat.TIKZ)


def view(
    input: Annotated[
        str, typer.Argument(metavar="INPUT", help="Sentence pairs, or the source side; - is stdin.")
    ] = "-",
    links: Annotated[list[str] | None, typer.Argument(metavar="LINKS", help="Links of one or two systems.")] = None,
    output: OutputOption = "-",
    target: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The target side, if INPUT is only the source side.", rich_help_panel=TEXT),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Gold links: talp, Pharaoh, NAACL or JSONL.", rich_help_panel=LINKS),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Draw in the terminal; the default without --output.", rich_help_panel=OUTPUT)
    ] = False,
    format: Annotated[
        ViewFormat | None,
        typer.Option(
            "--format", help="Output format.", show_default="from the output's name, or text", rich_help_panel=OUTPUT
        ),
    ] = None,
    pair: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Show only this pair, counted from 1.", show_default="all", rich_help_panel=TEXT
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Show at most N lines.", rich_help_panel=TEXT)] = 5000,
    similarity: Annotated[
        bool,
        typer.Option(
            "--similarity",
            help="Cosine similarities of all words, side by side for two models.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Aligns if there are no LINKS, or in addition; up to two.",
            show_default="weft-mini",
            rich_help_panel=MODEL,
        ),
    ] = None,
    layer: LayersOption = None,
    device: DeviceOption = "auto",
    method: MethodOption = None,
    threshold: ThresholdOption = None,
    input_format: InputFormatOption = PairFormat.AUTO,
    gold_base: Annotated[
        GoldBase, typer.Option(help="Number of the first word in GOLD.", rich_help_panel=LINKS)
    ] = GoldBase.AUTO,
    system_base: Annotated[
        int, typer.Option(min=0, max=1, metavar="0|1", help="Number of the first word in LINKS.", rich_help_panel=LINKS)
    ] = 0,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="Title of the page.", rich_help_panel=OUTPUT)
    ] = "Word alignments",
) -> None:
    """See alignments: in the terminal, as a page or a picture.

    Without LINKS a model aligns. The ending of the output says what it becomes: .html, .svg, .png, .tex or .csv.

    Example: weft view pairs.txt mine.links theirs.links --gold gold.talp -o page.html
    """
    only_one_stdin(input, target, gold, *(links or []))
    wanted = _format(output, format, text, similarity)
    models = _models(model, layer, links, similarity)
    lines = range(pair - 1, pair) if pair else range(limit)
    base = None if gold_base is GoldBase.AUTO else int(gold_base)
    comparison = _read(input, target, links or [], gold, models, lines, input_format, base, system_base)
    if not comparison.pairs:
        raise WeftError(f"there is no pair {pair} in {input}." if pair else f"{input} holds no pairs to show.")
    if comparison.cut and not pair:
        say(f"the first {limit:,} lines are shown; use --limit to change that.")
    if not comparison.systems and not models:
        models = [Model(_DEFAULT_MODEL, None)]
    aligners = [_aligner(chosen, device, method, threshold) for chosen in models]
    _write(output, _with_models(comparison, models, aligners, similarity), wanted, title)


class Model(NamedTuple):
    """A model with the layer to take, if one was named."""

    name: str
    layer: int | None


def _format(output: str, format: ViewFormat | None, text: bool, similarity: bool) -> ViewFormat:
    """What was asked for, or what the output's name ends in, or text."""
    if text and format not in (None, ViewFormat.TEXT):
        raise SettingError(f"--text and --format {format} contradict each other.")
    wanted = ViewFormat.TEXT if text else format or ViewFormat(_ENDINGS.get(os.path.splitext(output)[1], "text"))
    if similarity and wanted not in (ViewFormat.HTML, ViewFormat.SVG, ViewFormat.PNG):
        raise SettingError("--similarity draws a page or a picture: name an output that ends in .html, .svg or .png.")
    return wanted


def _models(
    names: list[str] | None, layers: list[int] | None, links: list[str] | None, similarity: bool
) -> list[Model]:
    names = names or ([_DEFAULT_MODEL] if similarity or (layers and not links) else [])
    if len(links or []) + len(names) > 2:
        raise SettingError("at most two systems can be compared; name fewer LINKS or models.")
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
    format: PairFormat,
    gold_base: int | None,
    system_base: int,
) -> Comparison:
    """The pairs with all links that come from files; records that hold links need no file beside them."""
    from weft.viewing.reading import holds_links, read_comparison

    with ExitStack() as stack:
        pairs, *others = (stack.enter_context(rereadable(path)) if path else None for path in (input, target, gold))
        assert pairs is not None
        own = [pairs] if not links and not models and holds_links(pairs) else []
        return read_comparison(
            pairs,
            others[0],
            links or own,
            others[1],
            lines=lines,
            format=format,
            gold_base=gold_base,
            system_base=system_base,
            on_error=lambda error: say(f"{error} It is left out."),
        )


def _aligner(model: Model, device: str, method: str | None, threshold: float | None) -> Aligner:
    from weft.aligner import Aligner

    return Aligner.from_pretrained(model.name, layer=model.layer, device=device, method=method, threshold=threshold)


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
        raise SettingError(f"{format} shows one pair; choose it with --pair.")
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
    return [png.png(drawn)] if format is ViewFormat.PNG else [drawn]
