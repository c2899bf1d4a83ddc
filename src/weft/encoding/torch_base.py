"""What encoders that run in torch have in common, whoever wrote their layers: a device, a precision, and streams."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import cycle
from typing import Any, TypeVar

from weft.arrays import ChunkStates, RowNumbers, RowStates
from weft.encoding.batches import Batch
from weft.encoding.encoder import GPU_PACE, TransformerEncoder
from weft.encoding.subwords import FastTokenizer, Tokenizer
from weft.errors import MissingExtraError, SettingError, WeftError, first_line

try:
    import torch
except ImportError as error:  # pragma: no cover - a test without the extra covers it in a process of its own
    raise MissingExtraError("torch", "Running a Hugging Face encoder") from error

DEFAULT_BATCH_TOKENS = {"cpu": 2048, "cuda": 65536}

Movable = TypeVar("Movable", torch.nn.Module, torch.Tensor)


class TorchEncoderBase(TransformerEncoder):
    """An encoder whose states are torch tensors on some device."""

    runs_in_torch = True
    _bound = ("_counting", "_streams")

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        device: torch.device,
        width: int,
        max_length: int,
        batch_tokens: int | None,
        joint: bool,
    ) -> None:
        self.device, self.device_name = device, str(device)
        kind = device.type if device.type in DEFAULT_BATCH_TOKENS else "cuda"
        super().__init__(
            tokenizer,
            width=width,
            max_length=max_length,
            batch_tokens=batch_tokens or DEFAULT_BATCH_TOKENS[kind],
            joint=joint,
        )
        if device.type == "cuda":
            self._work_on_gpu()

    def _work_on_gpu(self) -> None:
        """Chunks are large, and two of them are worked on at a time."""
        prefer_stable_kernels()
        # Tokenizers written in Python would import their library in the process that reads ahead.
        self.pace = replace(GPU_PACE, read_ahead=isinstance(self.tokenizer, FastTokenizer))
        torch.cuda.synchronize(self.device)  # other streams must not begin before the weights are there

    def _bind(self) -> None:
        super()._bind()
        self._streams: Iterator[Any] | None = None

    def device_stream(self) -> AbstractContextManager[object]:
        """A stream for each chunk, so that nobody waits for what another chunk has to do."""
        if self.device.type != "cuda":
            return super().device_stream()
        if self._streams is None:
            stream: Any = torch.cuda.Stream
            self._streams = cycle([stream(self.device) for _ in range(self.pace.chunks_at_once)])
        return torch.cuda.stream(next(self._streams))

    def _empty(self, subwords: int) -> ChunkStates:
        return torch.empty((subwords, self.width), dtype=torch.float32, device=self.device)

    def _forward(self, batch: Batch) -> RowStates:
        given = batch.inputs() if self.joint else {"input_ids": batch.ids, "attention_mask": batch.mask}
        with torch.inference_mode():
            # Similarities are computed in float32 whatever the encoder ran in: dot products reach hundreds,
            # where neighbouring bfloat16 numbers differ by 2.
            try:
                return self._hidden(**given).float()
            except torch.OutOfMemoryError as error:
                raise WeftError(f"out of memory; lower `batch_tokens` (now {self.batch_tokens:,}).") from error

    @abstractmethod
    def _hidden(
        self,
        input_ids: RowNumbers,
        attention_mask: RowNumbers,
        token_type_ids: RowNumbers | None = None,
        position_ids: RowNumbers | None = None,
    ) -> RowStates:
        """The states of the layer used, of shape (rows, length, width); where pairs are joint, all four are given."""


def check_layer(layer: int, layers: int, model: object) -> None:
    """Refuse a layer that a model does not have.

    Args:
        layer: the layer wanted.
        layers: how many the model has, besides its embeddings.
        model: what messages call it.
    """
    if not 0 <= layer <= layers:
        raise SettingError(f"there is no layer {layer}: {model} has layers 0 (embeddings) to {layers}.")


def prefer_stable_kernels() -> None:
    """Leave cuDNN's attention out: it plans anew for every shape, and our batches have many shapes."""
    if torch.cuda.is_available():
        torch.backends.cuda.enable_cudnn_sdp(False)


def device_called(name: str) -> torch.device:
    """The device of a name; `auto` is a GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise SettingError("no CUDA device was found. Set `device` to cpu or auto.")
    try:
        device = torch.device(name)
        if device.type == "meta":  # it has no memory, and so no states
            raise RuntimeError
        return device
    except RuntimeError as error:
        raise SettingError(f"there is no device {name!r}. Use auto, cpu or cuda.") from error


def dtype_called(name: str) -> torch.dtype:
    """The precision of a name."""
    known = {"auto": torch.float32, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
    if name not in known:
        raise SettingError(f"`dtype` must be one of {', '.join(known)}, got {name!r}.")
    return known[name]


def moved(model: Movable, device: torch.device, dtype: torch.dtype) -> Movable:
    """Put a model or a tensor on a device.

    Args:
        model: the model or the tensor.
        device: where it goes.
        dtype: the precision that it gets there.

    Raises:
        WeftError: the device does not exist here, or has no room.
    """
    try:
        return model.to(device, dtype)
    except (RuntimeError, NotImplementedError) as error:
        raise WeftError(f"the model cannot be put on {device}: {first_line(error)}") from error
