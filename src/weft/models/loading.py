"""A model's name to an encoder and its settings, and back into a folder."""

from __future__ import annotations

import logging
from dataclasses import fields, replace
from pathlib import Path
from shutil import copyfile
from typing import Any

from weft.encoding.encoder import Encoder
from weft.errors import SettingError, WeftError
from weft.extraction.settings import ExtractionSettings
from weft.models.registry import (
    ONNX_FILE,
    known_encoder,
    read_settings,
    two_thirds_up,
    write_settings,
)
from weft.models.unpack import graph_tensors, torch_folder
from weft.text.files import blocks, checksum
from weft.version import __version__

logger = logging.getLogger(__name__)

DEFAULT_MODEL = "weft-mini"


def load_encoder(
    model: str | Path,
    *,
    layer: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_tokens: int | None = None,
) -> tuple[Encoder, ExtractionSettings]:
    """Load an encoder with the settings that are stored beside it."""
    if batch_tokens is not None and batch_tokens < 1:
        raise SettingError(f"`batch_tokens` must be at least 1, got {batch_tokens}.")
    folder = model_folder(model)
    if not str(model):
        raise SettingError("`model` must be a name or a folder, got nothing.")
    if folder is None and (str(model).startswith((".", "/", "~")) or str(model).count("/") > 1):
        raise WeftError(f"there is no folder {model}.")
    stored = read_settings(folder) if folder else {}
    settings = ExtractionSettings.from_json(stored)
    if folder and (folder / ONNX_FILE).is_file() and device in ("auto", "cpu"):
        return _load_onnx(folder, stored, layer, batch_tokens), settings
    encoder = _load_torch(model, folder, stored, layer, device=device, dtype=dtype, batch_tokens=batch_tokens)
    if layer is not None and layer != stored.get("layer"):
        settings = replace(settings, calibration=None)
    return encoder, settings


def model_folder(model: str | Path) -> Path | None:
    """The folder of a model: one that comes with weft, or the path itself; None for a name on the hub."""
    built_in = Path(__file__).parent / str(model)
    if "/" not in str(model) and (built_in / "tokenizer.json").is_file():
        return built_in
    return Path(model) if str(model) and Path(model).is_dir() else None


