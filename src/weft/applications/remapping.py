"""Links between words to links between other pieces of the same text: subwords, merged words, another tokenisation."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from weft.applications.spans import Side, side_of, split_at_blanks
from weft.errors import FormatError, MissingExtraError, WeftError, first_line
from weft.text.json_objects import parse_json_object
from weft.text.lines import FilePath, check_readable, decode, display_name, read_lines
from weft.text.links import LinkFormat, read_numbered_links
from weft.text.segment import Segmented, Segmenter
from weft.types import Alignment, Link, SentencePair

_NO_WHITE_SPACE = re.compile(r"\S+")

Offsets = Sequence[tuple[int, int]]
Places = list[list[int]]
"""For each old piece the numbers of the new pieces that hold some of its characters."""


def places(old: Offsets, new: Offsets) -> Places:
    """Where the characters of old pieces are among new ones; both are in the order of one text.

    Args:
        old: `(start, end)` of the pieces that links count, in characters of the text.
        new: `(start, end)` of the pieces that they shall count.
    """
    starts, ends = [start for start, _ in new], [end for _, end in new]
    return [list(range(bisect_right(ends, start), bisect_left(starts, end))) for start, end in old]


def remap(alignment: Alignment, source: Places, target: Places) -> Alignment:
    """The alignment with every link drawn between all new pieces of its two old ones."""
    return Alignment.of(
        (
            Link(left, right, link.score, link.sure)
            for link in alignment.links
            for left in source[link.source]
            for right in target[link.target]
        ),
        alignment.score,
    )


class Remap(StrEnum):
    """What links count after remapping."""

    SPACES = "spaces"
    PIECES = "pieces"


class Remapped(NamedTuple):
    """One pair of a file: its two texts, and links between the new pieces of them."""

    source: str
    target: str
    alignment: Alignment


def split_at_white_space(text: str) -> Segmented:
    """The words of `str.split()`, with the places where they stand: it splits at a no-break space too."""
    found = list(_NO_WHITE_SPACE.finditer(text))
    return Segmented(tuple(match.group() for match in found), tuple(match.span() for match in found))


def sentencepieces(path: FilePath) -> Segmenter:
    """How a SentencePiece model cuts a text.

    Raises:
        MissingExtraError: The library is not installed.
        WeftError: The file holds no such model.
    """
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise MissingExtraError("mt", "Cutting text into SentencePiece pieces") from error
    check_readable(path)
    try:
        processor: Any = SentencePieceProcessor(model_file=str(path))
    except (OSError, RuntimeError) as error:
        raise WeftError(f"{display_name(path)}: this is not a SentencePiece model ({first_line(error)}).") from error

    def cut(text: str) -> Segmented:
        found = processor.encode(text, return_type="offset_mapping")
        return Segmented(tuple(found["pieces"]), tuple(map(tuple, found["offsets"])))

    return cut


def in_pieces(
    pair: SentencePair, alignment: Alignment, cut: tuple[Segmenter | None, Segmenter | None]
) -> tuple[SentencePair, Alignment]:
    """A pair cut anew, and its links between the new pieces; a side without a segmenter stays as it is."""
    sides: list[tuple[str, ...]] = []
    maps: list[Places] = []
    for words, segmenter in zip(pair, cut, strict=True):
        old = split_at_blanks(" ".join(words)) if segmenter is not None else None
        new = None if segmenter is None else segmenter(" ".join(words))
        sides.append(words if new is None else new.words)
        maps.append(
            [[k] for k in range(len(words))] if old is None or new is None else places(old.offsets, new.offsets)
        )
    return SentencePair(sides[0], sides[1]), remap(alignment, maps[0], maps[1])


def remapped(
    path: FilePath, cut: tuple[Segmenter, Segmenter] = (split_at_blanks, split_at_blanks)
) -> Iterator[Remapped]:
    """Links of a JSONL file, as `weft align --output-format jsonl` writes it, between other pieces of its texts.

    Words may be words, words of raw text with their offsets, or SentencePiece pieces, which a `\u2581` gives away.

    Args:
        path: records with `source`, `target` and `links`.
        cut: how each side shall be cut; at blanks unless told otherwise.

    Raises:
        FormatError: A line holds no such record.
    """
    rows = read_numbered_links(path, format=LinkFormat.JSONL)
    for number, (line, row) in enumerate(zip(read_lines(path), rows, strict=True), start=1):
        record = parse_json_object(decode(line, path, number))
        given = [record.get(name) for name in ("source", "target")]
        if not any(given) or [] in given or "" in given:  # could not be aligned, or has no counterpart
            yield Remapped("", "", Alignment())
            continue
        try:
            sides = [_with_text(side_of(record, name, split_at_blanks)) for name in ("source", "target")]
            maps = [
                places(side.offsets, segmenter(side.text or "").offsets)
                for side, segmenter in zip(sides, cut, strict=True)
            ]
            links = remap(Alignment.of(row.links, row.score), maps[0], maps[1])
        except (ValueError, IndexError) as error:
            message = str(error) if isinstance(error, ValueError) else "a link points after the end of its sentence."
            raise FormatError(display_name(path), number, message) from error
        yield Remapped(sides[0].text or "", sides[1].text or "", links)


def _with_text(side: Side) -> Side:
    """A side with its text and the places of its words in it; pieces are put together again."""
    if side.text is not None:
        return side
    if not any("\u2581" in word for word in side.words):
        text = " ".join(side.words)
        return Side(side.words, text, split_at_blanks(text).offsets)
    text, offsets = "", []
    for word in side.words:
        start = len(text)
        text += word.replace("\u2581", " ") if text else word.replace("\u2581", "")
        offsets.append((start + len(text[start:]) - len(text[start:].lstrip(" ")), len(text)))
    return Side(side.words, text, tuple(offsets))
