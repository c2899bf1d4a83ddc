"""A deeper model that computes nearly what a given one does, or the beginning of a smaller one.

    python resize.py deeper MODEL OUT
    python resize.py smaller MODEL OUT

`deeper` puts a layer that changes (almost) nothing after every layer: what it adds is zero at first, and its LayerNorms
undo themselves on average. `smaller` is random but for the embeddings: the best of fewer dimensions. Both are folders
for `weft train`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from shutil import copyfile
from typing import Any

import torch
import transformers

SMALL: dict[str, Any] = {
    "hidden_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
}
NARROW = 128
# Dot products of the first states are divided by sixteen: a softmax over larger noise learns nothing.
SCALE = 0.25


@torch.no_grad()
def deeper(model: Any) -> Any:
    """Twice as many layers."""
    config = transformers.BertConfig(**{**model.config.to_dict(), "num_hidden_layers": 2 * len(model.encoder.layer)})
    result = transformers.BertModel(config, add_pooling_layer=False)
    old = model.state_dict()
    for name, value in result.state_dict().items():
        number = int(found[1]) if (found := re.search(r"layer\.(\d+)\.", name)) else None
        value.copy_(old[name if number is None else name.replace(f"layer.{number}.", f"layer.{number // 2}.")])
        if number is not None and number % 2:
            _do_nothing(name, value, old[f"encoder.layer.{number // 2}.output.LayerNorm.weight"])
    return result


def _do_nothing(name: str, value: torch.Tensor, scale: torch.Tensor) -> None:
    """Make a weight of a new layer harmless; `scale` is that of the LayerNorm whose output the layer reads."""
    if "LayerNorm.weight" in name:
        value.fill_(scale.square().mean().sqrt().item())
    elif ".output." in name:
        value.zero_()  # the bias of a LayerNorm, or what a sublayer adds


@torch.no_grad()
def smaller(model: Any) -> Any:
    """Few layers; the embeddings are projected on the directions in which they differ most."""
    shared = ("vocab_size", "max_position_embeddings", "hidden_act", "pad_token_id", "layer_norm_eps")
    known: dict[str, Any] = {name: getattr(model.config, name) for name in shared}
    torch.manual_seed(1)
    # Hugging Face's name for a BERT whose embeddings are narrower than its layers, and projected, is Electra.
    result: Any = transformers.ElectraModel(transformers.ElectraConfig(**known, **SMALL, embedding_size=NARROW))
    table = model.embeddings.word_embeddings.weight
    _, _, directions = torch.linalg.svd(table - table.mean(0), full_matrices=False)
    reduced = (table - table.mean(0)) @ directions[:NARROW].T
    result.embeddings.word_embeddings.weight.copy_(reduced * (0.05 / reduced.std()))
    result.encoder.layer[-1].output.LayerNorm.weight.fill_(SCALE)
    return result


def main() -> None:
    """Write the model, its tokenizer and its settings."""
    kind, source, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    model = transformers.AutoModel.from_pretrained(source, add_pooling_layer=False)
    made = {"deeper": deeper, "smaller": smaller}[kind](model)
    made.save_pretrained(out)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        if (source / name).exists():
            copyfile(source / name, out / name)
    settings = json.loads((source / "weft.json").read_text())
    settings = {name: value for name, value in settings.items() if name != "export"}
    (out / "weft.json").write_text(json.dumps({**settings, "layer": made.config.num_hidden_layers}, indent=2) + "\n")


if __name__ == "__main__":
    main()
