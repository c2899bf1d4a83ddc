"""The models that weft knows by name: those that come with it, and encoders that people use."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from weft.models.files import TOKENIZER_FILE

logger = logging.getLogger(__name__)

DEFAULT_MODEL = "weft-mini"
_BUILT_IN_FOLDER = Path(__file__).parent
# How alike a name must be to count as misspelt: names of other people's models that resemble ours stay usable.
_ALIKE = 0.8
# Less alike where nothing can be used under the name as it is.
ALIKE_IF_UNKNOWN = 0.6


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """An encoder known by its shape, so that fine-tuned copies in any folder are known too.

    Attributes:
        name: what people call it.
        hub_name: its name on the Hugging Face hub.
        model_type: its architecture, as `config.json` has it.
        vocabulary: how many tokens it knows.
        n_layers: how many layers it has.
        layer: the layer that aligns best.
    """

    name: str
    hub_name: str
    model_type: str
    vocabulary: int
    n_layers: int
    layer: int


# Best layers: table 4 of the paper for mBERT, XLM and XLM-R (German and French); AccAlign (2022) for LaBSE.
KNOWN_ENCODERS = (
    KnownEncoder("mBERT", "google-bert/bert-base-multilingual-cased", "bert", 119547, 12, 8),
    KnownEncoder("LaBSE", "sentence-transformers/LaBSE", "bert", 501153, 12, 6),
    KnownEncoder("XLM-15", "FacebookAI/xlm-mlm-tlm-xnli15-1024", "xlm", 95000, 12, 5),
    KnownEncoder("XLM-100", "FacebookAI/xlm-mlm-100-1280", "xlm", 200000, 16, 8),
    KnownEncoder("XLM-R base", "FacebookAI/xlm-roberta-base", "xlm-roberta", 250002, 12, 8),
)


def known_encoder(model_type: str, vocabulary: int, n_layers: int) -> KnownEncoder | None:
    """The encoder of this shape, if it is a well-known one."""
    shape = (model_type, vocabulary, n_layers)
    matches = (known for known in KNOWN_ENCODERS if (known.model_type, known.vocabulary, known.n_layers) == shape)
    return next(matches, None)


def encoder_called(name: str) -> KnownEncoder | None:
    """The known encoder of this name, in capitals or not."""
    return next((known for known in KNOWN_ENCODERS if known.name.casefold() == name.casefold()), None)


def built_in_models() -> dict[str, Path]:
    """The names and folders of the models that come with weft."""
    return {path.parent.name: path.parent for path in sorted(_BUILT_IN_FOLDER.glob(f"*/{TOKENIZER_FILE}"))}


def may_be_on_hub(name: str) -> bool:
    """Whether the hub may have a model of this name: those with an owner, and known encoders also without theirs."""
    own = (known.hub_name.rpartition("/")[2].casefold() for known in KNOWN_ENCODERS)
    return "/" in name or name.casefold() in own


def nearest_name(name: str, alike: float = _ALIKE) -> str | None:
    """The name that weft knows and that somebody who wrote this one may have meant; None if the hub may have it."""
    if may_be_on_hub(name):
        return None
    names = {known.casefold(): known for known in (*built_in_models(), *(known.name for known in KNOWN_ENCODERS))}
    near = get_close_matches(name.casefold(), names, n=1, cutoff=alike)
    return names[near[0]] if near else None


class EncoderShape(Protocol):
    """The part of a Hugging Face configuration that tells which encoder it is."""

    model_type: str
    vocab_size: int
    num_hidden_layers: int


def likely_layer(model: str | Path, config: EncoderShape) -> int:
    """The best layer of a known encoder; for others a guess, and a word about it."""
    known = known_encoder(config.model_type, config.vocab_size, config.num_hidden_layers)
    if known:
        return known.layer
    layer = two_thirds_up(config.num_hidden_layers)
    logger.warning(
        "no best layer is known for %s; layer %d of %d is used. 'weft tune' can find a better one on a dev set.",
        model,
        layer,
        config.num_hidden_layers,
    )
    return layer


def two_thirds_up(n_layers: int) -> int:
    """Where the best layer of an unknown encoder is likely to be."""
    return max(1, round(n_layers * 2 / 3))
