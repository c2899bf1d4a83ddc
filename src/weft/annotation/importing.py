"""Files that somebody wants to annotate, read with weft's own readers: pairs with or without links, or links alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from os import PathLike
from pathlib import Path

from weft.annotation.project import create_project
from weft.annotation.sentences import ProjectPair
from weft.errors import FormatError, SettingError
from weft.text.gold import GoldFile
from weft.text.json_objects import parse_json_object
from weft.text.lines import FilePath, display_name, read_lines
from weft.text.links import links_of_record, recognised_links
from weft.text.pairs import NOTHING, PairReader
from weft.text.watches import SplitWatch
from weft.types import Alignment, SentencePair

# What a line is that holds no pair and yet is not bad.
_NAMES = "the line names the columns."
_ALONE = "the sentence has no counterpart."


@dataclass(frozen=True)
class Imported:
    """What files hold, one entry for each line.

    Attributes:
        pairs: the pairs; a line that holds none keeps its place and says why.
        links: the links of each line, where the files hold links.
        base: the number that the file gives to the first word, where it holds links alone.
        listed: for each line, whether the file lists its words; empty where it lists none, and lines are text.
        unsplit: whether the text does not seem to be split into words.
    """

    pairs: list[ProjectPair] = field(default_factory=list)
    links: list[Alignment | None] = field(default_factory=list)
    base: int = 0
    listed: list[bool] = field(default_factory=list)
    unsplit: bool = False


def read_files(
    paths: Sequence[FilePath],
    known: Sequence[SentencePair] | None = None,
    *,
    reader: PairReader = PairReader(),  # noqa: B008 - it is frozen
) -> Imported:
    """Read one file, or a source and a target file.

    Args:
        paths: pairs in any format, links in any format, JSONL with both, or two parallel files of sentences.
        known: the pairs that links belong to. With them a file of links is checked, and it is found out whether it
            counts from 0 or 1.
        reader: how pairs are read.

    Raises:
        SettingError: there are more than two files, or none.
        FormatError: a file of links cannot be read. In files of pairs a bad line keeps its place.
    """
    if not 1 <= len(paths) <= 2:
        raise SettingError("give one file of pairs, or a source and a target file.")
    if len(paths) == 1 and _holds_links(paths[0]):
        rows = GoldFile(paths[0], known, pairs_name="the list of pairs", skip_unread=True)
        return Imported(links=[Alignment.of(row.links) for row in rows], base=rows.base)
    problems: dict[int, str] = {}

    def note(error: FormatError) -> None:
        # The page shows it to people who need not know where the file lay.
        problems[error.line or 0] = Path(error.path).name + str(error).removeprefix(error.path)

    pairs = [
        ProjectPair(pair, problems.get(number, _ALONE if extra else _NAMES) if pair == NOTHING else "", extra)
        for number, (pair, extra) in enumerate(reader.records(*paths, on_error=note), start=1)
    ]
    if not any(entry.pair != NOTHING for entry in pairs):
        raise SettingError(
            f"{display_name(paths[0])} contains no sentence pairs: 'source ||| target' lines, two columns, or JSONL."
        )
    is_json = len(paths) == 1 and _is_json(paths[0])
    links = _links_beside(paths[0], pairs) if is_json else []
    listed = [_lists_words(line) for line in read_lines(paths[0])] if is_json else []
    unsplit = reader.split is None and _is_unsplit(paths[0], pairs, listed)
    return Imported(pairs, links, listed=listed if any(listed) else [], unsplit=unsplit)


def _first_line(path: FilePath) -> bytes:
    return next((line for line in islice(read_lines(path), 1000) if line.strip()), b"")


def _is_json(path: FilePath) -> bool:
    return _first_line(path).lstrip().startswith(b"{")


def _holds_links(path: FilePath) -> bool:
    """Whether a file holds links alone: its first line that is not blank says so."""
    first = _first_line(path)
    if not first:
        return False
    if _is_json(path):
        return not any(name in first for name in (b'"source"', b'"target"', b'"translation"', b'"problem"'))
    try:
        _, rows = recognised_links(path)
        next((row for row in rows if row.links), None)
    except FormatError:
        return False
    return True


def _lists_words(line: bytes) -> bool:
    try:
        record = parse_json_object(line.decode("utf-8"))
    except ValueError:
        return False
    return isinstance(record.get("source"), list)


def _is_unsplit(path: FilePath, pairs: Sequence[ProjectPair], listed: Sequence[bool]) -> bool:
    """Whether text does not seem to be split into words; it is said at once, as every command says it."""
    watch = SplitWatch(path)
    for entry, words_given in zip_longest(pairs, listed, fillvalue=False):
        if watch.done:
            break
        if isinstance(entry, ProjectPair) and entry.pair != NOTHING:
            source, target = entry.pair
            watch.look((source, target) if words_given else (" ".join(source), " ".join(target)))
    watch.finish()
    return watch.warned


def _links_beside(path: FilePath, pairs: Sequence[ProjectPair]) -> list[Alignment | None]:
    """Links that stand in the same lines as the pairs, with their scores; empty if no line has any."""
    found = [_links_of_line(line, entry.pair) for entry, line in zip(pairs, read_lines(path), strict=True)]
    return found if any(alignment is not None for alignment in found) else []


def _links_of_line(line: bytes, pair: SentencePair) -> Alignment | None:
    try:
        record = parse_json_object(line.decode("utf-8"))
        if not {"links", "sure", "possible"} & record.keys():
            return None
        score = record.get("score")
        links = [
            link
            for link in links_of_record(record)
            if link.source < len(pair.source) and link.target < len(pair.target)
        ]
        return Alignment.of(links, float(score) if isinstance(score, int | float) else None)
    except ValueError:
        return None


def create_from_files(
    folder: str | PathLike[str],
    paths: Sequence[FilePath],
    links: FilePath | None = None,
    *,
    reader: PairReader = PairReader(),  # noqa: B008 - it is frozen
) -> tuple[int, int]:
    """Make a project of files.

    Args:
        folder: where it will lie.
        paths: a file of pairs, or a source and a target file.
        links: links to begin with, one line for each line of the pairs.
        reader: how pairs are read.

    Returns:
        How many lines hold a pair, and how many hold none.
    """
    found = read_files(paths, reader=reader)
    if not found.pairs:
        raise SettingError(f"{display_name(paths[0])} contains links; give the sentence pairs.")
    suggestions = found.links
    if links is not None:
        suggestions = read_files([links], [entry.pair for entry in found.pairs]).links
    create_project(folder, found.pairs, suggestions)
    bad = sum(bool(entry.problem) for entry in found.pairs)
    return len(found.pairs) - bad, bad
