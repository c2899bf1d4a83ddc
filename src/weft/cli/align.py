"""`weft align`: sentence pairs in, links out; one output line for each input line, whatever the line holds."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.badlines import BadLines
from weft.cli.jobs import AlignJob
from weft.cli.options import (
    OUTPUT,
    AddressOption,
    AlphaOption,
    BatchTokensOption,
    CostOption,
    DeviceOption,
    Dtype,
    DtypeOption,
    Engine,
    EngineOption,
    InputFormatOption,
    LayerOption,
    MethodOption,
    ModelOption,
    NullOption,
    OutputOption,
    RawOption,
    ResumeOption,
    ShardsOption,
    SourceLanguageOption,
    StrictOption,
    SymmetrizeOption,
    TargetLanguageOption,
    ThresholdOption,
    WorkersOption,
)
from weft.cli.output import on_screen, only_one_stdin, open_output, say
from weft.cli.progress import counted
from weft.cli.records import OutputFormat
from weft.errors import SettingError
from weft.extraction.choices import Scores
from weft.text.pairs import PairFormat

if TYPE_CHECKING:
    from weft.distributed.ahead import ReadAhead
    from weft.distributed.shards import ShardedRun
    from weft.distributed.workers import Workers


def align(
    input: Annotated[str, typer.Argument(metavar="INPUT", help="Pairs, or the source side; - is stdin.")] = "-",
    target: Annotated[str | None, typer.Argument(metavar="TARGET", help="The target side, line by line.")] = None,
    output: OutputOption = "-",
    model: ModelOption = "weft-mini",
    layer: LayerOption = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = Dtype.AUTO,
    batch_tokens: BatchTokensOption = None,
    method: MethodOption = None,
    threshold: ThresholdOption = None,
    alpha: AlphaOption = None,
    cost: CostOption = None,
    symmetrize: SymmetrizeOption = None,
    null: NullOption = None,
    input_format: InputFormatOption = PairFormat.AUTO,
    output_format: Annotated[
        OutputFormat, typer.Option(help="Format of the links.", rich_help_panel=OUTPUT)
    ] = OutputFormat.PHARAOH,
    scores: Annotated[
        Scores,
        typer.Option(
            help="Add link probabilities; 'raw' gives awesome-align's.", metavar="[raw]", rich_help_panel=OUTPUT
        ),
    ] = Scores.NONE,
    raw: RawOption = False,
    source_language: SourceLanguageOption = None,
    target_language: TargetLanguageOption = None,
    strict: StrictOption = False,
    shards: ShardsOption = None,
    resume: ResumeOption = False,
    workers: WorkersOption = None,
    engine: EngineOption = Engine.LOCAL,
    address: AddressOption = None,
) -> None:
    """Align sentence pairs: one line of links for each line.

    INPUT holds 'source ||| target' lines, TSV or JSONL, or the source side of two parallel files. A line that cannot be
    aligned gets an empty line.

    Example: echo 'das ist gut ||| that is good' | weft align
    """
    only_one_stdin(input, target)
    if not raw and (source_language or target_language):
        raise SettingError("--source-language and --target-language go with --raw.")
    settings = {
        "layer": layer,
        "device": device,
        "dtype": dtype,
        "batch_tokens": batch_tokens,
        "method": method,
        "threshold": threshold,
        "alpha": alpha,
        "cost": cost,
        "symmetrize": symmetrize,
        "null": null,
    }
    languages = (source_language, target_language)
    job = AlignJob(model, settings, input_format, output_format, scores, raw, languages)
    bad_lines = BadLines("It gets no links.", strict=strict)
    if engine is Engine.RAY:
        _refuse(shards=shards, resume=resume)
        total, long = _with_ray(job, input, target, output, bad_lines, workers=workers, address=address)
    else:
        _refuse(address=address)
        total, long = _locally(job, input, target, output, bad_lines, shards=shards, resume=resume, workers=workers)
    bad_lines.summarise(f"{bad_lines.count:,} of {total:,} lines could not be aligned and have no links.")
    if long:
        say(f"sentences longer than the encoder takes, read in overlapping windows: {long:,}.")


def _refuse(**options: object) -> None:
    """Options that belong to the other engine."""
    for name, value in options.items():
        if value:
            engine = "--engine ray" if name == "address" else "the local engine; Ray writes each file in one go"
            raise SettingError(f"--{name} goes with {engine}.")


def _locally(
    job: AlignJob,
    input: str,
    target: str | None,
    output: str,
    bad_lines: BadLines,
    *,
    shards: int | None,
    resume: bool,
    workers: int | None,
) -> tuple[int, int]:
    """Align on this machine; returns the number of lines and of sentences too long for the encoder."""
    if resume and not shards:
        raise SettingError("--resume goes with --shards, with the number it had before.")
    for path in (input, target):
        if path not in (None, "-"):
            os.stat(path)  # a missing file should be known before a model is loaded
    if shards:
        _only_files(input, target, output)
    job.segmenters()  # likewise a missing extra
    with _workers(job, workers, several=bool(shards)) as pool:
        if shards:
            return _in_shards(job, input, target, output, bad_lines, pool, shards=shards, resume=resume)
        return _in_one_go(job, input, target, output, bad_lines, pool)


def _workers(job: AlignJob, count: int | None, *, several: bool) -> Workers:
    """One process, or as many as asked for; a GPU for each where there are GPUs."""
    from weft.distributed.workers import Workers, visible_gpus

    gpus = visible_gpus() if (several or count) and job.may_use_gpu() else []
    return Workers(job, count or (len(gpus) if several else 1) or 1, gpus)


def _in_one_go(
    job: AlignJob, input: str, target: str | None, output: str, bad_lines: BadLines, workers: Workers
) -> tuple[int, int]:
    """From anywhere to anywhere; nothing is kept of a run that does not end well."""
    from weft.distributed.chunks import cut

    at_terminal = input == "-" and sys.stdin is not None and sys.stdin.isatty()
    total = long = 0
    with _ahead(job, input, target, workers) as ahead:
        description = workers.describe()
        _say_all(description.remarks)
        if ahead and description.preparation:
            chunks = ahead.chunks(description.chunk_words, description.preparation, bad_lines)
        else:
            # Who types a line wants its links before typing the next one.
            chunks = cut(job.read(input, target, bad_lines), 1 if at_terminal else description.chunk_words)
        with open_output(output) as write:

            def finished() -> Iterator[int]:
                nonlocal total, long
                for done in workers.align(chunks, at_once=1 if at_terminal else None):
                    write(done.output)
                    total += done.lines
                    long += done.long_sentences
                    yield done.lines

            _run(counted(finished(), "pairs", quiet=on_screen(output) or at_terminal, size=int))
    return total, long


def _ahead(job: AlignJob, input: str, target: str | None, workers: Workers) -> ReadAhead | AbstractContextManager[None]:
    """A process that reads the text for a GPU, begun before the model is loaded; or none."""
    from weft.distributed.ahead import ReadAhead, is_worth_it

    worth = workers.alone and job.may_use_gpu() and not job.needs_words and is_worth_it(input, target)
    return ReadAhead(job, input, target) if worth else nullcontext()


def _in_shards(
    job: AlignJob,
    input: str,
    target: str | None,
    output: str,
    bad_lines: BadLines,
    workers: Workers,
    *,
    shards: int,
    resume: bool,
) -> tuple[int, int]:
    """From file to file, in pieces that a killed run leaves behind for the next one."""
    from weft.distributed.chunks import cut
    from weft.distributed.manifest import Manifest, survey
    from weft.distributed.shards import ShardedRun

    inputs = survey(*([input] if target is None else [input, target]))
    description = workers.describe()
    _say_all(description.remarks)
    run = ShardedRun(output, Manifest(shards, inputs, workers.identity()), resume=resume)
    with _kept(run, shards):
        chunks = cut(job.read(input, target, bad_lines), description.chunk_words)
        _run(counted(run.work(chunks, workers), "pairs", quiet=False, size=int))
        with _naming(output), open_output(output) as write:
            for block in run.joined():
                write(block)
    run.remove()
    return run.lines, run.long_sentences


@contextmanager
def _kept(run: ShardedRun, shards: int) -> Iterator[None]:
    """Whatever ends the run early, say what is left of it."""
    try:
        yield
    except BaseException:
        say(f"{run.finished} of {shards} shards are finished and stay in {run.folder}; --resume goes on from there.")
        raise
    finally:
        run.close()


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """A full disk does not say which file it has no room for."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, error.filename or path) from error


