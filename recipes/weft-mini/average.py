"""The mean of several models' weights: what runs that differ only in their seed agree on.

python average.py OUT MODEL MODEL ...
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def main() -> None:
    """Average and write."""
    out, *folders = map(Path, sys.argv[1:])
    models = [load_file(folder / "model.safetensors") for folder in folders]
    mean = {name: torch.stack([model[name].float() for model in models]).mean(0).half() for name in models[0]}
    out.mkdir(parents=True, exist_ok=True)
    save_file(mean, out / "model.safetensors", {"format": "pt"})
    shutil.copyfile(folders[0] / "config.json", out / "config.json")


if __name__ == "__main__":
    main()
