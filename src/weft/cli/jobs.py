"""What `weft align` was asked to do, in a form that other processes and machines can be given."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from weft.cli.records import OutputFormat, Record, read_records, record_writer
from weft.errors import FormatError
from weft.extraction.choices import Method, Scores
from weft.text.pairs import PairFormat
from weft.version import __version__

if TYPE_CHECKING:
    from weft.distributed.chunks import Chunk, Description, Finished
    from weft.text.segment import Segmenter
    from weft.types import Alignment

# Which options mean something to which methods.
_USED_BY = {
    "threshold": (Method.SOFTMAX, Method.ENTMAX, Method.OT),
    "alpha": (Method.ENTMAX,),
    "cost": (Method.OT,),
    "symmetrize": (Method.SOFTMAX, Method.ENTMAX, Method.ARGMAX),
}


@dataclass(frozen=True)
class AlignJob:
    """The options of `weft align` but for the files. `settings` go to `Aligner.from_pretrained` as they are."""

    model: str
    settings: dict[str, Any]
    input_format: PairFormat = PairFormat.AUTO
    output_format: OutputFormat = OutputFormat.PHARAOH
    scores: Scores = Scores.NONE
    raw: bool = False
    languages: tuple[str | None, str | None] = (None, None)

    @property
    def computed_scores(self) -> Scores:
        """JSON always holds scores."""
        wanted = self.output_format is OutputFormat.JSONL and self.scores is Scores.NONE
        return Scores.CALIBRATED if wanted else self.scores

    @property
    def needs_words(self) -> bool:
        """Whether the words of a line are looked at again once it is aligned, for scores or for what is written."""
        links_alone = self.output_format in (OutputFormat.PHARAOH, OutputFormat.NAACL)
        return not links_alone or self.computed_scores is not Scores.NONE

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

    def read(
        self, path: str, target: str | None, on_error: Callable[[FormatError], None], *, jsonl: bool = False
    ) -> Iterator[Record]:
        """The records of a file or of two parallel files, one for each line; `jsonl` overrules the format."""
        format = PairFormat.JSONL if jsonl else self.input_format
        return read_records(path, target, format=format, segmenters=self.segmenters(), on_error=on_error)

    def load(self) -> AlignWorker:
        """Load the model."""
        return AlignWorker(self)


class AlignWorker:
    """A loaded model that turns chunks of records into output."""

    def __init__(self, job: AlignJob) -> None:
        from weft.aligner import Aligner

        self._job = job
        self._aligner = Aligner.from_pretrained(job.model, **job.settings)
        self._write = record_writer(job.output_format, scores=job.computed_scores is not Scores.NONE)
        self._long_sentences = 0
        self._counting = Lock()
        self._description: Description | None = None
        _collect_seldom()

    def start(self, chunk: Chunk) -> Callable[[], Finished]:
        """Begin to align a chunk, all of it at once; what is returned gives the result."""
        if chunk.prepared is not None:
            links = self._aligner.start_prepared(chunk.prepared)
        else:
            pairs = [record.pair for record in chunk.items]
            links = self._aligner.start_chunk(pairs, scores=self._job.computed_scores)
        return lambda: self._written(chunk, links())

    def _written(self, chunk: Chunk, alignments: Sequence[Alignment]) -> Finished:
        from weft.distributed.chunks import Finished

        assert len(alignments) == len(chunk.items), "one line out for each line in"
        text = self._write(chunk.items, alignments, chunk.first)
        # File names may hold bytes that are no text; they must not end a run.
        output = text.encode("utf-8", "backslashreplace")
        return Finished(chunk.first, len(chunk.items), output, self._new_long_sentences())

    def _new_long_sentences(self) -> int:
        """Those that were not reported yet; with chunks side by side they may be another chunk's, the sum is right."""
        with self._counting:
            before, self._long_sentences = self._long_sentences, self._aligner.encoder.long_sentences
            return self._long_sentences - before

    def describe(self) -> Description:
        """How it wants its chunks, and what the user should know."""
        from weft.distributed.chunks import Description

        encoder = self._aligner.encoder
        if self._description is None:
            ahead = getattr(encoder, "outruns_python", False)
            self._description = Description(
                self._remarks(),
                encoder.chunk_words,
                encoder.chunks_at_once,
                encoder.threads,
                encoder.preparation if ahead else None,  # type: ignore[attr-defined]
            )
        return self._description

    def _remarks(self) -> list[str]:
        """Options without effect, and scores that are not what they might seem."""
        job, settings = self._job, self._aligner.settings
        remarks = [
            f"--{name} has no effect with the method {settings.method}."
            for name, methods in _USED_BY.items()
            if job.settings.get(name) is not None and settings.method not in methods
        ]
        if job.scores is Scores.CALIBRATED and settings.calibration is None:
            missing = f"this model has no calibration for the method {settings.method}"
            remarks.append(f"{missing} ('weft tune' fits one); the scores are raw.")
        if job.scores is not Scores.NONE and job.output_format is OutputFormat.WORDS:
            remarks.append("--scores has no effect with the output format words.")
        return remarks

    def identity(self) -> dict[str, Any]:
        """Everything the output depends on besides the input, named as the user names it."""
        job, encoder = self._job, self._aligner.encoder
        links = {f"--{name}": str(value) for name, value in self._aligner.settings.to_json().items()}
        given = {name: job.settings.get(name) for name in ("layer", "dtype", "batch_tokens")}
        options = {
            **given,
            "device": str(getattr(encoder, "device", "cpu")),
            "input-format": job.input_format,
            "output-format": job.output_format,
            "scores": job.computed_scores,
            "raw": job.raw,
            "source-language": job.languages[0],
            "target-language": job.languages[1],
        }
        spelt = {
            f"--{name.replace('_', '-')}": None if value is None else str(value) for name, value in options.items()
        }
        return {"the version of weft": __version__, "--model": _model_identity(job.model), **spelt, **links}


def _collect_seldom() -> None:
    """Let Python look for reference cycles less often.

    A chunk makes hundreds of thousands of tuples, none of them in a cycle; going through them again and again took half
    of the time outside the encoder.
    """
    gc.freeze()
    gc.set_threshold(500_000, 20, 20)


def _model_identity(model: str) -> str:
    from weft.models.resolve import resolve_model

    return resolve_model(model).identity()
