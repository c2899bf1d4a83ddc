"""The heavy half's encoder: any Hugging Face encoder, or encoder half, cut at the layer used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weft.arrays import RowNumbers, RowStates
from weft.encoding.positions import max_length
from weft.encoding.subwords import FastTokenizer, Tokenizer, WordByWordTokenizer
from weft.encoding.torch_base import (
    TorchEncoderBase,
    check_layer,
    device_called,
    dtype_called,
    moved,
)
from weft.errors import MissingExtraError, WeftError, first_line

try:
    import torch
    import transformers
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask
except ImportError as error:  # pragma: no cover - a test without the extra covers it in a process of its own
    raise MissingExtraError("torch", "Running a Hugging Face encoder") from error

_MASKED_ATTENTION = "weft_sdpa"
# Some encoders normalise once more after their last layer; a cut encoder must not, or layer k would not be layer k.
FINAL_NORMS = ("final_layer_norm", "layer_norm", "final_norm")


class TorchEncoder(TorchEncoderBase):
    """Runs a Hugging Face model up to one layer. Layers above it are not even loaded."""

    def __init__(
        self,
        model: str | Path,
        *,
        layer: int,
        device: str = "auto",
        dtype: str = "auto",
        batch_tokens: int | None = None,
        joint: bool = False,
    ) -> None:
        place = device_called(device)
        self.layer = layer
        self.source = str(model)
        config = load_config(model)
        check_layer(layer, config.num_hidden_layers, model)
        self.model = moved(_load_cut(model, config, layer), place, dtype_called(dtype)).eval()
        if place.type == "cuda":
            never_ask_for_masks(self.model)
        self.library_tokenizer = load_tokenizer(model, config.vocab_size)
        super().__init__(
            wrap_tokenizer(self.library_tokenizer),
            device=place,
            width=config.hidden_size,
            max_length=max_length(config, self.library_tokenizer.model_max_length),
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
        given = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self.joint:
            given |= {"token_type_ids": token_type_ids, "position_ids": position_ids}
        return self.model(**given).last_hidden_state

    def save_changes(self, folder: Path) -> bool:
        """Write weights that were changed in memory into a copy of the model, and say whether there were any.

        Layers above the one used, and heads, stay as the copy has them.
        """
        config = load_config(folder)
        kind = getattr(transformers, (config.architectures or [""])[0], transformers.AutoModel)
        whole = load_weights(kind, folder)
        encoder = whole.get_encoder() if config.is_encoder_decoder else whole.base_model
        stored = encoder.state_dict()
        # What merely was rounded to this encoder's precision is no change.
        changed = {
            name: value.to("cpu", torch.float32)
            for name, value in self.model.state_dict().items()
            if name in stored and not torch.equal(value.cpu(), stored[name].to(value.dtype))
        }
        if changed:
            encoder.load_state_dict(changed, strict=False)
            with library_silence():
                whole.save_pretrained(folder)
        return bool(changed)


def load_config(model: str | Path) -> Any:
    """The model's configuration; a model that is not there is one sentence."""
    try:
        return quietly(transformers.AutoConfig.from_pretrained, str(model))
    except Exception as error:  # what a damaged file raises depends on the architecture
        raise WeftError(
            f"cannot load the model {model}: {first_line(error)} Give a folder or a model's name."
        ) from error


def load_tokenizer(model: str | Path, vocabulary: int) -> Any:
    """The model's tokenizer; without its files the library makes up one that knows no words."""
    try:
        tokenizer = quietly(transformers.AutoTokenizer.from_pretrained, str(model))
    except Exception as error:  # what a broken file raises depends on which one it is
        raise WeftError(f"cannot load the tokenizer of {model}: {first_line(error)}") from error
    if len(tokenizer) < vocabulary / 2:
        raise WeftError(
            f"the tokenizer of {model} knows {len(tokenizer):,} tokens, the model {vocabulary:,}. "
            "Are the tokenizer's files missing?"
        )
    return tokenizer


def load_weights(kind: Any, model: str | Path, **options: Any) -> Any:
    """A model of some Hugging Face kind in float32; what is wrong with its files is one sentence."""
    try:
        return quietly(kind.from_pretrained, str(model), dtype=torch.float32, use_safetensors=True, **options)
    except Exception as error:  # safetensors and torch have errors of their own for damaged files
        raise WeftError(f"cannot load the weights of {model}: {first_line(error)}") from error


def _load_cut(model: str | Path, config: Any, layer: int) -> Any:
    cut = layer < config.num_hidden_layers
    config.num_hidden_layers = layer
    loaded = load_weights(transformers.AutoModel, model, config=config)
    encoder = loaded.get_encoder() if config.is_encoder_decoder else loaded
    for name in FINAL_NORMS if cut else ():
        if isinstance(getattr(encoder, name, None), torch.nn.Module):
            setattr(encoder, name, torch.nn.Identity())
    return encoder


def quietly(load: Any, *arguments: Any, **options: Any) -> Any:
    """Load without the library's remarks on weights of heads and upper layers, which we leave out on purpose."""
    with library_silence():
        return load(*arguments, trust_remote_code=False, **options)


@contextmanager
def library_silence() -> Iterator[None]:
    """Keep Hugging Face's remarks and progress bars off the screen."""
    remarks: Any = transformers.logging
    verbosity = remarks.get_verbosity()
    remarks.set_verbosity_error()
    remarks.disable_progress_bar()
    try:
        yield
    finally:
        remarks.set_verbosity(verbosity)
        remarks.enable_progress_bar()


def wrap_tokenizer(tokenizer: Any) -> Tokenizer:
    """A Hugging Face tokenizer as weft uses it."""
    if tokenizer.is_fast:
        return FastTokenizer(tokenizer.backend_tokenizer, pad=tokenizer.pad_token_id)
    return WordByWordTokenizer(tokenizer)


def never_ask_for_masks(model: Any) -> None:
    """Make the library build every attention mask.

    It would look whether a mask masks anything, which waits until the GPU has done all that it was given.
    """
    if getattr(model.config, "_attn_implementation", None) != "sdpa":
        return
    transformers.AttentionInterface.register(_MASKED_ATTENTION, sdpa_attention_forward)
    transformers.AttentionMaskInterface.register(_MASKED_ATTENTION, _full_mask)
    with library_silence():
        model.set_attn_implementation(_MASKED_ATTENTION)


def _full_mask(*arguments: Any, **options: Any) -> Any:
    return sdpa_mask(*arguments, **{**options, "allow_is_bidirectional_skip": False})
