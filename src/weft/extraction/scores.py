"""Which score a link carries; no array library is needed to name it."""

from __future__ import annotations

from enum import StrEnum


class Scores(StrEnum):
    """Which score a link carries: none, the raw one, or a probability that was fitted on dev sets."""

    NONE = "none"
    RAW = "raw"
    CALIBRATED = "calibrated"
