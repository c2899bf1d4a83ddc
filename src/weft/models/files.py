"""What lies in a model's folder, and whether it may be read."""

from __future__ import annotations

import math
import os
from pathlib import Path

from weft.errors import FormatError, WeftError
from weft.text.files import blocks, checksum
from weft.text.json_objects import read_json_object, shorten

CONFIG_FILE = "config.json"
ONNX_FILE = "model.onnx"
SETTINGS_FILE = "weft.json"
TOKENIZER_FILE = "tokenizer.json"
WEIGHTS_INDEX_FILE = "model.safetensors.index.json"

_TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
_SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)
_NUMBERS = ("layer_norm_eps", "pad_token_id")
# Weights in Python's pickle format, or in formats of other frameworks that carry code or that nothing here reads.
_OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".h5", ".msgpack")
# Configuration, settings, tokenizer and weights.
_TOKENIZER_FILES = (".txt", ".model", ".spm", ".bpe", ".vocab", ".tiktoken", ".jinja")
_MODEL_FILES = (".json", ".safetensors", ".onnx", *_TOKENIZER_FILES, *_OTHER_WEIGHTS)


def has_graph(folder: Path) -> bool:
    """Whether a folder holds an ONNX graph."""
    return (folder / ONNX_FILE).is_file()


def has_weights(folder: Path) -> bool:
    """Whether a folder holds weights that torch may load."""
    return any(folder.glob("*.safetensors"))


def check_folder(folder: Path) -> None:
    """Refuse a model whose files lead out of its folder, whose weights are pickles, or whose sizes are no numbers.

    A pickle runs whatever code its author put into it. A link or a path that leads elsewhere would make whoever copies
    or serves the model hand out other people's files. Links that are no part of the model do not matter.

    Raises:
        FormatError: for a configuration or a table of weights that is damaged.
        WeftError: for a link or a path that leads out of the folder, and for a folder with pickled weights alone.
    """
    within = [folder.resolve()]
    if within[0].parent.name == "snapshots":  # the hub's cache, where files are links to blobs
        within.append(within[0].parent.parent / "blobs")
    for path in filter(_may_be_read, folder.iterdir()):
        if path.is_symlink() and not any(path.resolve().is_relative_to(place) for place in within):
            raise WeftError(f"{path} is a link that leads out of the model's folder. Copy the file into the folder.")
    _check_index(folder / WEIGHTS_INDEX_FILE)
    _check_numbers(folder / CONFIG_FILE, _SIZES, least=1)
    _check_numbers(folder / CONFIG_FILE, _NUMBERS)
    _check_numbers(folder / _TOKENIZER_CONFIG_FILE, ("model_max_length",), least=1)
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in _OTHER_WEIGHTS)
    if pickles and not has_graph(folder) and not has_weights(folder):
        raise WeftError(
            f"{folder} has no weights but {', '.join(pickles)}. weft reads only safetensors and ONNX, as a pickle can "
            "run code. Convert it with a program you trust: AutoModel.from_pretrained(...).save_pretrained(...)."
        )


def _may_be_read(path: Path) -> bool:
    """Whether a file is part of the model; training leaves text and notes beside it, which may lie elsewhere."""
    return path.suffix in _MODEL_FILES or has_graph(path.parent)  # a graph can name any file as a part of itself


def _check_index(path: Path) -> None:
    """Weights in several files are named by a table; the names must be plain ones."""
    if not path.is_file():
        return
    files = read_json_object(path).get("weight_map")
    if not isinstance(files, dict):
        raise FormatError(str(path), None, "expected `weight_map` to be an object of tensors and their files.")
    for name in files.values():
        if not isinstance(name, str) or Path(name).name != name:
            raise FormatError(str(path), None, f"expected files of the same folder in `weight_map`, found {name!r}.")


def _check_numbers(path: Path, names: tuple[str, ...], least: float = -math.inf) -> None:
    """Encoders calculate with these numbers; what is no number would end in the middle of somebody's library."""
    if not path.is_file():
        return
    record = read_json_object(path)
    for name in names:
        value = record.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value >= least):
            wanted = "a number" if math.isinf(least) else f"a number of at least {least:g}"
            raise FormatError(str(path), None, f"`{name}` must be {wanted}, got {shorten(str(value))}.")


def set_usual_permissions(folder: Path) -> None:
    """Let those read a folder's files who may read any new file; safetensors writes files that only their owner may."""
    mask = os.umask(0)
    os.umask(mask)
    for path in folder.iterdir():
        if path.is_file():
            path.chmod(0o666 & ~mask)


def folder_checksum(folder: Path) -> str:
    """Twelve digits that change with any of a model's files but what people read."""
    digest = checksum(size=6)
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix != ".md" and _may_be_read(path):
            digest.update(f"{path.name}\n".encode("utf-8", "surrogateescape"))
            for block in blocks(path):
                digest.update(block)
    return digest.hexdigest()
