"""`weft tune`: choose layer, method and threshold on dev sets, and store them beside the model."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import OUTPUT, BatchTokensOption, DeviceOption, Dtype, DtypeOption, ModelOption
from weft.cli.output import say
from weft.errors import SettingError
from weft.extraction.methods import METHODS

if TYPE_CHECKING:
    from weft.tuning import Trial

_TRIALS = "Trials"


def tune(
    dev: Annotated[
        list[str],
        typer.Option(
            metavar="PREFIX",
            help="A dev set: PREFIX.src, PREFIX.tgt, PREFIX.talp; can be repeated.",
            rich_help_panel=_TRIALS,
        ),
    ],
    model: ModelOption = "weft-mini",
    layers: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Layers to try, as 6,7,8.", show_default="all", rich_help_panel=_TRIALS),
    ] = None,
    methods: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="Methods to try.", rich_help_panel=_TRIALS)
    ] = "softmax,entmax,itermax",
    null: Annotated[
        str | None,
        typer.Option(
            metavar="T,T",
            help="Nulls to try, as off,15.",
            show_default="off and 10 to 20",
            rich_help_panel=_TRIALS,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Save the tuned model here.",
            show_default="into the model's weft.json",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = Dtype.AUTO,
    batch_tokens: BatchTokensOption = None,
) -> None:
    """Choose layer, method, threshold and null on dev sets.

    Link probabilities are fitted too, and all of it is stored in weft.json.

    Example: weft tune --model my-model --dev dev/ro-en --dev dev/ja-en
    """
    from weft.aligner import Aligner
    from weft.models.load import Tunable
    from weft.tuning import NULLS, DevSet, tune

    tunable = Tunable(model, device=device, dtype=dtype, batch_tokens=batch_tokens)
    if output is None and tunable.home is None:
        raise SettingError(f"{model} is not a folder of yours; say with --output where the tuned model should go.")
    _check_writable(Path(output) if output else tunable.home)
    tuned = tune(
        tunable.load,
        tunable.layers(_numbers(layers)),
        [_method(name) for name in methods.split(",")],
        [DevSet.read(prefix) for prefix in dev],
        base=tunable.settings,
        nulls=NULLS if null is None else [_null(value) for value in null.split(",")],
        report=_print_trial,
    )
    best = tuned.best
    if output is None:
        tunable.store(best.layer, best.settings)
    else:
        Aligner(tunable.load(best.layer), best.settings).save_pretrained(output)
    _print_line(f"best: {_described(best)}")
    if tuned.error_before is None:
        _print_line("too few links to calibrate probabilities by")
    else:
        _print_line(f"link probabilities were off by {tuned.error_before:.3f}, calibrated by {tuned.error_after:.3f}")
    say(f"stored in {Path(output or str(tunable.home)) / 'weft.json'}")


def _check_writable(folder: Path | None) -> None:
    """Better before hours of trying than after."""
    if folder is not None and folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise SettingError(f"{folder} is no folder that can be written to.")


def _print_trial(trial: Trial) -> None:
    _print_line(_described(trial))


def _print_line(text: str) -> None:
    """What is found is stored even if nobody reads along any more."""
    with contextlib.suppress(BrokenPipeError):
        print(text, flush=True)


def _described(trial: Trial) -> str:
    settings = trial.settings
    parts = [] if trial.layer is None else [f"layer {trial.layer}"]
    parts.append(str(settings.method))
    if settings.threshold is not None:
        parts.append(f"threshold {settings.threshold:g}")
    if settings.null is not None:
        parts.append(f"null {settings.null:g}")
    aers = " ".join(f"{aer:.1f}" for aer in trial.aers)
    return f"{', '.join(parts)}: AER {trial.mean_aer:.2f} ({aers})"


def _numbers(layers: str | None) -> list[int] | None:
    if layers is None:
        return None
    try:
        return [int(layer) for layer in layers.split(",")]
    except ValueError as error:
        raise SettingError(f"`layers` must be numbers separated by commas, got {layers!r}.") from error


def _null(value: str) -> float | None:
    try:
        return None if value.strip() == "off" else float(value)
    except ValueError as error:
        raise SettingError(f"`null` must be numbers or off, separated by commas, got {value!r}.") from error


def _method(name: str) -> str:
    if name.strip() not in METHODS:
        raise SettingError(f"`methods` must be some of {', '.join(METHODS)}, got {name!r}.")
    return name.strip()
