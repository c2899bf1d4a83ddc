"""`weft align`: sentence pairs in, links out; one output line for each input line, whatever the line holds."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from weft.cli.badlines import NO_PAIRS, BadLines, MissingTerms
from weft.cli.linked import doubt_subtitles, refuse_two_tables
from weft.cli.options import (
    LINKS,
    OUTPUT,
    TEXT,
    AddressOption,
    AlphaOption,
    BatchTokensOption,
    ColumnsOption,
    CostOption,
    DeviceOption,
    Dtype,
    DtypeOption,
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
    SourceFieldOption,
    SourceLanguageOption,
    StrictOption,
    SymmetrizeOption,
    TargetFieldOption,
    TargetLanguageOption,
    ThresholdOption,
    WorkersOption,
)
from weft.cli.output import (
    EMPTY,
    OFFICE_KINDS,
    on_screen,
    only_one_stdin,
    refuse_other_kinds,
    say,
    write_stdout,
)
from weft.cli.progress import counting
from weft.corpus.align import align_files
from weft.corpus.documents import BOTH_LAYOUTS, DocumentsFormat, read_text, write_aligned_documents
from weft.corpus.job import Engine
from weft.corpus.records import OutputFormat
from weft.errors import SettingError, number_of
from weft.extraction.scores import Scores
from weft.text.files import ending
from weft.text.pair_formats import PairFormat
from weft.text.rows import is_named_for_pairs, refuse_po

_TABLES = ("tsv", "csv")
# Names of files that aligned documents cannot be, besides those of documents; JSONL would only confuse their programs.
_NOT_WRITTEN = {*OFFICE_KINDS, "po", "srt", "vtt", "naacl", "talp"}
_WRITES = (
    "the links of each pair are written as a line of text, as in pairs.links, or with the words as JSONL, as in "
    "pairs.jsonl."
)


def align(
    input: Annotated[
        str, typer.Argument(metavar="INPUT", help="Sentence pairs, or the source side; - is stdin.")
    ] = "-",
    target: Annotated[
        str | None, typer.Argument(metavar="TARGET", help="The target side, one sentence per line.")
    ] = None,
    output: OutputOption = "-",
    model: ModelOption = "weft-mini",
    layer: LayerOption = None,
    device: DeviceOption = "auto",
    dtype: DtypeOption = Dtype.AUTO,
    batch_tokens: BatchTokensOption = None,
    method: MethodOption = None,
    threshold: ThresholdOption = None,
    min_probability: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Leave out links whose probability is below P, for example 0.9.",
            show_default="keep all",
            rich_help_panel=LINKS,
        ),
    ] = None,
    alpha: AlphaOption = None,
    cost: CostOption = None,
    symmetrize: SymmetrizeOption = None,
    null: NullOption = None,
    input_format: InputFormatOption = PairFormat.AUTO,
    source_field: SourceFieldOption = None,
    target_field: TargetFieldOption = None,
    columns: ColumnsOption = None,
    output_format: Annotated[
        OutputFormat | None,
        typer.Option(help="Output format.", show_default="from the file name, or pharaoh", rich_help_panel=OUTPUT),
    ] = None,
    scores: Annotated[
        Scores,
        typer.Option(
            help="Add a probability to each link; 'raw' adds the uncalibrated score instead.",
            metavar="[raw]",
            rich_help_panel=OUTPUT,
        ),
    ] = Scores.NONE,
    line_by_line: Annotated[
        bool,
        typer.Option(
            "--line-by-line",
            help="Write the links of each line before reading the next, for programs that wait for them. Slower.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    raw: RawOption = False,
    source_language: SourceLanguageOption = None,
    target_language: TargetLanguageOption = None,
    terms: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File of terms and their translations (TSV, CSV, TMX or XLIFF); each term is linked to its "
            "translation wherever a pair contains both.",
            rich_help_panel=LINKS,
        ),
    ] = None,
    documents: Annotated[
        bool,
        typer.Option(
            "--documents",
            help="Treat INPUT and TARGET as texts, subtitles or documents (HTML, DOCX and others), and pair their "
            "sentences first; writes JSONL, or a table if the output file ends in .tsv or .csv.",
            rich_help_panel=TEXT,
        ),
    ] = False,
    sentence_per_line: Annotated[
        bool,
        typer.Option(
            "--sentence-per-line", help="With --documents: treat each line as one sentence.", rich_help_panel=TEXT
        ),
    ] = False,
    wrapped: Annotated[
        bool,
        typer.Option(
            "--wrapped",
            help="With --documents: treat all lines as wrapped at a fixed width, so that only a blank line ends a "
            "paragraph. Most wrapped text is recognised without this option.",
            rich_help_panel=TEXT,
        ),
    ] = False,
    strict: StrictOption = False,
    shards: ShardsOption = None,
    resume: ResumeOption = False,
    workers: WorkersOption = None,
    engine: EngineOption = Engine.LOCAL,
    address: AddressOption = None,
) -> None:
    """Align sentence pairs: one line of links per input line.

    INPUT contains sentence pairs: 'source ||| target' lines, TSV, CSV, JSONL, TMX or XLIFF. With two parallel
    files, INPUT is the source side and TARGET the target side. A line that cannot be aligned gets an empty output line.

    Example: echo 'das ist gut ||| that is good' | weft align
    """
    only_one_stdin(input, target)
    if not documents:
        doubt_subtitles(input, target, advice="Add --documents, which leaves them out and pairs the sentences")
        _refuse_two_documents(input, target)
        refuse_two_tables(input, target, then="| weft align")
    settings: dict[str, Any] = {
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
        "source_language": source_language,
        "target_language": target_language,
    }
    if documents:
        _only_for_lines(
            min_probability=min_probability,
            terms=terms,
            shards=shards,
            resume=resume,
            workers=workers,
            columns=columns,
            address=address,
        )
        format = _documents_format(output, output_format)
        layout = {"sentence_per_line": sentence_per_line, "wrapped": wrapped}
        _align_documents(input, target, output, format=format, model=model, **layout, scores=scores, **settings)
        return
    for name, value in {"sentence_per_line": sentence_per_line, "wrapped": wrapped}.items():
        if value:
            raise SettingError(f"`{name}` only works with `documents`.")
    refuse_other_kinds(output, _WRITES)
    bad_lines = BadLines("This pair gets no links.", strict=strict)
    missing = MissingTerms()
    typed = input == "-" and sys.stdin is not None and sys.stdin.isatty()
    with counting("pairs", quiet=on_screen(output) or typed) as count:
        done = align_files(
            input,
            target,
            output=write_stdout if output == "-" else output,
            model=model,
            input_format=input_format,
            source_field=source_field,
            target_field=target_field,
            columns=columns,
            output_format=output_format,
            scores=scores,
            raw=raw,
            min_probability=min_probability,
            terms=terms,
            shards=shards,
            resume=resume,
            workers=workers,
            engine=engine,
            address=address,
            line_by_line=typed or line_by_line,  # who types a line wants its links before typing the next one
            on_bad_line=bad_lines,
            on_progress=count,
            on_total=count.expect,
            on_missing_term=missing.add,
            **settings,
        )
    if output == "-":
        write_stdout(b"", flush=True)
    missing.summarise()
    if done.long_sentences:
        say(_too_long(done.long_sentences))
    if not done.lines:
        say(EMPTY)
    elif done.lines == done.headings:
        say(NO_PAIRS)
    which = "the line" if done.lines == 1 else f"{bad_lines.count:,} of {done.lines:,} lines"
    sentence = f"{which} could not be aligned."
    if target is None and bad_lines.count == done.lines > 0 and bad_lines.without_format:
        sentence += " If the translation is in a second file, name it after the first."
    # The line with the names of columns is not bad, but where all others are, nothing was aligned.
    bad_lines.summarise(sentence, lines=done.lines - done.headings)


def _refuse_two_documents(input: str, target: str | None) -> None:
    if target is not None and "docx" in (ending(input), ending(target)):
        raise SettingError("DOCX files do not have a sentence on each line. To pair their sentences, add --documents.")


def _too_long(sentences: int) -> str:
    were = "was" if sentences == 1 else "were"
    return f"{number_of(sentences, 'sentence')} {were} too long for the encoder and {were} read in pieces."


def _align_documents(input: str, target: str | None, output: str, **options: Any) -> None:
    if target is None:
        raise SettingError("`documents` needs two files: a text and its translation.")
    if options["scores"] is Scores.NONE:
        options["scores"] = Scores.CALIBRATED  # JSON always holds scores
    if options["sentence_per_line"] and options["wrapped"]:
        raise SettingError(BOTH_LAYOUTS)
    wrapped = options.pop("wrapped") or (False if options["sentence_per_line"] else None)
    texts = [_text_of(path, wrapped=wrapped) for path in (input, target)]
    with counting("possible pairs of sentences", quiet=on_screen(output)) as count:

        def show(done: int, total: int) -> None:
            count.expect(total, done)

        to = write_stdout if output == "-" else output
        parts = write_aligned_documents(*texts, output=to, on_progress=show, **options)
    if output == "-":
        write_stdout(b"", flush=True)
    paired = sum(bool(part.source.words and part.target.words) for part in parts)
    alone = len(parts) - paired
    unpaired = f"{number_of(alone, 'sentence')} {'has' if alone == 1 else 'have'} no counterpart"
    say(f"{number_of(paired, 'sentence pair')}; {unpaired}.")


def _documents_format(output: str, wanted: OutputFormat | None) -> DocumentsFormat:
    """The format to write to a file of this name, unless one was given."""
    from weft.applications.documents import is_document

    named = ending(output)
    refused = f".{named} files" if named in _NOT_WRITTEN or is_document(output) else ""
    if wanted is not None:
        refused = "" if wanted is OutputFormat.JSONL else str(wanted)
    if refused:
        hint = " weft convert turns this JSONL into TMX." if named == "tmx" else ""
        raise SettingError(
            f"`documents` cannot write {refused}. It writes a table of sentences if the output file ends in .tsv or "
            f".csv, and JSONL otherwise.{hint}"
        )
    return DocumentsFormat.JSONL if wanted or named not in _TABLES else DocumentsFormat(named)


def _text_of(path: str, *, wrapped: bool | None) -> str:
    """The text of a file; of an HTML page, a Word file and the like a segment a line."""
    from weft.applications.documents import is_document, read_document

    refuse_po(path)
    if not is_document(path):
        return read_text(path, wrapped=wrapped)
    if is_named_for_pairs(path):
        raise SettingError(f"{path} contains sentence pairs; to align them, name this file alone, without --documents.")
    return "\n".join(" ".join(segment.text.split()) for segment in read_document(path).segments)


def _only_for_lines(**options: object) -> None:
    """Options that make no sense for documents."""
    for name, value in options.items():
        if value:
            raise SettingError(f"`{name}` cannot be used with `documents`.")
