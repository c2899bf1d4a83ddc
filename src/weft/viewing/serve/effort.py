"""How long aligning will take, guessed from subwords before anything is computed.

The figures are those of weft-mini on one core of a laptop. Other models differ by a factor that hardly matters here:
the guess turns away what is out of all proportion, and shares the time out between those who wait.
"""

from __future__ import annotations

from weft.extraction.settings import ExtractionSettings
from weft.extraction.symmetrize import Symmetrization

SECONDS_A_SUBWORD = 4e-4
_SECONDS_A_CELL = 1.5e-7
_BY_METHOD = {"match": 5e-7, "ot": 3e-6}
# Entmax has a formula for these; for any other alpha it searches.
_QUICK_ALPHAS = (1.0, 1.5, 2.0)
_SEARCHING = 1.5e-6
# The heuristics that grow visit links one by one, and without a threshold every cell is a link.
_VISITING, _VISITING_ALL = 6e-6, 2e-5
_AT_ONCE = (
    Symmetrization.INTERSECTION,
    Symmetrization.UNION,
    Symmetrization.FORWARD,
    Symmetrization.BACKWARD,
)


def seconds_for(source: int, target: int, settings: ExtractionSettings) -> float:
    """About how many seconds one pair takes.

    Args:
        source: subwords of the source sentence.
        target: subwords of the target sentence.
        settings: how links are taken.
    """
    return SECONDS_A_SUBWORD * (source + target) + _seconds_a_cell(settings) * source * target


def _seconds_a_cell(settings: ExtractionSettings) -> float:
    seconds = _BY_METHOD.get(settings.method, _SECONDS_A_CELL)
    if settings.method == "entmax" and settings.alpha not in _QUICK_ALPHAS:
        seconds += _SEARCHING
    if settings.symmetrize not in _AT_ONCE:
        seconds += _VISITING if settings.effective_threshold >= 0.001 else _VISITING_ALL
    return seconds
