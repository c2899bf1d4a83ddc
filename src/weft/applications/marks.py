"""Note marks within the text, as in `bread<sup>2</sup>`: found at the end of a word of the translation too."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from weft.applications.markup import Element
from weft.applications.parts import cut, cuts_at
from weft.applications.projection import Run
from weft.applications.remapping import places, remap
from weft.applications.spans import words_in
from weft.text.segment import Segmented
from weft.types import Alignment, Link

_MARK = re.compile(r"[\[(]?(?:\d{1,4}(?:[,\u2013-]\d{1,4})*|[*†‡§¶]{1,4})[\])]?")
# Signs that no note mark follows: a number behind them is their own, as in `#1` and `24/7`.
_OTHER_SIGNS = "#&*/@\\¡¿"
Pairs = Sequence[tuple[Run, Run]]
"""Marks as the characters they cover on both sides."""


def mark_pairs(
    elements: Iterable[Element], texts: tuple[str, str], words: tuple[Segmented, Segmented], alignment: Alignment
) -> Pairs:
    """The note marks among elements, each with its twin in the other text; a mark without a twin is left out.

    Args:
        elements: those of the side with tags.
        texts: the side with tags, without them, and the other side.
        words: the words of both.
        alignment: links between them; of several twins that are possible the one at a linked word is taken.
    """
    links = {(link.source, link.target) for link in alignment.links}
    found: dict[Run, Run] = {}  # by the twin, of which each serves once
    for start, end in sorted({(element.start, element.end) for element in elements}):
        if not _is_mark(texts[0], start, end):
            continue
        marked = range(*words_in(words[0].offsets, start - 1, end))
        ranks = {
            twin: (not _linked(marked, twin, words[1], links), abs(twin[0] / len(texts[1]) - start / len(texts[0])))
            for twin in _twins(texts, (start, end))
            if twin not in found
        }
        if ranks:
            found[min(ranks, key=ranks.__getitem__)] = (start, end)
    return [(mark, twin) for twin, mark in found.items()]


def _is_mark(text: str, start: int, end: int) -> bool:
    """Whether some characters are a number or a sign that follows a word without a blank."""
    if not 0 < start < end or text[start - 1].isspace() or text[end : end + 1].isalnum():
        return False
    return _MARK.fullmatch(text, start, end) is not None


def _twins(texts: tuple[str, str], mark: Run) -> list[Run]:
    """Where the other text has the same mark behind a word, or behind a sign that ends a sentence or a part of it."""
    start, end = mark
    found = [
        match.span()
        for match in re.finditer(rf"{re.escape(texts[0][start:end])}(?![\w*†‡§¶]|[.,]\d)", texts[1])
        if _ends_word(texts[1][max(match.start() - 1, 0) : match.start()])
    ]
    plain = [twin for twin in found if not _in_number(texts[1], twin[0])]
    # In `9 to 5.<sup>1</sup>` the mark itself seems to be a part of a number.
    return plain or (found if _in_number(texts[0], start) else [])


def _ends_word(sign: str) -> bool:
    if not sign or sign.isdigit():
        return False
    kind = unicodedata.category(sign)
    return sign.isalpha() or kind in ("Mn", "Mc", "Pe", "Pf") or (kind == "Po" and sign not in _OTHER_SIGNS)


def _in_number(text: str, start: int) -> bool:
    """Whether a sign and before that a digit precede, as in `5.1`."""
    return start > 1 and text[start - 2].isdigit() and text[start - 1] in ".,:"


def _linked(marked: range, twin: Run, words: Segmented, links: set[tuple[int, int]]) -> bool:
    """Whether the word with the mark, or before it, is linked with that of the twin."""
    target = range(*words_in(words.offsets, twin[0] - 1, twin[1]))
    return any((left, right) in links for left in marked for right in target)


def with_marks(
    pairs: Pairs, source: Segmented, target: Segmented, alignment: Alignment
) -> tuple[Segmented, Segmented, Alignment]:
    """The same with each mark as a word of its own, linked with its twin and with nothing else."""
    if not pairs:
        return source, target, alignment
    sides = [
        cut(side, cuts_at((edge for pair in pairs for edge in pair[number]), side))
        for number, side in enumerate((source, target))
    ]
    remapped = remap(alignment, places(source.offsets, sides[0].offsets), places(target.offsets, sides[1].offsets))
    marks = [[range(*words_in(side.offsets, *run)) for side, run in zip(sides, pair, strict=True)] for pair in pairs]
    left, right = ({word for mark in marks for word in mark[number]} for number in (0, 1))
    kept = [link for link in remapped.links if link.source not in left and link.target not in right]
    twins = [Link(one, other, 1.0) for mark in marks for one in mark[0] for other in mark[1]]
    return sides[0], sides[1], Alignment.of([*kept, *twins], alignment.score)
