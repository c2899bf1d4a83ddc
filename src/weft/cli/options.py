"""Options that several commands share, so that they are called and explained alike."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from weft.extraction.choices import Cost, Method
from weft.extraction.symmetrize import Symmetrization


class Dtype(StrEnum):
    """The precision the encoder runs in."""

    AUTO = "auto"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"


class Engine(StrEnum):
    """What runs the aligner: this machine, or Ray."""

    LOCAL = "local"
    RAY = "ray"


_ENCODER = "Encoder"
_LINKS = "How links are taken"

OutputOption = Annotated[str, typer.Option("--output", "-o", help="Where to write; - is stdout.")]
ModelOption = Annotated[
    str,
    typer.Option(metavar="NAME", help="weft-mini, a folder, or a name on the hub.", rich_help_panel=_ENCODER),
]
LayerOption = Annotated[
    int | None, typer.Option(help="Layer whose states are compared; 0 is the embeddings.", rich_help_panel=_ENCODER)
]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu or cuda.", rich_help_panel=_ENCODER)]
DtypeOption = Annotated[Dtype, typer.Option(help="Precision of the encoder.", rich_help_panel=_ENCODER)]
BatchTokensOption = Annotated[
    int | None, typer.Option(min=1, help="Subwords that are encoded at once.", rich_help_panel=_ENCODER)
]
MethodOption = Annotated[
    Method | None, typer.Option(help="The model's own, or softmax, by default.", rich_help_panel=_LINKS)
]
ThresholdOption = Annotated[
    float | None, typer.Option(help="Link where both directions exceed it; 0 to 1.", rich_help_panel=_LINKS)
]
AlphaOption = Annotated[float | None, typer.Option(help="Alpha of entmax; 1.5 by default.", rich_help_panel=_LINKS)]
CostOption = Annotated[Cost | None, typer.Option(help="Cost of optimal transport.", rich_help_panel=_LINKS)]
SymmetrizeOption = Annotated[
    Symmetrization | None, typer.Option(help="How both directions are combined.", rich_help_panel=_LINKS)
]

_LARGE = "Large runs"
ShardsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Finish the output in N pieces that survive a kill; file to file.", rich_help_panel=_LARGE
    ),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Go on where a killed run with --shards stopped.", rich_help_panel=_LARGE)
]
WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, help="Processes; with --shards or ray one a GPU by default.", rich_help_panel=_LARGE),
]
EngineOption = Annotated[
    Engine, typer.Option(help="local; or ray, for many files and machines.", rich_help_panel=_LARGE)
]
AddressOption = Annotated[
    str | None, typer.Option(help="A running Ray cluster; one is started here if not given.", rich_help_panel=_LARGE)
]
