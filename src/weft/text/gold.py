"""Gold links in files, read the same way everywhere: from which number words are counted, and links out of range.

A gold file read with the wrong base costs 50 points of AER and still looks plausible, so the base is found out from
the file itself: an index 0 means that words are counted from 0; where there is none in the whole file, they are counted
from 1. Sentences beside it only make that known sooner, since an index equal to a sentence's length says it too: one
file has one answer, whoever reads it. Lines are kept in memory until the first index that tells, which is usually on
the first line.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, repeat
from os.path import isfile
from typing import NamedTuple

from weft.errors import FormatError, SettingError
from weft.text.lines import FilePath, display_name, read_two_together
from weft.text.links import LinkFormat, NumberedLinks, recognised_links
from weft.text.pairs import NOTHING, read_pairs
from weft.types import Alignment, GoldAlignment, Link, SentencePair

logger = logging.getLogger(__name__)

# These formats say from where they count, and their readers give indices from 0.
_FIXED_BASE = (LinkFormat.NAACL, LinkFormat.JSONL)


class GoldRow(NamedTuple):
    """The gold links of one sentence pair, the line of the file they come from, and the pair where it was given."""

    line: int
    links: list[Link]
    pair: SentencePair | None = None

    @property
    def gold(self) -> GoldAlignment:
        """The sure and the possible links."""
        return GoldAlignment.of(self.links)

    @property
    def alignment(self) -> Alignment:
        """The links in order."""
        return Alignment.of(self.links)


def read_gold(
    path: FilePath,
    pairs: Iterable[SentencePair] | None = None,
    *,
    base: int | None = None,
    format: LinkFormat | str = LinkFormat.AUTO,
) -> Iterator[GoldAlignment]:
    """Stream the gold alignments of a file.

    Args:
        path: talp, Pharaoh, NAACL or JSONL.
        pairs: the sentences that the links belong to. If they are given, every link is checked against its sentence.
        base: the index of the first word, 0 or 1; None means that it is detected.
        format: the format of the file; `auto` looks at its first line.

    Returns:
        One gold alignment per line, counted from 0.

    Raises:
        FormatError: a line cannot be read, or a link is out of range.
        LineCountError: there are more or fewer pairs than lines.
    """
    return (row.gold for row in GoldFile(path, pairs, base=base, format=format, option="base"))


class GoldFile:
    """The rows of a gold file, to be iterated over once; `base` is known from the beginning.

    Args:
        path: talp, Pharaoh, NAACL or JSONL.
        pairs: the sentences that the links belong to, one per line; `NOTHING` where a line could not be read.
        base: the number of the first word, 0 or 1; None finds it out, and logs how where there was doubt.
        format: the format of the file.
        pairs_name: what messages call the pairs.
        skip_unread: pass over the links of pairs that are `NOTHING` instead of calling them out of range.
        option: the parameter with which a user sets the base; empty where there is none, and messages say what to do
            instead.
    """

    def __init__(
        self,
        path: FilePath,
        pairs: Iterable[SentencePair] | None = None,
        *,
        base: int | None = None,
        format: LinkFormat | str = LinkFormat.AUTO,
        pairs_name: str = "the text",
        skip_unread: bool = False,
        option: str = "",
    ) -> None:
        if base not in (None, 0, 1):
            raise SettingError(f"`base` must be 0, 1 or None, got {base!r}.")
        self._path = path
        self._skip_unread = skip_unread
        self._option = option
        self._given = base is not None
        self._why = f"`{option}` is 1, so words are counted from 1"
        format, numbered = recognised_links(path, format=format)
        rows = self._with_pairs(numbered, pairs, pairs_name)
        self._shift = format not in _FIXED_BASE
        if not self._shift:
            self.base, self._rows = 0, rows
        elif base is not None:
            self.base, self._rows = base, rows
        else:
            self.base, self._rows = self._decided(rows)

    def _with_pairs(
        self, rows: Iterator[NumberedLinks], pairs: Iterable[SentencePair] | None, name: str
    ) -> Iterator[GoldRow]:
        if pairs is None:
            together: Iterable[tuple[NumberedLinks, SentencePair | None]] = zip(rows, repeat(None), strict=False)
        else:
            together = read_two_together((display_name(self._path), name), rows, iter(pairs))
        return (GoldRow(row.line, row.links, pair) for row, pair in together)

    def _decided(self, rows: Iterator[GoldRow]) -> tuple[int, Iterator[GoldRow]]:
        """The base, and all rows: read until the first index that tells."""
        read: list[GoldRow] = []
        links = 0
        for row in rows:
            read.append(row)
            links += len(row.links)
            base, reason = _evidence(row)
            if base is not None:
                return self._said(base, reason), chain(read, rows)
        if not links:
            return 0, iter(read)
        return self._said(1, f"there is no index 0 in {links:,} link{'' if links == 1 else 's'}"), iter(read)

    def _said(self, base: int, reason: str) -> int:
        if reason:
            self._why = f"{reason}, so words are counted from {base}. {self._remedy()}"
            message = "%s: word indices seem to start at %d, because %s. %s"
            logger.warning(message, display_name(self._path), base, reason, self._remedy())
        return base

    def _remedy(self) -> str:
        """What to do if the base was not found out right: it was taken for 1, and is 0."""
        if self._option:
            return f"Set `{self._option}` to 0 or 1 to override this."
        # JSONL says from where it counts: nothing has to be found out.
        name = display_name(self._path)
        return f"If they start at 0, convert the file and use the result: weft convert {name} links.jsonl --to jsonl"

    def __iter__(self) -> Iterator[GoldRow]:
        for row in self._rows:
            links = [self._counted_from_0(link, row.line) for link in row.links] if self._shift else row.links
            if row.pair is not None and not (self._skip_unread and row.pair == NOTHING):
                option = self._option if self._given else ""
                check_range(self._path, row.line, links, row.pair, base=self.base, option=option)
            yield row._replace(links=links)

    def _counted_from_0(self, link: Link, line: int) -> Link:
        if self.base == 0:
            return link
        if 0 in link[:2]:
            mixed = "" if self._given else " The file seems to count from 1 in some lines and from 0 in others."
            message = f"found '{link[0]}{'-' if link.sure else 'p'}{link[1]}', but {self._why.rstrip('.')}.{mixed}"
            raise FormatError(display_name(self._path), line, message)
        return link._replace(source=link.source - 1, target=link.target - 1)


def _evidence(row: GoldRow) -> tuple[int | None, str]:
    """The base that a row proves, with the reason where there is something to tell; a row may prove nothing."""
    if any(0 in link[:2] for link in row.links):
        return 0, ""
    if row.pair is not None and row.pair != NOTHING:
        lengths = (len(row.pair.source), len(row.pair.target))
        reached = (link[side] for link in row.links for side in (0, 1) if link[side] == lengths[side])
        for index in reached:
            return 1, f"on line {row.line} the index {index} equals the sentence's length, and no index before it is 0"
    return None, ""


def counted_from(path: FilePath) -> int | None:
    """The number that a link file seems to give to the first word; None without links, or if its format says it."""
    format, rows = recognised_links(path)
    if format in _FIXED_BASE:
        return None
    found = None
    for row in rows:
        if any(0 in link[:2] for link in row.links):
            return 0
        found = 1 if row.links else found
    return found


def counts_from_1(path: FilePath) -> bool:
    """Whether a link file seems to count words from 1: it holds links, and no index is 0."""
    return counted_from(path) == 1


def check_range(
    path: FilePath,
    line: int,
    links: Collection[Link],
    sentence: SentencePair,
    *,
    base: int = 0,
    option: str = "base",
) -> None:
    """Refuse links that point beyond a sentence's end.

    Args:
        path: the file that the links come from.
        line: their line in it.
        links: the links, counted from 0.
        sentence: the pair they belong to.
        base: the number that the file gives to the first word.
        option: the parameter with which a user sets the base, if there is one.

    Raises:
        FormatError: a link is out of range.
    """
    lengths = (len(sentence.source), len(sentence.target))
    for link in links:
        if link[0] >= lengths[0] or link[1] >= lengths[1]:
            message = (
                f"the link {link[0] + base}-{link[1] + base} is out of range: source and target have "
                f"{lengths[0]} and {lengths[1]} words, counted from {base}."
            )
            from_1 = option and base == 0 and 1 <= link[0] <= lengths[0] and 1 <= link[1] <= lengths[1]
            hint = ""
            if from_1 and not _has_index_0(path):
                hint = f" If the file counts from 1, set `{option}` to 1."
            elif all(link[0] < lengths[1] and link[1] < lengths[0] for link in links):
                hint = " With source and target swapped, the links of this line would fit. Are they swapped?"
            raise FormatError(display_name(path), line, message + hint)


def _has_index_0(path: FilePath) -> bool:
    """Whether a link file that can be read again surely counts from 0."""
    try:
        _, rows = recognised_links(path) if isfile(path) else (None, iter(()))
        return any(0 in link[:2] for row in rows for link in row.links)
    except FormatError:
        return False


def read_sentences(source: FilePath, target: FilePath) -> Iterator[SentencePair]:
    """The sentences of a gold set; blank lines are sentences without words."""

    def tolerate_blank(error: FormatError) -> None:
        if error.byte is not None:
            raise error

    return read_pairs(source, target, on_error=tolerate_blank)
