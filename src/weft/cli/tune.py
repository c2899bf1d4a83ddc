"""`weft tune`: choose layer, method and threshold on dev sets, and store them beside the model."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from weft.cli.options import OUTPUT, BatchTokensOption, DeviceOption, Dtype, DtypeOption, ModelOption
from weft.cli.output import say
from weft.errors import SettingError
from weft.extraction.methods import METHODS
from weft.models.known import DEFAULT_MODEL

if TYPE_CHECKING:
    from weft.tuning import DevSet, Trial, Tuned

_TRIALS = "Trials"
_FEW_SENTENCES = 20
_MOST_SHOWN = 10
_Value = TypeVar("_Value")


def tune(
    dev: Annotated[
        list[str],
        typer.Option(
            metavar="PREFIX",
            help="Dev set: PREFIX.src, PREFIX.tgt and gold links in PREFIX.talp, or an annotation project. Can be "
            "repeated.",
            rich_help_panel=_TRIALS,
        ),
    ],
    model: ModelOption = "weft-mini",
    layers: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Layers to try, such as 6,7,8.", show_default="all", rich_help_panel=_TRIALS),
    ] = None,
    methods: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="Methods to try.", rich_help_panel=_TRIALS)
    ] = "softmax,entmax,geometric,itermax",
    thresholds: Annotated[
        str | None,
        typer.Option(
            metavar="C,C",
            help="Thresholds to try, such as 0.01,0.1.",
            show_default="depends on the method",
            rich_help_panel=_TRIALS,
        ),
    ] = None,
    null: Annotated[
        str | None,
        typer.Option(
            metavar="T,T",
            help="Null values to try (see weft align --help), such as off,15.",
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
            show_default="update weft.json if the model is a local folder; otherwise, only print the settings",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    every_trial: Annotated[
        bool,
        typer.Option("--all", help="Print every trial, not only the ten best.", rich_help_panel=OUTPUT),
    ] = False,
    device: DeviceOption = "auto",
    dtype: DtypeOption = Dtype.AUTO,
    batch_tokens: BatchTokensOption = None,
) -> None:
    """Find the best settings for a model on dev sets.

    The settings are the layer, the method, the threshold and the null. The link probabilities are calibrated as well,
    on the dev sets and on unrelated and half-translated pairs made from them. If the model is a local folder, or with
    --output, the results are stored in weft.json. The model's own settings, if it has any, are tried first; they and
    their calibration are kept unless other settings are better.

    Example: weft tune --model my-model --dev dev/ro-en --dev dev/ja-en
    """
    from weft.aligner import Aligner
    from weft.models.load import Tunable
    from weft.tuning import NULLS, DevSet, tune

    tunable = Tunable(model, device=device, dtype=dtype, batch_tokens=batch_tokens)
    home = Path(output) if output else tunable.home
    if home is None:
        say(f"nothing will be stored, because {model} is not a local folder. To keep the result, add --output DIR.")
    _check_writable(home)
    dev_sets = [DevSet.read(prefix) for prefix in dev]
    _warn_of_few(dev_sets)
    to_try = tunable.layers(_listed("layers", layers, int))
    present = tunable.present
    trials = _Trials(every_trial=every_trial)
    tuned = tune(
        tunable.load,
        to_try,
        [_method(name) for name in methods.split(",")],
        dev_sets,
        base=tunable.settings,
        present=present,
        thresholds=_listed("thresholds", thresholds, _threshold),
        nulls=_listed("null", null, _null) or NULLS,
        report=trials,
    )
    trials.print_best()
    best = tuned.best
    if output is not None:
        Aligner(tunable.load(best.layer), best.settings).save_pretrained(output)
    elif home is not None:
        tunable.store(best.layer, best.settings)
    _print_line(f"best: {_described(best)}")
    if best.present:
        say("nothing that was tried has a lower AER than the model's own settings, so they stay.")
    _print_calibration(tuned, present is not None and present[1].calibration is not None)
    if home is not None:
        say(f"stored in {home / 'weft.json'}.")
    elif not best.present:
        say(f"nothing was stored. To align with these settings: weft align{_as_options(model, best)}")


def _warn_of_few(dev_sets: Sequence[DevSet]) -> None:
    sentences = sum(len(dev.pairs) for dev in dev_sets)
    if sentences < _FEW_SENTENCES:
        say(
            f"there {'is only 1 sentence' if sentences == 1 else f'are only {sentences} sentences'} with gold links. "
            "That is too few to choose settings by: what is best here may be worse on other text."
        )


def _print_calibration(tuned: Tuned, was_calibrated: bool) -> None:
    """What became of the curve from scores to probabilities."""
    if (errors := tuned.errors) is not None:
        _print_line(
            "link probabilities were calibrated on the dev sets, mixed with unrelated and half-translated sentences:"
        )
        _print_line(
            f"average error: {errors.before:.3f} before, {errors.after:.3f} after;"
            f" {errors.with_unrelated:.3f} if a third of the pairs are unrelated"
        )
        return
    if tuned.best.present and was_calibrated:
        say("the calibration of its link probabilities stays too.")
        return
    few = "there are too few links to calibrate the probabilities"
    if not was_calibrated:
        say(f"{few}.")
    elif tuned.best.settings.calibration is not None:
        say(f"{few} anew. The model's calibration stays, since it was made for the same method, layer and null.")
    else:
        say(
            f"{few} for these settings, and the model's calibration was made for others, so it is lost. "
            "Use a dev set with more links to make a new one."
        )


def _check_writable(folder: Path | None) -> None:
    """Better before hours of trying than after."""
    if folder is not None and folder.exists() and not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise SettingError(f"{folder} is not a writable folder.")


class _Trials:
    """Prints what was tried: each trial as it comes, or the best ones at the end."""

    def __init__(self, *, every_trial: bool) -> None:
        self._every_trial = every_trial
        self._trials: list[Trial] = []

    def __call__(self, trial: Trial) -> None:
        if self._every_trial:
            _print_line(_described(trial))
        elif self._trials and self._trials[-1].layer != trial.layer:
            self._say_lowest()
        self._trials.append(trial)

    def _say_lowest(self) -> None:
        """Report each layer to a user who waits for many."""
        layer = self._trials[-1].layer
        found = [trial.mean_aer for trial in self._trials if trial.layer == layer and not trial.present]
        if found:
            say(f"layer {layer}: lowest AER {min(found):.2f}.")

    def print_best(self) -> None:
        if self._every_trial:
            return
        ordered = sorted(self._trials, key=lambda trial: trial.mean_aer)
        shown, others = ordered[:_MOST_SHOWN], ordered[_MOST_SHOWN:]
        for trial in (*shown, *(trial for trial in others if trial.present)):
            _print_line(_described(trial))
        others = [trial for trial in others if not trial.present]
        if others:
            alike = sum(f"{trial.mean_aer:.2f}" == f"{shown[0].mean_aer:.2f}" for trial in others)
            tie = f", {alike:,} of them with the same AER as the best" if alike else ""
            say(f"{len(others):,} more were tried{tie}. To print every trial, add --all.")


def _print_line(text: str) -> None:
    """What is found is stored even if nobody reads along any more."""
    with contextlib.suppress(BrokenPipeError):
        print(text, flush=True)


def _described(trial: Trial) -> str:
    settings = trial.settings
    parts = ["the model's own settings"] if trial.present else []
    parts += [] if trial.layer is None else [f"layer {trial.layer}"]
    parts.append(str(settings.method))
    if settings.threshold is not None:
        parts.append(f"threshold {settings.threshold:g}")
    if settings.null is not None:
        parts.append(f"null {settings.null:g}")
    means = f"AER {trial.mean_aer:.2f} P {trial.mean.precision:.2f} R {trial.mean.recall:.2f}"
    aers = " ".join(f"{rates.aer:.1f}" for rates in trial.rates)
    return f"{', '.join(parts)}: {means}" + (f" (AER {aers})" if len(trial.rates) > 1 else "")


def _as_options(model: str, trial: Trial) -> str:
    """What to add to `weft align` so that it aligns as in a trial."""
    settings = trial.settings
    given = {
        "model": None if model == DEFAULT_MODEL else model,
        "layer": trial.layer,
        "method": settings.method,
        "threshold": settings.threshold,
        "null": "off" if settings.null is None else f"{settings.null:g}",
    }
    return "".join(f" --{name} {quote(str(value))}" for name, value in given.items() if value is not None)


def _listed(name: str, given: str | None, read: Callable[[str], _Value]) -> list[_Value] | None:
    """The values of an option that takes several, separated by commas."""
    if given is None:
        return None
    try:
        return [read(value.strip()) for value in given.split(",")]
    except ValueError as error:
        kinds = {"null": "numbers or off", "thresholds": "numbers from 0 to 1"}.get(name, "numbers")
        raise SettingError(f"`{name}` must be {kinds}, separated by commas, got {given!r}.") from error


def _threshold(value: str) -> float:
    threshold = float(value)
    if not 0 <= threshold <= 1:
        raise ValueError
    return threshold


def _null(value: str) -> float | None:
    null = None if value == "off" else float(value)
    if null is not None and not math.isfinite(null):
        raise ValueError
    return null


def _method(name: str) -> str:
    if name.strip() not in METHODS:
        raise SettingError(f"`methods` must be one or more of {', '.join(METHODS)}, got {name!r}.")
    return name.strip()
