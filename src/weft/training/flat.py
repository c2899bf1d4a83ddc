"""BERT over rows that are laid flat: one token after the other, so that padding costs attention at most.

Most of the time of an encoder goes into its matrix products, and rows of different lengths are mostly padding: of 64
pairs drawn at random, two thirds. On a GPU in half precision attention has no padding either.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

Places = tuple[Tensor, ...]


def can_be_flat(encoder: Any) -> bool:
    """Whether this file knows the layers of a Hugging Face encoder."""
    config = encoder.config
    absolute = getattr(config, "position_embedding_type", "absolute") == "absolute"
    return config.model_type in ("bert", "electra") and absolute and not config.is_decoder


@cache
def attends_without_padding(device: torch.device) -> bool:
    """Whether a device has attention for rows of any length: a GPU from Ampere on, with torch 2.10 or newer."""
    if device.type != "cuda" or find_spec("torch.nn.attention.varlen") is None:
        return False
    return torch.version.hip is not None or torch.cuda.get_device_capability(device) >= (8, 0)


class Attended(NamedTuple):
    """Which tokens see each other: those of a row. `real` (r, l) and `places` say where each stands in padded rows.

    Where attention needs no padding, `ends` (rows + 1,) are where rows end, and no row is longer than `longest`.
    """

    real: Tensor | None
    places: Places
    ends: Tensor | None = None
    longest: int = 0


def padded_states(
    encoder: Any,
    layers: int,
    input_ids: Tensor,
    attention_mask: Tensor,
    position_ids: Tensor | None = None,
    token_type_ids: Tensor | None = None,
) -> Tensor:
    """Hidden states of padded rows after some layers, shape (r, l, d); 0 where there is padding.

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
    hidden = _embedded(encoder, input_ids[places], positions, types)
    for layer in encoder.encoder.layer[:layers]:
        hidden = _through(layer, hidden, Attended(real, places))
    return _padded(hidden, real, places)


def flat_states(
    encoder: Any,
    layers: tuple[int, int],
    ids: Tensor,
    positions: Tensor,
    types: Tensor,
    ends: Tensor,
    longest: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Hidden states of flat rows after so many layers and after so many more, both of shape (tokens, d).

    Args:
        encoder: a Hugging Face BERT without heads.
        layers: the first number of layers, and the second, which is no smaller.
        ids: shape (tokens,).
        positions: of the same shape.
        types: of the same shape.
        ends: where rows end, from 0 on, shape (rows + 1,), in 32 bits; equal ones are no rows.
        longest: no row is longer. With it, attention has no padding, which takes a GPU and half precision.
    """
    attended = Attended(*places_of(ends)) if longest is None else Attended(None, (), ends, longest)
    hidden = lower = _embedded(encoder, ids, positions, types)
    for number, layer in enumerate(encoder.encoder.layer[: layers[1]], start=1):
        hidden = _through(layer, hidden, attended)
        lower = hidden if number <= layers[0] else lower
    return lower, hidden


def places_of(ends: Tensor) -> tuple[Tensor, Places]:
    """Flat rows as padded ones: which places are filled (r, l), and the place of each token."""
    lengths = ends.diff().long()
    lengths = lengths[lengths > 0]
    row = torch.repeat_interleave(torch.arange(len(lengths), device=ends.device), lengths)
    column = torch.arange(len(row), device=ends.device) - (lengths.cumsum(0) - lengths)[row]
    return torch.arange(int(lengths.max()), device=ends.device) < lengths[:, None], (row, column)


def _embedded(encoder: Any, ids: Tensor, positions: Tensor, types: Tensor) -> Tensor:
    table = encoder.embeddings
    hidden = table.word_embeddings(ids) + table.token_type_embeddings(types)
    hidden = table.dropout(table.LayerNorm(hidden + table.position_embeddings(positions)))
    narrow = getattr(encoder, "embeddings_project", None)  # ELECTRA's may be narrower than its layers
    embedded: Tensor = hidden if narrow is None else narrow(hidden)
    return embedded


def _through(layer: Any, hidden: Tensor, attended: Attended) -> Tensor:
    """One layer, shape (tokens, d) to (tokens, d)."""
    own = layer.attention.self
    query, key, value = (
        linear(hidden).unflatten(1, (own.num_attention_heads, -1)) for linear in (own.query, own.key, own.value)
    )
    dropout = own.dropout.p if own.training else 0.0
    hidden = layer.attention.output(_seen(query, key, value, attended, dropout).flatten(1), hidden)
    through: Tensor = layer.output(layer.intermediate(hidden), hidden)
    return through


def _seen(query: Tensor, key: Tensor, value: Tensor, attended: Attended, dropout: float) -> Tensor:
    """Attention within rows, shape (tokens, heads, width of a head)."""
    if attended.ends is not None:  # this kernel drops nothing: what follows it does
        from torch.nn.attention.varlen import varlen_attn

        longest = attended.longest  # a row beyond this would come back as whatever lay in memory
        return cast(Tensor, varlen_attn(query, key, value, attended.ends, attended.ends, longest, longest))
    assert attended.real is not None, "attention with padding knows where it is"
    real, places = attended.real, attended.places
    query, key, value = (_padded(part, real, places).transpose(1, 2) for part in (query, key, value))
    seen = scaled_dot_product_attention(query, key, value, attn_mask=real[:, None, None, :], dropout_p=dropout)
    return seen.transpose(1, 2)[places]


def _padded(flat: Tensor, real: Tensor, places: Places) -> Tensor:
    """Tokens in their rows again, shape (tokens, …) to (r, l, …)."""
    return flat.new_zeros(*real.shape, *flat.shape[1:]).index_put(places, flat)
