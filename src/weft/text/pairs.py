"""Sentence pairs in files: `source ||| target`, TSV, JSONL, or two parallel files; in and out.

Words are separated by ASCII space and tab only. NBSP, U+3000 and their kin are parts of words in real data, and
splitting at them would shift every index after them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from weft.errors import FormatError, chosen
from weft.text.json_objects import parse_json_object, shorten
from weft.text.lines import OnError, Path, decode, display_name, read_lines, read_together
from weft.types import SentencePair, Words

Sides = tuple[str | Words, str | Words]

NOTHING = SentencePair((), ())
"""Stands for a line that holds no pair, so that line n of the output still belongs to line n of the input."""

# The bars come first in the pattern, so that the search for them is one for a plain string.
_BARS = re.compile(r"\|\|\|(?<![^ \t]\|\|\|)(?![^ \t])")


class PairFormat(StrEnum):
    """How sentence pairs are written; `auto` looks at the lines themselves."""

    AUTO = "auto"
    BARS = "bars"
    TSV = "tsv"
    JSONL = "jsonl"


def split_words(text: str) -> Words:
    """Split at ASCII space and tab, and nowhere else."""
    return tuple(filter(None, text.replace("\t", " ").split(" ")))


def read_pairs(
    path: Path,
    target: Path | None = None,
    *,
    format: PairFormat | str = PairFormat.AUTO,
    on_error: OnError | None = None,
) -> Iterator[SentencePair]:
    """Stream the sentence pairs of one file, or of two parallel files.

    A line that holds no pair (blank, bad UTF-8, no separator, an empty side) raises a FormatError; with `on_error`
    it is handed over instead and `NOTHING` takes its place, so no line is ever lost.
    """
    texts = read_texts(path, target, format=format, on_error=on_error)
    return (SentencePair(words_of(sides[0]), words_of(sides[1])) if sides else NOTHING for sides in texts)


def words_of(side: str | Words) -> Words:
    """The words of one side: split if it is text, as they are if somebody split it already."""
    return side if isinstance(side, tuple) else split_words(side)


def read_texts(
    path: Path,
    target: Path | None = None,
    *,
    format: PairFormat | str = PairFormat.AUTO,
    on_error: OnError | None = None,
) -> Iterator[Sides | None]:
    """Like `read_pairs` before words are split: each side is text, or words where the file lists them."""
    if target is not None:
        return _read_two_files(path, target, read_lines(path), read_lines(target), on_error)
    return _read_one_file(path, read_lines(path), chosen("format", PairFormat, format), on_error)


def _read_one_file(
    path: Path, lines: Iterator[bytes], format: PairFormat, on_error: OnError | None
) -> Iterator[Sides | None]:
    guessing = format is PairFormat.AUTO
    parse = None if guessing else _PARSERS[format]
    for number, line in enumerate(lines, start=1):
        try:
            text = decode(line, path, number)
            if guessing and (parse is None or (parse is _parse_tsv and "\t" not in text)):
                # One odd line with a tab at the start must not spoil a file of bars.
                parse = _recognise(text) or parse
            sides = _checked(parse(text) if parse else _no_format(text))
        except (FormatError, ValueError) as error:
            _report(error, path, number, on_error)
            yield None
        else:
            yield sides


def _read_two_files(
    source: Path, target: Path, source_lines: Iterator[bytes], target_lines: Iterator[bytes], on_error: OnError | None
) -> Iterator[Sides | None]:
    lines = read_together([display_name(source), display_name(target)], [source_lines, target_lines])
    for number, (source_line, target_line) in enumerate(lines, start=1):
        path = source
        try:
            source_text = decode(source_line, source, number)
            path = target
            target_text = decode(target_line, target, number)
            path = target if source_text.strip(" \t") else source
            sides = _checked((source_text, target_text))
        except (FormatError, ValueError) as error:
            _report(error, path, number, on_error)
            yield None
        else:
            yield sides


def _report(error: FormatError | ValueError, path: Path, number: int, on_error: OnError | None) -> None:
    located = error if isinstance(error, FormatError) else FormatError(display_name(path), number, str(error))
    if on_error is None:
        raise located
    on_error(located)


def _checked(sides: Sides) -> Sides:
    source, target = sides
    if source and target and source[0] not in " \t" and target[0] not in " \t":
        return sides  # the usual line takes no closer look
    empty = [side.strip(" \t") == "" if isinstance(side, str) else not side for side in sides]
    if all(empty):
        raise ValueError("the line is blank; expected a sentence and its translation.")
    if any(empty):
        raise ValueError(f"the {'source' if empty[0] else 'target'} side is empty.")
    return sides


def _recognise(text: str) -> Callable[[str], Sides] | None:
    if text.startswith("{") and text.rstrip().endswith("}") and _is_json(text):
        return _parse_jsonl
    if _BARS.search(text):
        return _parse_bars
    return _parse_tsv if "\t" in text.strip() else None


def _is_json(text: str) -> bool:
    try:
        parse_json_object(text)
    except ValueError:
        return False
    return True


def _no_format(text: str) -> Sides:
    if not text.strip(" \t"):
        return ("", "")
    raise ValueError("expected 'source ||| target', two columns separated by a tab, or a JSON object.")


def _parse_bars(text: str) -> Sides:
    sides = _BARS.split(text)
    if len(sides) == 2:
        return (sides[0].strip(" \t"), sides[1].strip(" \t"))
    if not text.strip(" \t"):
        return ("", "")
    raise ValueError(f"expected one ' ||| ' separator, found {len(sides) - 1}.")


def _parse_tsv(text: str) -> Sides:
    source, tab, rest = text.partition("\t")
    if not tab and text.strip(" "):
        raise ValueError("expected a tab between source and target, found none.")
    return (source, rest.partition("\t")[0])


def _parse_jsonl(text: str) -> Sides:
    if not text.strip(" \t"):
        return ("", "")
    record = parse_json_object(text)
    return (_json_side(record, "source"), _json_side(record, "target"))


def _json_side(record: dict[str, object], key: str) -> str | Words:
    side = record.get(key)
    if isinstance(side, str):
        return side
    if isinstance(side, list) and all(isinstance(word, str) for word in side):
        return tuple(side)
    raise ValueError(f'expected "{key}" to be a sentence or a list of words, found {shorten(json.dumps(side))}.')


_PARSERS: dict[PairFormat, Callable[[str], Sides]] = {
    PairFormat.BARS: _parse_bars,
    PairFormat.TSV: _parse_tsv,
    PairFormat.JSONL: _parse_jsonl,
}


def format_pair(pair: SentencePair, format: PairFormat | str = PairFormat.BARS) -> str:
    """Write one pair as a line without its end; raises ValueError if the format cannot hold the words."""
    if format == PairFormat.JSONL:
        return json.dumps({"source": pair.source, "target": pair.target}, ensure_ascii=False)
    if pair == NOTHING:
        return ""
    separator = " ||| " if format == PairFormat.BARS else "\t"
    line = separator.join((" ".join(pair.source), " ".join(pair.target)))
    if "\n" in line or line.endswith("\r") or _reread(line, PairFormat(format)) != pair:
        raise ValueError(f"the words of {shorten(line)} cannot be told apart as {format}; write jsonl instead.")
    return line


def _reread(line: str, format: PairFormat) -> SentencePair:
    source, target = _PARSERS[format](line)
    return SentencePair(words_of(source), words_of(target))


def format_pairs(pairs: Iterable[SentencePair], format: PairFormat | str = PairFormat.BARS) -> Iterator[str]:
    """Write pairs as lines, each with its end."""
    for number, pair in enumerate(pairs, start=1):
        try:
            yield format_pair(pair, format) + "\n"
        except ValueError as error:
            raise FormatError("output", number, str(error)) from error
