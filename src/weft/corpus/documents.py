"""Two texts with unequal numbers of sentences to pairs of sentences with word links and character offsets."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from weft.errors import SettingError
from weft.extraction.scores import Scores
from weft.text.cells import RowWriter, csv_row, tab_row
from weft.text.files import Write, writing
from weft.text.given import to_one_pair
from weft.text.layout import are_subtitles, found_wrapped, in_one_line, unwrapped, without_times
from weft.text.lines import decode, display_name, read_lines
from weft.text.links import json_links
from weft.text.segment import Offsets, Segmenter, segmenter_for
from weft.text.sentences import split_sentences
from weft.types import Alignment, SentencePair, Words

if TYPE_CHECKING:
    from weft.aligner import Aligner

logger = logging.getLogger(__name__)

_OTHER_SUBTITLES = (".ass", ".ssa")
BOTH_LAYOUTS = "`sentence_per_line` and `wrapped` exclude each other; set only one of them."


class DocumentsFormat(StrEnum):
    """How aligned documents are written."""

    JSONL = "jsonl"
    TSV = "tsv"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Some neighbouring sentences of a text.

    Attributes:
        text: their text.
        span: where they begin and end in the document, in code points; None if there are no sentences.
        words: their words.
        offsets: where each word begins and ends in `text`.
    """

    text: str = ""
    span: Offsets | None = None
    words: Words = ()
    offsets: tuple[Offsets, ...] = ()


@dataclass(frozen=True, slots=True)
class AlignedPart:
    """Sentences of both documents that belong together, and the links of their words; a side may be empty."""

    source: TextPart
    target: TextPart
    alignment: Alignment

    def to_json(self) -> str:
        """This part as a line of JSONL."""
        sides = {"source": self.source, "target": self.target}
        record: dict[str, object] = {}
        for name, side in sides.items():
            record[name] = side.words
            record[f"{name}_text"] = side.text
            record[f"{name}_span"] = side.span
            record[f"{name}_offsets"] = side.offsets
        return json.dumps({**record, **json_links(self.alignment)}, ensure_ascii=False)


def align_documents(
    source: str,
    target: str,
    *,
    aligner: Aligner | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    sentence_per_line: bool = False,
    wrapped: bool = False,
    scores: Scores | str = Scores.CALIBRATED,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
) -> list[AlignedPart]:
    """Align two documents: find which sentences belong together, and which of their words.

    Args:
        source: a text. The end of a line also ends a sentence, unless `wrapped` is set.
        target: its translation, which may leave out, add, join or split sentences.
        aligner: the aligner to use; by default, one with weft-mini.
        source_language: a code such as `de` or `ja`; by default, guessed from the script.
        target_language: the language of the translation.
        sentence_per_line: whether each line is one sentence, which must not be split.
        wrapped: whether lines are wrapped at a width, so that only a blank line ends a paragraph.
        scores: which scores the links have: `calibrated`, `raw` or `none`.
        on_progress: called with how many possible pairs of sentences are aligned, and how many there are in all.

    Returns:
        Both documents from beginning to end. A sentence without a counterpart has an empty other side.

    Raises:
        MissingExtraError: the library that finds sentences, or one that a language needs, is not installed.
        SettingError: a document is not a string, or contains half of a surrogate pair; or
            `sentence_per_line` and `wrapped` are both set.
    """
    from weft.aligner import Aligner

    to_one_pair(source, target)  # for its checks
    if wrapped:
        if sentence_per_line:
            raise SettingError(BOTH_LAYOUTS)
        source, target = unwrapped(source), unwrapped(target)
    sides = [_sentences(text, language, sentence_per_line)
             for text, language in ((source, source_language), (target, target_language))]  # fmt: skip
    found = (aligner or Aligner.from_pretrained()).align_texts(
        [part.words for part in sides[0]], [part.words for part in sides[1]], scores=scores, on_progress=on_progress
    )
    parts = []
    for ours, theirs, links in found:
        first, second = _together(source, sides[0], ours), _together(target, sides[1], theirs)
        parts.append(AlignedPart(first, second, links.with_pair(SentencePair(first.words, second.words))))
    return parts


