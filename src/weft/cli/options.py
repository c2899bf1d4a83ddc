"""Options that several commands share, so that they are called and explained alike."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from weft.corpus.job import Engine
from weft.extraction.methods import METHODS, Cost, unknown_method
from weft.extraction.symmetrize import Symmetrization
from weft.text.pair_formats import PairFormat


class Dtype(StrEnum):
    """The precision the encoder runs in."""

    AUTO = "auto"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"


# The headings of `--help`.
MODEL = "Model"
LINKS = "Links"
TEXT = "Text"
OUTPUT = "Output"
LARGE = "Large runs"
SERVER = "Server"
OWN = "the model's own"

OutputOption = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Output file; - is stdout.", rich_help_panel=OUTPUT)
]

ModelOption = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="A built-in model, a folder, or a model on the Hugging Face Hub.", rich_help_panel=MODEL
    ),
]
LayerOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Layer of the model at which words are compared; 0 is the embedding layer.",
        show_default=OWN,
        rich_help_panel=MODEL,
    ),
]
# For commands that take several models.
LayersOption = Annotated[
    list[int] | None,
    typer.Option(
        "--layer",
        metavar="N",
        help="Layer for each --model, in the same order.",
        show_default=OWN,
        rich_help_panel=MODEL,
    ),
]
OfferedModelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model to offer. Can be repeated; the first is the default.",
        show_default="weft-mini",
        rich_help_panel=MODEL,
    ),
]
PortOption = Annotated[
    int,
    typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 picks a free one.", rich_help_panel=SERVER),
]
DeviceOption = Annotated[
    str, typer.Option(metavar="NAME", help="Device to run on: auto, cpu or cuda.", rich_help_panel=MODEL)
]
DtypeOption = Annotated[Dtype, typer.Option(help="Precision of the encoder.", rich_help_panel=MODEL)]
BatchTokensOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of subwords (the model's tokens) to encode at once.",
        show_default="512; with torch, 2048 on a CPU and 65536 on a GPU",
        rich_help_panel=MODEL,
    ),
]


def _method(name: str) -> str:
    if name not in METHODS:
        raise typer.BadParameter(unknown_method(name).replace("`method`", "it"))
    return name


MethodOption = Annotated[
    str | None,
    typer.Option(
        parser=_method,
        metavar=f"<{'|'.join(METHODS)}>",
        autocompletion=lambda: list(METHODS),
        help="How to extract links.",
        show_default=f"{OWN}, or softmax",
        rich_help_panel=LINKS,
    ),
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(
        metavar="C",
        help="Threshold of the method, 0 to 1; higher values give fewer but more reliable links. Not a probability.",
        show_default=f"{OWN}, or the method's",
        rich_help_panel=LINKS,
    ),
]
AlphaOption = Annotated[
    float | None,
    typer.Option(metavar="A", help="For entmax: the alpha parameter.", show_default="1.5", rich_help_panel=LINKS),
]


def _null(value: str) -> float:
    """A number, or off: the null that nothing falls short of."""
    try:
        return float("-inf" if value == "off" else value)
    except ValueError as error:
        raise typer.BadParameter(f"expected a number or off, got {value!r}.") from error


NullOption = Annotated[
    float | None,
    typer.Option(
        metavar="T|off",
        parser=_null,
        help="Similarity of every word to the null, an imaginary partner for words that have no counterpart. Higher "
        "values leave more words unlinked; 'off' disables the null.",
        show_default=f"{OWN}, or off",
        rich_help_panel=LINKS,
    ),
]
CostOption = Annotated[
    Cost | None, typer.Option(help="For ot: the cost function.", show_default="cosine", rich_help_panel=LINKS)
]
SymmetrizeOption = Annotated[
    Symmetrization | None,
    typer.Option(
        help="How to combine the links of both directions.", show_default="intersection", rich_help_panel=LINKS
    ),
]

InputFormatOption = Annotated[
    PairFormat,
    typer.Option(help="Format of the input; bars means 'source ||| target' lines.", rich_help_panel=TEXT),
]
SourceFieldOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="JSONL field, column of a table with a header row, or language of a TMX file, that contains the source "
        "sentence.",
        show_default="source, or the first language of the translation field",
        rich_help_panel=TEXT,
    ),
]
TargetFieldOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="JSONL field, column of a table with a header row, or language of a TMX file, that contains the target "
        "sentence.",
        show_default="target, or the second language of the translation field",
        rich_help_panel=TEXT,
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Columns of a TSV or CSV file without a header row, such as id,source,target; '-' skips a column.",
        show_default="source,target",
        rich_help_panel=TEXT,
    ),
]
RawOption = Annotated[bool, typer.Option("--raw", help="Split the text into words first.", rich_help_panel=TEXT)]
SourceLanguageOption = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Language code of the source side, such as de or ja; decides how raw text is split into words, and which "
        "language of a TMX file is the source.",
        show_default="guessed from the script",
        rich_help_panel=TEXT,
    ),
]
TargetLanguageOption = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Language code of the target side; works in the same way.",
        show_default="guessed from the script",
        rich_help_panel=TEXT,
    ),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.", rich_help_panel=TEXT)]

ShardsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Split the work into N shards, so that an interrupted run can be resumed; works with files, not pipes.",
        rich_help_panel=LARGE,
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Continue an interrupted run that used --shards. Does nothing if the output is already complete.",
        rich_help_panel=LARGE,
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Number of worker processes.",
        show_default="1; with --shards or --engine ray, one per GPU",
        rich_help_panel=LARGE,
    ),
]
EngineOption = Annotated[
    Engine,
    typer.Option(help="Where to run: local (this machine) or ray (many files or machines).", rich_help_panel=LARGE),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of a running Ray cluster.",
        show_default="start one on this machine",
        rich_help_panel=LARGE,
    ),
]
