"""`weft train`: fine-tune an encoder on parallel text, or train one from scratch."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from os import fspath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.groups import TextOptions, expanded
from weft.cli.options import MODEL, OUTPUT
from weft.cli.output import only_one_stdin, say
from weft.errors import MissingExtraError, SettingError
from weft.text.lines import STDIN, rereadable

if TYPE_CHECKING:
    from weft.training.checkpoints import Progress
    from weft.training.config import TrainingConfig

_RUN = "Run"
_DATA = "Data"
_NEW_PIECES = 3000


@expanded
def train(
    corpora: Annotated[
        list[str] | None,
        typer.Argument(metavar="CORPUS", help="Sentence pairs in any format, or annotation projects; - is stdin."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Folder for the model; required, here or in --config.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="BASE",
            help="Encoder to start from, called the base.",
            show_default="bert-base-multilingual-cased",
            rich_help_panel=MODEL,
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.toml", help="Settings file; command-line options override it.", rich_help_panel=_RUN
        ),
    ] = None,
    objectives: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="Training objectives: any of mlm, tlm, so, psi, co, teacher, unrelated, gold, masked.",
            show_default="depends on the base",
            rich_help_panel=_RUN,
        ),
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Model whose probabilities the encoder learns to reproduce.",
            show_default="the base, before training",
            rich_help_panel=MODEL,
        ),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Links for each CORPUS, in the same order; 'eflomal' lets a statistical aligner find them. A line may "
            "be blank if the links of its pair are unknown.",
            show_default="found by the model or by a statistical aligner",
            rich_help_panel=_DATA,
        ),
    ] = None,
    dev: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREFIX",
            help="Dev set: PREFIX.src, PREFIX.tgt and gold links in PREFIX.talp, or an annotation project; the run "
            "keeps the weights with the lowest AER on it. Can be repeated.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREFIX",
            help="Test set: PREFIX.src and PREFIX.tgt; the run stops if a corpus contains any of its sentences. Can be "
            "repeated.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    extend_vocabulary: Annotated[
        bool,
        typer.Option(
            "--extend-vocabulary",
            help="Add subwords for words that the encoder cannot read.",
            rich_help_panel=MODEL,
        ),
    ] = False,
    text: TextOptions = TextOptions(),  # noqa: B008 - it is frozen
    layer: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Layer to align with.",
            show_default="the base's own, or the best known one",
            rich_help_panel=MODEL,
        ),
    ] = None,
    epochs: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Number of passes over the text.",
            show_default="1; 2 to 8 for a new language",
            rich_help_panel=_RUN,
        ),
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option(metavar="N", help="Stop after N steps.", rich_help_panel=_RUN)
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="N", help="Stop after N minutes.", rich_help_panel=_RUN)
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(metavar="N", help="Pairs per step.", show_default="depends on the base", rich_help_panel=_RUN),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            help="Peak learning rate; the rate falls to 0 by the end.",
            show_default="depends on the base",
            rich_help_panel=_RUN,
        ),
    ] = None,
    beta: Annotated[
        float | None,
        typer.Option(metavar="WEIGHT", help="Weight of the 'co' objective.", show_default="1", rich_help_panel=_RUN),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Mixed precision: no, bf16 or fp16.", show_default="no", rich_help_panel=_RUN
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Random seed.", show_default="42", rich_help_panel=_RUN),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the latest checkpoint.", rich_help_panel=_RUN)
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Replace a model that is already in the output folder.", rich_help_panel=OUTPUT
        ),
    ] = False,
) -> None:
    """Train an encoder on text or links, or teach it a new language.

    Example: weft train de-en.txt --model weft-mini --output my-model --dev dev/de-en
    """
    with _without_stdin(corpora or [], links or [], resume=resume) as files:
        given = {
            "output": output,
            "model": model,
            "objectives": objectives.split(",") if objectives else None,
            "corpora": _corpora(*files, text) or None,
            "teacher": teacher,
            "extend_vocabulary": _NEW_PIECES if extend_vocabulary else None,
            "dev": dev or None,
            "exclude": exclude or None,
            "layer": layer,
            "epochs": epochs,
            "max_steps": max_steps,
            "minutes": minutes,
            "batch_size": batch_size,
            "learning_rate": learning_rate,
            "beta": beta,
            "precision": precision,
            "seed": seed,
        }
        _run(config, given, resume=resume, overwrite=overwrite)


def _run(config: str | None, given: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
    try:
        settings = _settings(config, given)
        from weft.training.files import check_files

        check_files(settings, resume=resume, overwrite=overwrite)
        from weft.training.loop import train as run
    except ModuleNotFoundError as error:
        raise MissingExtraError("torch", "Training") from error
    with _progress() as report:
        progress = run(settings, resume=resume, overwrite=overwrite, report=report, say=say)
    if os.environ.get("RANK", "0") != "0":
        return  # one of several processes speaks for all
    _say_result(progress, bool(settings.dev))
    say(f"saved the model to {settings.output}.")


def _say_result(progress: Progress, by_dev: bool) -> None:
    if progress.before is None or progress.best is None or progress.last is None:
        return
    judge, digits = ("mean dev AER", 2) if by_dev else ("loss on held-out pairs", 3)
    before, last, best = (f"{score:.{digits}f}" for score in (progress.before, progress.last, progress.best))
    if progress.best_step == 0:
        say(f"{judge}: {before} before, {last} after. Training did not help, so the starting weights were kept.")
    else:
        say(f"{judge}: {before} before, {best} after (step {progress.best_step:,}).")


@contextmanager
def _without_stdin(paths: list[str], links: list[str], *, resume: bool) -> Iterator[tuple[list[str], list[str]]]:
    """The paths, with a copy on disk in place of stdin: training reads its text several times."""
    if STDIN not in (*paths, *links):
        yield paths, links
        return
    only_one_stdin(*paths, *links)
    if resume:
        raise SettingError("a run whose text comes from stdin cannot be resumed; save the text in a file.")
    with rereadable(STDIN) as copy:
        found = {STDIN: fspath(copy)}
        yield [found.get(path, path) for path in paths], [found.get(path, path) for path in links]


def _corpora(paths: list[str], links: list[str], text: TextOptions) -> list[dict[str, Any]]:
    if len(links) > len(paths):
        raise SettingError(f"there are more --links ({len(links)}) than corpora ({len(paths)}).")
    alike = {**asdict(text), "input_format": str(text.input_format)}
    return [
        {**_corpus(path, links[number] if number < len(links) else None), **alike} for number, path in enumerate(paths)
    ]


def _corpus(path: str, links: str | None) -> dict[str, Any]:
    """A file of pairs, or the gold of an annotation project."""
    from weft.annotation.project import gold_file, is_project

    if not is_project(path):
        return {"path": path, "links": links}
    if links is not None:
        raise SettingError(
            f"{path} is an annotation project and has its own links; use --links only for other corpora."
        )
    gold = str(gold_file(path))
    return {"path": gold, "links": gold}


def _settings(config: str | None, given: dict[str, Any]) -> TrainingConfig:
    from weft.training.config import TrainingConfig

    if config is not None:
        return TrainingConfig.read(config, **given)
    if given["corpora"] is None or given["output"] is None:
        example = "weft train pairs.tsv --model weft-mini --output my-model"
        raise SettingError(f"name one or more files with sentence pairs, and a folder for the model: {example}")
    return TrainingConfig.from_record({name: value for name, value in given.items() if value is not None})


@contextmanager
def _progress() -> Iterator[Callable[[dict[str, float]], None]]:
    """A line with losses and time left: on a terminal it moves, elsewhere there is one now and then."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(record: dict[str, float]) -> None:
            _say_score(record)
            if "of" in record:
                text = f"{_losses(record)}  {record['tokens/s']:,.0f} tokens/s"
                bar.update(task, completed=record["step"], total=record["of"] or None, description=text)

        yield show


