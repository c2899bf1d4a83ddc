"""What is to be done with a corpus, as a value that can be sent to other processes, and a loaded model that does it."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from weft.corpus.records import AlignedChunk, Chunk, Counts, OutputFormat, Record, read_records, record_writer
from weft.errors import FormatError, SettingError
from weft.extraction.methods import METHODS
from weft.extraction.scores import Scores
from weft.extraction.terms import Term, TermIndex, keep_terms
from weft.text.fields import PairFields
from weft.text.files import Write
from weft.text.pair_formats import PairFormat
from weft.text.pairs import PLAIN
from weft.version import __version__

if TYPE_CHECKING:
    from weft.encoding.encoder import Pace
    from weft.encoding.subwords import PairTokenizer, TokenizedPairs
    from weft.text.segment import Segmenter
    from weft.types import Alignment

logger = logging.getLogger(__name__)

OnBadLine = Callable[[FormatError], object]


class Engine(StrEnum):
    """What runs the aligner: this machine, or Ray."""

    LOCAL = "local"
    RAY = "ray"


@dataclass(frozen=True, slots=True)
class CorpusFiles:
    """Where pairs are read and links written: names of files, or a function for the output."""

    source: str
    target: str | None
    output: str | Write

    @property
    def inputs(self) -> list[str]:
        """The one or two files that are read."""
        return [self.source] if self.target is None else [self.source, self.target]


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who is told of lines without a pair, of more lines that have been aligned, of missing terms, and of the total."""

    on_bad_line: OnBadLine
    on_progress: Callable[[int], object]
    on_missing_term: Callable[[int, str], object]
    on_total: Callable[[int, int], object]

    def done(self, chunk: AlignedChunk) -> None:
        """Tell them of one more chunk."""
        for line, term in chunk.missing_terms:
            self.on_missing_term(line, term)
        self.on_progress(chunk.counts.lines)


@dataclass(frozen=True)
class AlignJob:
    """All that is asked for but the files. `settings` go to `Aligner.from_pretrained` as they are."""

    model: str
    settings: dict[str, Any]
    input_format: PairFormat = PairFormat.AUTO
    output_format: OutputFormat = OutputFormat.PHARAOH
    scores: Scores = Scores.NONE
    raw: bool = False
    languages: tuple[str | None, str | None] = (None, None)
    fields: PairFields = PLAIN
    terms: tuple[Term, ...] = ()
    min_probability: float | None = None

    @property
    def computed_scores(self) -> Scores:
        """JSON always holds scores, and who asks for probable links needs to know how probable they are."""
        wanted = self.output_format is OutputFormat.JSONL or self.min_probability is not None
        return Scores.CALIBRATED if wanted and self.scores is Scores.NONE else self.scores

    @property
    def needs_words(self) -> bool:
        """Whether the words of a line are looked at again once it is aligned."""
        return self.output_format in (OutputFormat.JSONL, OutputFormat.WORDS) or bool(self.terms)

    @property
    def given(self) -> frozenset[str]:
        """The settings of the model that were chosen, not left to it."""
        return frozenset(name for name, value in self.settings.items() if value not in (None, "auto"))

    def segmenters(self) -> tuple[Segmenter, Segmenter] | None:
        """How raw text is cut into words, if it is raw."""
        if not self.raw:
            return None
        from weft.text.segment import segmenter_for

        return segmenter_for(self.languages[0]), segmenter_for(self.languages[1])

    def may_use_gpu(self) -> bool:
        """Whether the model would run on a GPU if there is one: not an ONNX graph."""
        from weft.models.resolve import resolve_model

        return resolve_model(self.model).may_use_gpu(self.settings.get("device", "auto"))

    def read(self, path: str, target: str | None, on_bad_line: OnBadLine, *, jsonl: bool = False) -> Iterator[Record]:
        """Read the records of a file or of two parallel files, one for each line.

        Args:
            path: the pairs, or the source side.
            target: the target side, if it is in a file of its own.
            on_bad_line: told of each line that holds no pair.
            jsonl: the file is JSONL, whatever the job says of others.
        """
        format = PairFormat.JSONL if jsonl else self.input_format
        return read_records(
            path,
            target,
            format=format,
            fields=self.fields,
            keep_extra=self.output_format is OutputFormat.JSONL,
            segmenters=self.segmenters(),
            on_error=on_bad_line,
        )

    def load(self) -> LoadedJob:
        """Load the model."""
        return LoadedJob(self)

    def tokenizer_ahead(self) -> PairTokenizer | None:
        """How the model will cut text into subwords on a GPU, if its files say so; nothing is loaded for it."""
        from weft.encoding.bert_files import read_files
        from weft.models.resolve import resolve_model

        source = resolve_model(self.model)
        files = read_files(source.folder) if source.folder is not None else None
        return files.pair_tokenizer(joint=source.settings.joint) if files else None


@dataclass(frozen=True, slots=True)
class Description:
    """What a loaded model tells those who send it work; `remarks` are sentences for the user."""

    remarks: Sequence[str]
    pace: Pace
    tokenize: PairTokenizer | None = None
    """How to cut its text into subwords elsewhere, if that is worth a process."""


