"""Which score a link carries; no array library is needed to name it."""

from __future__ import annotations

from enum import StrEnum


class Scores(StrEnum):
    """Which score a link has: none, the raw score, or a probability calibrated on dev sets."""

    NONE = "none"
    RAW = "raw"
    CALIBRATED = "calibrated"
