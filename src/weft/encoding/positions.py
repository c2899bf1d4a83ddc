"""How long a row a model can read: its positions, and where they begin."""

from __future__ import annotations

from typing import Any

_UNLIMITED = 1 << 20
_USUAL_MAX_LENGTH = 512
# Position embeddings of these begin after the padding's index, so that many fewer positions can be used.
_POSITIONS_AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl", "xmod")


def first_position(config: Any) -> int:
    """The position of a sentence's first token."""
    return config.pad_token_id + 1 if config.model_type in _POSITIONS_AFTER_PADDING else 0


def max_length(config: Any, longest: int | None) -> int:
    """How many positions, special tokens included, a model can take; `longest` is what its tokenizer says."""
    limits = [longest, getattr(config, "max_position_embeddings", None)]
    if limits[1] is not None:
        limits[1] -= first_position(config)
    known = [limit for limit in limits if limit is not None and 0 < limit < _UNLIMITED]
    return min(known, default=_USUAL_MAX_LENGTH)