def write_aligned_documents(
    source: str,
    target: str,
    *,
    output: str | Write,
    model: str | Path = "weft-mini",
    format: DocumentsFormat | str = DocumentsFormat.JSONL,
    **options: Any,
) -> list[AlignedPart]:
    """Align two texts and write what is found: what `weft align --documents` does with the texts of two files.

    Args:
        source: a text.
        target: its translation.
        output: the file to write, or a function that is given the output piece by piece.
        model: weft's own, a folder, or a name on the hub.
        format: `jsonl`, or `tsv` and `csv` for a table of the sentences.
        options: those of `align_documents`, and what `Aligner.from_pretrained` takes besides.

    Returns:
        What was written.
    """
    from weft.aligner import Aligner

    as_lines = _LINES[DocumentsFormat(format)]
    own = {name: options.pop(name) for name in _DOCUMENT_OPTIONS if name in options}
    parts = align_documents(source, target, aligner=Aligner.from_pretrained(model, **options), **own)
    lines = (line.encode("utf-8", "backslashreplace") for line in as_lines(parts))
    if callable(output):
        for line in lines:
            output(line)
    else:
        with writing(output) as write:
            for line in lines:
                write(line)
    return parts


_DOCUMENT_OPTIONS = ("source_language", "target_language", "sentence_per_line", "wrapped", "scores", "on_progress")


def _records(parts: Iterable[AlignedPart]) -> Iterator[str]:
    return (f"{part.to_json()}\n" for part in parts)


def _table(parts: Iterable[AlignedPart], row: RowWriter) -> Iterator[str]:
    yield row(("source", "target"))
    for part in parts:
        yield row([in_one_line(side.text) for side in (part.source, part.target)])


_LINES: Mapping[DocumentsFormat, Callable[[Iterable[AlignedPart]], Iterator[str]]] = {
    DocumentsFormat.JSONL: _records,
    DocumentsFormat.TSV: partial(_table, row=tab_row),
    DocumentsFormat.CSV: partial(_table, row=csv_row),
}


def read_text(path: str | Path, *, wrapped: bool | None = None) -> str:
    """Read a file of plain text, or of subtitles if its name ends in .srt or .vtt.

    Args:
        path: the file.
        wrapped: whether lines are wrapped at a width, and are joined to paragraphs; None finds it out. Each subtitle
            becomes one line in any case.

    Raises:
        SettingError: for subtitles in a format that weft does not read.
    """
    name = display_name(path)
    if name.lower().endswith(_OTHER_SUBTITLES):
        command = f"ffmpeg -i {quote(name)} {quote(str(Path(name).with_suffix('.srt')))}"
        raise SettingError(f"weft reads subtitles as .srt or .vtt. Convert {name} first: {command}")
    text = "\n".join(decode(line, path, number) for number, line in enumerate(read_lines(path), start=1))
    if are_subtitles(path):
        return without_times(text, references=name.lower().endswith(".vtt"))
    if wrapped is not None:
        return unwrapped(text) if wrapped else text
    text, width = found_wrapped(text)
    if width is not None:
        logger.warning(
            "%s: the lines are wrapped at about %d characters, so they were joined to paragraphs. If each line is a "
            "sentence, add `sentence_per_line`.",
            name,
            width,
        )
    return text


def _sentences(text: str, language: str | None, sentence_per_line: bool) -> list[TextPart]:
    cut: Segmenter = segmenter_for(language)
    spans = _lines(text) if sentence_per_line else split_sentences(text, language)
    parts = []
    for start, end in spans:
        segmented = cut(text[start:end])
        if segmented.words:
            parts.append(TextPart(text[start:end], (start, end), segmented.words, segmented.offsets))
    return parts


def _lines(text: str) -> Iterator[Offsets]:
    begin = 0
    for line in text.split("\n"):
        start = begin + len(line) - len(line.lstrip())
        yield start, max(start, begin + len(line.rstrip()))
        begin += len(line) + 1


def _together(text: str, parts: Sequence[TextPart], numbers: range) -> TextPart:
    """Neighbouring sentences as one part."""
    own = [parts[number] for number in numbers]
    spans = [part.span for part in own if part.span]
    if not spans:
        return TextPart()
    start, end = spans[0][0], spans[-1][1]
    offsets = [
        (first + span[0] - start, last + span[0] - start)
        for part, span in zip(own, spans, strict=True)
        for first, last in part.offsets
    ]
    return TextPart(text[start:end], (start, end), tuple(word for part in own for word in part.words), tuple(offsets))
