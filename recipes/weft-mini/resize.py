"""A deeper model that computes nearly what a given one does, or the beginning of a smaller one.

    python resize.py deeper MODEL OUT
    python resize.py smaller MODEL OUT

`deeper` puts a layer that changes (almost) nothing after every layer: what it adds is zero at first, and its LayerNorms
undo themselves on average. `smaller` is random but for the embeddings: the best of fewer dimensions.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import torch
from flatbert import WORD_EMBEDDINGS, FlatBert, Shape, loaded, save

SMALL = Shape(width=256, layers=3, heads=4, inner=1024, embedding=128)


def deeper(model: FlatBert) -> FlatBert:
    """Twice as many layers."""
    result = FlatBert(replace(model.shape, layers=2 * model.shape.layers))
    old, new = model.named_weights(), result.named_weights()
    for name, value in new.items():
        if ".layer." not in name:
            value.data.copy_(old[name])
            continue
        number = int(name.split(".")[3])
        before = name.replace(f".layer.{number}.", f".layer.{number // 2}.")
        value.data.copy_(old[before])
        if number % 2:
            _do_nothing(name, value.data, old[f"bert.encoder.layer.{number // 2}.output.LayerNorm.weight"].data)
    return result


def _do_nothing(name: str, value: torch.Tensor, scale: torch.Tensor) -> None:
    """Make a weight of a new layer harmless; `scale` is that of the LayerNorm whose output the layer reads."""
    if "LayerNorm.weight" in name:
        value.fill_(scale.square().mean().sqrt().item())
    elif ".output." in name:
        value.zero_()  # the bias of a LayerNorm, or what a sublayer adds


def smaller(model: FlatBert, shape: Shape = SMALL) -> FlatBert:
    """Few layers; the embeddings are projected on the directions in which they differ most."""
    result = FlatBert(replace(shape, vocabulary=model.shape.vocabulary))
    table = model.named_weights()[WORD_EMBEDDINGS].data
    _, _, directions = torch.linalg.svd(table - table.mean(0), full_matrices=False)
    reduced = (table - table.mean(0)) @ directions[: shape.embedding].T
    result.named_weights()[WORD_EMBEDDINGS].data.copy_(reduced * (0.05 / reduced.std()))
    return result


if __name__ == "__main__":
    made = {"deeper": deeper, "smaller": smaller}[sys.argv[1]](loaded(Path(sys.argv[2]), "cpu"))
    save(made, Path(sys.argv[3]), {})
