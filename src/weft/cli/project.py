"""`weft project`: labels of one side of a sentence pair, carried to the other side through links."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from weft.applications.columns import Scheme
from weft.applications.projection import Gaps
from weft.applications.spans import Unit
from weft.cli.badlines import BadLines
from weft.cli.groups import AligningOptions, TextOptions, expanded
from weft.cli.linked import LinksBaseOption, LinksOption, opened
from weft.cli.options import OUTPUT, OutputOption, StrictOption
from weft.cli.output import on_screen, open_output, say, write_lines
from weft.cli.progress import counted
from weft.cli.project_documents import list_segments, translate_document
from weft.errors import SettingError
from weft.text.cells import row_writer
from weft.text.fields import PairFields
from weft.text.rows import refuse_po
from weft.text.watches import SplitWatch

if TYPE_CHECKING:
    from weft.applications.labels import Listing
    from weft.text.segment import Segmented, Segmenter

_LABELS = "Labels"


class LabelFormat(StrEnum):
    """How labels are written: in columns, as spans in JSON records, as tags in lines of text, or in a document."""

    CONLL = "conll"
    JSONL = "jsonl"
    MARKUP = "markup"
    DOCUMENT = "document"


@expanded
def project(
    labels: Annotated[
        str, typer.Argument(metavar="LABELS", help="Labelled sentences or a document; - is stdin.")
    ] = "-",
    target: Annotated[
        str | None,
        typer.Argument(metavar="OTHER", help="The translation: sentences, one per line, or a translated document."),
    ] = None,
    links: LinksOption = None,
    output: OutputOption = "-",
    format: Annotated[
        LabelFormat | None,
        typer.Option(
            "--from",
            help="Format of the labels.",
            show_default="from the file name, or conll",
            rich_help_panel=_LABELS,
        ),
    ] = None,
    gaps: Annotated[
        Gaps | None,
        typer.Option(
            help="How to place a label whose words are not contiguous in the translation.",
            show_default="fill; dense for markup and documents",
            rich_help_panel=_LABELS,
        ),
    ] = None,
    max_gap: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="With --gaps longest or split: ignore gaps of up to N words.",
            rich_help_panel=_LABELS,
        ),
    ] = 1,
    reverse: Annotated[
        bool,
        typer.Option(
            "--reverse",
            help="Project labels from the target side to the source side.",
            rich_help_panel=_LABELS,
        ),
    ] = False,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Record in this file which labels or tags could not be placed in full, and why.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    segments: Annotated[
        bool,
        typer.Option(
            "--segments", help="For a document: print its segments, one per line, and exit.", rich_help_panel=OUTPUT
        ),
    ] = False,
    word_column: Annotated[
        int, typer.Option(min=1, metavar="N", help="For conll: the column with the words.", rich_help_panel=_LABELS)
    ] = 1,
    label_column: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="For conll: the column with the labels.",
            show_default="the last",
            rich_help_panel=_LABELS,
        ),
    ] = None,
    scheme: Annotated[
        Scheme,
        typer.Option(
            help="For conll, and for tags in jsonl: the tagging scheme to write; word means one label per word, such "
            "as its part of speech.",
            rich_help_panel=_LABELS,
        ),
    ] = Scheme.AUTO,
    unit: Annotated[
        Unit, typer.Option("--spans", help="For jsonl: the unit of span offsets.", rich_help_panel=_LABELS)
    ] = Unit.AUTO,
    spans_field: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For jsonl: the field with the spans, or with a tag for each word.",
            show_default="spans, or source_spans",
            rich_help_panel=_LABELS,
        ),
    ] = None,
    text: TextOptions = TextOptions(),  # noqa: B008 - it is frozen
    links_base: LinksBaseOption = 0,
    aligning: AligningOptions = AligningOptions(),  # noqa: B008
    strict: StrictOption = False,
) -> None:
    """Carry labels or a document's formatting over to a translation.

    Labels are CoNLL columns, spans in JSONL, or tags in the text. Documents are HTML, Markdown, DOCX,
    XLIFF, TMX or USFM files.

    Example: weft project labels.conll translation.txt --links pairs.links > projected.conll
    """
    from weft.applications.documents import FORMATS, is_document

    if report == output:
        raise SettingError("two outputs have the same name; choose different names.")
    format = format or _format_of(labels, target)
    if format is LabelFormat.DOCUMENT:
        if not is_document(labels):
            raise SettingError(f"the name of a document must end in one of {', '.join(FORMATS)}.")
        if reverse:
            raise SettingError("--reverse does not work with documents.")
        if segments:
            list_segments(labels, output, text.languages)
            return
        listing = translate_document(
            labels,
            target,
            (links, links_base, aligning),
            output=output,
            report=report,
            codes=text.languages,
            gaps=gaps or Gaps.DENSE,
            max_gap=max_gap,
        )
        _summarise(listing, report)
        return
    if spans_field is not None and format is not LabelFormat.JSONL:
        raise SettingError("--spans-field needs --from jsonl.")
    if format is LabelFormat.JSONL and target is not None:
        raise SettingError(_how_to_join(labels, target, text, reverse=reverse))
    _check(format, target, segments=segments, languages_without_raw=any(text.languages) > text.raw)
    reader = text.reader()
    _check_fields(format, reader.fields)
    from weft.applications.labels import Listing, Projector, project_columns, project_records, project_tags
    from weft.applications.linked import link_source

    bad_lines = BadLines("This sentence gets no labels.", strict=strict)
    words = _RawWords(*text.languages) if text.raw else _GivenWords(labels, target, reverse, linked=links is not None)
    with ExitStack() as stack:
        sentences, others, link_file = stack.enter_context(opened(labels, target, links))
        write = stack.enter_context(open_output(report)) if report is not None else None
        listing = Listing(write, row=row_writer(report or "-"))
        projector = Projector(
            links=link_source(link_file, base=links_base, languages=text.languages, **aligning.as_settings()),
            segmenters=words.segmenters,
            gaps=gaps or (Gaps.DENSE if format is LabelFormat.MARKUP else Gaps.FILL),
            max_gap=max_gap,
            reverse=reverse,
            on_error=bad_lines,
            listing=listing,
        )
        if format is LabelFormat.CONLL and others is not None:
            columns = (word_column - 1, -1 if label_column is None else label_column - 1)
            lines = project_columns(projector, sentences, others, columns, scheme)
        elif format is LabelFormat.JSONL:
            lines = project_records(projector, sentences, unit, reader, spans_field, scheme)
        else:
            lines = project_tags(projector, sentences, others, reader)
        write_lines(output, counted(bad_lines.counted(lines), "sentences", quiet=on_screen(output)))
        words.finish()
    # Columns have many lines a sentence.
    bad_lines.summarise(lines=None if format is LabelFormat.CONLL else bad_lines.lines)
    _summarise(listing, report)


# Documents that people have and weft does not read.
_OTHER_DOCUMENTS = (".odt", ".doc", ".rtf", ".pdf", ".pptx", ".xlsx", ".epub")


def _format_of(labels: str, target: str | None) -> LabelFormat:
    """The format that the names of the files say."""
    from weft.applications.documents import FORMATS, is_document

    name = labels.lower()
    if name.endswith(_OTHER_DOCUMENTS):
        raise SettingError(f"{labels}: weft cannot read this kind of document. It can read {', '.join(FORMATS)}.")
    refuse_po(labels)
    if is_document(labels):
        return LabelFormat.DOCUMENT
    if target is not None and is_document(target):
        command = join(["weft", "project", target, labels])
        raise SettingError(f"the document comes first, then its translation: `{command}`.")
    return LabelFormat.JSONL if ".jsonl" in name else LabelFormat.CONLL


def _check(format: LabelFormat, target: str | None, *, segments: bool, languages_without_raw: bool) -> None:
    if segments:
        from weft.applications.documents import FORMATS

        raise SettingError(f"--segments only works with documents: {', '.join(FORMATS)}.")
    if languages_without_raw:
        raise SettingError("--source-language and --target-language need --raw.")
    if format is LabelFormat.CONLL and target is None:
        raise SettingError("CoNLL files contain only one side; add a file with the sentences of the other side.")


def _how_to_join(labels: str, target: str, text: TextOptions, *, reverse: bool) -> str:
    """What to do about a translation that is not in the records, but in a second file."""
    side = "source" if reverse else "target"
    given = (text.source_field if reverse else text.target_field) or side
    program = '($t / "\\n") as $lines | foreach inputs as $record (-1; . + 1; $record + {($name): $lines[.]})'
    command = [
        "jq",
        "-cn",
        "--arg",
        "name",
        given,
        "--rawfile",
        "t",
        "/dev/stdin" if target == "-" else target,
        program,
    ]
    command += [] if labels == "-" else [labels]
    fields = text.source_field or text.target_field
    option = f" Then add `--{side}-field {given}`." if fields and given == side else ""
    return (
        f'JSONL records contain both sides; leave out the second file, and add its lines to the records as "{given}": '
        f"`{join(command)}`.{option}"
    )


def _check_fields(format: LabelFormat, fields: PairFields) -> None:
    """Refuse names of fields or columns that the labels do not have."""
    if fields.columns and format is not LabelFormat.MARKUP:
        raise SettingError("--columns needs --from markup.")
    if (fields.source or fields.target) and format is LabelFormat.CONLL:
        raise SettingError("--source-field and --target-field need --from jsonl or --from markup.")


def _summarise(listing: Listing, report: str | None) -> None:
    for sentence in listing.summary():
        say(sentence if report is not None else f"{sentence} --report FILE lists them.")


class _RawWords:
    """Text that is not split into words yet."""

    def __init__(self, source: str | None, target: str | None) -> None:
        from weft.text.segment import segmenter_for

        self.segmenters = (segmenter_for(source), segmenter_for(target))

    def finish(self) -> None:
        """There is nothing to doubt."""


class _GivenWords:
    """Text whose words are separated by blanks, unless it looks otherwise; of two sides, one warning is enough."""

    def __init__(self, labels: str, other: str | None, reverse: bool, *, linked: bool) -> None:
        paths = (labels, other or labels)
        first, second = (SplitWatch(path) for path in (reversed(paths) if reverse else paths))
        first.done = second.done = linked  # links that are there tell what the words are
        self._watches = (first, second)
        self.segmenters = (self._watching(first, second), self._watching(second, first))

    def _watching(self, watch: SplitWatch, other: SplitWatch) -> Segmenter:
        from weft.applications.spans import split_at_blanks

        def split(text: str) -> Segmented:
            if not watch.done:
                watch.look((text, ()))
                other.done = other.done or watch.warned
            return split_at_blanks(text)

        return split

    def finish(self) -> None:
        """The files end; what was too short to be sure of before is now all there is."""
        first, second = self._watches
        first.finish()
        if not first.warned:
            second.finish()
