"""A trained model in files that are small enough to be carried home, and back.

The body is kept in float16, word embeddings in eight bits with a scale for each row (they end in four).

    python ship.py pack MODEL OUT      python ship.py unpack OUT MODEL
"""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import copyfile

import torch
from flatbert import WORD_EMBEDDINGS
from safetensors.torch import load_file, save_file

MOST_BYTES = 15 << 20


def pack(model: Path, out: Path) -> None:
    """Write parts of at most 15 MiB."""
    weights = load_file(model / "model.safetensors")
    table = weights.pop(WORD_EMBEDDINGS).float()
    scale = table.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    rows = (table / scale).round().to(torch.int8)
    parts: list[dict[str, torch.Tensor]] = [{"scale": scale}]
    step = MOST_BYTES // table.shape[1]
    tensors = {f"rows.{first}": rows[first : first + step] for first in range(0, len(rows), step)} | weights
    for name, value in tensors.items():
        size = sum(each.numel() * each.element_size() for each in parts[-1].values())
        if size + value.numel() * value.element_size() > MOST_BYTES:
            parts.append({})
        parts[-1][name] = value.contiguous()
    out.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts):
        save_file(part, out / f"part{number}.safetensors")
    copy_reports(model, out)


def unpack(parts: Path, model: Path) -> None:
    """Put the parts together again."""
    weights: dict[str, torch.Tensor] = {}
    for path in sorted(parts.glob("part*.safetensors")):
        weights |= load_file(path)
    scale = weights.pop("scale")
    names = sorted((name for name in weights if name.startswith("rows.")), key=lambda name: int(name.split(".")[1]))
    table = torch.cat([weights.pop(name) for name in names]).float() * scale
    model.mkdir(parents=True, exist_ok=True)
    save_file({**weights, WORD_EMBEDDINGS: table.half()}, model / "model.safetensors", {"format": "pt"})
    copy_reports(parts, model)


def copy_reports(there: Path, here: Path) -> None:
    """Copy what lies beside the weights."""
    for name in ("config.json", "report.json"):
        if (there / name).exists():
            copyfile(there / name, here / name)


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