class _Lines:
    """Says how a run goes: soon after its start, then every half minute."""

    _FIRST, _EVERY = 5.0, 30.0

    def __init__(self) -> None:
        self._next = time.monotonic() + self._FIRST

    def __call__(self, record: dict[str, float]) -> None:
        _say_score(record)
        from weft.training.pace import duration

        if "of" in record and time.monotonic() >= self._next:
            self._next = time.monotonic() + self._EVERY
            of = f" of {record['of']:,.0f}" if record["of"] else ""
            left = f"; {duration(record['seconds left'])} left" if record["seconds left"] >= 1 else ""
            say(f"step {record['step']:,.0f}{of}: {_losses(record)}{left}.")


def _losses(record: dict[str, float]) -> str:
    others = ("step", "of", "tokens/s", "lr", "seconds left")
    return " ".join(f"{name} {value:.3f}" for name, value in record.items() if name not in others)


def _say_score(record: dict[str, float]) -> None:
    when = f"step {record['step']:,.0f}" if record["step"] else "before training"
    if "aer" in record:
        sets = ", ".join(f"{name[4:]} {value:.2f}" for name, value in record.items() if name.startswith("aer "))
        say(f"{when}: dev AER {record['aer']:.2f} ({sets})")
    elif "held out" in record:
        said = [f"loss on held-out pairs {record['held out']:.3f}"]
        if record["step"] and "links kept" in record:
            said.append(f"{record['links kept']:.1f}% of links match the teacher's")
        if "unrelated linked" in record:
            said.append(f"{record['unrelated linked']:.1f}% of words in unrelated sentences are linked")
        say(f"{when}: {', '.join(said)}.")
