"""Tags and words in the order in which they are written: elements nest, and those without words find their side."""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import Enum
from itertools import takewhile
from typing import NamedTuple

from weft.applications.markup import Element
from weft.applications.projection import Run

# Signs that belong to the words before them: closing brackets and quotation marks, full stops and the like.
CLOSING = ("Pe", "Pf", "Po")
# Signs that belong to the word behind them.
OPENING = frozenset("([{¡¿«„“‘「『（［")  # noqa: RUF001
# Scripts that have no blanks between words: those of Thailand and its neighbours, Chinese, Japanese.
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\U00020000-\U000323af]")


class Part(Enum):
    """What of an element is written: its start tag, its end tag, or all of it at once."""

    OPEN = "open"
    CLOSE = "close"
    WHOLE = "whole"


class Tag(NamedTuple):
    """A tag among the words; an element that is cut has several start tags, one of them the first."""

    element: Element
    part: Part
    first: bool = True

    @property
    def literal(self) -> str:
        """The tag as text."""
        if self.part is Part.WHOLE:
            return self.element.whole()
        return self.element.opening(first=self.first) if self.part is Part.OPEN else self.element.closing()


Piece = str | Tag


class Stretch(NamedTuple):
    """An element, or a part of it, over the words of a run; `order` is that of the start tags in the source."""

    start: int
    behind: int
    order: int
    element: Element
    first: bool = True

    @property
    def rank(self) -> tuple[int, int, int]:
        """Earlier parts first, and outer before inner ones."""
        return (self.start, -self.behind, self.order)


class Point(NamedTuple):
    """An element without words: before which word it stands, which element it was in, and blanks before and after it.

    The beginning and the end of the text count as blanks. `hollow` is one that has words on its own side, of which
    none is on this one.
    """

    element: Element
    place: int
    parent: int | None
    blanks: tuple[bool, bool] = (False, False)
    hollow: bool = False

    @property
    def apart(self) -> bool:
        """Whether it stood by itself between blanks, like a word."""
        return all(self.blanks)

    @property
    def leads(self) -> bool:
        """Whether it stood right before a word, and not right behind one."""
        return self.blanks == (True, False)

    def tags(self) -> list[Piece]:
        """The point as it is written."""
        if self.hollow:
            return [Tag(self.element, Part.OPEN), Tag(self.element, Part.CLOSE)]
        return [Tag(self.element, Part.WHOLE)]


def nested(placed: Iterable[tuple[Element, Run]]) -> tuple[list[Stretch], set[int]]:
    """Cut stretches that cross another one, so that every two lie apart or one within the other; outer ones first.

    Of an element that must not be cut the longer part is kept. Free elements may cross others, and stay whole.

    Returns:
        The stretches, and the ids of elements of which a part was left out.
    """
    waiting: list[tuple[tuple[int, int, int], Stretch]] = []
    free: list[Stretch] = []
    seen: set[int] = set()
    for order, (element, (start, end)) in enumerate(placed):
        stretch = Stretch(start, end, order, element, first=id(element) not in seen)
        seen.add(id(element))
        if start < end and element.free:
            free.append(stretch)
        elif start < end:
            waiting.append((stretch.rank, stretch))
    heapq.heapify(waiting)
    stretches: list[Stretch] = []
    around: list[Stretch] = []
    cut_short: set[int] = set()
    while waiting:
        _, stretch = heapq.heappop(waiting)
        while around and around[-1].behind <= stretch.start:
            around.pop()
        if around and around[-1].behind < stretch.behind:
            cut = around[-1].behind
            head, rest = stretch._replace(behind=cut), stretch._replace(start=cut, first=False)
            if not stretch.element.cuttable:
                cut_short.add(id(stretch.element))
                if cut - stretch.start < stretch.behind - cut:
                    rest = rest._replace(first=stretch.first)
                    heapq.heappush(waiting, (rest.rank, rest))
                    continue
            else:
                heapq.heappush(waiting, (rest.rank, rest))
            stretch = head
        stretches.append(stretch)
        around.append(stretch)
    return stretches + free, cut_short


