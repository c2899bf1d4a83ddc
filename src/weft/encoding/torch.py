"""The heavy half's encoder: any Hugging Face encoder, or encoder half, cut at the layer used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

from weft.encoding.encoder import Batch, TransformerEncoder
from weft.encoding.subwords import FastTokenizer, IntArray, Tokenizer, WordByWordTokenizer
from weft.errors import MissingExtraError, SettingError, WeftError, first_line

try:
    import torch
    import transformers
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask
except ImportError as error:  # pragma: no cover - a test without the extra covers it in a process of its own
    raise MissingExtraError("torch", "Running a Hugging Face encoder") from error

DEFAULT_BATCH_TOKENS = {"cpu": 2048, "cuda": 65536}
_CUDA_CHUNK_WORDS = 1 << 17
_MASKED_ATTENTION = "weft_sdpa"
_UNLIMITED = 1 << 20
_USUAL_MAX_LENGTH = 512
# Position embeddings of these begin after the padding's index, so that many fewer positions can be used.
_POSITIONS_AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl", "xmod")
# Some encoders normalise once more after their last layer; a cut encoder must not, or layer k would not be layer k.
FINAL_NORMS = ("final_layer_norm", "layer_norm", "final_norm")


class TorchEncoder(TransformerEncoder):
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
        prefer_stable_kernels()
        self.device = _device(device)
        self.layer = layer
        self.source = str(model)
        config = load_config(model)
        n_layers = config.num_hidden_layers
        if not 0 <= layer <= n_layers:
            raise SettingError(f"layer {layer} is not there: {model} has layers 0 (embeddings) to {n_layers}.")
        self._model = _moved(_load_cut(model, config, layer), self.device, _dtype(dtype)).eval()
        self.library_tokenizer = load_tokenizer(model, config.vocab_size)
        kind = self.device.type if self.device.type in DEFAULT_BATCH_TOKENS else "cuda"
        super().__init__(
            wrap_tokenizer(self.library_tokenizer),
            width=config.hidden_size,
            max_length=max_length(config, self.library_tokenizer),
            batch_tokens=batch_tokens or DEFAULT_BATCH_TOKENS[kind],
            joint=joint,
        )
        if self.device.type == "cuda":
            self._work_on_gpu()

    def _work_on_gpu(self) -> None:
        """Two chunks at a time: the GPU encodes one while Python reads the next and writes down the one before."""
        self.chunk_words, self.chunks_at_once = _CUDA_CHUNK_WORDS, 2
        never_ask_for_masks(self._model)
        torch.cuda.synchronize(self.device)  # other streams must not begin before the weights are there
        stream: Any = torch.cuda.Stream
        self._streams = cycle([stream(self.device) for _ in range(self.chunks_at_once)])

    def lane(self) -> AbstractContextManager[object]:
        """A stream for each chunk, so that nobody waits for what another chunk has to do."""
        return torch.cuda.stream(next(self._streams)) if self.device.type == "cuda" else super().lane()

    def save_pretrained(self, folder: Path) -> None:
        """Write the whole model, upper layers included, and its tokenizer, so that plain `AutoModel` loads them."""
        quietly(transformers.AutoModel.from_pretrained, self.source).save_pretrained(folder)
        self.library_tokenizer.save_pretrained(folder)

    def _empty(self, subwords: int) -> Any:
        return torch.empty((subwords, self.width), dtype=torch.float32, device=self.device)

    def _indices(self, places: IntArray) -> Any:
        array = torch.from_numpy(places)
        # From memory that may be swapped out a copy begins when the GPU has done everything before it.
        return (array.pin_memory() if self.device.type == "cuda" else array).to(self.device, non_blocking=True)

    def _forward(self, batch: Batch) -> Any:
        given = batch.inputs() if self.joint else {"input_ids": batch.ids, "attention_mask": batch.mask}
        with torch.inference_mode():
            inputs = {name: self._indices(value) for name, value in given.items()}
            # Similarities are computed in float32 whatever the encoder ran in: dot products reach hundreds,
            # where neighbouring bfloat16 numbers differ by 2.
            try:
                return self._model(**inputs).last_hidden_state.float()
            except torch.OutOfMemoryError as error:
                raise WeftError(f"out of memory; lower --batch-tokens (now {self.batch_tokens:,}).") from error


def load_config(model: str | Path) -> Any:
    """The model's configuration; a model that is not there is one sentence."""
    try:
        return quietly(transformers.AutoConfig.from_pretrained, str(model))
    except (OSError, ValueError) as error:
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
        return quietly(kind.from_pretrained, str(model), dtype=torch.float32, **options)
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


def _moved(model: Any, device: torch.device, dtype: torch.dtype) -> Any:
    try:
        return model.to(device, dtype)
    except (RuntimeError, NotImplementedError) as error:
        raise WeftError(f"the model cannot be put on {device}: {first_line(error)}") from error


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


def max_length(config: Any, tokenizer: Any) -> int:
    """How many positions, special tokens included, a model can take."""
    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None)]
    if limits[1] is not None and config.model_type in _POSITIONS_AFTER_PADDING:
        limits[1] -= config.pad_token_id + 1
    known = [limit for limit in limits if limit is not None and 0 < limit < _UNLIMITED]
    return min(known, default=_USUAL_MAX_LENGTH)


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


def prefer_stable_kernels() -> None:
    """Leave cuDNN's attention out: it plans anew for every shape, and our batches have many shapes."""
    if torch.cuda.is_available():
        torch.backends.cuda.enable_cudnn_sdp(False)


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise SettingError("no CUDA device was found. Use --device cpu, or auto.")
    try:
        return torch.device(name)
    except RuntimeError as error:
        raise SettingError(f"there is no device {name!r}. Use auto, cpu or cuda.") from error


def _dtype(name: str) -> torch.dtype:
    known = {"auto": torch.float32, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if name not in known:
        raise SettingError(f"`dtype` must be one of {', '.join(known)}, got {name!r}.")
    return known[name]
