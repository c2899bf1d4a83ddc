"""What goes through a traced encoder on real text: by this eight bits are fixed for it and its weights rounded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnx import helper
from tokenizers import Tokenizer

from weft.encoding.batches import Batch
from weft.errors import WeftError
from weft.text.lines import FilePath, display_name
from weft.text.pairs import NOTHING, PairReader
from weft.types import Words

_MOST_PAIRS = 400
# A handful of outliers would stretch the range, and every other value would lose precision to them.
_OUTSIDE = 1e-5
_WORDS = 16  # of a sentence that is made up


class Activation(NamedTuple):
    """What one activation of a traced graph is like, over all subwords of a text.

    `low` and `high` hold almost all of its values; `moments` is the mean of its outer products, shape (width, width).
    """

    low: float
    high: float
    moments: npt.NDArray[np.float32]


def sample_pairs(text: FilePath, reader: PairReader) -> list[tuple[Words, Words]]:
    """Some sentence pairs of a file, from all over it.

    Args:
        text: the file.
        reader: how it is read.

    Raises:
        WeftError: if there are none.
    """
    pairs = [pair for pair in reader.pairs(text, on_error=lambda error: None) if pair != NOTHING]
    if not pairs:
        raise WeftError(f"{display_name(text)} contains no sentence pairs to calibrate on.")
    some = pairs[:: max(1, len(pairs) // _MOST_PAIRS)]
    return [(pair.source, pair.target) for pair in some[:_MOST_PAIRS]]


def made_up_pairs(tokenizer_file: Path) -> list[tuple[Words, Words]]:
    """Sentence pairs of words from a tokenizer's vocabulary, for whoever has no text.

    Words early in a vocabulary are more frequent, as they are in text; half of a sentence's words are in its partner.
    """
    tokens = sorted((number, token) for token, number in Tokenizer.from_file(str(tokenizer_file)).get_vocab().items())
    words = [word for _, token in tokens if (word := token.lstrip("▁Ġ")).isalpha()] or [token for _, token in tokens]
    random = np.random.default_rng(0)
    shares = 1 / np.arange(10, len(words) + 10)
    drawn = random.choice(len(words), size=(_MOST_PAIRS, 3, _WORDS // 2), p=shares / shares.sum())

    def sentence(*parts: Any) -> Words:
        return tuple(words[number] for number in random.permutation(np.concatenate(parts)))

    return [(sentence(both, ours), sentence(both, theirs)) for both, ours, theirs in drawn]


def observe(model: Any, names: list[str], batches: Iterable[Batch]) -> dict[str, Activation]:
    """Run a graph and describe some of its values.

    Args:
        model: the graph.
        names: the values to look at, most of them of shape (rows, length, width).
        batches: what to run it on.

    Returns:
        Each value's description by its name.
    """
    session = _observed(model, names)
    inputs = [item.name for item in session.get_inputs()]
    ranges: dict[str, list[Any]] = {name: [] for name in names}
    sums: dict[str, Any] = dict.fromkeys(names, 0.0)
    for batch in batches:
        fields, real = batch.inputs(), batch.mask > 0
        for name, values in zip(names, session.run(names, {key: fields[key] for key in inputs}), strict=True):
            # Padding has activations too, and nobody looks at them.
            seen = values[real] if values.shape[:2] == real.shape else values.reshape(-1, values.shape[-1])
            ranges[name].append(np.quantile(seen, (_OUTSIDE, 1 - _OUTSIDE)))
            sums[name] = sums[name] + seen.T @ seen / len(seen)
    return {
        name: Activation(
            low=float(min(low for low, _ in found)),
            high=float(max(high for _, high in found)),
            moments=sums[name] / np.float32(len(found)),
        )
        for name, found in ranges.items()
    }


def _observed(model: Any, names: list[str]) -> Any:
    """A session that returns the activations beside the states."""
    watched = type(model)()
    watched.CopyFrom(model)
    watched.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(watched.SerializeToString(), options, providers=["CPUExecutionProvider"])