class LoadedJob:
    """A job whose model is loaded: it turns chunks of records into output, in this process."""

    def __init__(self, job: AlignJob) -> None:
        from weft.aligner import Aligner

        self._job = job
        self._aligner = Aligner.from_pretrained(job.model, **job.settings)
        self._write = record_writer(job.output_format, scores=job.scores is not Scores.NONE)
        self._check_probabilities()
        self._terms = TermIndex(job.terms)
        self._long_sentences = 0

    def _check_probabilities(self) -> None:
        job, settings = self._job, self._aligner.settings
        if job.min_probability is None:
            return
        if job.computed_scores is not Scores.CALIBRATED:
            raise SettingError("`min_probability` needs probabilities; leave out `scores` raw.")
        if settings.calibration is None:
            raise SettingError(
                f"this model has no calibration for the method {settings.method}, so the probabilities of its links "
                "are not known. 'weft tune' fits one; without it, use `threshold`."
            )

    def align(self, chunks: Iterable[Chunk], *, at_once: int | None = None) -> Iterator[AlignedChunk]:
        """Results in the order of the chunks, as many at a time as the model can use, or `at_once`."""
        scores = self._job.computed_scores
        for chunk, alignments in self._aligner.align_chunks(chunks, self._tokenized, scores=scores, at_once=at_once):
            yield self._written(chunk, alignments)

    def _tokenized(self, chunk: Chunk) -> TokenizedPairs:
        if chunk.tokenized is not None:
            return chunk.tokenized
        return self._aligner.encoder.tokenize([record.pair for record in chunk.records])

    def _written(self, chunk: Chunk, alignments: Sequence[Alignment]) -> AlignedChunk:
        assert len(alignments) == chunk.lines, "one line out for each line in"
        missing: list[tuple[int, str]] = []
        term_lines = 0
        if self._job.min_probability is not None:
            alignments = [links.at_least(self._job.min_probability) for links in alignments]
        if self._job.terms:
            pairs = [record.pair for record in chunk.records]
            found = zip(pairs, alignments, strict=True)
            kept = [keep_terms(pair, links, self._terms.of(pair.source)) for pair, links in found]
            alignments = [result.alignment for result in kept]
            missing = [(line, str(term)) for line, done in enumerate(kept, chunk.first) for term in done.missing]
            term_lines = sum(bool(done.kept or done.missing) for done in kept)
        text = self._write(chunk.records, alignments, chunk.first)
        # File names may hold bytes that are no text; they must not end a run.
        output = text.encode("utf-8", "backslashreplace")
        counts = Counts(
            chunk.lines,
            self._new_long_sentences(),
            unknown_lines=sum(alignment.unknown > 0 for alignment in alignments),
            linked_lines=sum(bool(alignment.links) for alignment in alignments),
            headings=chunk.headings,
            term_lines=term_lines,
        )
        return AlignedChunk(chunk.first, output, counts, tuple(missing))

    def _new_long_sentences(self) -> int:
        """Those that were not reported yet; with chunks side by side they may be another chunk's, the sum is right."""
        before, self._long_sentences = self._long_sentences, self._aligner.encoder.long_sentences
        return self._long_sentences - before

    def describe(self) -> Description:
        """How it wants its chunks, and what the user should know."""
        encoder = self._aligner.encoder
        return Description(self._remarks(), encoder.pace, encoder.tokenize if encoder.pace.read_ahead else None)

    def _remarks(self) -> list[str]:
        """Options without effect, scores that are not what they might seem, and languages that the model lacks."""
        from weft.models.languages import unknown_languages

        job, settings = self._job, self._aligner.settings
        advice = f"; {'add' if job.settings.get('method') is None else 'use'} `method` softmax"
        remarks = [
            f"`{name}` has no effect with the method {settings.method}{advice if name == 'symmetrize' else ''}."
            for name in ("threshold", "alpha", "cost", "symmetrize")
            if job.settings.get(name) is not None and not METHODS[settings.method].uses(name)
        ]
        if job.scores is Scores.CALIBRATED and settings.calibration is None:
            null = "" if settings.null is None else f" with the null {settings.null:g}"
            missing = f"this model has no calibration for the method {settings.method}{null}"
            remarks.append(f"{missing} ('weft tune' fits one); the scores are raw.")
        remarks += unknown_languages(self._aligner.languages, *job.languages)
        if job.scores is not Scores.NONE and job.output_format is OutputFormat.WORDS:
            remarks.append("`scores` has no effect with the output format words.")
        return remarks

    def identity(self) -> dict[str, Any]:
        """Everything the output depends on besides the input, by the names of the parameters."""
        from weft.models.resolve import resolve_model

        job, encoder = self._job, self._aligner.encoder
        links = {name: str(value) for name, value in self._aligner.settings.to_json().items()}
        given = {name: job.settings.get(name) for name in ("layer", "dtype", "batch_tokens")}
        options = {
            **given,
            "device": encoder.device_name,
            "input_format": job.input_format,
            "output_format": job.output_format,
            "scores": job.computed_scores,
            "raw": job.raw,
            "source_language": job.languages[0],
            "target_language": job.languages[1],
            "source_field": job.fields.source,
            "target_field": job.fields.target,
            "columns": ",".join(job.fields.columns) or None,
            "terms": "; ".join(map(str, job.terms)) or None,
            "min_probability": job.min_probability,
        }
        spelt = {name: None if value is None else str(value) for name, value in options.items()}
        return {"the version of weft": __version__, "model": resolve_model(job.model).identity(), **spelt, **links}


def log_remarks(remarks: Sequence[str]) -> None:
    """Tell the user what a loaded model has to say."""
    for remark in remarks:
        logger.warning("%s", remark)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Let Python look for reference cycles less often.

    A chunk makes hundreds of thousands of tuples, none of them in a cycle; going through them again and again took half
    of the time outside the encoder.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(500_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
