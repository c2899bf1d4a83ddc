"""A model's name to an encoder and the settings that lie beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.encoding.encoder import Encoder
from weft.errors import MissingExtraError, SettingError
from weft.extraction.settings import ExtractionSettings
from weft.models.files import SETTINGS_FILE
from weft.models.known import likely_layer
from weft.models.resolve import ModelSource, resolve_model
from weft.models.settings import ModelSettings
from weft.models.unpack import graph_tensors, torch_folder

USUAL_MAX_LENGTH = 512


def load_encoder(
    model: str | Path | ModelSource,
    *,
    layer: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
) -> tuple[Encoder, ExtractionSettings]:
    """Load an encoder with the settings that are stored beside it.

    Args:
        model: a model's name or folder, or where it comes from.
        layer: the layer whose hidden states are compared; the model's own or a good guess by default.
        device: `auto`, `cpu`, `cuda` or another device that torch knows.
        dtype: `auto`, `float32`, `bfloat16` or `float16`.
        batch_tokens: how many subwords are encoded at once; what suits the device by default.

    Returns:
        The encoder, and how its links are taken.

    Raises:
        SettingError: for a value that makes no sense, or a layer that the model does not have.
        WeftError: if there is no such model, or its files are damaged.
    """
    if batch_tokens is not None and batch_tokens < 1:
        raise SettingError(f"`batch_tokens` must be at least 1, got {batch_tokens}.")
    if device.startswith("gpu"):  # torch, which knows the names of devices, may not be installed
        raise SettingError(f"there is no device {device!r}. Use auto, cpu or cuda.")
    source = (model if isinstance(model, ModelSource) else resolve_model(model)).fetched()
    settings = source.settings.extraction
    if source.runs_as_graph(device):
        return _load_graph(source, layer, batch_tokens), settings
    encoder = _load_torch(source, layer, device=device, dtype=dtype, batch_tokens=batch_tokens)
    if layer is not None and layer != source.settings.layer:
        settings = settings.at_another_layer()
    return encoder, settings


def _load_graph(source: ModelSource, layer: int | None, batch_tokens: int | None) -> Encoder:
    from weft.encoding.native.encoder import native_encoder

    stored = source.settings
    if layer is not None and stored.layer is not None and layer != stored.layer:
        raise SettingError(f"there is no layer {layer}: {source.name} was exported at layer {stored.layer}.")
    folder = source.local_folder()
    max_length = stored.max_length or USUAL_MAX_LENGTH
    encoder = native_encoder(folder, max_length=max_length, batch_tokens=batch_tokens, joint=stored.joint)
    if encoder is not None:
        return encoder
    from weft.encoding.onnx import OnnxEncoder  # a library that takes a moment to import

    return OnnxEncoder(folder, max_length=max_length, batch_tokens=batch_tokens, joint=stored.joint)


def _load_torch(source: ModelSource, layer: int | None, **options: Any) -> Encoder:
    """By our own layers where they will do; otherwise by transformers, which takes seconds to import."""
    try:
        from weft.encoding.bert import BertEncoder, read_bert
    except MissingExtraError as error:
        if not source.has_graph:
            raise
        # Only the device is the reason: without it, onnxruntime would run the model.
        raise MissingExtraError("torch", f"`device` {options['device']} uses torch, which") from error

    options["joint"] = source.settings.joint
    layer = source.settings.layer if layer is None else layer
    folder = source.local_folder()
    known = read_bert(folder, graph_tensors(folder))
    if known:
        layer = likely_layer(source.name, known.config) if layer is None else layer
        return BertEncoder(known, layer=layer, **options)
    from weft.encoding.torch import TorchEncoder, load_config

    folder = torch_folder(folder)
    layer = likely_layer(source.name, load_config(folder)) if layer is None else layer
    return TorchEncoder(folder, layer=layer, **options)


class Tunable:
    """A model whose layer and settings can still be chosen.

    Attributes:
        home: the folder that the choice is stored in; None for a built-in model or one on the hub.
    """

    def __init__(self, model: str | Path, *, device: str, dtype: str, batch_tokens: int | None) -> None:
        self._source = resolve_model(model)
        self._options: dict[str, Any] = {"device": device, "dtype": dtype, "batch_tokens": batch_tokens}
        self.home = None if self._source.built_in else self._source.folder

    @property
    def settings(self) -> ExtractionSettings:
        """How links are taken before anything is chosen."""
        return self._source.settings.extraction

    @property
    def present(self) -> tuple[int | None, ExtractionSettings] | None:
        """The layer, None for the encoder's own, and the settings that are stored beside the model, if any are."""
        self._source = self._source.fetched()
        stored = self._source.settings
        has_own = (self._source.local_folder() / SETTINGS_FILE).is_file()
        return (stored.layer, stored.extraction) if has_own else None

    def layers(self, wanted: list[int] | None) -> list[int | None]:
        """The layers to try: those wanted, or all of a Hugging Face model; an ONNX graph has just one.

        Raises:
            SettingError: if an ONNX graph does not have the layers that are wanted.
        """
        self._source = self._source.fetched()
        if self._source.has_graph:
            own = self._source.settings.layer
            if wanted is not None and wanted != [own]:
                cut = "one layer" if own is None else f"layer {own}"
                raise SettingError(
                    f"`layers` cannot be chosen for {self._source.name}, an ONNX graph that was cut at {cut}; "
                    "tune the model that it was exported from."
                )
            return [own]
        if wanted is not None:
            return list(wanted)
        from weft.encoding.torch import load_config

        return list(range(1, load_config(self._source.local_folder()).num_hidden_layers + 1))

    def load(self, layer: int | None) -> Encoder:
        """The encoder cut at a layer."""
        return load_encoder(self._source, layer=layer, **self._options)[0]

    def store(self, layer: int | None, settings: ExtractionSettings) -> None:
        """Write what was chosen into the model's folder and leave the rest of `weft.json` as it is."""
        if self.home is None:
            raise SettingError(f"{self._source.name} has no folder to store settings in.")
        stored = ModelSettings.read(self.home)
        replace(stored, layer=stored.layer if layer is None else layer, extraction=settings).write(self.home)
