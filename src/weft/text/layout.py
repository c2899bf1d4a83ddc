"""Text as files lay it out: paragraphs wrapped at a width, and subtitles with numbers and times.

Both are made plain without moving a word, so that positions in the text are positions in the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import groupby, pairwise

from weft.text.hyphens import HYPHENS, with_whole_words
from weft.text.lines import FilePath, display_name
from weft.text.sentences import ends_with_mark, sentence_starts

_SUBTITLES = (".srt", ".vtt")
_TIMES = re.compile(r"^[ \t]*(?:\d+:)?\d+:\d+[.,]\d+[ \t]*-->.*$", re.MULTILINE)
# The line above the times holds a number or, in WebVTT, a name; notes and styles are blocks without times.
_NOTES = re.compile(r"^(?:NOTE|STYLE|REGION|WEBVTT)\b.*(?:\n.+)*", re.MULTILINE)
_TAGS = re.compile(r"</?[a-zA-Z][^<>\n]*>|<\d[\d:.]*>|\{\\[^{}\n]*\}|[♪♫]")
_BLANKS = re.compile(r"[ \t\r\n]+")  # a no-break space is no blank
_SPEAKERS = "-\u2010\u2013\u2014"

# Wider lines are paragraphs. A few lines prove nothing, unless they are as wide as pages and e-mails are.
_WIDEST, _USUAL_WIDTH, _FEWEST_LINES = 120, 40, 5
_MOST_FIT, _MOST_ENDED = 0.1, 0.5
# In text that has case: how much of the width lines fill, how many need not, how many of the next begin in lower case.
_FULL, _MOST_SHORT, _LEAST_LOWER = 0.9, 0.2, 0.25
# Quotations are set narrower. Shorter lines are headings, verses and addresses, even between wrapped paragraphs.
_RATHER_FULL = 0.7
_OPENING = "\"'([{\u00ab\u00bb\u2018\u201a\u201c\u201e\u2039\u203a\u00bf\u00a1"
_ITEM = re.compile(r"\(?(?:\w|[ivx]{2,4})[.)]\s")


def are_subtitles(path: FilePath) -> bool:
    """Whether a file's name says that it holds subtitles."""
    return display_name(path).lower().endswith(_SUBTITLES)


def without_times(text: str, *, references: bool = False) -> str:
    """Subtitles with blanks in place of numbers, times and tags, and with each subtitle in one line.

    A line that begins with a dash is another speaker's and stays a line. The length of the text does not change: with
    `references`, as in WebVTT, `&amp;` and the like become characters, and the rest of them blanks behind the word.
    """
    text = text.replace("\ufeff", " ")
    text = _TAGS.sub(_blank, _NOTES.sub(_blank, text))
    blocks = re.split(r"(\n[ \t]*(?:\n[ \t]*)*\n)", text)
    plain = "".join(_cue(block) if number % 2 == 0 else block for number, block in enumerate(blocks))
    return re.sub(r"\S+", _unescaped, plain) if references else plain


def _unescaped(found: re.Match[str]) -> str:
    return unescape(found[0]).ljust(len(found[0]))


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


def in_one_line(text: str) -> str:
    """A text without line ends, and with single blanks where line ends, numbers and times stood."""
    return _BLANKS.sub(" ", text).strip(" ")


def unwrapped(text: str) -> str:
    """A text with a blank in place of each line end within a paragraph: only blank lines end paragraphs."""
    return _joined(text, (line_end.number for block in _blocks(text) for line_end in block))


def found_wrapped(text: str) -> tuple[str, int | None]:
    """A text without the line ends that only wrap its paragraphs at a width, and that width.

    Where a script has case, sentences that go on in lower case on the next line tell it, if the lines are about as
    long as each other. In other scripts, lines must be as full as they can be: the first word of the next line would
    not have fitted. Lists, poems and sentences on lines of their own leave more room, or end with the line.

    Returns:
        The text, with blanks in place of those line ends; and the width, or None if all lines are lines for another
        reason.
    """
    blocks = _blocks(text)
    width = _width(blocks)
    if width is not None:
        return _joined(text, (number for block in blocks for number in _wrapping(block, width))), width
    # Between lists and poems, a paragraph may still be wrapped; but two lines could be anything.
    widths = [_width([block]) if sum(line_end.goes_on for line_end in block) > 1 else None for block in blocks]
    wrapped = [(block, own) for block, own in zip(blocks, widths, strict=True) if own is not None]
    if not wrapped:
        return text, None
    numbers = (number for block, own in wrapped for number in _wrapping(block, own))
    return _joined(text, numbers), max(own for _, own in wrapped)