def cached_folder(model: str) -> Path | None:
    """Where the hub's library keeps a model that was loaded before."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        config = try_to_load_from_cache(model, "config.json")
    except HFValidationError:  # not a name that a model could have
        return None
    return Path(config).parent if isinstance(config, str) else None


def _refreshed(model: str) -> Path | None:
    """The same folder, after the hub was asked for a newer version; one that is not here yet has no weights."""
    from huggingface_hub import hf_hub_download

    if cached_folder(model) is None:
        return None
    try:
        return Path(hf_hub_download(model, "config.json")).parent
    except Exception:  # whoever loads it next has the words for what is wrong
        return None


def _load_onnx(folder: Path, stored: dict[str, Any], layer: int | None, batch_tokens: int | None) -> Encoder:
    from weft.encoding.onnx import OnnxEncoder

    if layer is not None and layer != stored.get("layer", layer):
        raise SettingError(f"layer {layer} is not there: {folder} was exported at layer {stored['layer']}.")
    return OnnxEncoder(
        folder,
        max_length=stored.get("max_length", 512),
        batch_tokens=batch_tokens,
        joint=stored.get("joint", False),
    )


def _load_torch(
    model: str | Path, folder: Path | None, stored: dict[str, Any], layer: int | None, **options: Any
) -> Encoder:
    """By our own layers where they will do; otherwise by transformers, which takes seconds to import."""
    from weft.encoding.bert import BertEncoder, read_bert

    options["joint"] = stored.get("joint", False)
    layer = stored.get("layer") if layer is None else layer
    where = folder or _refreshed(str(model))
    known = read_bert(where, graph_tensors(where)) if where else None
    if known:
        known = known if folder else known._replace(source=str(model))
        return BertEncoder(known, layer=likely_layer(model, known.config) if layer is None else layer, **options)
    from weft.encoding.torch import TorchEncoder, load_config

    source = torch_folder(folder) if folder else model
    layer = likely_layer(model, load_config(source)) if layer is None else layer
    return TorchEncoder(source, layer=layer, **options)


def likely_layer(model: str | Path, config: Any) -> int:
    """The best layer of a known encoder; for others a guess, and a word about it."""
    known = known_encoder(config.model_type, config.vocab_size, config.num_hidden_layers)
    if known:
        return known.layer
    layer = two_thirds_up(config.num_hidden_layers)
    logger.warning(
        "no best layer is known for %s; layer %d of %d is used. 'weft tune' finds a better one on a dev set.",
        model,
        layer,
        config.num_hidden_layers,
    )
    return layer


def save_model(folder: Path, encoder: Encoder, settings: ExtractionSettings) -> None:
    """Write encoder, tokenizer and `weft.json` into a folder: the whole model, with the layers above the one used."""
    source = getattr(encoder, "source", None)
    if source is None:
        raise SettingError(f"a {type(encoder).__name__} has no model that could be saved.")
    folder.mkdir(parents=True, exist_ok=True)
    runs_in_torch = hasattr(encoder, "device")
    if not Path(source).is_dir():
        from weft.encoding.torch import save_whole

        save_whole(source, folder)
    elif not folder.samefile(source):
        for file in (torch_folder(Path(source)) if runs_in_torch else Path(source)).iterdir():
            if file.is_file():
                copyfile(file, folder / file.name)
    store_settings(folder, getattr(encoder, "layer", None), settings)


def store_settings(folder: Path, layer: int | None, settings: ExtractionSettings, *, joint: bool = False) -> None:
    """Write how links are taken into `weft.json`, and leave what else it holds as it is."""
    own = {field.name for field in fields(ExtractionSettings)}
    kept = {name: value for name, value in read_settings(folder).items() if name not in own}
    chosen: dict[str, Any] = {} if layer is None else {"layer": layer}
    if joint:
        chosen["joint"] = True
    write_settings(folder, {**kept, **chosen, **settings.to_json(), "weft": __version__})


class Tunable:
    """A model whose layer and settings can still be chosen; `home` is where they are stored if it is the user's own."""

    def __init__(self, model: str | Path, *, device: str, dtype: str, batch_tokens: int | None) -> None:
        self._model = model
        self._options: dict[str, Any] = {"device": device, "dtype": dtype, "batch_tokens": batch_tokens}
        self.folder = model_folder(model)
        built_in = self.folder is not None and self.folder.parent == Path(__file__).parent
        self.home = None if built_in else self.folder
        self._stored = read_settings(self.folder) if self.folder else {}
        self.settings = ExtractionSettings.from_json(self._stored)

    def layers(self, wanted: list[int] | None) -> list[int | None]:
        """The layers to try: those wanted, or all of a Hugging Face model; an ONNX graph has just one."""
        if self.folder and (self.folder / ONNX_FILE).is_file():
            return [self._stored.get("layer")]
        if wanted is not None:
            return list(wanted)
        from weft.encoding.torch import load_config

        return list(range(1, load_config(self._model).num_hidden_layers + 1))

    def load(self, layer: int | None) -> Encoder:
        """The encoder cut at a layer."""
        return load_encoder(self._model, layer=layer, **self._options)[0]

    def store(self, layer: int | None, settings: ExtractionSettings) -> None:
        """Write what was chosen into the model's folder and leave the rest of `weft.json` as it is."""
        if self.home is None:
            raise SettingError(f"{self._model} has no folder to store settings in.")
        store_settings(self.home, layer, settings)


def folder_checksum(folder: Path) -> str:
    """Twelve digits that change with any of a model's files but what people read."""
    digest = checksum(size=6)
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix != ".md":
            digest.update(f"{path.name}\n".encode("utf-8", "surrogateescape"))
            for block in blocks(path):
                digest.update(block)
    return digest.hexdigest()
