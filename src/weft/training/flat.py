"""BERT over rows that are laid flat: one token after the other, so that padding costs attention and nothing else.

Most of the time of an encoder goes into its matrix products, and rows of different lengths are mostly padding: of 64
pairs drawn at random, two thirds.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

Places = tuple[Tensor, ...]


def can_be_flat(encoder: Any) -> bool:
    """Whether this file knows the layers of a Hugging Face encoder."""
    config = encoder.config
    absolute = getattr(config, "position_embedding_type", "absolute") == "absolute"
    return config.model_type == "bert" and absolute and not config.is_decoder


def flat_states(
    encoder: Any,
    layers: int,
    input_ids: Tensor,
    attention_mask: Tensor,
    position_ids: Tensor | None = None,
    token_type_ids: Tensor | None = None,
) -> Tensor:
    """Hidden states after some layers, shape (r, l, d); 0 where there is padding.

    Args:
        encoder: a Hugging Face BERT without heads.
        layers: how many of its layers to go through.
        input_ids: shape (r, l).
        attention_mask: 0 for padding, of the same shape.
        position_ids: of the same shape; each token's place in its row if not given.
        token_type_ids: of the same shape; 0 if not given.
    """
    real = attention_mask.bool()
    places = real.nonzero(as_tuple=True)
    positions = places[1] if position_ids is None else position_ids[places]
    types = torch.zeros_like(positions) if token_type_ids is None else token_type_ids[places]
    table = encoder.embeddings
    hidden = table.word_embeddings(input_ids[places]) + table.token_type_embeddings(types)
    hidden = table.dropout(table.LayerNorm(hidden + table.position_embeddings(positions)))
    for layer in encoder.encoder.layer[:layers]:
        hidden = _through(layer, hidden, real, places)
    return _padded(hidden, real, places)


def _through(layer: Any, hidden: Tensor, real: Tensor, places: Places) -> Tensor:
    """One layer, shape (tokens, d) to (tokens, d)."""
    own = layer.attention.self
    query, key, value = (
        _padded(linear(hidden).unflatten(1, (own.num_attention_heads, -1)), real, places).transpose(1, 2)
        for linear in (own.query, own.key, own.value)
    )
    dropout = own.dropout.p if own.training else 0.0
    seen = scaled_dot_product_attention(query, key, value, attn_mask=real[:, None, None, :], dropout_p=dropout)
    hidden = layer.attention.output(seen.transpose(1, 2)[places].flatten(1), hidden)
    through: Tensor = layer.output(layer.intermediate(hidden), hidden)
    return through


def _padded(flat: Tensor, real: Tensor, places: Places) -> Tensor:
    """Tokens in their rows again, shape (tokens, …) to (r, l, …)."""
    return flat.new_zeros(*real.shape, *flat.shape[1:]).index_put(places, flat)