@dataclass(frozen=True, slots=True)
class _LineEnd:
    """The end of a line within a paragraph."""

    number: int
    line: str
    next_line: str

    @property
    def used(self) -> int:
        """How long the line would be with the first word of the next."""
        return len(self.line) + 1 + len(self.next_line.lstrip().split(" ", 1)[0])

    @property
    def ended(self) -> bool:
        return ends_with_mark(self.line)

    @property
    def next_case(self) -> str:
        """How the next line begins: `lower`, `upper`, `none` for letters without case, or empty without a letter."""
        begin = self.next_line.lstrip().lstrip(_OPENING)
        first = begin[:1]
        if not first.isalpha() or _ITEM.match(begin):
            return ""
        # Georgian letters count as lower case in Unicode, but no sentence begins with others.
        if first.islower() and first.title() != first:
            return "lower"
        return "upper" if first.isupper() and not self.line.isupper() else "none"

    @property
    def is_open(self) -> bool:
        """Whether nothing ends here; behind a comma, verses, items of lists and salutations may end."""
        return self.line[-1].isalnum() or (self.line[-1] in HYPHENS and self.line[-2:-1].isalnum())

    @property
    def goes_on(self) -> bool:
        """Whether a sentence goes on in the next line."""
        return self.is_open and self.next_case == "lower"


_Block = Sequence[_LineEnd]


def _blocks(text: str) -> list[_Block]:
    """The line ends of each paragraph that has several lines."""
    lines = list(enumerate(line.rstrip() for line in text.split("\n")))
    paragraphs = (list(group) for filled, group in groupby(lines, key=lambda line: bool(line[1])) if filled)
    ends = ([_LineEnd(number, line, following) for (number, line), (_, following) in pairwise(paragraph)]
            for paragraph in paragraphs)  # fmt: skip
    return [block for block in ends if block]


def _width(blocks: Sequence[_Block]) -> int | None:
    """The width at which paragraphs are wrapped; None if they are not."""
    ends = [line_end for block in blocks for line_end in block]
    begins = Counter(line_end.next_case for line_end in ends if not line_end.ended)
    has_case = begins["lower"] + begins["upper"] > begins["none"]
    return _width_by_case(blocks) if has_case else _width_by_lengths(ends)


def _width_by_case(blocks: Sequence[_Block]) -> int | None:
    telling = [block for block in blocks if any(end.goes_on for end in block) and _has_sentence(block)]
    if not telling:
        return None
    lengths = sorted(len(line) for block in telling for line in (*(end.line for end in block), block[-1].next_line))
    width = lengths[-1 - len(lengths) // 20]  # a few lines may be those of a table
    inner = [end for block in blocks for end in block if end.is_open]
    lower = [end.used for end in inner if end.next_case == "lower"]
    upper = [end.used for end in inner if end.next_case == "upper"]
    narrowest = _USUAL_WIDTH if len(lower) < _FEWEST_LINES else 0
    full = max(narrowest, _FULL * width)
    short = sum(used <= full for used in lower)
    go_on = len(lower) >= _LEAST_LOWER * (len(lower) + sum(used > full for used in upper))
    return width if width <= _WIDEST and short <= _MOST_SHORT * len(lower) and go_on else None


def _has_sentence(block: _Block) -> bool:
    """Whether a sentence ends in a paragraph; titles, many lists and text without marks have none."""
    lines = [*(end.line for end in block), block[-1].next_line]
    return ends_with_mark(lines[-1]) or len(sentence_starts(tuple(" ".join(lines).split()))) > 1


def _width_by_lengths(ends: Sequence[_LineEnd]) -> int | None:
    width = max((len(line) for end in ends for line in (end.line, end.next_line)), default=0)
    if width > _WIDEST or len(ends) < _FEWEST_LINES or not all(" " in end.line.strip() for end in ends):
        return None
    fit = sum(end.used <= width for end in ends)
    ended = sum(end.ended for end in ends)
    return width if fit <= _MOST_FIT * len(ends) and ended <= _MOST_ENDED * len(ends) else None


def _wrapping(block: _Block, width: int) -> list[int]:
    """The line ends that only wrap the paragraph; headings and verses are lines also where others are wrapped."""
    # Where nothing goes on in lower case, these could be titles.
    is_prose = any(end.next_case in ("lower", "none") and end.used > _FULL * width for end in block)
    least = (_RATHER_FULL if is_prose else _FULL) * width
    return [end.number for end in block if end.used > least]


def _joined(text: str, numbers: Iterable[int]) -> str:
    """A text with blanks in place of the ends of these lines, and without blanks in words that go on behind them."""
    wrapping = set(numbers)
    parts = []
    for number, line in enumerate(text.split("\n")):
        kept = line.rstrip() if number in wrapping else line + "\n"
        parts.append(kept.ljust(len(line) + 1))
    return with_whole_words("".join(parts)[:-1], text)
