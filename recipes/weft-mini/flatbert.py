"""BERT over one flat row of tokens: sentences lie one after the other without padding, attention stays inside each.

Parameters are named as in Hugging Face's `BertForMaskedLM`, so that the weights load there. One shape for all batches
means one compilation; no padding means no work in vain.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

# Similarities are divided by this while training; `fold` moves it into the last LayerNorm.
TEMPERATURE = 16.0
WORD_EMBEDDINGS = "bert.embeddings.word_embeddings.weight"


@dataclass(frozen=True)
class Shape:
    """The size of the encoder."""

    vocabulary: int = 48_000
    width: int = 384
    layers: int = 8
    heads: int = 6
    inner: int = 1536
    positions: int = 128
    eps: float = 1e-12
    embedding: int = 0  # width of the embeddings, which are then projected; 0 is the width of the encoder

    def config(self) -> dict[str, object]:
        """These sizes in Hugging Face's words."""
        return {
            "architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": self.vocabulary,
            "hidden_size": self.width, "num_hidden_layers": self.layers, "num_attention_heads": self.heads,
            "intermediate_size": self.inner, "max_position_embeddings": self.positions, "type_vocab_size": 2,
            "hidden_act": "relu", "layer_norm_eps": self.eps, "pad_token_id": 0, "tie_word_embeddings": True,
            **({"embedding_size": self.embedding} if self.embedding else {}),
            "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "initializer_range": 0.02,
        }  # fmt: skip


