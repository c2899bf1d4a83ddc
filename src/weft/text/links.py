"""Links in files: Pharaoh, Pharaoh with scores, talp, NAACL and JSONL; in and out.

One line a sentence pair, except NAACL, where every link has a line that begins with the sentence's number.
Link files are read as bytes: their tokens are ASCII, and a token seen before is never parsed again.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cache
from itertools import chain, groupby, repeat
from typing import NamedTuple

from weft.errors import FormatError, SettingError, chosen
from weft.text.json_objects import parse_json_object, shorten
from weft.text.lines import FilePath, decode, display_name, read_lines
from weft.types import Alignment, Link

_TOKEN = re.compile(rb"(\d{1,9})([-p])(\d{1,9})(?::([-+.\deE]{1,32}))?")
_NAACL = re.compile(rb"(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP]))?(?:\s+([-+.\deE]{1,32}))?")
_FIRST_NAACL = re.compile(rb"\d+\s+\d+\s+\d+(\s|$)")
_KNOWN_TOKENS = 1 << 16
_LARGEST_GAP = 1_000_000


class LinkFormat(StrEnum):
    """How links are written; `auto` looks at the first line that contains a link."""

    AUTO = "auto"
    PHARAOH = "pharaoh"
    PHARAOH_SCORES = "pharaoh-scores"
    TALP = "talp"
    NAACL = "naacl"
    JSONL = "jsonl"


def read_links(path: FilePath, *, format: LinkFormat | str = LinkFormat.AUTO, base: int = 0) -> Iterator[Alignment]:
    """Stream the alignments of a file. For gold links, use `read_gold`, which detects the base.

    Args:
        path: the file; `-` is stdin.
        format: its format; `auto` looks at the first line that contains a link.
        base: the index of the first word in Pharaoh and talp files, 0 or 1. It does not affect NAACL, which counts from
            1 (0 is NULL, which is dropped), or JSONL, which counts from 0.

    Returns:
        One alignment per sentence pair, counted from 0.

    Raises:
        FormatError: a line cannot be read.
    """
    return (Alignment.of(row.links, row.score) for row in read_numbered_links(path, format=format, base=base))


class NumberedLinks(NamedTuple):
    """The links of one sentence as they stand in a file, with the line they came from."""

    line: int
    links: list[Link]
    score: float | None = None


def read_numbered_links(
    path: FilePath, *, format: LinkFormat | str = LinkFormat.AUTO, base: int = 0
) -> Iterator[NumberedLinks]:
    """Stream the links of a file as they stand in it, each sentence with the line it came from.

    Args:
        path: the file; `-` is stdin.
        format: its format; `auto` looks at the first line that contains a link.
        base: the number of the first word in Pharaoh and talp files, 0 or 1.
    """
    return recognised_links(path, format=format, base=base)[1]


def recognised_links(
    path: FilePath, *, format: LinkFormat | str = LinkFormat.AUTO, base: int = 0
) -> tuple[LinkFormat, Iterator[NumberedLinks]]:
    """Find out the format of a link file.

    Args:
        path: the file; `-` is stdin.
        format: its format, if it is known.
        base: the number of the first word in Pharaoh and talp files, 0 or 1.

    Returns:
        The format, and the links of each sentence as they stand in the file.
    """
    lines = read_lines(path)
    if format == LinkFormat.AUTO:
        format, lines = _recognised(lines)
    format = chosen("format", LinkFormat, format)
    return format, _read_naacl(lines, path) if format is LinkFormat.NAACL else _read_rows(lines, path, format, base)


def _read_rows(lines: Iterator[bytes], path: FilePath, format: LinkFormat, base: int) -> Iterator[NumberedLinks]:
    tokens = _Tokens(format, base)
    for number, line in enumerate(lines, start=1):
        try:
            row = (
                _parse_jsonl(line, number) if format == LinkFormat.JSONL else NumberedLinks(number, tokens.parse(line))
            )
        except UnicodeDecodeError:
            decode(line, path, number)
            raise
        except ValueError as error:
            raise FormatError(display_name(path), number, str(error)) from error
        yield row


def _recognised(lines: Iterator[bytes]) -> tuple[LinkFormat, Iterator[bytes]]:
    blank = 0
    for line in lines:
        if line.strip():
            return _format_of(line.strip()), chain(repeat(b"", blank), [line], lines)
        blank += 1
    return LinkFormat.TALP, repeat(b"", blank)


def _format_of(line: bytes) -> LinkFormat:
    if line.startswith(b"{"):
        return LinkFormat.JSONL
    return LinkFormat.NAACL if _FIRST_NAACL.match(line) else LinkFormat.TALP


class _Tokens(dict[bytes, Link]):
    """Token to link. Most tokens of a corpus are alike, so each is parsed and checked once.

    Talp contains Pharaoh, with or without scores; only the message and the possible links differ.
    """

    def __init__(self, format: LinkFormat, base: int) -> None:
        super().__init__()
        self._format = format
        self._base = base

    def parse(self, line: bytes) -> list[Link]:
        return [self[token] for token in line.split()]

    def __missing__(self, token: bytes) -> Link:
        match = _TOKEN.fullmatch(token)
        if not match or (match[2] == b"p" and self._format != LinkFormat.TALP):
            hint = " Files of GIZA++ must be rewritten first: docs/coming-from.md says how." if token == b"#" else ""
            raise ValueError(f"expected {_EXPECTED[self._format]}, found {_quoted(token)}.{hint}")
        source, target = int(match[1]) - self._base, int(match[3]) - self._base
        if source < 0 or target < 0:
            raise ValueError(f"found {_quoted(token)}, but `base` is 1, so words are counted from 1.")
        link = Link(source, target, _score(match[4]), match[2] == b"-")
        if link.score is None:
            if len(self) >= _KNOWN_TOKENS:
                self.clear()
            self[token] = link
        return link


_EXPECTED = {
    LinkFormat.TALP: "'i-j' or 'ipj'",
    LinkFormat.PHARAOH: "'i-j'",
    LinkFormat.PHARAOH_SCORES: "'i-j:score'",
}


def _quoted(token: bytes) -> str:
    return shorten(token.decode("utf-8", "backslashreplace"))


def _score(digits: bytes | None) -> float | None:
    if digits is None:
        return None
    try:
        score = float(digits)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"expected a number as score, found {_quoted(digits)}.")
    return score


def _read_naacl(lines: Iterable[bytes], path: FilePath) -> Iterator[NumberedLinks]:
    """Group the lines by sentence. Sentences without a line in between are empty."""
    previous = 0
    rows = (_parse_naacl(line, path, number) for number, line in enumerate(lines, start=1) if line.strip())
    for sentence, group in groupby(rows, key=lambda row: row[0]):
        first = next(group)
        if not previous < sentence <= previous + _LARGEST_GAP:
            message = f"sentence {sentence} after sentence {previous}; sort the file by sentence, counted from 1."
            raise FormatError(display_name(path), first[1], message)
        yield from (NumberedLinks(first[1], []) for _ in range(previous + 1, sentence))
        yield NumberedLinks(first[1], [link for _, _, link in chain((first,), group) if link])
        previous = sentence


def _parse_naacl(line: bytes, path: FilePath, number: int) -> tuple[int, int, Link | None]:
    match = _NAACL.fullmatch(line.strip())
    if not match:
        message = f"expected 'sentence i j [S|P] [confidence]', found {_quoted(line)}."
        raise FormatError(display_name(path), number, message)
    source, target = int(match[2]) - 1, int(match[3]) - 1
    try:
        link = Link(source, target, _score(match[5]), match[4] != b"P") if min(source, target) >= 0 else None
    except ValueError as error:
        raise FormatError(display_name(path), number, str(error)) from error
    return int(match[1]), number, link


def _parse_jsonl(line: bytes, number: int) -> NumberedLinks:
    if not line.strip():
        return NumberedLinks(number, [])
    record = parse_json_object(line.decode("utf-8"))
    if not {"links", "sure", "possible"} & record.keys():
        raise ValueError(f'expected "links", found {shorten(", ".join(record))}.')
    return NumberedLinks(number, links_of_record(record), _json_number(record.get("score")))


def links_of_record(record: dict[str, object]) -> list[Link]:
    """The links of a JSONL record; every way they can be wrong is a ValueError."""
    sure = chain(_json_links(record, "links"), _json_links(record, "sure"))
    links = [_json_link(item, sure=True) for item in sure]
    return links + [_json_link(item, sure=False) for item in _json_links(record, "possible")]


def _json_links(record: dict[str, object], key: str) -> list[object]:
    items = record.get(key, [])
    if not isinstance(items, list):
        raise ValueError(f'expected "{key}" to be a list of [i, j] or [i, j, score], found {shorten(str(items))}.')
    return items


def _json_link(item: object, *, sure: bool) -> Link:
    if isinstance(item, list) and len(item) in (2, 3) and all(type(index) is int and index >= 0 for index in item[:2]):
        return Link(item[0], item[1], _json_number(item[2]) if len(item) == 3 else None, sure)
    raise ValueError(f"expected a link [i, j] or [i, j, score], found {shorten(json.dumps(item))}.")


def _json_number(value: object) -> float | None:
    """A score, or None for null; whole numbers beyond what a float can hold are no scores."""
    if value is None:
        return None
    with contextlib.suppress(OverflowError):
        if isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    raise ValueError(f"expected a number as score, found {shorten(json.dumps(value))}.")


def format_links(
    alignments: Iterable[Alignment], format: LinkFormat | str = LinkFormat.PHARAOH, *, base: int = 0
) -> Iterator[str]:
    """Write alignments as lines with their line ends. In NAACL, an alignment may take several lines.

    Args:
        alignments: one per sentence pair.
        format: the format of the lines.
        base: the index of the first word in Pharaoh and talp; in NAACL and JSONL, it is fixed.
    """
    write = line_writer(format)
    for number, alignment in enumerate(alignments, start=1):
        yield write(_counted_from(base, alignment), number) + "\n"


def line_writer(format: LinkFormat | str) -> Callable[[Alignment, int], str]:
    """The function that writes one alignment, given its number from 1, as a line without its end."""
    if chosen("format", LinkFormat, format) is LinkFormat.AUTO:
        raise SettingError("`format` must be named to write links; auto is for reading.")
    return _WRITERS[LinkFormat(format)]


def _counted_from(base: int, alignment: Alignment) -> Alignment:
    if base == 0:
        return alignment
    links = (link._replace(source=link.source + base, target=link.target + base) for link in alignment.links)
    return Alignment(tuple(links), alignment.score)


def _write_pharaoh(alignment: Alignment, number: int) -> str:
    names = _names_of_links()
    try:
        return " ".join([names[source][target] for source, target, _, _ in alignment.links])
    except KeyError:  # a long sentence
        return " ".join([f"{link[0]}-{link[1]}" for link in alignment.links])


@cache
def _names_of_links() -> dict[int, dict[int, str]]:
    """The links of usual sentences as they are written: looking one up takes a third of the time of writing it."""
    numbers = range(128)
    return {source: {target: f"{source}-{target}" for target in numbers} for source in numbers}


def _write_scores(alignment: Alignment, number: int) -> str:
    return " ".join([f"{link[0]}-{link[1]}{_colon(link.score)}" for link in alignment.links])


def _write_talp(alignment: Alignment, number: int) -> str:
    return " ".join([f"{link[0]}{'-' if link[3] else 'p'}{link[1]}{_colon(link.score)}" for link in alignment.links])


def _colon(score: float | None) -> str:
    return "" if score is None else f":{score!r}"


def _write_naacl(alignment: Alignment, number: int) -> str:
    if not alignment.links:
        # NULL to NULL: says that the sentence is there, which keeps later files in step with the text.
        return f"{number} 0 0"
    return "\n".join([_naacl_line(link, number) for link in alignment.links])


def _naacl_line(link: Link, number: int) -> str:
    confidence = "" if link.score is None else f" {link.score!r}"
    return f"{number} {link.source + 1} {link.target + 1} {'S' if link.sure else 'P'}{confidence}"


def _write_jsonl(alignment: Alignment, number: int) -> str:
    return json.dumps(json_links(alignment), ensure_ascii=False)


def json_links(alignment: Alignment) -> dict[str, object]:
    """The part of a JSONL record that describes an alignment."""
    record: dict[str, object] = {"links": [_json_item(link) for link in alignment.links if link.sure]}
    possible = [_json_item(link) for link in alignment.links if not link.sure]
    if possible:
        record["possible"] = possible
    if alignment.score is not None:
        record["score"] = alignment.score
    if alignment.unknown:
        record["unknown"] = alignment.unknown
    return record


def _json_item(link: Link) -> list[float]:
    return [link.source, link.target] if link.score is None else [link.source, link.target, link.score]


_WRITERS: dict[LinkFormat, Callable[[Alignment, int], str]] = {
    LinkFormat.PHARAOH: _write_pharaoh,
    LinkFormat.PHARAOH_SCORES: _write_scores,
    LinkFormat.TALP: _write_talp,
    LinkFormat.NAACL: _write_naacl,
    LinkFormat.JSONL: _write_jsonl,
}
