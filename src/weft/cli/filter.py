"""`weft filter`: sentence pairs in, those that look like translations out, each line as it was."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import ExitStack
from itertools import repeat
from typing import Annotated

import typer

from weft.cli.badlines import BadLines
from weft.cli.groups import AligningOptions, TextOptions, expanded
from weft.cli.linked import (
    InputArgument,
    LinkedInput,
    LinksBaseOption,
    LinksOption,
    TargetArgument,
    linked_input,
)
from weft.cli.options import OUTPUT, OutputOption, StrictOption
from weft.cli.output import on_screen, open_output, refuse_other_kinds, say
from weft.cli.progress import counted
from weft.errors import FormatError, SettingError, number_of
from weft.text.cells import RowWriter, csv_row, protected, row_writer
from weft.text.lines import FilePath, display_name, read_together, read_whole_lines
from weft.text.memories import Unit, unit_of
from weft.text.pairs import NOTHING, EmptySideError, PairReader, read_text_pairs
from weft.text.tables import told_separator
from weft.text.unit_files import kind_by_content, kind_by_name, without_units

_KEEP = "What to keep (choose one)"
_ALONE = "this sentence has no counterpart."
Verdicts = Iterable[tuple[float, bool]]
Cells = tuple[str, str, str, str]
"""Of a row in the report: its id, both sentences, and what is wrong with it."""


@expanded
def filter_pairs(
    input: InputArgument = "-",
    target: TargetArgument = None,
    links: LinksOption = None,
    output: OutputOption = "-",
    target_output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With TARGET: write the kept target lines here; the source lines go to -o.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    keep: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Keep this share of the pairs, those with the best scores; 0.9 means 90%.",
            rich_help_panel=_KEEP,
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            min=0,
            max=1,
            help="Keep pairs with at least this score. With weft-mini, 0.3 drops most unrelated pairs; 0.6 or more "
            "also drops most half-translated pairs and some free translations.",
            rich_help_panel=_KEEP,
        ),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Write the score before each kept line.", rich_help_panel=OUTPUT)
    ] = False,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a line for every input line to this file: its score, whether it was kept, its id, both "
            "sentences and any error.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    text: TextOptions = TextOptions(),  # noqa: B008 - it is frozen
    links_base: LinksBaseOption = 0,
    aligning: AligningOptions = AligningOptions(),  # noqa: B008
    strict: StrictOption = False,
) -> None:
    """Drop sentence pairs that are not translations.

    A pair's score is the share of its words that have a counterpart in the other sentence. With --links, it is the
    share of words that have links, times the mean probability of the links.

    A TMX or XLIFF file keeps its format if the output has the same extension: weft filter memory.tmx --keep 0.9 -o
    clean.tmx

    Example: weft filter pairs.txt --links pairs.links --keep 0.9 > clean.txt
    """
    from weft.applications.filtering import BAD, column_separator, keep_above, keep_share, pair_score

    _check(keep, min_score, target, target_output, [output, target_output, report])
    bad_lines = BadLines("This pair is dropped.", strict=strict)
    with ExitStack() as stack:
        given = stack.enter_context(
            linked_input(
                *(input, target, links),
                base=links_base,
                aligning=aligning,
                text=text,
                bad_lines=bad_lines,
                twice=True,
                calibrated=True,
            )
        )
        document = _document(given, output, scores=scores)
        headings = text.reader().headings(given.sentences) if given.others is None else frozenset()
        rated = (BAD if pair == NOTHING else pair_score(pair, alignment) for pair, alignment in given.pairs)
        shown = counted(rated, "pairs", quiet=on_screen(output))
        verdicts = keep_above(shown, min_score) if min_score is not None else keep_share(shown, keep or 0.0)
        names = [path for path in (output, target_output) if path is not None]
        writers = [stack.enter_context(open_output(path)) for path in names]
        note = stack.enter_context(open_output(report)) if report is not None else None
        rows = _rows(text.reader(), given) if report is not None else repeat(("", "", "", ""))
        tally = _Tally(headings, note, row_writer(report or "-"), rows)
        if document is not None:
            for piece in without_units(given.sentences, (keep for _, keep in map(tally.add, verdicts))):
                writers[0](piece)
        else:
            lines = _lines(given.sentences, given.others)
            single = given.others is None
            after = column_separator(given.sentences, text.input_format) if single and scores else "\t" * scores
            _write(lines, map(tally.add, verdicts), writers, headings=headings, after_score=after)
    bad_lines.summarise()
    say(f"kept {tally.kept:,} of {number_of(tally.total, 'pair' if document else 'line')}.")


def _check(
    keep: float | None,
    min_score: float | None,
    target: str | None,
    target_output: str | None,
    outputs: list[str | None],
) -> None:
    if (keep is None) == (min_score is None):
        raise SettingError("choose what to keep with either --keep SHARE or --min-score SCORE.")
    if target_output is not None and target is None:
        raise SettingError("--target-output needs two input files, INPUT and TARGET.")
    named = [path for path in outputs if path is not None]
    for path in named:
        if kind_by_name(path) is None:
            refuse_other_kinds(
                path, "the kept lines are written unchanged, so give the output the extension of the input."
            )
    if len(set(named)) < len(named):
        raise SettingError("two outputs have the same name; choose different names.")


def _document(given: LinkedInput, output: str, *, scores: bool) -> str | None:
    """TMX or XLIFF if the output is to be such a file; only a file of the same kind can become one."""
    wanted = kind_by_name(output)
    found = kind_by_content(given.sentences) if given.others is None else None
    if wanted is None and found is not None:
        ending = "tmx" if found == "TMX" else "xlf"
        say(f"the kept units are written as JSONL. For {found}, use -o with a name that ends in .{ending}.")
    if wanted is None:
        return None
    if found != wanted:
        name = display_name(given.sentences)
        raise SettingError(
            f"{output} can only be written from a file of the same format, and {name} is not {wanted}. Choose another "
            "name for the output."
        )
    if scores:
        raise SettingError(f"{wanted} has no place for scores; use --report instead of --scores.")
    return wanted


def _lines(sentences: FilePath, others: FilePath | None) -> Iterator[tuple[bytes, ...]]:
    """The lines as they stand in the input: further columns and fields must survive, and so must line ends."""
    from weft.applications.filtering import rows_as_they_came

    if others is None:
        return ((line,) for line in rows_as_they_came(sentences))
    names = [display_name(sentences), display_name(others)]
    return read_together(names, [read_whole_lines(sentences), read_whole_lines(others)])


def _as_bars(sides: tuple[bytes, ...]) -> bytes:
    return b" ||| ".join(side.removesuffix(b"\n").removesuffix(b"\r") for side in sides) + b"\n"


def _rows(reader: PairReader, given: LinkedInput) -> Iterator[Cells]:
    """What each row says, for people who look at what was dropped: its id, its sentences, and what is wrong with it."""
    errors: list[FormatError] = []
    rows = read_text_pairs(
        given.sentences,
        given.others,
        format=reader.format,
        fields=reader.fields,
        on_error=errors.append,
        doubts=False,
    )
    for row in rows:
        error = errors.pop() if errors else None
        there = error.__cause__.sides if error and isinstance(error.__cause__, EmptySideError) else ((), ())
        unit = unit_of(row._replace(sides=row.sides or there)) or Unit("", "")
        name = next((value for field, value in row.extra.items() if field.lower() == "id"), "")
        is_alone = error is None and bool(unit.source) != bool(unit.target)
        yield str(name), unit.source, unit.target, error.reason if error else _ALONE if is_alone else ""


class _Tally:
    """Counts the pairs and those that are kept, and reports each with what its row says."""

    def __init__(
        self, headings: Set[int], note: Callable[[bytes], object] | None, row: RowWriter, rows: Iterator[Cells]
    ) -> None:
        self.kept = self.total = 0
        self._number = 0
        self._headings, self._note, self._row, self._rows = headings, note, protected(row), rows
        if note is not None and row is csv_row:  # a table with tabs has no names of columns
            note(row(("score", "verdict", "id", "source", "target", "reason")).encode())

    def add(self, rated: tuple[float, bool]) -> tuple[float, bool]:
        """Take note of the score of the next row and of whether it is kept."""
        score, keep = rated
        self._number += 1
        is_heading = self._number in self._headings
        self.total += not is_heading
        self.kept += keep
        if self._note is not None:
            verdict = "header" if is_heading else "kept" if keep else "dropped" if score >= 0 else "bad"
            cells = (f"{max(score, 0.0):.6f}", verdict, *next(self._rows))
            self._note(self._row(cells).encode("utf-8", "backslashreplace"))
        return rated


def _write(
    lines: Iterable[tuple[bytes, ...]],
    verdicts: Verdicts,
    writers: list[Callable[[bytes], object]],
    *,
    headings: Set[int],
    after_score: str,
) -> None:
    """Write what is kept, and the line that names columns.

    Two input files become two outputs, or `source ||| target` where there is one output. Scores are written if there is
    something to write after them.
    """
    marks = [b""] * len(writers)
    for number, (sides, (score, keep)) in enumerate(zip(lines, verdicts, strict=True), start=1):
        if number == 1:
            # A byte order mark belongs to the file: it comes first whichever line does.
            if len(sides) == len(writers):
                marks = [BOM_UTF8 if side.startswith(BOM_UTF8) else b"" for side in sides]
            sides = tuple(side.removeprefix(BOM_UTF8) for side in sides)
        is_heading = number in headings
        if keep or is_heading:
            columns = sides if len(writers) == len(sides) else (_as_bars(sides),)
            shown = "score" if is_heading else f"{score:.6f}"
            # The line that tells Excel what separates the cells has no cells.
            is_row = after_score and not (is_heading and told_separator(columns[0].decode(errors="replace").strip()))
            prefix = f"{shown}{after_score}".encode() if is_row else b""
            for write, mark, column in zip(writers, marks, (prefix + columns[0], *columns[1:]), strict=True):
                write(mark + column)
            marks = [b""] * len(writers)
