"""`weft model`: which models there are, what one is, and how to make one small."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from weft.cli.groups import TextOptions, expanded
from weft.cli.help import Command, Group
from weft.cli.options import MODEL, OUTPUT, TEXT
from weft.cli.output import say, write_lines
from weft.errors import SettingError

app = typer.Typer(
    help="List, describe, export or average models.\n\nExample: weft model list",
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list", cls=Command)
def list_all() -> None:
    """List built-in models and known encoders with their best layers.

    Prints one model per line, in tab-separated columns.

    Example: weft model list
    """
    from weft.models.describe import list_models

    write_lines("-", ("\t".join(columns).rstrip("\t") + "\n" for columns in list_models()))


@app.command(cls=Command)
def info(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A built-in model, a folder, a known encoder, or a Hugging Face Hub model that has already been "
            "downloaded.",
        ),
    ],
) -> None:
    """Describe a model: layer, method, threshold, size, vocabulary.

    Example: weft model info my-model
    """
    from weft.models.describe import describe_model

    write_lines("-", (f"{label}\t{value}\n" for label, value in describe_model(name)))


@app.command(cls=Command)
@expanded
def export(
    model: Annotated[
        str, typer.Argument(metavar="NAME", help="A built-in model, a folder, or a model on the Hugging Face Hub.")
    ],
    to: Annotated[
        str,
        typer.Option(metavar="KIND", help="Output format: onnx (float32), onnx-int8 or torch.", rich_help_panel=OUTPUT),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder for the exported model.", rich_help_panel=OUTPUT),
    ],
    layer: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Last layer to keep.", show_default="the model's alignment layer", rich_help_panel=MODEL
        ),
    ] = None,
    embedding_bits: Annotated[
        int, typer.Option(metavar="4|8", help="For onnx-int8: bits per embedding value.", rich_help_panel=MODEL)
    ] = 4,
    text: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="For onnx-int8: sentence pairs on which to calibrate the activation ranges; the options below say "
            "how to read them.",
            show_default="ranges are computed for each batch",
            rich_help_panel=TEXT,
        ),
    ] = None,
    reading: TextOptions = TextOptions(),  # noqa: B008 - it is frozen
) -> None:
    """Export a model to ONNX (runs without torch), or back to torch.

    Layers above the alignment layer are left out. --to torch turns an ONNX graph back into torch weights.

    Example: weft model export my-model --to onnx-int8 -o my-small-model
    """
    from weft.models.describe import megabytes
    from weft.models.export import export_model
    from weft.models.settings import ExportKind

    if to not in list(ExportKind):
        raise SettingError(f"`to` must be one of {', '.join(ExportKind)}, got {to!r}.")
    if text is None and reading != TextOptions():
        raise SettingError("the text options only work with --text.")
    export_model(
        model,
        output,
        to=ExportKind(to),
        layer=layer,
        embedding_bits=embedding_bits,
        text=text,
        reader=reading.reader(),
    )
    say(f"wrote {megabytes(output)} to {output}. Use it with --model {quote(str(output))}")


@app.command(cls=Command)
def average(
    models: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="Two or more folders of models that differ only in their weights."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the averaged model.")],
) -> None:
    """Average the weights of several models.

    Use it on runs that started from the same weights, or on checkpoints of one run. The settings come from the first
    model. Afterwards, run 'weft tune' to recalibrate the link probabilities.

    Example: weft model average run-1 run-2 run-3 -o mean
    """
    from weft.models.averaging import average as write_mean
    from weft.models.describe import megabytes

    write_mean(models, output)
    say(f"wrote {megabytes(output)} to {output}. Use it with --model {quote(str(output))}")
