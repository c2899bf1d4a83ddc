"""`weft train`: fine-tune an encoder on parallel text, or train one from scratch."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.options import MODEL, OUTPUT
from weft.cli.output import say
from weft.errors import MissingExtraError, SettingError

if TYPE_CHECKING:
    from weft.training.config import TrainingConfig

_RUN = "Run"
_DATA = "Data"


def train(
    corpora: Annotated[
        list[str] | None, typer.Argument(metavar="CORPUS", help="Files of sentence pairs in any format.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="Folder for the model.", rich_help_panel=OUTPUT)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="BASE",
            help="The encoder to start from.",
            show_default="bert-base-multilingual-cased",
            rich_help_panel=MODEL,
        ),
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE.toml", help="All settings; options win.", rich_help_panel=_RUN)
    ] = None,
    objectives: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME", help="Some of mlm,tlm,so,psi,co.", show_default="mlm,tlm,so,psi", rich_help_panel=_RUN
        ),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Links for a corpus, in the corpora's order; an empty line gives none.",
            show_default="the model's own",
            rich_help_panel=_DATA,
        ),
    ] = None,
    dev: Annotated[
        list[str] | None,
        typer.Option(metavar="PREFIX", help="A dev set; the model with the best AER is kept.", rich_help_panel=_DATA),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PREFIX", help="A test set not to train on.", rich_help_panel=_DATA)
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The layer that aligns.", show_default="the encoder's best known", rich_help_panel=MODEL
        ),
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(metavar="N", help="Rounds through the text.", show_default="1", rich_help_panel=_RUN)
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option(metavar="N", help="Stop after so many steps.", rich_help_panel=_RUN)
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(metavar="N", help="Pairs a step.", show_default="8", rich_help_panel=_RUN)
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="The highest; it falls to 0.", show_default="2e-5", rich_help_panel=_RUN),
    ] = None,
    beta: Annotated[
        float | None, typer.Option(metavar="WEIGHT", help="Weight of co.", show_default="1", rich_help_panel=_RUN)
    ] = None,
    precision: Annotated[
        str | None, typer.Option(metavar="NAME", help="no, bf16 or fp16.", show_default="no", rich_help_panel=_RUN)
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Of everything that is random.", show_default="42", rich_help_panel=_RUN),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest checkpoint.", rich_help_panel=_RUN)
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a model in the output folder.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Train an encoder to align words, with the paper's objectives.

    Example: weft train de-en.txt --model bert-base-multilingual-cased --output my-model --dev dev/de-en
    """
    given = {
        "output": output,
        "model": model,
        "objectives": objectives.split(",") if objectives else None,
        "corpora": _corpora(corpora or [], links or []) or None,
        "dev": dev or None,
        "exclude": exclude or None,
        "layer": layer,
        "epochs": epochs,
        "max_steps": max_steps,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "beta": beta,
        "precision": precision,
        "seed": seed,
    }
    settings = _settings(config, given)
    try:
        from weft.training.loop import train as run
    except ModuleNotFoundError as error:
        raise MissingExtraError("torch", "Training") from error
    with _progress() as report:
        progress = run(settings, resume=resume, overwrite=overwrite, report=report)
    if os.environ.get("RANK", "0") != "0":
        return  # one of several processes speaks for all
    if progress.best_aer is not None:
        say(f"best mean dev AER {progress.best_aer:.2f} at step {progress.best_step:,}.")
    say(f"the model is in {settings.output}.")


def _corpora(paths: list[str], links: list[str]) -> list[dict[str, str]]:
    if len(links) > len(paths):
        raise SettingError(f"there are {len(links)} files of links for {len(paths)} corpora.")
    return [
        {"path": path, **({"links": links[number]} if number < len(links) else {})} for number, path in enumerate(paths)
    ]


def _settings(config: str | None, given: dict[str, Any]) -> TrainingConfig:
    from weft.training.config import TrainingConfig

    if config is not None:
        return TrainingConfig.read(config, **given)
    return TrainingConfig.from_record({name: value for name, value in given.items() if value is not None})


@contextmanager
def _progress() -> Iterator[Callable[[dict[str, float]], None]]:
    """A line with losses, tokens a second and time left on a terminal; dev scores are printed and stay."""

    def say_scores(record: dict[str, float]) -> None:
        if "aer" in record:
            sets = ", ".join(f"{name[4:]} {value:.2f}" for name, value in record.items() if name.startswith("aer "))
            say(f"step {record['step']:,.0f}: dev AER {record['aer']:.2f} ({sets})")

    if not sys.stderr.isatty():
        yield say_scores
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(record: dict[str, float]) -> None:
            say_scores(record)
            if "of" in record:
                losses = " ".join(
                    f"{name} {record[name]:.3f}" for name in ("mlm", "tlm", "so", "psi", "co") if name in record
                )
                text = f"{losses}  {record['tokens/s']:,.0f} tokens/s"
                bar.update(task, completed=record["step"], total=record["of"], description=text)

        yield show
