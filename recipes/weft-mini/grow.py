"""A model with the pieces of an extended tokenizer, to go on from.

Old pieces keep their embeddings. A new piece begins as the mean of the old pieces it was cut into before, or, where it
was unknown, somewhere near the mean of all. For the teacher such pieces are as unknown as they were.

    python grow.py MODEL TOKENIZER.json OUT [--teacher]

MODEL is a folder of `weft model export --to torch` or `weft train`, OUT another one for `weft train`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shutil import copyfile

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

TABLE = "embeddings.word_embeddings.weight"


def old_pieces(piece: str, old: Tokenizer) -> list[int]:
    """What the old tokenizer cuts a new piece into; nothing if it cannot read all of it."""
    # A piece inside a word is looked up behind a letter, whose own piece is left out.
    inside = piece.startswith("##")
    ids: list[int] = old.encode(
        ["a" + piece[2:] if inside else piece], is_pretokenized=True, add_special_tokens=False
    ).ids
    ids = ids[1:] if inside and ids and ids[0] == old.token_to_id("a") else ids
    return [] if old.token_to_id("[UNK]") in ids else ids


def main() -> None:
    """Write the larger model."""
    model, new_path, out = map(Path, sys.argv[1:4])
    old, new = (Tokenizer.from_file(str(path)) for path in (model / "tokenizer.json", new_path))
    weights = {name: value.float() for name, value in load_file(model / "model.safetensors").items()}
    [name] = [name for name in weights if name.endswith(TABLE)]
    table, size = weights[name], new.get_vocab_size()
    generator, shape = torch.Generator().manual_seed(1), (size - len(table), weights[name].shape[1])
    random = table.mean(0) + table.std(0) * torch.randn(shape, generator=generator)
    unknown = table[old.token_to_id("[UNK]")]
    added = unknown.expand(shape).clone() if "--teacher" in sys.argv else random
    pieces = sorted(new.get_vocab().items(), key=lambda item: item[1])[len(table) :]
    made_of = [old_pieces(piece, old) for piece, _ in pieces]
    for number, ids in enumerate(made_of):
        if ids:
            added[number] = table[ids].mean(0)
    # Heads of the old size begin anew.
    kept = {key: value for key, value in weights.items() if len(value) != len(table)}
    out.mkdir(parents=True, exist_ok=True)
    save_file({**kept, name: torch.cat([table, added])}, out / "model.safetensors", {"format": "pt"})
    config = json.loads((model / "config.json").read_text())
    (out / "config.json").write_text(json.dumps({**config, "vocab_size": size}, indent=2))
    copyfile(new_path, out / "tokenizer.json")
    for file in ("tokenizer_config.json", "special_tokens_map.json", "weft.json"):
        if (model / file).exists():
            copyfile(model / file, out / file)
    print(f"{len(pieces):,} new pieces, {sum(map(bool, made_of)):,} of them made of old ones")


if __name__ == "__main__":
    main()