def arranged(
    text: str,
    offsets: Sequence[Run],
    stretches: Iterable[Stretch],
    points: Iterable[Point],
    instead: Mapping[int, Element] | None = None,
) -> list[Piece]:
    """The text with tags in it.

    Args:
        text: the plain side.
        offsets: where its words stand.
        stretches: elements with words, outer ones first, nested but for free ones.
        points: elements without words.
        instead: elements that take the place of a word, by its number.
    """
    instead = instead or {}
    opening: defaultdict[int, list[Stretch]] = defaultdict(list)
    closing: defaultdict[int, list[Stretch]] = defaultdict(list)
    for stretch in stretches:
        opening[stretch.start].append(stretch)
        closing[stretch.behind].insert(0, stretch)
    standing: defaultdict[int, list[Point]] = defaultdict(list)
    for point in points:
        standing[point.place].append(point)
    pieces = _Pieces(text)
    position = 0
    for word, (start, end) in enumerate([*offsets, (len(text), len(text))]):
        waiting = standing[word]
        for stretch in closing[word]:
            pieces.points(_taken(waiting, {id(stretch.element)}))
            pieces.append(Tag(stretch.element, Part.CLOSE))
        loose = _taken(waiting, {point.parent for point in waiting} - {id(item.element) for item in opening[word]})
        # Those that stood right before a word, and what follows them, go behind the blank.
        trailing = list(takewhile(lambda point: not point.leads, loose)) if word else []
        pieces.points(trailing)
        pieces.append(text[position:start])
        pieces.points(loose[len(trailing) :])
        for stretch in opening[word]:
            pieces.append(Tag(stretch.element, Part.OPEN, stretch.first))
            pieces.points(_taken(waiting, {id(stretch.element)}))
        pieces.append(Tag(instead[word], Part.WHOLE) if word in instead else text[start:end])
        position = end
    return list(pieces.built())


def _taken(waiting: list[Point], parents: Set[int | None]) -> list[Point]:
    """Take the points of some parents out of those that wait."""
    taken = [point for point in waiting if point.parent in parents]
    waiting[:] = [point for point in waiting if point.parent not in parents]
    return taken


class _Pieces:
    """Collects pieces, and gives blanks to points that stood apart: a translation has none for what is no word.

    No blank comes between a word and what is written together with it, such as a full stop. Points that stood right
    beside a word get none: `bread[^1] daily.` has one blank, and it belongs to the words.
    """

    def __init__(self, text: str) -> None:
        self._pieces: list[Piece] = []
        self._parts_words = " " in text or not _WITHOUT_BLANKS.search(text)
        self._last = ""
        self._parted = False
        self._owed = False

    def append(self, piece: Piece) -> None:
        # A placeholder that takes the place of a word is one.
        text = piece if isinstance(piece, str) else piece.element.stands_for
        if text:
            if self._owed and (text is not piece or self._may_part(text[0])):
                self._pieces.append(" ")
            self._owed, self._parted, self._last = False, False, text[-1]
        if piece:
            self._pieces.append(piece)

    def points(self, points: Iterable[Point]) -> None:
        for point in points:
            is_word = bool(point.element.stands_for)  # when its value takes its place
            apart = point.apart and self._parts_words
            if apart and self._blank_before(is_word=is_word):
                self._pieces.append(" ")
                self._parted = True
            self._pieces += point.tags()
            self._owed = apart
            if is_word:
                self._last, self._parted = point.element.stands_for[-1], False

    @property
    def _after_text(self) -> bool:
        """Whether the text before ends in a word or a sign, not in a blank."""
        return bool(self._last) and not self._last.isspace()

    def _blank_before(self, *, is_word: bool) -> bool:
        """Whether a point that stood apart gets a blank before it here."""
        if self._owed:  # to a point that stood apart, too
            return True
        if is_word and self._last in OPENING:
            return False
        return self._after_text and not self._parted

    def _may_part(self, following: str) -> bool:
        """Whether a blank that stood behind a point may stand before a character."""
        if self._after_text and unicodedata.category(following) in CLOSING:
            return False
        return not following.isspace()

    def built(self) -> Iterator[Piece]:
        """The pieces, neighbouring texts joined."""
        text = ""
        for piece in self._pieces:
            if isinstance(piece, str):
                text += piece
                continue
            if text:
                yield text
                text = ""
            yield piece
        if text:
            yield text
