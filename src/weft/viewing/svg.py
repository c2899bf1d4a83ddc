"""One pair as SVG: the sentences on two lines with curves, or two matrices of similarities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from weft.viewing.comparison import Kind, Mark, ViewedPair, named
from weft.viewing.widths import em, right_to_left

_SIZE = 20
_GAP = 10
_EDGE = 24
_PAPER, _INK, _SOFT = "#ffffff", "#1d2126", "#646a73"
_FONT = "Charter, Georgia, 'Noto Serif', 'Liberation Serif', 'DejaVu Serif', 'Noto Serif CJK SC', serif"

# Colour and dash, as on the page: told apart with any kind of colour vision.
STYLES: dict[Kind, tuple[str, str]] = {
    Kind.LINK: ("#2f3742", ""),
    Kind.HIT: ("#2f3742", ""),
    Kind.BOTH: ("#2f3742", ""),
    Kind.POSSIBLE: ("#2f3742", "1 5"),
    Kind.WRONG: ("#c25100", "6 4"),
    Kind.ONLY_A: ("#0069ab", "11 4"),
    Kind.ONLY_B: ("#c25100", "4 4"),
    Kind.MISSED: ("#a3127a", "0.5 5.5"),
}


def lines_svg(viewed: ViewedPair, systems: Sequence[str] = ()) -> str:
    """The pair with its links as curves. Word widths are estimated, since there is no font to measure.

    Args:
        viewed: the pair.
        systems: what the systems are called; with several, or with gold, a legend says what the lines mean.
    """
    rows = [_Row(words) for words in (viewed.pair.source, viewed.pair.target)]
    legend = _Legend(viewed.kinds(), systems)
    width = max(legend.width, *(row.width for row in rows)) + 2 * _EDGE
    source = rows[0].placed(width, right_to_left(viewed.pair.source))
    target = rows[1].placed(width, right_to_left(viewed.pair.target))
    run = max((abs(source[mark.source] - target[mark.target]) for mark in viewed.marks() if mark.kind), default=0)
    top, bottom = _EDGE + _SIZE, _EDGE + _SIZE + 60 + min(90, 0.15 * run)
    parts = [_curve(mark, source[mark.source], top + 8, target[mark.target], bottom - _SIZE) for mark in viewed.marks()]
    parts += _words(viewed.pair.source, source, top, {mark.source for mark in viewed.marks() if mark.kind})
    parts += _words(viewed.pair.target, target, bottom, {mark.target for mark in viewed.marks() if mark.kind})
    return _document(width, bottom + _EDGE + legend.height, [*parts, *legend.drawn(bottom + _EDGE)])


class _Legend:
    """Samples of the lines in a row below the picture, and what each means; empty where all lines mean the same."""

    _SIZE, _LINE, _GAP = 14, 34, 22

    def __init__(self, kinds: Sequence[Kind], systems: Sequence[str]) -> None:
        self._items = [(kind, named(kind, systems)) for kind in kinds]
        self._widths = [self._LINE + 8 + em(name) * self._SIZE for _, name in self._items]
        self.width = sum(self._widths) + self._GAP * max(0, len(self._items) - 1)
        self.height = 30 if self._items else 0

    def drawn(self, top: float) -> Iterator[str]:
        """The samples, below `top`."""
        x, y = float(_EDGE), top + 8
        for (kind, name), width in zip(self._items, self._widths, strict=True):
            colour, dash = STYLES[kind]
            dashes = f' stroke-dasharray="{dash}"' if dash else ""
            yield (
                f'<path class="sample" d="M{x:.1f} {y:.1f}h{self._LINE}" fill="none" stroke="{colour}" '
                f'stroke-width="2" stroke-linecap="round"{dashes}/>'
            )
            place = f'x="{x + self._LINE + 8:.1f}" y="{y + 5:.1f}" font-size="{self._SIZE}" fill="{_SOFT}"'
            yield f"<text {place}>{_escaped(name)}</text>"
            x += width + self._GAP


class _Row:
    """The middles of words set one after another from 0."""

    def __init__(self, words: Sequence[str]) -> None:
        self.middles: list[float] = []
        place = 0.0
        for word in words:
            width = em(word) * _SIZE
            self.middles.append(place + width / 2)
            place += width + _GAP
        self.width = max(0.0, place - _GAP)

    def placed(self, width: float, mirrored: bool) -> list[float]:
        """The middles within a picture; sentences that run to the left begin at its right edge."""
        return [width - _EDGE - middle if mirrored else _EDGE + middle for middle in self.middles]


def _curve(mark: Mark, x1: float, y1: float, x2: float, y2: float) -> str:
    if mark.kind is None:
        return ""
    colour, dash = STYLES[mark.kind]
    bend = (y2 - y1) * 0.48
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}" fill="none" '
        f'stroke="{colour}" stroke-width="{1.1 + 1.5 * mark.strength:.2f}" stroke-linecap="round" '
        f'stroke-opacity="{0.3 + 0.65 * mark.strength:.2f}"{dashes}/>'
    )


def _words(words: Sequence[str], middles: Sequence[float], y: float, linked: set[int]) -> list[str]:
    return [
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{_INK if number in linked else _SOFT}">'
        f"{_escaped(word)}</text>"
        for number, (word, x) in enumerate(zip(words, middles, strict=True))
    ]


def similarity_svg(viewed: ViewedPair, names: Sequence[str]) -> str:
    """One matrix of cosine similarities a model, side by side, dark where words are alike."""
    cell, label = 26, max((em(word) for word in (*viewed.pair.source, *viewed.pair.target)), default=0) * 15 + 14
    panel = label + cell * len(viewed.pair.target) + _EDGE
    parts: list[str] = []
    for number, (name, matrix) in enumerate(zip(names, viewed.similarities, strict=True)):
        x, y = _EDGE + number * panel + label, _EDGE + 20 + label
        parts.append(f'<text x="{x:.1f}" y="{_EDGE + 12}" fill="{_INK}" font-weight="600">{_escaped(name)}</text>')
        parts += [
            f'<text x="{x - 7:.1f}" y="{y + (i + 0.68) * cell:.1f}" text-anchor="end" '
            f'font-size="15">{_escaped(w)}</text>'
            for i, w in enumerate(viewed.pair.source)
        ]
        parts += [
            f'<text transform="translate({x + (j + 0.68) * cell:.1f} {y - 7:.1f}) rotate(-90)" font-size="15">'
            f"{_escaped(w)}</text>"
            for j, w in enumerate(viewed.pair.target)
        ]
        parts += [
            f'<rect x="{x + j * cell:.1f}" y="{y + i * cell:.1f}" width="{cell}" height="{cell}" '
            f'fill="{_shade(float(value))}" stroke="#fff" stroke-width="0.5"><title>{value:.2f}</title></rect>'
            for i, row in enumerate(matrix)
            for j, value in enumerate(row)
        ]
    height = 2 * _EDGE + 20 + label + cell * len(viewed.pair.source)
    return _document(_EDGE + panel * len(viewed.similarities), height, parts)


_SHADES = ((253, 246, 227), (71, 151, 196), (8, 48, 92))


def _shade(value: float) -> str:
    """From paper over blue to dark blue."""
    place = 2 * max(0.0, min(1.0, value))
    first = min(int(place), 1)
    mixed = (a + (b - a) * (place - first) for a, b in zip(_SHADES[first], _SHADES[first + 1], strict=True))
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def _document(width: float, height: float, parts: Sequence[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    body = "\n".join(part for part in parts if part)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{_FONT}" font-size="{_SIZE}">\n'
        f'<rect width="100%" height="100%" fill="{_PAPER}"/>\n{body}\n</svg>\n'
    )


def _escaped(word: str) -> str:
    """Text for XML, which has no place for control characters."""
    return escape(
        "".join(c if c >= " " and c not in "\ufffe\uffff" and not "\ud800" <= c <= "\udfff" else "�" for c in word)
    )