def _only_files(input: str, target: str | None, output: str) -> None:
    for path in (input, target):
        if path is not None and not os.path.isfile(path):
            raise SettingError("--shards goes from file to file: INPUT must be a file, not a pipe.")
    if output == "-" or (os.path.exists(output) and not os.path.isfile(output)):
        raise SettingError("--shards goes from file to file: name the file to write with --output.")


def _say_all(remarks: Iterable[str]) -> None:
    for remark in remarks:
        say(remark)


def _run(steps: Iterable[int]) -> None:
    deque(steps, maxlen=0)


def _with_ray(
    job: AlignJob,
    input: str,
    target: str | None,
    output: str,
    bad_lines: BadLines,
    *,
    workers: int | None,
    address: str | None,
) -> tuple[int, int]:
    """Align a file or many on a Ray cluster; what comes back is in order."""
    from weft.distributed.files import plan
    from weft.distributed.ray import RayRun

    json_lines = job.output_format is OutputFormat.JSONL
    tasks = plan(input, target, output, ".jsonl" if json_lines else ".txt")
    if job.output_format is OutputFormat.NAACL and any(task.output.endswith(".parquet") for task in tasks):
        raise SettingError("the output format naacl has several lines a pair, and Parquet one row.")
    run = RayRun(job, tasks, workers=workers, gpu=job.may_use_gpu())
    done = run.work(address, open_output, json_lines=json_lines, on_error=bad_lines, say=say)
    _run(counted(done, "pairs", quiet=False, size=int))
    return run.lines, run.long_sentences
