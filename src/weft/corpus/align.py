"""`align_files`: a corpus from file to file, on this machine or with Ray; one output line for each input line."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.corpus.job import (
    AlignJob,
    CorpusFiles,
    Engine,
    Listeners,
    LoadedJob,
    OnBadLine,
    collecting_seldom,
    log_remarks,
)
from weft.corpus.records import Counts, OutputFormat, cut_records, format_named
from weft.errors import FormatError, SettingError, chosen, percentage_hint
from weft.extraction.scores import Scores
from weft.extraction.terms import Term, read_terms
from weft.text.fields import PairFields
from weft.text.files import Write, refuse_overwriting, writing
from weft.text.lines import STDIN
from weft.text.pair_formats import PairFormat
from weft.text.segment import word_splitters
from weft.text.watches import no_links_remark

if TYPE_CHECKING:
    from weft.corpus.ahead import ReadAhead
    from weft.corpus.workers import Workers

logger = logging.getLogger(__name__)

_NO_TERMS = "no source sentence contains any of the terms, whose first column must be in the language of the source."
_NOT_RAW = "If the text is not split into words, use `raw`."


@dataclass(frozen=True, slots=True)
class AlignedFiles:
    """What `align_files` did: lines written, how many of them are not pairs, and sentences read in windows.

    `missing_terms` says how often a source contains a term and the target lacks its translation. `unknown_lines` is the
    number of lines in which more than a third of the words of a side are unknown to the model. `linked_lines` is the
    number of lines with links, `headings` the number of lines that contain column names, and `term_lines` the number of
    lines whose source contains a term.
    """

    lines: int
    bad_lines: int
    long_sentences: int
    missing_terms: int = 0
    unknown_lines: int = 0
    linked_lines: int = 0
    headings: int = 0
    term_lines: int = 0


def align_files(
    source: str | Path,
    target: str | Path | None = None,
    *,
    output: str | Path | Write,
    model: str | Path = "weft-mini",
    input_format: PairFormat | str = PairFormat.AUTO,
    source_field: str | None = None,
    target_field: str | None = None,
    columns: str | Sequence[str] | None = None,
    output_format: OutputFormat | str | None = None,
    scores: Scores | str = Scores.NONE,
    raw: bool = False,
    source_language: str | None = None,
    target_language: str | None = None,
    min_probability: float | None = None,
    terms: str | Path | Iterable[tuple[str, str]] | None = None,
    shards: int | None = None,
    resume: bool = False,
    workers: int | None = None,
    engine: Engine | str = Engine.LOCAL,
    address: str | None = None,
    line_by_line: bool = False,
    on_bad_line: OnBadLine | None = None,
    on_progress: Callable[[int], object] | None = None,
    on_total: Callable[[int, int], object] | None = None,
    on_missing_term: Callable[[int, str], object] | None = None,
    **settings: Any,
) -> AlignedFiles:
    """Align a corpus as `weft align` does: one line of links for each input line.

    A line that cannot be aligned gets an empty line. The output appears only when it is complete.

    Args:
        source: the pairs, or the source side; `-` is stdin. With Ray, it may also be a folder, a pattern or an fsspec
            address.
        target: the target side, if it is in a separate file.
        output: the file to write, or a function that receives the output piece by piece.
        model: a built-in model, a folder, or a model on the Hugging Face Hub.
        input_format: the format of the input: `auto`, `bars`, `tsv`, `csv` or `jsonl`.
        source_field: the JSONL field, or the column of a table, that contains the source sentence. By default, it is
            `source`, or weft finds the sentence in `translation`.
        target_field: the JSONL field, or the column of a table, that contains the target sentence.
        columns: names for the columns of a table without a header row, such as `id,source,target`. JSONL output keeps
            columns with any other name.
        output_format: the format of the output: `pharaoh`, `jsonl`, `words` or `naacl`. By default, the output file's
            name decides (`.jsonl`, `.naacl`), and other output is `pharaoh`.
        scores: which scores the links have: `none`, `calibrated` or `raw`.
        raw: whether the text is not split into words yet.
        source_language: the language code of raw text; by default, guessed from the script. It also chooses which
            language of a translation memory is the source.
        target_language: the language code of the target side.
        min_probability: leave out links whose probability is below this value, from 0 to 1.
        terms: words whose translation is known, as pairs or as a file with two columns. If a line contains both, they
            are linked to each other and to nothing else.
        shards: the number of pieces into which the work is split. If the run is killed, finished pieces are kept.
        resume: continue where a killed run with shards stopped.
        workers: the number of processes; by default 1, or one for each GPU with shards or Ray.
        engine: `local`, or `ray` for many files and machines.
        address: the address of a running Ray cluster; by default, Ray is started on this machine.
        line_by_line: write each line's links before the next line is read.
        on_bad_line: called for each line that cannot be aligned. If it raises an exception, the run ends. By default,
            such lines are logged.
        on_progress: called with the number of lines that have been aligned since the last call.
        on_total: with shards, called once before the first shard, with the number of lines and the number of those that
            an interrupted run has already aligned.
        on_missing_term: called for each line whose source contains a term and whose target lacks its translation.
        settings: further arguments of `Aligner.from_pretrained`: `layer`, `device`, `dtype`, `batch_tokens`, `method`,
            `threshold`, `alpha`, `cost`, `symmetrize`, `null`.

    Returns:
        How many lines were written, and how many of them are not pairs.

    Raises:
        SettingError: settings that do not go together.
        WeftError: a file or a model that cannot be used; `FormatError` names the line.
    """
    if not all(isinstance(path, str | os.PathLike) for path in (source, target) if path is not None):
        raise SettingError("give one file of pairs as `source`, or the two sides as `source` and `target`.")
    if not raw and (source_language or target_language):
        raise SettingError("`source_language` and `target_language` need `raw`.")
    if min_probability is not None and not 0 <= min_probability <= 1:
        hint = percentage_hint(min_probability)
        raise SettingError(f"`min_probability` must be between 0 and 1, got {min_probability:g}.{hint}")
    kind = chosen("engine", Engine, engine)
    job = AlignJob(
        str(model),
        settings,
        chosen("input_format", PairFormat, input_format),
        _output_format(output, output_format),
        chosen("scores", Scores, scores),
        raw,
        (source_language, target_language),
        PairFields.of(source_field, target_field, columns, (source_language, target_language)),
        min_probability=min_probability,
    )
    if terms is not None:
        job = replace(job, terms=tuple(_terms(terms, job)))
    missing = _Counted(on_missing_term)
    files = CorpusFiles(
        str(source), None if target is None else str(target), output if callable(output) else str(output)
    )
    if not callable(output):
        refuse_overwriting(output, [source, *([] if target is None else [target])])
    bad_lines = _BadLines(on_bad_line)
    listeners = Listeners(
        bad_lines.add, on_progress or (lambda lines: None), missing.add, on_total or (lambda lines, done: None)
    )
    if kind is Engine.RAY:
        _refuse(shards=shards, resume=resume)
        from weft.corpus.ray import align_with_ray

        done = align_with_ray(job, files, listeners, workers=workers, address=address)
    else:
        _refuse(address=address)
        done = _locally(job, files, listeners, shards=shards, resume=resume, workers=workers, line_by_line=line_by_line)
    _warn_of_unknown_words(job, done)
    pairs = done.lines - done.headings - bad_lines.count
    remark = no_links_remark(pairs, done.linked_lines)
    # Links that are left out on purpose, and words that cannot be read, are reasons enough.
    if remark and (not done.linked_lines or (min_probability is None and done.unknown_lines < pairs / 2)):
        logger.warning("%s", remark)
    if job.terms and pairs and not done.term_lines:
        logger.warning("%s", _NO_TERMS if job.raw else f"{_NO_TERMS} {_NOT_RAW}")
    return AlignedFiles(
        done.lines,
        bad_lines.count,
        done.long_sentences,
        missing.count,
        done.unknown_lines,
        done.linked_lines,
        done.headings,
        done.term_lines,
    )


def _output_format(output: str | Path | Write, wanted: OutputFormat | str | None) -> OutputFormat:
    if wanted is not None:
        return chosen("output_format", OutputFormat, wanted)
    return OutputFormat.PHARAOH if callable(output) else format_named(str(output))


def _warn_of_unknown_words(job: AlignJob, done: Counts) -> None:
    if done.unknown_lines:
        from weft.models.languages import unknown_words_remark
        from weft.models.resolve import resolve_model

        logger.warning("%s", unknown_words_remark(done.unknown_lines, resolve_model(job.model).settings.languages))


def _terms(terms: str | Path | Iterable[tuple[str, str]], job: AlignJob) -> Iterable[Term]:
    """Terms in words as the text has them."""
    split = word_splitters(job.raw, *job.languages)
    if isinstance(terms, str | Path):
        return read_terms(terms, split, job.languages)
    return [Term(split[0](source), split[1](target)) for source, target in terms]


class _Counted:
    """Counts missing terms on their way to the listener."""

    def __init__(self, listener: Callable[[int, str], object] | None) -> None:
        self.count = 0
        self._listener = listener

    def add(self, line: int, term: str) -> None:
        self.count += 1
        if self._listener is not None:
            self._listener(line, term)


class _BadLines:
    """Counts bad lines on their way to the listener, or to the log."""

    def __init__(self, listener: OnBadLine | None) -> None:
        self.count = 0
        self._listener = listener or (lambda error: logger.warning("%s This pair gets no links.", error))

    def add(self, error: FormatError) -> None:
        self.count += 1
        self._listener(error)


def _refuse(**options: object) -> None:
    """Options that belong to the other engine."""
    for name, value in options.items():
        if value:
            engine = "`engine` ray" if name == "address" else "the local engine; Ray writes each file in one go"
            raise SettingError(f"`{name}` only works with {engine}.")


def _locally(
    job: AlignJob,
    files: CorpusFiles,
    listeners: Listeners,
    *,
    shards: int | None,
    resume: bool,
    workers: int | None,
    line_by_line: bool,
) -> Counts:
    if resume and not shards:
        raise SettingError("`resume` needs `shards`, with the same number as before.")
    for path in files.inputs:
        if path != STDIN:
            os.stat(path)  # a missing file should be known before a model is loaded
    job.segmenters()  # likewise a missing extra
    gpus = _gpus(job) if shards or workers else []
    count = workers or (len(gpus) if shards else 1) or 1
    if shards:
        from weft.corpus.shards import align_in_shards

        return align_in_shards(job, files, listeners, partial(_loaded, job, count, gpus), shards=shards, resume=resume)
    # Several processes read nothing themselves, and what is wanted line by line must not be read in chunks.
    reading = _reading_ahead(job, files) if count == 1 and not line_by_line else nullcontext()
    with reading as ahead, _loaded(job, count, gpus) as model:
        return _in_one_go(job, files, listeners, model, ahead, line_by_line=line_by_line)


def _gpus(job: AlignJob) -> list[str]:
    from weft.corpus.workers import visible_gpus

    return visible_gpus() if job.may_use_gpu() else []


@contextmanager
def _loaded(job: AlignJob, count: int, gpus: Sequence[str]) -> Iterator[LoadedJob | Workers]:
    """The model in this process, or in several; a GPU for each where there are GPUs."""
    if count == 1:
        with collecting_seldom():
            yield job.load()
        return
    from weft.corpus.workers import Workers

    with Workers(job, count, gpus) as workers:
        yield workers


def _reading_ahead(job: AlignJob, files: CorpusFiles) -> AbstractContextManager[ReadAhead | None]:
    """A process that reads the text for a GPU, begun before the model is loaded; or none."""
    if job.needs_words or not job.may_use_gpu():
        return nullcontext()
    from weft.corpus import ahead

    worth = ahead.is_worth_it(files.source, files.target)
    return ahead.ReadAhead(job, files.source, files.target) if worth else nullcontext()


def _in_one_go(
    job: AlignJob,
    files: CorpusFiles,
    listeners: Listeners,
    model: LoadedJob | Workers,
    ahead: ReadAhead | None,
    *,
    line_by_line: bool,
) -> Counts:
    """From anywhere to anywhere; nothing is kept of a run that does not end well."""
    description = model.describe()
    log_remarks(description.remarks)
    if ahead and description.tokenize:
        chunks = ahead.chunks(description.pace.chunk_words, description.tokenize, listeners.on_bad_line)
    else:
        records = job.read(files.source, files.target, listeners.on_bad_line)
        chunks = cut_records(records, 1 if line_by_line else description.pace.chunk_words)
    totals = Counts()
    with nullcontext(files.output) if callable(files.output) else writing(files.output) as write:
        for chunk in model.align(chunks, at_once=1 if line_by_line else None):
            write(chunk.output)
            totals += chunk.counts
            listeners.done(chunk)
    return totals