class FlatBert(nn.Module):
    """The encoder and the head that predicts masked tokens."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = 0.0
        width, inner, narrow = shape.width, shape.inner, shape.embedding or shape.width
        sizes = {
            "bert.embeddings.word_embeddings": (shape.vocabulary, narrow),
            "bert.embeddings.position_embeddings": (shape.positions, narrow),
            "bert.embeddings.token_type_embeddings": (2, narrow),
            "cls.predictions.transform.dense": (narrow, width),
        }
        if shape.embedding:
            sizes["bert.embeddings_project"] = (width, narrow)
        norms = []
        for k in range(shape.layers):
            layer = f"bert.encoder.layer.{k}"
            for name in (
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
                "attention.output.dense",
            ):
                sizes[f"{layer}.{name}"] = (width, width)
            sizes[f"{layer}.intermediate.dense"] = (inner, width)
            sizes[f"{layer}.output.dense"] = (width, inner)
            norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        self.weights = nn.ParameterDict()
        for name, size in sizes.items():
            self._add(f"{name}.weight", torch.randn(size) * 0.02)
            if not name.endswith("_embeddings"):
                self._add(f"{name}.bias", torch.zeros(size[0]))
        sizes_of_norms = dict.fromkeys(norms, width)
        sizes_of_norms |= dict.fromkeys(("bert.embeddings.LayerNorm", "cls.predictions.transform.LayerNorm"), narrow)
        for name, along in sizes_of_norms.items():
            self._add(f"{name}.weight", torch.ones(along))
            self._add(f"{name}.bias", torch.zeros(along))
        self._add("cls.predictions.bias", torch.zeros(shape.vocabulary))

    def _add(self, name: str, value: Tensor) -> None:
        self.weights[name.replace(".", "/")] = nn.Parameter(value)

    def weight(self, name: str) -> Tensor:
        """A parameter by its Hugging Face name."""
        found: Tensor = self.weights[name.replace(".", "/")]
        return found

    def named_weights(self) -> dict[str, Tensor]:
        """All parameters by their Hugging Face names."""
        return {name.replace("/", "."): value for name, value in self.weights.items()}

    def _linear(self, x: Tensor, name: str) -> Tensor:
        return F.linear(x, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"))

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout) if self.dropout and torch.is_grad_enabled() else x

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return F.layer_norm(x, (x.shape[-1],), weight, bias, self.shape.eps)

    def forward(self, ids: Tensor, positions: Tensor, types: Tensor, ends: Tensor) -> Tensor:
        """Hidden states of the last layer, shape (tokens, width); `ends` are the cumulated lengths of the rows."""
        x = F.embedding(ids, self.weight(WORD_EMBEDDINGS))
        x = x + F.embedding(positions, self.weight("bert.embeddings.position_embeddings.weight"))
        x = x + F.embedding(types, self.weight("bert.embeddings.token_type_embeddings.weight"))
        x = self._norm(x, "bert.embeddings.LayerNorm").to(torch.bfloat16 if ids.is_cuda else torch.float32)
        x = self._linear(x, "bert.embeddings_project") if self.shape.embedding else x
        for k in range(self.shape.layers):
            layer = f"bert.encoder.layer.{k}"
            x = self._norm(x + self._drop(self._attention(x, layer, ends)), f"{layer}.attention.output.LayerNorm")
            inner = F.relu(self._linear(x, f"{layer}.intermediate.dense"))
            x = self._norm(x + self._drop(self._linear(inner, f"{layer}.output.dense")), f"{layer}.output.LayerNorm")
        return x

    def _attention(self, x: Tensor, layer: str, ends: Tensor) -> Tensor:
        heads = self.shape.heads
        query, key, value = (
            self._linear(x, f"{layer}.attention.self.{name}").view(len(x), heads, -1)
            for name in ("query", "key", "value")
        )
        if x.is_cuda:
            from torch.nn.attention.varlen import varlen_attn

            longest = 2 * self.shape.positions  # a row beyond this would come back as whatever lay in memory
            mixed = cast(Tensor, varlen_attn(query, key, value, ends, ends, longest, longest))
        else:
            mixed = _attention_by_mask(query, key, value, ends)
        return self._linear(mixed.reshape(len(x), -1), f"{layer}.attention.output.dense")

    def predictions(self, states: Tensor) -> Tensor:
        """Scores of all tokens at masked places, shape (places, vocabulary)."""
        x = F.relu(self._linear(states, "cls.predictions.transform.dense"))
        x = self._norm(x, "cls.predictions.transform.LayerNorm")
        return F.linear(x, self.weight(WORD_EMBEDDINGS), self.weight("cls.predictions.bias"))


def _attention_by_mask(query: Tensor, key: Tensor, value: Tensor, ends: Tensor) -> Tensor:
    """The same on a CPU, for trying things out: rows are padded to the longest."""
    lengths = ends.diff().long()
    lengths = lengths[lengths > 0]
    row = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    column = torch.arange(len(query)) - (lengths.cumsum(0) - lengths)[row]
    inside = torch.arange(int(lengths.max())) < lengths[:, None]

    def padded(flat: Tensor) -> Tensor:
        return flat.new_zeros(*inside.shape, *flat.shape[1:]).index_put((row, column), flat).transpose(1, 2)

    mixed = F.scaled_dot_product_attention(
        padded(query), padded(key), padded(value), attn_mask=inside[:, None, None, :]
    )
    return mixed.transpose(1, 2)[row, column]


def fold(weights: dict[str, Tensor], layers: int, exponent: float) -> dict[str, Tensor]:
    """Move the temperature into the last LayerNorm and out of the head above it, which changes nothing else."""
    result = {name: value.detach().clone() for name, value in weights.items()}
    scale = TEMPERATURE**exponent
    for name in ("weight", "bias"):
        result[f"bert.encoder.layer.{layers - 1}.output.LayerNorm.{name}"] *= scale
    result["cls.predictions.transform.dense.weight"] /= scale
    return result


def loaded(folder: Path, device: str) -> FlatBert:
    """The model that `save` wrote."""
    config = json.loads((folder / "config.json").read_text())
    shape = Shape(
        vocabulary=config["vocab_size"],
        width=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        inner=config["intermediate_size"],
        positions=config["max_position_embeddings"],
        embedding=config.get("embedding_size", 0),
    )
    model = FlatBert(shape).to(device)
    stored = {name: value.float() for name, value in load_file(folder / "model.safetensors").items()}
    stored = fold(stored, shape.layers, 0.5)
    for name, value in model.named_weights().items():
        value.data.copy_(stored[name])
    return model


def save(model: FlatBert, out: Path, report: dict[str, object]) -> None:
    """Write weights, configuration and report as a Hugging Face folder (without its tokenizer)."""
    out.mkdir(parents=True, exist_ok=True)
    weights = fold(model.named_weights(), model.shape.layers, -0.5)
    save_file({k: v.half().contiguous().cpu() for k, v in weights.items()}, out / "model.safetensors", {"format": "pt"})
    (out / "config.json").write_text(json.dumps(model.shape.config(), indent=2))
    (out / "report.json").write_text(json.dumps(report, indent=2))


class Muon(torch.optim.Optimizer):
    """Momentum whose matrices are made orthogonal (Jordan et al. 2024), all of one shape at once."""

    def __init__(self, matrices: list[Tensor], lr: float, momentum: float = 0.95, decay: float = 0.01) -> None:
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Take a step."""
        for group in self.param_groups:
            shapes: dict[tuple[int, ...], list[Tensor]] = {}
            for matrix in group["params"]:
                shapes.setdefault(tuple(matrix.shape), []).append(matrix)
            for shape, matrices in shapes.items():
                gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
                buffers = [self.state[matrix].setdefault("momentum", torch.zeros_like(matrix)) for matrix in matrices]
                torch._foreach_lerp_(buffers, gradients, 1 - group["momentum"])
                looking_ahead = torch._foreach_lerp(gradients, buffers, group["momentum"])
                updates = orthogonal(torch.stack(looking_ahead))
                scale = max(1.0, shape[0] / shape[1]) ** 0.5
                torch._foreach_mul_(matrices, 1 - group["lr"] * group["decay"])
                torch._foreach_add_(matrices, list(updates.float().unbind()), alpha=-group["lr"] * scale)


def orthogonal(matrices: Tensor) -> Tensor:
    """The nearest orthogonal matrices, nearly: five Newton-Schulz steps; shape (k, rows, columns)."""
    x: Tensor = matrices.bfloat16() if matrices.is_cuda else matrices.float()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):
        square = x @ x.transpose(1, 2)
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.transpose(1, 2) if tall else x
