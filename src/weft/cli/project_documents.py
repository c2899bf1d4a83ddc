"""What `weft project` does with documents: one is read, and written in another language."""

from __future__ import annotations

from contextlib import ExitStack
from os.path import splitext
from typing import TYPE_CHECKING

from weft.applications.projection import Gaps
from weft.cli.groups import AligningOptions
from weft.cli.linked import opened
from weft.cli.output import on_screen, open_output, say, write_lines
from weft.errors import FormatError, SettingError
from weft.text.cells import row_writer

if TYPE_CHECKING:
    from weft.applications.labels import Listing

# Documents whose lines are not their segments, though people see lines.
_TEXTS = {".md": "Markdown", ".html": "HTML", ".usfm": "USFM"}


def list_segments(path: str, output: str, codes: tuple[str | None, str | None]) -> None:
    """Print the segments of a document, one a line."""
    from weft.applications.documents import Languages, read_document

    document = read_document(path, Languages(*codes))
    write_lines(output, (f"{segment.text}\n" for segment in document.segments))


def _kind(path: str) -> str:
    """What a document's name ends in; of several endings with one meaning, one."""
    ending = splitext(path.lower())[1]
    return {".htm": ".html", ".xhtml": ".html", ".markdown": ".md", ".xliff": ".xlf", ".sfm": ".usfm"}.get(
        ending, ending
    )


def translate_document(
    path: str,
    target: str | None,
    links_from: tuple[str | None, int, AligningOptions],
    *,
    output: str,
    report: str | None,
    codes: tuple[str | None, str | None],
    gaps: Gaps,
    max_gap: int,
) -> Listing:
    """Write a document in another language.

    Args:
        path: the document.
        target: its translation, if it holds none itself.
        links_from: a file of links, the number of its first word, and how to align without one.
        output: where the document goes.
        report: where tags go that were not placed by links.
        codes: those of the two languages, as far as they are known.
        gaps: what becomes of elements whose words stand apart.
        max_gap: how many words of others may stand in a gap.

    Returns:
        What became of the tags.
    """
    from weft.applications.documents import Languages, is_document, project_document, read_document, read_translation
    from weft.applications.labels import Listing
    from weft.applications.linked import link_source

    languages = Languages(*codes)
    if _kind(output) != _kind(path) and (is_document(output) or _kind(output) == ".pdf" or _kind(path) == ".docx"):
        if on_screen(output):
            raise SettingError("a terminal cannot show a Word document; name a file with --output.")
        if splitext(output)[1]:
            raise SettingError(
                f"the output must be a {_kind(path)} document too, but {output} ends in {_kind(output)}."
            )
    document = read_document(path, languages)
    links, base, aligning = links_from
    with ExitStack() as stack:
        _, other, link_file = stack.enter_context(opened(path, target, links))
        translation = (
            None if other is None else read_translation(other, languages, original=document.segments, name=path)
        )
        write = stack.enter_context(open_output(report)) if report is not None else None
        listing = Listing(write, what="tags", row=row_writer(report or "-"))
        try:
            written = project_document(
                document,
                translation,
                link_source(link_file, base=base, languages=codes, **aligning.as_settings()),
                name=path,
                languages=languages,
                gaps=gaps,
                max_gap=max_gap,
                listing=listing,
            )
        except FormatError as error:
            if translation is None or len(translation) == len(document.segments):
                raise
            raise FormatError(error.path, error.line, f"{error.reason}{_read_as(target)}") from error
        stack.enter_context(open_output(output))(written)
    if stated := document.language:
        say(f'{path} declares lang="{stated}", and so does the translation. To change that, add `target_language`.')
    return listing


def _read_as(translation: str | None) -> str:
    """What to add where a translation has an unexpected number of segments and may be one line by line."""
    kind = None if translation is None else _TEXTS.get(_kind(translation))
    if kind is None:
        return ""
    return f" {translation} was read as {kind}. If it is a translation line by line, save it as a .txt file."
