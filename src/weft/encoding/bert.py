"""The layers of BERT and XLM-R by themselves, so that nobody waits for a library of all models to be imported.

The numbers are those of transformers up to rounding. What this file does not know (another activation, relative
positions, weights in several files) it leaves to `weft.encoding.torch`. Words are cut as `tokenizer.json` says, in
torch as in an exported graph; transformers may read other rules into a folder that says nothing of upper case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from weft.arrays import RowNumbers, RowStates
from weft.encoding.bert_files import ACTIVATIONS, read_files
from weft.encoding.positions import first_position
from weft.encoding.subwords import FastTokenizer
from weft.encoding.torch_base import TorchEncoderBase, check_layer, device_called, dtype_called, moved
from weft.errors import MissingExtraError

try:
    import torch
    from safetensors import SafetensorError, safe_open
    from torch.nn import functional
except ImportError as error:  # pragma: no cover - a test without the extra covers it in a process of its own
    raise MissingExtraError("torch", "Running a Hugging Face encoder") from error

Tensor = torch.Tensor
_PREFIXES = ("", "bert.", "roberta.")  # encoders, and encoders that were saved with a head
_NORMS = (("weight", "bias"), ("gamma", "beta"))  # the second in files that come from the first BERT
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {name: getattr(functional, name) for name in ACTIVATIONS}
_EMBEDDINGS = ("word", "position", "token_type")
_ATTENTION = ("attention.self.query", "attention.self.key", "attention.self.value")
_REST = (
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
)


class BertModel(NamedTuple):
    """What is needed to run an encoder; `read` gives a tensor by its name."""

    source: str
    config: Any
    read: Callable[[str], Tensor]
    tokenizer: FastTokenizer
    max_length: int


def read_bert(folder: Path, tensors: Callable[[], Mapping[str, Tensor]] | None = None) -> BertModel | None:
    """The model in a folder, or None if this file does not know how to run what is in it.

    `tensors` gives what else would be in a file of weights, for those layers that there are; of a BERT only.
    """
    files = read_files(folder)
    if files is None or (tensors and files.config["model_type"] != "bert"):
        return None
    config = dict(files.config)
    read = _reader(folder / "model.safetensors", config) if tensors is None else _looked_up(tensors(), config)
    if read is None:
        return None
    return BertModel(str(folder), SimpleNamespace(**config), read, files.tokenizer, files.max_length)


def tensor_names(layers: int) -> Iterator[str]:
    """The names of all tensors of an encoder with so many layers."""
    parts = ("weight", "bias")
    yield from (f"embeddings.{kind}_embeddings.weight" for kind in _EMBEDDINGS)
    yield from (f"embeddings.LayerNorm.{part}" for part in parts)
    for number in range(layers):
        yield from (f"encoder.layer.{number}.{name}.{part}" for name in (*_ATTENTION, *_REST) for part in parts)


def _reader(path: Path, config: Mapping[str, Any]) -> Callable[[str], Tensor] | None:
    """How to read a tensor by its name, if all are there."""
    try:
        file: Any = safe_open(path, framework="pt")
    except (OSError, SafetensorError):
        return None
    names, there = list(tensor_names(config["num_hidden_layers"])), set(file.keys())
    for prefix in _PREFIXES:
        for norm in _NORMS:
            spelt = {name: _spelt(prefix + name, norm) for name in names}
            if there.issuperset(spelt.values()) and _is_as_wide(file, spelt, config):
                return partial(_read, file, spelt)
    return None


def _is_as_wide(file: Any, spelt: Mapping[str, str], config: Mapping[str, Any]) -> bool:
    shape = file.get_slice(spelt["embeddings.word_embeddings.weight"]).get_shape()
    return bool(shape == [config["vocab_size"], config["hidden_size"]])


def _spelt(name: str, norm: tuple[str, str]) -> str:
    weight, bias = norm
    return name.replace("LayerNorm.weight", f"LayerNorm.{weight}").replace("LayerNorm.bias", f"LayerNorm.{bias}")


def _read(file: Any, spelt: Mapping[str, str], name: str) -> Tensor:
    tensor: Tensor = file.get_tensor(spelt[name])
    return tensor


def _looked_up(tensors: Mapping[str, Tensor], config: dict[str, Any]) -> Callable[[str], Tensor] | None:
    """How to read tensors that are in memory already; None if some are missing.

    A model may have been cut off, and then it has fewer layers than its configuration says.
    """
    config["num_hidden_layers"] = sum(name.endswith(".intermediate.dense.bias") for name in tensors)
    complete = tensors.keys() >= set(tensor_names(config["num_hidden_layers"]))
    return tensors.__getitem__ if complete else None


class _Linear(NamedTuple):
    weight: Tensor
    bias: Tensor


class _Layer(NamedTuple):
    attention: _Linear
    """Queries, keys and values in one product."""
    output: _Linear
    output_norm: _Linear
    inner: _Linear
    outer: _Linear
    outer_norm: _Linear


class BertEncoder(TorchEncoderBase):
    """Runs BERT or XLM-R up to one layer. Layers above it are not even loaded."""

    def __init__(
        self,
        model: BertModel,
        *,
        layer: int,
        device: str = "auto",
        dtype: str = "auto",
        batch_tokens: int | None = None,
        joint: bool = False,
    ) -> None:
        place, precision = device_called(device), dtype_called(dtype)
        self.layer, self.source, self._config = layer, model.source, model.config
        self._activation = _ACTIVATIONS[model.config.hidden_act]
        check_layer(layer, model.config.num_hidden_layers, model.source)

        def tensor(name: str) -> Tensor:
            return moved(model.read(name), place, precision)

        self._words, self._positions, self._types = (
            tensor(f"embeddings.{kind}_embeddings.weight") for kind in _EMBEDDINGS
        )
        self._norm = _Linear(tensor("embeddings.LayerNorm.weight"), tensor("embeddings.LayerNorm.bias"))
        self._layers = [_layer(tensor, number) for number in range(layer)]
        super().__init__(
            model.tokenizer,
            device=place,
            width=model.config.hidden_size,
            max_length=model.max_length,
            batch_tokens=batch_tokens,
            joint=joint,
        )

    def _hidden(
        self,
        input_ids: RowNumbers,
        attention_mask: RowNumbers,
        token_type_ids: RowNumbers | None = None,
        position_ids: RowNumbers | None = None,
    ) -> RowStates:
        types = self._types[0] if token_type_ids is None else functional.embedding(token_type_ids, self._types)
        if position_ids is None:
            first = first_position(self._config)
            positions = self._positions[first : first + input_ids.shape[1]]
        else:
            positions = functional.embedding(position_ids, self._positions)
        hidden = self._normed(functional.embedding(input_ids, self._words) + types + positions, self._norm)
        mask = attention_mask.bool()[:, None, None, :]
        for layer in self._layers:
            hidden = self._through(layer, hidden, mask)
        return hidden

    def _through(self, layer: _Layer, hidden: Tensor, mask: Tensor) -> Tensor:
        rows, length, width = hidden.shape
        heads = self._config.num_attention_heads
        # (rows, length, 3 · width) to three of (rows, heads, length, width / heads)
        parts = functional.linear(hidden, *layer.attention).view(rows, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], attn_mask=mask)
        seen = seen.transpose(1, 2).reshape(rows, length, width)
        hidden = self._normed(functional.linear(seen, *layer.output) + hidden, layer.output_norm)
        inner = self._activation(functional.linear(hidden, *layer.inner))
        return self._normed(functional.linear(inner, *layer.outer) + hidden, layer.outer_norm)

    def _normed(self, hidden: Tensor, norm: _Linear) -> Tensor:
        return functional.layer_norm(hidden, (self.width,), *norm, eps=self._config.layer_norm_eps)


def _layer(tensor: Any, number: int) -> _Layer:
    def linear(name: str) -> _Linear:
        return _Linear(*(tensor(f"encoder.layer.{number}.{name}.{part}") for part in ("weight", "bias")))

    three = [linear(name) for name in _ATTENTION]
    attention = _Linear(torch.cat([part.weight for part in three]), torch.cat([part.bias for part in three]))
    return _Layer(attention, *map(linear, _REST))
