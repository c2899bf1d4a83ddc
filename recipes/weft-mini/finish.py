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

from safetensors.torch import load_file, save_file
from transformers import PreTrainedTokenizerFast

from weft.models.resolve import resolve_model


def as_electra(trained: Path, config: dict[str, object], out: Path) -> None:
    """Hugging Face's name for a BERT whose embeddings are narrower than its layers, and projected, is Electra."""
    weights = load_file(trained / "model.safetensors")
    renamed = {name.replace("bert.", "electra.", 1): value for name, value in weights.items() if "bert." in name}
    save_file(renamed, out / "model.safetensors", {"format": "pt"})
    config |= {"model_type": "electra", "architectures": ["ElectraModel"]}
    (out / "config.json").write_text(json.dumps(config, indent=2))


def main() -> None:
    """Write the folder."""
    trained, tokenizer, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    config = json.loads((trained / "config.json").read_text())
    if "embedding_size" in config:
        as_electra(trained, config, out)
    else:
        for name in ("model.safetensors", "config.json"):
            copyfile(trained / name, out / name)
    PreTrainedTokenizerFast(
        tokenizer_file=str(tokenizer), pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]",
        mask_token="[MASK]", model_max_length=config["max_position_embeddings"],
    ).save_pretrained(out)  # fmt: skip
    languages = resolve_model("weft-mini").settings.languages  # those of the generation before
    settings = {
        "layer": config["num_hidden_layers"], "joint": True, "max_length": config["max_position_embeddings"],
        "method": "geometric", "threshold": 0.1, "null": 18.0, "languages": list(languages),
    }  # fmt: skip
    (out / "weft.json").write_text(json.dumps(settings, indent=2) + "\n")


if __name__ == "__main__":
    main()
