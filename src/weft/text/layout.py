"""Text as files lay it out: paragraphs wrapped at a width, and subtitles with numbers and times.

Both are made plain without moving a character, so that positions in the text are positions in the file.
"""

from __future__ import annotations

import re
from itertools import pairwise

from weft.text.lines import FilePath, display_name
from weft.text.sentences import ends_with_mark

_SUBTITLES = (".srt", ".vtt")
_TIMES = re.compile(r"^[ \t]*(?:\d+:)?\d+:\d+[.,]\d+[ \t]*-->.*$", re.MULTILINE)
# The line above the times holds a number or, in WebVTT, a name; notes and styles are blocks without times.
_NOTES = re.compile(r"^(?:NOTE|STYLE|REGION|WEBVTT)\b.*(?:\n.+)*", re.MULTILINE)
_TAGS = re.compile(r"</?[a-zA-Z][^<>\n]*>|<\d[\d:.]*>|\{\\[^{}\n]*\}|[♪♫]")
_SPEAKERS = "-\u2010\u2013\u2014"

# Wider lines are paragraphs; a few lines prove nothing.
_WIDEST, _FEWEST_LINES = 120, 5
_MOST_FIT, _MOST_ENDED = 0.1, 0.5


def are_subtitles(path: FilePath) -> bool:
    """Whether a file's name says that it holds subtitles."""
    return display_name(path).lower().endswith(_SUBTITLES)


def without_times(text: str) -> str:
    """Subtitles with blanks in place of numbers, times and tags, and with each subtitle in one line.

    A line that begins with a dash is another speaker's and stays a line. The length of the text does not change.
    """
    text = text.replace("\ufeff", " ")
    text = _TAGS.sub(_blank, _NOTES.sub(_blank, text))
    blocks = re.split(r"(\n[ \t]*(?:\n[ \t]*)*\n)", text)
    return "".join(_cue(block) if number % 2 == 0 else block for number, block in enumerate(blocks))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _cue(block: str) -> str:
    times = _TIMES.search(block)
    if times:
        block = re.sub(r"[^\n]", " ", block[: times.end()]) + block[times.end() :]
    lines = block.split("\n")
    joined = lines[0]
    for before, line in pairwise(lines):
        spoken = line.lstrip()[:1] in _SPEAKERS and bool(line.strip())
        joined += ("\n" if spoken or not before.strip() else " ") + line
    return joined


def wrapped_at(text: str) -> int | None:
    """The width at which the paragraphs of a text are wrapped; None if its lines are lines for another reason.

    Wrapped lines are as full as they can be: the first word of the next line would not have fitted. Sentences of lists
    and of files with a sentence a line leave more room, or end with the line.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    width = max(map(len, lines), default=0)
    inner = [(line, following.split()[0]) for line, following in pairwise(lines) if line.strip() and following.strip()]
    if width > _WIDEST or len(inner) < _FEWEST_LINES or not all(" " in line.strip() for line, _ in inner):
        return None
    fit = sum(len(line) + 1 + len(word) <= width for line, word in inner)
    ended = sum(ends_with_mark(line) for line, _ in inner)
    return width if fit <= _MOST_FIT * len(inner) and ended <= _MOST_ENDED * len(inner) else None


def unwrapped(text: str) -> str:
    """A text with a blank in place of each line end that does not end a paragraph."""
    return re.sub(r"(?<=\S)\n(?=[ \t]*\S)", " ", re.sub(r"[ \t]+$", _blank, text, flags=re.MULTILINE))
