"""One pair, or many, as a table: CSV for spreadsheets, TikZ for papers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from weft.text.cells import no_formula
from weft.viewing.comparison import Comparison, Kind, ViewedPair, named
from weft.viewing.widths import right_to_left

_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_RIGHT_TO_LEFT = (
    "% Words stand from right to left. For their letters: LuaLaTeX, \\usepackage[bidi=basic]{babel}, and a font that\n"
    "% has them.\n"
)
_TIKZ_STYLES = {
    Kind.POSSIBLE: "dotted",
    Kind.WRONG: "orange!85!black, dashed",
    Kind.ONLY_A: "blue!70!black, dashed",
    Kind.ONLY_B: "orange!85!black, densely dashed",
    Kind.MISSED: "violet, dotted",
}


def csv_table(comparison: Comparison) -> str:
    """A row for each cell that somebody linked: the words, each system's score (1 without one), the gold if any."""
    out = io.StringIO()
    writer = csv.writer(out)
    with_gold = comparison.gold is not None
    writer.writerow(["pair", "i", "j", "source", "target", *comparison.systems, *(["gold"] if with_gold else [])])
    for viewed in comparison.pairs:
        writer.writerows(_csv_rows(viewed, with_gold))
    return out.getvalue()


def _csv_rows(viewed: ViewedPair, with_gold: bool) -> Iterable[list[object]]:
    for mark in viewed.marks():
        words = (viewed.pair.source[mark.source], viewed.pair.target[mark.target])
        scores = [
            ("" if not found else 1 if score is None else score)
            for found, score in zip(mark.found, mark.scores, strict=True)
        ]
        yield [
            viewed.number,
            mark.source,
            mark.target,
            *map(no_formula, words),
            *scores,
            *([mark.gold or ""] if with_gold else []),
        ]


def tikz(viewed: ViewedPair, systems: Sequence[str] = ()) -> str:
    """A tikzpicture: words as nodes one after another, links as curves.

    Args:
        viewed: the pair.
        systems: what the systems are called; with several, or with gold, a legend says what the lines mean.
    """
    lines = [*_tikz_row("s", viewed.pair.source, 0), *_tikz_row("t", viewed.pair.target, -2)]
    for mark in viewed.marks():
        if mark.kind is not None:
            options = [_TIKZ_STYLES.get(mark.kind, "")]
            options += [f"opacity={0.3 + 0.7 * mark.strength:.2f}"] if any(s is not None for s in mark.scores) else []
            drawn = ", ".join(option for option in options if option)
            lines.append(f"\\draw[{drawn}] (s{mark.source}.south) to[out=-90, in=90] (t{mark.target}.north);")
    lines += _tikz_legend(viewed.kinds(), systems)
    body = "".join(f"  {line}\n" for line in lines)
    head = _RIGHT_TO_LEFT if any(map(right_to_left, viewed.pair)) else ""
    return f"{head}\\begin{{tikzpicture}}\n{body}\\end{{tikzpicture}}\n"


def _tikz_row(letter: str, words: tuple[str, ...], y: int) -> Iterable[str]:
    """Nodes from left to right; the first word of a sentence that runs to the left is the last of them."""
    order = list(enumerate(words))
    if right_to_left(words):
        order.reverse()
    place = f"(0, {y})"
    for number, word in order:
        yield f"\\node[anchor=base west] ({letter}{number}) at {place} {{{tex(word)}}};"
        place = f"({letter}{number}.base east)"


def _tikz_legend(kinds: Sequence[Kind], systems: Sequence[str]) -> Iterable[str]:
    place = "(0, -3)"
    for number, kind in enumerate(kinds):
        name = f"\\footnotesize {tex(named(kind, systems))}"
        yield f"\\draw[{_TIKZ_STYLES.get(kind, '')}] {place} -- +(0.6, 0) coordinate (k{number});"
        yield f"\\node[anchor=west] (n{number}) at (k{number}) {{{name}}};"
        place = f"([xshift=2mm]n{number}.east)"


def tex(word: str) -> str:
    """Text as TeX sets it."""
    return re.sub(r"[\\{}$&#%_^~]", lambda match: _TEX.get(match[0], f"\\{match[0]}"), word)
