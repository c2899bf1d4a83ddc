"""What the files of a BERT or XLM-R say about it, read without torch.

A process that reads text ahead of a GPU begins by this while the model is still being loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from weft.encoding.positions import max_length
from weft.encoding.subwords import FastTokenizer, PairTokenizer
from weft.errors import FormatError
from weft.text.json_objects import read_json_object

ACTIVATIONS = ("gelu", "relu")
_FAMILY = ("bert", "xlm-roberta")
_NEEDED = {
    "hidden_size", "layer_norm_eps", "max_position_embeddings", "num_attention_heads", "num_hidden_layers",
    "pad_token_id", "vocab_size",
}  # fmt: skip
_USUAL = {"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False}
# What a tokenizer's settings may say, and what the rules in tokenizer.json call it.
_RULES = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}


class BertFiles(NamedTuple):
    """A model's configuration and tokenizer, and how many positions it has, special tokens included."""

    config: Mapping[str, Any]
    tokenizer: FastTokenizer
    max_length: int

    def pair_tokenizer(self, *, joint: bool) -> PairTokenizer:
        """How its text is cut into subwords, if it reads the two sentences of a pair together or apart."""
        special = len(self.tokenizer.prefix) + len(self.tokenizer.suffix)
        return PairTokenizer(self.tokenizer, joint, self.max_length - special)


def read_files(folder: Path) -> BertFiles | None:
    """What the files in a folder say; None if it is no model that weft's own layers can run."""
    config = _json(folder / "config.json")
    if not _is_known(config):
        return None
    settings = _json(folder / "tokenizer_config.json")
    tokenizer = _tokenizer(folder, config, settings)
    if tokenizer is None:
        return None
    return BertFiles(config, tokenizer, max_length(SimpleNamespace(**config), settings.get("model_max_length")))


def _is_known(config: Mapping[str, Any]) -> bool:
    usual = all(config.get(name, value) == value for name, value in _USUAL.items())
    known = config.get("model_type") in _FAMILY and config.get("hidden_act") in ACTIVATIONS
    # A width that heads cannot share is an error that transformers has the words for.
    return known and usual and config.keys() >= _NEEDED and config["hidden_size"] % config["num_attention_heads"] == 0


def _json(path: Path) -> dict[str, Any]:
    """What a file says; whatever is wrong with it, others have the words for."""
    try:
        return read_json_object(path)
    except (OSError, FormatError):
        return {}


def _tokenizer(folder: Path, config: Mapping[str, Any], settings: Mapping[str, Any]) -> FastTokenizer | None:
    from tokenizers import Tokenizer

    try:
        library = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception:  # the library has no error of its own
        return None
    rules = library.normalizer
    contradicted = any(
        name in settings and getattr(rules, rule, settings[name]) != settings[name] for name, rule in _RULES.items()
    )
    # Without a template for special tokens transformers has one of its own.
    incomplete = library.post_processor is None or library.get_vocab_size() < config["vocab_size"] / 2
    if contradicted or incomplete:
        return None
    return FastTokenizer(library, pad=config.get("pad_token_id"))
