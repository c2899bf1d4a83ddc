"""An encoder that can be trained: hidden states of any layer, a masked-LM head, and a head for parallel sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from weft.encoding.torch import FINAL_NORMS, load_config, load_tokenizer, load_weights
from weft.errors import SettingError, WeftError
from weft.models.known import likely_layer, two_thirds_up
from weft.models.resolve import resolve_model
from weft.models.settings import ModelSettings
from weft.models.unpack import torch_folder
from weft.training.config import TrainingConfig
from weft.training.flat import attends_without_padding, can_be_flat, flat_states, padded_states, places_of
from weft.training.rows import Vocabulary
from weft.training.segments import FlatRows

HEADS_FILE = "heads.safetensors"
# What configurations of different families call the share of activations that is dropped.
_DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout", "dropout_rate")


class TrainableEncoder(nn.Module):
    """A Hugging Face encoder with the heads that its objectives need."""

    def __init__(self, library: Any, *, layer: int, with_psi: bool, joint: bool = False) -> None:
        super().__init__()
        self.library = library
        self.layer = layer
        self.joint = joint
        config = library.config
        self.n_layers: int = config.num_hidden_layers
        if not 0 <= layer <= self.n_layers:
            raise SettingError(f"there is no layer {layer}: the model has layers 0 (embeddings) to {self.n_layers}.")
        width: int = config.hidden_size
        self.own_head = None if _library_head(library) else _TiedHead(library.get_input_embeddings(), width)
        self._compiled: Any = None
        self._compiled_loss: Any = None
        self._compiled_tokens = 0
        self._room = int(getattr(config, "max_position_embeddings", 0))
        # Such attention is for heads whose width is a multiple of eight.
        self._heads_fit = width % (8 * int(getattr(config, "num_attention_heads", 1))) == 0
        self.psi = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)) if with_psi else None

    @property
    def encoder(self) -> Any:
        """The encoder without heads; of a model with two halves, the encoding one."""
        library: Any = self.library
        return library.get_encoder() if library.config.is_encoder_decoder else library.base_model

    @property
    def layers(self) -> list[nn.Module]:
        """The layers, wherever the library keeps them."""
        stacks = (part for part in self.encoder.modules() if isinstance(part, nn.ModuleList))
        return [layer for stack in stacks if len(stack) == self.n_layers for layer in stack]

    def pair_states(self, ids: Tensor, attention: Tensor, lengths: tuple[int, int]) -> tuple[Tensor, Tensor]:
        """States of the alignment layer for sources and for targets, shapes (b, n, d) and (b, m, d).

        A joint model reads the two rows of a pair as one; padding between them is masked and changes nothing.

        Args:
            ids: rows of all sources, then of all targets, shape (2b, l).
            attention: true for what is no padding, of the same shape.
            lengths: n and m, the longest source row and the longest target row.
        """
        count, (n, m) = len(ids) // 2, lengths
        if not self.joint:
            states = self.states(ids, attention)
            return states[:count, :n], states[count:, :m]
        ids, attention = (torch.cat([rows[:count, :n], rows[count:, :m]], dim=1) for rows in (ids, attention))
        positions = torch.cat([torch.arange(length, device=ids.device) for length in lengths]).expand(count, -1)
        states = self.states(ids, attention, positions)
        return states[:, :n], states[:, n:]

    def states(self, ids: Tensor, attention: Tensor, positions: Tensor | None = None) -> Tensor:
        """Hidden states of the alignment layer, shape (r, l, d); layers above it are left out where possible."""
        if can_be_flat(self.encoder):
            return padded_states(self.encoder, self.layer, **self._inputs(ids, attention, positions))
        cut = _single_stack(self.encoder, self.n_layers)
        if cut is None:
            given = self._inputs(ids, attention, positions)
            chosen: Tensor = self.encoder(**given, output_hidden_states=True).hidden_states[self.layer]
            return chosen
        parent, name, layers = cut
        setattr(parent, name, layers[: self.layer])
        try:
            return self.top_states(ids, attention, positions)
        finally:
            setattr(parent, name, layers)

    def top_states(self, ids: Tensor, attention: Tensor, positions: Tensor | None = None) -> Tensor:
        """Hidden states of the last layer, shape (r, l, d)."""
        if can_be_flat(self.encoder):
            return padded_states(self.encoder, self.n_layers, **self._inputs(ids, attention, positions))
        top: Tensor = self.encoder(**self._inputs(ids, attention, positions)).last_hidden_state
        return top

    def flat_states(self, rows: FlatRows, ids: Tensor, *, top: bool = False) -> tuple[Tensor, Tensor]:
        """States of rows laid flat, of the alignment layer and, with `top`, of the last; both of shape (tokens, d).

        Args:
            rows: what is read.
            ids: its ids, which may have masks in them.
            top: whether states of the last layer are wanted; the second result is the first otherwise.
        """
        if can_be_flat(self.encoder):
            layers = self.layer, self.n_layers if top else self.layer
            encode = self._compiled if len(ids) == self._compiled_tokens else flat_states
            # Attention without padding is there for GPUs in half precision.
            half = torch.is_autocast_enabled("cuda") and attends_without_padding(ids.device)
            longest = 2 * self._room if half and self._heads_fit else None
            states: tuple[Tensor, Tensor] = encode(
                self.encoder, layers, ids, rows.positions, rows.types, rows.ends, longest
            )
            return states
        attention, places = places_of(rows.ends)
        padded, positions = (
            torch.zeros_like(attention, dtype=torch.long).index_put(places, part) for part in (ids, rows.positions)
        )
        lower = self.states(padded, attention, positions if self.joint else None)
        upper = self.top_states(padded, attention, positions if self.joint else None) if top else lower
        return lower[places], upper[places]

    def compile_flat(self, tokens: int) -> None:
        """Compile what reads flat rows of so many tokens; others are read as before."""
        if can_be_flat(self.encoder) and self._heads_fit:
            self._compiled, self._compiled_tokens = torch.compile(flat_states, dynamic=False), tokens
            self._compiled_loss = torch.compile(self._masked_loss, dynamic=False)

    def masked_loss(self, states: Tensor, labels: Tensor) -> Tensor:
        """The summed loss of predicting what stood at some places; labels of -100 do not count.

        Args:
            states: of the last layer, shape (places, d).
            labels: shape (places,).
        """
        loss: Tensor = (self._compiled_loss or self._masked_loss)(states, labels)
        return loss

    def _masked_loss(self, states: Tensor, labels: Tensor) -> Tensor:
        return nn.functional.cross_entropy(self.predictions(states).float(), labels, reduction="sum")

    def _inputs(self, ids: Tensor, attention: Tensor, positions: Tensor | None) -> dict[str, Tensor]:
        given = {"input_ids": ids, "attention_mask": attention.long()}
        if self.joint and positions is not None:
            # A sentence begins where positions do; padding stands at position 0 too, hence the limit.
            types = ((positions == 0) & attention.bool()).long().cumsum(1).sub(1).clamp(0, 1)
            given |= {"position_ids": positions, "token_type_ids": types}
        return given

    def predictions(self, states: Tensor) -> Tensor:
        """Logits over the vocabulary for some states, shape (tokens, d) to (tokens, v)."""
        head: Any = self.own_head or _library_head(self.library)
        logits: Tensor = head(states)
        return logits

    def parallel_scores(self, states: Tensor) -> Tensor:
        """Scores of joint rows by the state of their first token, shape (r, l, d) to (r,)."""
        if self.psi is None:
            raise ValueError("this encoder was made without a head for parallel sentences")
        scores: Tensor = self.psi(states[:, 0])
        return scores[:, 0]

    def save_heads(self, folder: Path) -> None:
        """Write the heads that Hugging Face does not know beside the model."""
        own = {name: value for name, value in self.state_dict().items() if name.startswith(("psi.", "own_head.dense"))}
        if own:
            save_file({name: value.contiguous().cpu() for name, value in own.items()}, folder / HEADS_FILE)

    def load_heads(self, folder: Path) -> None:
        """Read them back where they are."""
        if (folder / HEADS_FILE).is_file():
            self.load_state_dict(load_file(folder / HEADS_FILE), strict=False)


def _single_stack(encoder: nn.Module, n_layers: int) -> tuple[nn.Module, str, nn.ModuleList] | None:
    """Where the encoder keeps its layers, if they are one list and nothing but them makes the last hidden state."""
    if any(isinstance(getattr(encoder, name, None), nn.Module) for name in FINAL_NORMS):
        return None
    stacks = [
        (parent, name, child)
        for parent in encoder.modules()
        for name, child in parent.named_children()
        if isinstance(child, nn.ModuleList) and len(child) == n_layers
    ]
    return stacks[0] if len(stacks) == 1 else None


class _TiedHead(nn.Module):
    """A masked-LM head for encoders that have none: one dense layer, then the embeddings themselves."""

    def __init__(self, embeddings: nn.Embedding, width: int) -> None:
        super().__init__()
        self.dense = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self._embeddings = [embeddings]  # in a list: they are the encoder's parameters, not this module's

    def forward(self, states: Tensor) -> Tensor:
        """States (tokens, d) to logits (tokens, v)."""
        return nn.functional.linear(self.dense(states), self._embeddings[0].weight)


def _library_head(library: Any) -> Any | None:
    """The masked-LM head of a Hugging Face model as a function of states, whatever its parts are called."""
    if hasattr(library, "cls"):  # BERT and its kin
        return library.cls
    if hasattr(library, "vocab_projector"):  # DistilBERT
        parts = (library.vocab_transform, library.activation, library.vocab_layer_norm, library.vocab_projector)
        return lambda states: _chained(parts, states)
    if hasattr(library, "generator_predictions"):  # ELECTRA
        return lambda states: library.generator_lm_head(library.generator_predictions(states))
    if hasattr(library, "pred_layer"):  # XLM
        return library.pred_layer.proj
    return getattr(library, "lm_head", None)  # RoBERTa, XLM-R, MPNet


def _chained(parts: tuple[Any, ...], states: Tensor) -> Tensor:
    for part in parts:
        states = part(states)
    return states


def load_trainable(config: TrainingConfig, *, with_psi: bool = False) -> tuple[TrainableEncoder, Any]:
    """The encoder to train and its Hugging Face tokenizer: an existing one, or a new one of a given architecture.

    Args:
        config: the run; its model may be a folder with nothing but an ONNX graph.
        with_psi: whether it gets a head that tells parallel sentences from others.
    """
    base = resolve_model(config.model).fetched()
    folder = base.local_folder()
    source = torch_folder(folder)
    if config.architecture is None:
        library = _load(source, config.dropout)
        tokenizer = load_tokenizer(source, library.config.vocab_size)
    else:
        tokenizer = load_tokenizer(source, 0)
        library = _new(config.architecture, tokenizer)
    stored = base.settings if config.architecture is None else ModelSettings()
    layer = config.layer if config.layer is not None else _default_layer(config, source, stored)
    model = TrainableEncoder(library, layer=layer, with_psi=with_psi, joint=stored.joint)
    model.load_heads(folder)
    return model, tokenizer


def _load(model: str | Path, dropout: float | None) -> Any:
    config = load_config(model)
    for name in _DROPOUTS if dropout is not None else ():
        if hasattr(config, name):
            setattr(config, name, dropout)
    kinds = transformers.AutoModelForMaskedLM._model_mapping
    kind = transformers.AutoModelForMaskedLM if type(config) in kinds else transformers.AutoModel
    if config.is_encoder_decoder:
        kind = transformers.AutoModel
    return load_weights(kind, model, config=config)


def _new(architecture: dict[str, Any], tokenizer: Any) -> Any:
    options = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, **architecture}
    try:
        config = transformers.AutoConfig.for_model(**options)
    except (TypeError, ValueError) as error:
        raise SettingError(f"`architecture` does not describe a model: {error}") from error
    make: Any = transformers.AutoModelForMaskedLM.from_config
    return make(config)


def _default_layer(config: TrainingConfig, source: Path, stored: ModelSettings) -> int:
    if config.architecture is not None:
        return two_thirds_up(int(config.architecture.get("num_hidden_layers", 12)))
    return likely_layer(config.model, load_config(source)) if stored.layer is None else stored.layer


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    """What masking needs to know of a tokenizer."""
    if tokenizer.mask_token_id is None:
        raise WeftError("the tokenizer has no mask token, so mlm and tlm cannot be trained; leave them out.")
    return Vocabulary(tokenizer.mask_token_id, len(tokenizer))


def tokenizer_content(tokenizer: Any) -> str:
    """Everything that decides how a tokenizer cuts words, whatever folder it lies in."""
    if tokenizer.is_fast:
        content: str = tokenizer.backend_tokenizer.to_str()
        return content
    special = {name: str(value) for name, value in tokenizer.special_tokens_map.items()}
    return json.dumps([type(tokenizer).__name__, sorted(tokenizer.get_vocab().items()), special])
