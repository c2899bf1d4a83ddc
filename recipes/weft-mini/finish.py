"""Step 11: a trained encoder becomes a folder that weft and plain transformers load.

Adds the tokenizer and `weft.json` to the weights; then `weft tune` chooses threshold and calibration on dev sets and
`weft model export` makes the int8 file.

    python finish.py TRAINED WORK/tokenizer.json OUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shutil import copyfile

from transformers import PreTrainedTokenizerFast

LANGUAGES = """
ar bg cs da de el en es et fa fi fr he hi hr hu id is it ja ko lt lv nl pl pt ro ru sl sv sw tr uk vi zh
"""


def main() -> None:
    """Write the folder."""
    trained, tokenizer, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    config = json.loads((trained / "config.json").read_text())
    for name in ("model.safetensors", "config.json"):
        copyfile(trained / name, out / name)
    PreTrainedTokenizerFast(
        tokenizer_file=str(tokenizer), pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]",
        mask_token="[MASK]", model_max_length=config["max_position_embeddings"],
    ).save_pretrained(out)  # fmt: skip
    settings = {
        "layer": config["num_hidden_layers"], "joint": True, "max_length": config["max_position_embeddings"],
        "method": "softmax", "threshold": 0.1, "languages": LANGUAGES.split(),
    }  # fmt: skip
    (out / "weft.json").write_text(json.dumps(settings, indent=2) + "\n")


if __name__ == "__main__":
    main()
