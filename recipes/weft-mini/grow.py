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
from flatbert import WORD_EMBEDDINGS
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor


def old_pieces(piece: str, old: Tokenizer) -> list[int]:
    """What the old tokenizer cuts a new piece into; nothing if it cannot read all of it."""
    # A piece inside a word is looked up behind a letter, whose own piece is left out.
    inside = piece.startswith("##")
    ids: list[int] = old.encode(
        ["a" + piece[2:] if inside else piece], is_pretokenized=True, add_special_tokens=False
    ).ids
    ids = ids[1:] if inside and ids and ids[0] == old.token_to_id("a") else ids
    return [] if old.token_to_id("[UNK]") in ids else ids


def new_head(narrow: int, width: int, generator: torch.Generator) -> dict[str, Tensor]:
    """A head that predicts masked tokens, for models that were shipped without theirs."""
    transform = "cls.predictions.transform"
    return {
        f"{transform}.dense.weight": torch.randn(narrow, width, generator=generator) * 0.02,
        f"{transform}.dense.bias": torch.zeros(narrow),
        f"{transform}.LayerNorm.weight": torch.ones(narrow),
        f"{transform}.LayerNorm.bias": torch.zeros(narrow),
    }


def main() -> None:
    """Write the larger model."""
    model, old_path, new_path, out = map(Path, sys.argv[1:5])
    old, new = (Tokenizer.from_file(str(path)) for path in (old_path, new_path))
    stored = {name: value.float() for name, value in load_file(model / "model.safetensors").items()}
    weights = {name if name.startswith(("bert.", "cls.")) else f"bert.{name}": value for name, value in stored.items()}
    table, size = weights[WORD_EMBEDDINGS], new.get_vocab_size()
    generator, shape = torch.Generator().manual_seed(1), (size - len(table), table.shape[1])
    random = table.mean(0) + table.std(0) * torch.randn(shape, generator=generator)
    unknown = table[old.token_to_id("[UNK]")]
    added = unknown.expand(shape).clone() if "--teacher" in sys.argv else random
    pieces = sorted(new.get_vocab().items(), key=lambda item: item[1])[len(table) :]
    made_of = [old_pieces(piece, old) for piece, _ in pieces]
    for number, ids in enumerate(made_of):
        if ids:
            added[number] = table[ids].mean(0)
    weights |= {WORD_EMBEDDINGS: torch.cat([table, added]), "cls.predictions.bias": torch.zeros(size)}
    config = json.loads((model / "config.json").read_text())
    weights = new_head(shape[1], config["hidden_size"], generator) | weights
    config |= {"vocab_size": size, "architectures": ["BertForMaskedLM"]}
    out.mkdir(parents=True, exist_ok=True)
    save_file({name: value.half().contiguous() for name, value in weights.items()}, out / "model.safetensors")
    (out / "config.json").write_text(json.dumps(config, indent=2))
    print(f"{len(pieces):,} new pieces, {sum(map(bool, made_of)):,} of them made of old ones")


if __name__ == "__main__":
    main()
