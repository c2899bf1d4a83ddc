"""A model with the pieces of an extended tokenizer, to go on from.

Old pieces keep their embeddings. A new piece begins as the mean of the old pieces it was cut into before, or, where it
was unknown, somewhere near the mean of all. For the teacher such pieces are as unknown as they were.

    python grow.py MODEL OLD_TOKENIZER.json NEW_TOKENIZER.json OUT [--teacher]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

EMBEDDINGS = "bert.embeddings.word_embeddings.weight"


def main() -> None:
    """Write the larger model."""
    model, old_path, new_path, out = map(Path, sys.argv[1:5])
    old, new = (Tokenizer.from_file(str(path)) for path in (old_path, new_path))
    weights = load_file(model / "model.safetensors")
    weights = {
        name if name.startswith(("bert.", "cls.")) else f"bert.{name}": value.float() for name, value in weights.items()
    }
    table = weights[EMBEDDINGS]
    unknown, size, width = old.token_to_id("[UNK]"), new.get_vocab_size(), table.shape[1]
    generator = torch.Generator().manual_seed(1)
    random = table.mean(0) + table.std(0) * torch.randn(size - len(table), width, generator=generator)
    added = table[unknown].expand(size - len(table), width).clone() if "--teacher" in sys.argv else random
    pieces = sorted(new.get_vocab().items(), key=lambda item: item[1])[len(table) :]
    cut = 0
    for number, (piece, _) in enumerate(pieces):
        # A piece inside a word is looked up behind a letter, whose own piece is left out.
        inside = piece.startswith("##")
        ids = old.encode(["a" + piece[2:] if inside else piece], is_pretokenized=True, add_special_tokens=False).ids
        ids = ids[1:] if inside and ids and ids[0] == old.token_to_id("a") else ids
        if ids and unknown not in ids:
            added[number] = table[ids].mean(0)
            cut += 1
    weights[EMBEDDINGS] = torch.cat([table, added])
    heads = {
        "cls.predictions.transform.dense.weight": torch.randn(width, width, generator=generator) * 0.02,
        "cls.predictions.transform.dense.bias": torch.zeros(width),
        "cls.predictions.transform.LayerNorm.weight": torch.ones(width),
        "cls.predictions.transform.LayerNorm.bias": torch.zeros(width),
        "cls.predictions.bias": torch.zeros(size),
    }
    for name, value in heads.items():
        weights.setdefault(name, value)
    weights["cls.predictions.bias"] = torch.zeros(size)
    config = json.loads((model / "config.json").read_text()) | {
        "vocab_size": size,
        "architectures": ["BertForMaskedLM"],
    }
    out.mkdir(parents=True, exist_ok=True)
    save_file({name: value.half().contiguous() for name, value in weights.items()}, out / "model.safetensors")
    (out / "config.json").write_text(json.dumps(config, indent=2))
    print(f"{len(pieces):,} new pieces, {cut:,} of them made of old ones")


if __name__ == "__main__":
    main()
