"""What values the activations of a traced encoder take on real text, so that eight bits can be fixed for them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import helper

from weft.errors import WeftError
from weft.models.quantise import Ranges, activations
from weft.text.pairs import NOTHING, read_pairs

_MOST_PAIRS = 400
# A handful of outliers would stretch the range, and every other value would lose precision to them.
_OUTSIDE = 1e-5


def activation_ranges(model: Any, encoder: Any, text: Path) -> Ranges:
    """The range of each activation that is multiplied by weights, over sentence pairs of a file."""
    pairs = [pair for pair in read_pairs(str(text), on_error=lambda error: None) if pair != NOTHING]
    if not pairs:
        raise WeftError(f"{text} holds no sentence pair to go by.")
    some = pairs[:: max(1, len(pairs) // _MOST_PAIRS)]
    names = activations(model)
    session = _observed(model, names)
    inputs = [item.name for item in session.get_inputs()]
    ranges: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for batch in encoder.batches([(pair.source, pair.target) for pair in islice(some, _MOST_PAIRS)]):
        fields, real = batch.inputs(), batch.mask > 0
        for name, values in zip(names, session.run(names, {key: fields[key] for key in inputs}), strict=True):
            # Padding has activations too, and nobody looks at them.
            ranges[name].append(tuple(np.quantile(values[real], (_OUTSIDE, 1 - _OUTSIDE))))
    return {name: _widest(found) for name, found in ranges.items()}


def _widest(found: list[tuple[float, float]]) -> tuple[float, float]:
    return float(min(low for low, _ in found)), float(max(high for _, high in found))


def _observed(model: Any, names: list[str]) -> Any:
    """A session that returns the activations beside the states."""
    watched = type(model)()
    watched.CopyFrom(model)
    watched.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(watched.SerializeToString(), options, providers=["CPUExecutionProvider"])
