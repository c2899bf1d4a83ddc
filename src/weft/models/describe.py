"""Which models there are, and what one is, in words; without loading torch or a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from weft.errors import FormatError, WeftError
from weft.models.files import CONFIG_FILE, ONNX_FILE, TOKENIZER_FILE, has_graph
from weft.models.known import (
    ALIKE_IF_UNKNOWN,
    KNOWN_ENCODERS,
    KnownEncoder,
    built_in_models,
    encoder_called,
    known_encoder,
    nearest_name,
    two_thirds_up,
)
from weft.models.resolve import resolve_model
from weft.models.settings import ModelSettings
from weft.text.json_objects import read_json_object

# Architectures spell it differently, and the library that knows them all takes seconds to load.
_NAMES_OF_LAYERS = ("num_hidden_layers", "n_layers", "num_layers", "encoder_layers")


def list_models() -> Iterator[tuple[str, str, str]]:
    """Name, kind and layer of every built-in model, then of every known encoder."""
    for name, folder in built_in_models().items():
        layer = ModelSettings.read(folder).layer
        yield name, "built in", "" if layer is None else f"layer {layer}"
    for known in KNOWN_ENCODERS:
        yield known.name, "known encoder", f"layer {known.layer} of {known.n_layers}"


def describe_model(name: str) -> Iterator[tuple[str, object]]:
    """What a model is, as labels and values: encoder, layer, method, threshold, vocabulary, size.

    Args:
        name: a built-in model, a folder, a known encoder, or a model on the hub that was downloaded before. Nothing is
            downloaded.

    Raises:
        WeftError: if there is no such model here.
    """
    source = resolve_model(name)
    here = source.cached()
    if here is not None and here.folder is not None:
        # The hub's cache calls folders by their commits.
        called = name if source.folder is None else here.folder.name or here.folder.resolve().name
        return _facts(called, here.folder, here.settings)
    known = encoder_called(name)
    if known is None:
        near = nearest_name(name, alike=ALIKE_IF_UNKNOWN)
        meant = f" Did you mean {near}?" if near else ""
        raise WeftError(
            f"there is no model {name} on this machine, and 'weft model info' downloads nothing.{meant} If it is on "
            f"the Hugging Face Hub, any command with --model {quote(name)} downloads it."
        )
    return _known(known)


def megabytes(folder: Path) -> str:
    """How large a folder's files are together."""
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    return f"{size / 1e6:.1f} MB"


def _known(known: KnownEncoder) -> Iterator[tuple[str, object]]:
    """What weft knows of an encoder that has no folder here."""
    yield "name", known.name
    yield "kind", f"known encoder, not on this machine; its weights come from the hub ({known.hub_name})"
    yield "encoder", f"{known.model_type}, {known.n_layers} layers"
    yield "layer", known.layer
    yield "vocabulary", known.vocabulary


def _facts(name: str, folder: Path, stored: ModelSettings) -> Iterator[tuple[str, object]]:
    config = read_json_object(folder / CONFIG_FILE) if (folder / CONFIG_FILE).is_file() else {}
    is_graph = has_graph(folder)
    if not is_graph and not config:
        raise WeftError(f"{folder} contains no model: it has neither {ONNX_FILE} nor {CONFIG_FILE}.")
    extraction = stored.extraction
    yield "name", name
    yield "kind", (stored.export or "onnx") if is_graph else "torch"
    if config:
        yield "encoder", f"{config.get('model_type', 'unknown')}, {_n_layers(config) or 'unknown'} layers"
    if stored.layer is not None:
        yield "layer", stored.layer
    else:
        yield "layer", "the graph's own" if is_graph else _likely_layer(config)
    yield "method", extraction.method
    yield "threshold", f"{extraction.effective_threshold:g}"
    if extraction.null is not None:
        yield "null", f"{extraction.null:g}"
    yield "calibrated", "yes" if extraction.calibration else "no"
    if stored.joint:
        yield "joint", "yes"
    if stored.max_length is not None:
        yield "max_length", stored.max_length
    yield "vocabulary", _vocabulary(folder) or config.get("vocab_size", "unknown")
    if stored.languages:
        yield "languages", " ".join(stored.languages)
    yield "size", megabytes(folder)


def _n_layers(config: dict[str, Any]) -> int | None:
    return next((config[name] for name in _NAMES_OF_LAYERS if isinstance(config.get(name), int)), None)


def _likely_layer(config: dict[str, Any]) -> str:
    n_layers = _n_layers(config)
    if n_layers is None:
        return "unknown"
    known = known_encoder(str(config.get("model_type")), config.get("vocab_size", 0), n_layers)
    return f"{known.layer} (best known)" if known else f"{two_thirds_up(n_layers)} (a guess; 'weft tune' finds it)"


def _vocabulary(folder: Path) -> int | None:
    path = folder / TOKENIZER_FILE
    if not path.is_file():
        return None
    from tokenizers import Tokenizer

    try:
        return int(Tokenizer.from_file(str(path)).get_vocab_size())
    except Exception as error:  # the library raises plain exceptions for damaged files
        raise FormatError(str(path), None, f"expected a tokenizer ({error}).") from error
