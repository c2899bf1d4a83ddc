"""`weft model`: which models there are, what one is, and how to make one small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.cli.help import Command, Group
from weft.cli.output import say, write_lines
from weft.errors import FormatError, SettingError, WeftError
from weft.text.json_objects import read_json_object

app = typer.Typer(
    help="List models, describe one, or make one small.\n\nExample: weft model list",
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("list", cls=Command)
def list_models() -> None:
    """List built-in models and known encoders with their layers.

    One a line, columns separated by tabs.

    Example: weft model list
    """
    write_lines("-", (line + "\n" for line in _listed()))


@app.command(cls=Command)
def info(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A built-in model, a folder, or a known encoder.")],
) -> None:
    """Say what a model is: layer, method, threshold, size, vocabulary.

    Example: weft model info my-model
    """
    from weft.models.loading import model_folder

    folder = model_folder(name)
    facts = _facts(folder) if folder is not None else _known(name)
    write_lines("-", (f"{label}\t{value}\n" for label, value in facts))


@app.command(cls=Command)
def export(
    model: Annotated[str, typer.Argument(metavar="DIR", help="Folder with a Hugging Face encoder, or weft-mini.")],
    to: Annotated[
        str, typer.Option(metavar="KIND", help="onnx (float32), onnx-int8, or torch: back from a graph to weights.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write the exported model into.")
    ],
    layer: Annotated[int | None, typer.Option(metavar="N", help="Layer to cut at.", show_default="weft.json's")] = None,
    embedding_bits: Annotated[
        int, typer.Option(metavar="4|8", help="Bits of a word embedding's value in onnx-int8.")
    ] = 4,
    text: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Sentence pairs that fix the ranges of onnx-int8.", show_default="each batch's own"
        ),
    ] = None,
) -> None:
    """Make a model small: one ONNX file that needs no torch.

    The encoder is cut at its layer. `--to torch` goes the other way.

    Example: weft model export my-model --to onnx-int8 -o my-small-model
    """
    from weft.models.export import Target, export_model
    from weft.models.loading import model_folder

    if to not in list(Target):
        raise SettingError(f"`to` must be one of {', '.join(Target)}, got {to!r}.")
    source = model_folder(model) or Path(model)
    export_model(source, output, target=Target(to), layer=layer, embedding_bits=embedding_bits, text=text)
    say(f"{output} holds {_megabytes(output)}; use it with --model {output}")


def _listed() -> Iterator[str]:
    import weft.models
    from weft.models.registry import KNOWN_ENCODERS, read_settings

    for tokenizer in sorted(Path(weft.models.__path__[0]).glob("*/tokenizer.json")):
        layer = read_settings(tokenizer.parent).get("layer")
        yield f"{tokenizer.parent.name}\tbuilt in\t{'' if layer is None else f'layer {layer}'}".rstrip("\t")
    for known in KNOWN_ENCODERS:
        yield f"{known.name}\tknown encoder\tlayer {known.layer} of {known.n_layers}"


def _known(name: str) -> Iterator[tuple[str, object]]:
    """What the registry knows of an encoder that has no folder here."""
    from weft.models.registry import KNOWN_ENCODERS

    known = next((item for item in KNOWN_ENCODERS if item.name.lower() == name.lower()), None)
    if known is None:
        raise WeftError(f"there is no model {name}; give a folder, or a name that 'weft model list' shows.")
    yield "name", known.name
    yield "kind", "known encoder, not here; its weights come from the hub"
    yield "encoder", f"{known.model_type}, {known.n_layers} layers"
    yield "layer", known.layer
    yield "vocabulary", known.vocabulary


def _facts(folder: Path) -> Iterator[tuple[str, object]]:
    from weft.extraction.settings import ExtractionSettings
    from weft.models.registry import ONNX_FILE, read_settings

    stored = read_settings(folder)
    config = _config(folder)
    is_onnx = (folder / ONNX_FILE).is_file()
    if not is_onnx and not config:
        raise WeftError(f"{folder} holds no model: neither {ONNX_FILE} nor config.json is there.")
    settings = ExtractionSettings.from_json(stored)
    yield "name", folder.name or folder.resolve().name
    yield "kind", stored.get("export", "onnx") if is_onnx else "torch"
    if config:
        yield "encoder", f"{config.get('model_type', 'unknown')}, {_n_layers(config) or 'unknown'} layers"
    yield "layer", stored["layer"] if "layer" in stored else "the graph's own" if is_onnx else _likely_layer(config)
    yield "method", settings.method
    yield "threshold", f"{settings.effective_threshold:g}"
    yield "calibrated", "yes" if settings.calibration else "no"
    yield from ((name, stored[name]) for name in ("joint", "max_length") if name in stored)
    yield "vocabulary", _vocabulary(folder) or config.get("vocab_size", "unknown")
    if languages := stored.get("languages"):
        yield "languages", " ".join(map(str, languages)) if isinstance(languages, list) else languages
    yield "size", _megabytes(folder)


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        return {}
    return read_json_object(path)


def _n_layers(config: dict[str, Any]) -> int | None:
    """Architectures spell it differently, and the library that knows them all takes seconds to load."""
    names = ("num_hidden_layers", "n_layers", "num_layers", "encoder_layers")
    return next((config[name] for name in names if isinstance(config.get(name), int)), None)


def _likely_layer(config: dict[str, Any]) -> str:
    from weft.models.registry import known_encoder, two_thirds_up

    n_layers = _n_layers(config)
    if n_layers is None:
        return "unknown"
    known = known_encoder(str(config.get("model_type")), config.get("vocab_size", 0), n_layers)
    return f"{known.layer} (best known)" if known else f"{two_thirds_up(n_layers)} (a guess; 'weft tune' finds it)"


def _vocabulary(folder: Path) -> int | None:
    path = folder / "tokenizer.json"
    if not path.is_file():
        return None
    from tokenizers import Tokenizer

    try:
        return int(Tokenizer.from_file(str(path)).get_vocab_size())
    except Exception as error:  # the library raises plain exceptions for damaged files
        raise FormatError(str(path), None, f"expected a tokenizer ({error}).") from error


def _megabytes(folder: Path) -> str:
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    return f"{size / 1e6:.1f} MB"
