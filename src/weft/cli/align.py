"""`weft align`: sentence pairs in, links out; one output line for each input line, whatever the line holds."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from os import stat
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.options import (
    AlphaOption,
    BatchTokensOption,
    CostOption,
    DeviceOption,
    Dtype,
    DtypeOption,
    LayerOption,
    MethodOption,
    ModelOption,
    OutputOption,
    SymmetrizeOption,
    ThresholdOption,
)
from weft.cli.output import only_one_stdin, say, write_lines
from weft.cli.progress import counted
from weft.cli.records import BadLines, OutputFormat, Record, read_records, record_writer
from weft.errors import SettingError
from weft.extraction.choices import Method, Scores
from weft.text.pairs import PairFormat
from weft.types import Alignment, SentencePair

if TYPE_CHECKING:
    from weft.aligner import Aligner
    from weft.extraction.settings import ExtractionSettings
    from weft.text.segment import Segmenter


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
    input_format: Annotated[PairFormat, typer.Option(help="Format of INPUT.")] = PairFormat.AUTO,
    output_format: Annotated[OutputFormat, typer.Option(help="Format of the links.")] = OutputFormat.PHARAOH,
    scores: Annotated[
        Scores, typer.Option(help="Add link probabilities; 'raw' gives awesome-align's.", metavar="[raw]")
    ] = Scores.NONE,
    raw: Annotated[bool, typer.Option("--raw", help="The text is not split into words yet.")] = False,
    source_language: Annotated[str | None, typer.Option(help="With --raw: language code, as de or ja.")] = None,
    target_language: Annotated[str | None, typer.Option(help="With --raw: likewise.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")] = False,
) -> None:
    """Align sentence pairs: 'source ||| target' lines, TSV or JSONL, or two parallel files.

    Example: echo 'das ist gut ||| that is good' | weft align
    """
    from weft.aligner import Aligner

    only_one_stdin(input, target)
    if not raw and (source_language or target_language):
        raise SettingError("--source-language and --target-language go with --raw.")
    for path in (input, target):
        if path not in (None, "-"):
            stat(path)  # a missing file should be known before a model is loaded
    segmenters = _segmenters(source_language, target_language) if raw else None
    aligner = Aligner.from_pretrained(
        model,
        layer=layer,
        device=device,
        dtype=dtype,
        batch_tokens=batch_tokens,
        method=method,
        threshold=threshold,
        alpha=alpha,
        cost=cost,
        symmetrize=symmetrize,
    )
    _name_unused(aligner.settings, threshold=threshold, alpha=alpha, cost=cost, symmetrize=symmetrize)
    if scores is Scores.CALIBRATED and aligner.settings.calibration is None:
        say("this model has no calibration yet ('weft tune' fits one); the scores are raw.")
    if scores is Scores.NONE and output_format is OutputFormat.JSONL:
        scores = Scores.CALIBRATED
    bad_lines = BadLines(strict=strict)
    records = read_records(input, target, format=input_format, segmenters=segmenters, on_error=bad_lines)
    write = record_writer(output_format, scores=scores is not Scores.NONE)
    if output_format is OutputFormat.WORDS and scores is not Scores.NONE:
        say("--scores has no effect with the output format words.")
    at_terminal = input == "-" and sys.stdin is not None and sys.stdin.isatty()
    total = 0

    def lines() -> Iterator[str]:
        nonlocal total
        chunk_words = 1 if at_terminal else None
        for record, alignment in _aligned(aligner, records, scores, chunk_words):
            total += 1
            yield write(record, alignment, total) + "\n"

    shown = output == "-" and sys.stdout is not None and sys.stdout.isatty()
    write_lines(output, counted(lines(), "pairs", quiet=shown or at_terminal))
    bad_lines.summarise(total)
    if long := aligner.encoder.long_sentences:
        say(f"sentences longer than the encoder takes, read in overlapping windows: {long:,}.")


# Which options mean something to which methods.
_USED_BY = {
    "threshold": (Method.SOFTMAX, Method.ENTMAX, Method.OT),
    "alpha": (Method.ENTMAX,),
    "cost": (Method.OT,),
    "symmetrize": (Method.SOFTMAX, Method.ENTMAX, Method.ARGMAX),
}


def _name_unused(settings: ExtractionSettings, **given: object) -> None:
    for name, value in given.items():
        if value is not None and settings.method not in _USED_BY[name]:
            say(f"--{name} has no effect with the method {settings.method}.")


def _aligned(
    aligner: Aligner, records: Iterable[Record], scores: Scores, chunk_words: int | None
) -> Iterator[tuple[Record, Alignment]]:
    """Alignments with the records they belong to; records wait in a queue while their chunk is aligned."""
    waiting: deque[Record] = deque()

    def pairs() -> Iterator[SentencePair]:
        for record in records:
            waiting.append(record)
            yield record.pair

    options = {} if chunk_words is None else {"chunk_words": chunk_words}
    for alignment in aligner.stream(pairs(), scores=scores, **options):
        yield waiting.popleft(), alignment


def _segmenters(source_language: str | None, target_language: str | None) -> tuple[Segmenter, Segmenter]:
    from weft.text.segment import segmenter_for

    return segmenter_for(source_language), segmenter_for(target_language)
