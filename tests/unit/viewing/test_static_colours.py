"""Colours of links, seen by eyes that lack one kind of cone (matrices of Machado, Oliveira & Fernandes 2009)."""

from __future__ import annotations

import math
import re
from itertools import combinations

import pytest

from weft.viewing.comparison import Kind
from weft.viewing.html import static_text
from weft.viewing.svg import STYLES

EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
NAMES = ("thread", "blue", "orange", "violet")


def colours(scheme: int) -> dict[str, str]:
    css = static_text("page.css")
    return {name: re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", css)[1 + scheme] for name in NAMES}


def linear(colour: str) -> list[float]:
    values = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]


def seen(colour: str, eyes: str) -> tuple[float, float, float]:
    """CIE L*a*b* of what these eyes see."""
    rgb = [max(0, sum(a * b for a, b in zip(row, linear(colour), strict=True))) for row in EYES[eyes]]
    white = ((0.4124, 0.3576, 0.1805, 0.9505), (0.2126, 0.7152, 0.0722, 1.0), (0.0193, 0.1192, 0.9505, 1.0888))
    xyz = [sum(a * b for a, b in zip(row[:3], rgb, strict=True)) / row[3] for row in white]
    x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_kinds_are_told_apart_by_all_eyes(eyes, scheme):
    for one, other in combinations(colours(scheme).values(), 2):
        assert math.dist(seen(one, eyes), seen(other, eyes)) > 15, (one, other)


def test_kinds_differ_without_colour_too():
    dashes = [STYLES[kind][1] for kind in (Kind.BOTH, Kind.ONLY_A, Kind.ONLY_B, Kind.MISSED)]
    assert len(set(dashes)) == 4


def test_pictures_have_the_colours_of_the_page():
    light = colours(0)
    for kind, name in ((Kind.BOTH, "thread"), (Kind.ONLY_A, "blue"), (Kind.ONLY_B, "orange"), (Kind.MISSED, "violet")):
        assert STYLES[kind][0] == light[name]
