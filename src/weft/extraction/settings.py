"""How links are taken from hidden states; stored beside a model in `weft.json`."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from weft.errors import SettingError, check_names, chosen
from weft.extraction.calibration import Calibration
from weft.extraction.methods import METHODS, Cost, unknown_method
from weft.extraction.symmetrize import Symmetrization

LARGEST_ALPHA = 100
# Dot products of hidden states reach hundreds or thousands; numbers far beyond overflow in float32.
LARGEST_NULL = 1_000_000


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """The method of extracting links, and its parameters.

    Attributes:
        method: how similarities become links, a name from `METHODS`.
        threshold: the value from 0 to 1 that a link must exceed; None means the method's own default.
        alpha: for entmax, the parameter α.
        cost: for optimal transport, the cost function.
        symmetrize: how the links of both directions are combined.
        calibration: the curve that turns raw scores into probabilities.
        null: the similarity of every word to the null, an imaginary word of the other sentence that a link must beat.
            None, `off` or minus infinity means that there is no null.
    """

    method: str = "softmax"
    threshold: float | None = None
    alpha: float = 1.5
    cost: Cost = Cost.COSINE
    symmetrize: Symmetrization = Symmetrization.INTERSECTION
    calibration: Calibration | None = None
    null: float | None = None

    def __post_init__(self) -> None:
        if self.null in ("off", -math.inf):
            object.__setattr__(self, "null", None)
        elif self.null is not None and not (_is_number(self.null) and abs(self.null) <= LARGEST_NULL):
            raise SettingError(
                f"`null` must be a number from -{LARGEST_NULL:,} to {LARGEST_NULL:,}, or off, got {self.null}."
            )
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise SettingError(unknown_method(self.method))
        for name, kind in (("cost", Cost), ("symmetrize", Symmetrization)):
            object.__setattr__(self, name, chosen(name, kind, getattr(self, name)))
        if self.threshold is not None and not (_is_number(self.threshold) and 0 <= self.threshold <= 1):
            raise SettingError(f"`threshold` must be between 0 and 1, got {self.threshold}.")
        if not (_is_number(self.alpha) and 1 <= self.alpha <= LARGEST_ALPHA):
            raise SettingError(
                f"`alpha` must be at least 1 (softmax; 2 is sparsemax) and at most {LARGEST_ALPHA}, got {self.alpha}."
            )

    @property
    def effective_threshold(self) -> float:
        """The threshold given, or the method's default. Entmax with α = 1 has the default of softmax."""
        if self.threshold is not None:
            return self.threshold
        method = "softmax" if self.method == "entmax" and self.alpha == 1 else self.method
        return METHODS[method].threshold or 0.0

    @property
    def exponent(self) -> float:
        """The α used for normalisation: 1 for softmax, which is entmax with α = 1."""
        return self.alpha if self.method == "entmax" else 1.0

    def updated(self, **changes: Any) -> ExtractionSettings:
        """A copy with the changes that are not None.

        If the method changes, the threshold is reset to the new method's default. If the method or the null changes,
        the scores change too, so the calibration no longer fits and is dropped.
        """
        check_names(changes, [field.name for field in fields(self)])
        given = {name: value for name, value in changes.items() if value is not None}
        changed = replace(self, **given)
        forgotten: dict[str, None] = {}
        if changed._way() != self._way():
            forgotten = {"threshold": None, "calibration": None}
        elif changed.null != self.null:
            forgotten = {"calibration": None}
        return replace(changed, **{**forgotten, **given, "null": changed.null})

    def at_another_layer(self) -> ExtractionSettings:
        """A copy without the settings that depend on the layer: the calibration and the null."""
        return replace(self, calibration=None, null=None)

    def same_scores(self, other: ExtractionSettings) -> bool:
        """Whether links get the same raw scores with `other`, so that one curve fits both."""
        return (self._way(), self.null) == (other._way(), other.null)

    def _way(self) -> tuple[object, ...]:
        """The method with the parameters that mean something to it."""
        return self.method, *(getattr(self, option) for option in METHODS[self.method].options)

    def to_json(self) -> dict[str, Any]:
        """The settings as they are stored in `weft.json`. Settings that are None are left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> ExtractionSettings:
        """Read settings. Names that belong to other parts of `weft.json` are ignored."""
        known = {field.name: record[field.name] for field in fields(cls) if field.name in record}
        if "calibration" in known:
            known["calibration"] = _curve(known["calibration"])
        return cls(**known)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _curve(record: object) -> Calibration:
    try:
        scores, probabilities = (tuple(map(float, record[name])) for name in ("scores", "probabilities"))  # type: ignore[index]
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError("`calibration` must hold two lists of numbers, scores and probabilities.") from error
    if not scores or len(scores) != len(probabilities):
        raise SettingError("`calibration` must hold as many scores as probabilities, and at least one.")
    return Calibration(scores, probabilities)
