"""What the scripts of this folder share: where the data is, and which aligner to measure."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from weft import Aligner

DATA = Path(os.environ.get("WEFT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def aligner_options(description: str | None) -> argparse.ArgumentParser:
    """A parser that knows the model and how links are taken."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="weft-mini", help="a name or a folder")
    parser.add_argument("--layer", type=int)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--method")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--null", help="a number, or off")
    return parser


def chosen_aligner(options: argparse.Namespace) -> Aligner:
    """The aligner that the options ask for; what they do not say is the model's own."""
    null = float(options.null) if options.null not in (None, "off") else options.null
    return Aligner.from_pretrained(
        options.model,
        layer=options.layer,
        device=options.device,
        method=options.method,
        threshold=options.threshold,
        null=null,
    )
