"""The choices a user has when links are taken from hidden states; no array library is needed to name them."""

from __future__ import annotations

from enum import StrEnum


class Method(StrEnum):
    """How similarities become links."""

    SOFTMAX = "softmax"
    ENTMAX = "entmax"
    OT = "ot"
    ARGMAX = "argmax"
    ITERMAX = "itermax"
    MATCH = "match"


class Cost(StrEnum):
    """What optimal transport moves mass along."""

    COSINE = "cosine"
    DOT = "dot"
    EUCLIDEAN = "euclidean"


class Scores(StrEnum):
    """Which score a link carries: none, the original program's formula, or a probability fitted on a dev set."""

    NONE = "none"
    RAW = "raw"
    CALIBRATED = "calibrated"
