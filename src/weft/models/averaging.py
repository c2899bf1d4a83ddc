"""The mean of several models' weights: often better than each of them, and as fast as one."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from shlex import quote
from shutil import copyfile
from typing import Any, NamedTuple

from weft.errors import MissingExtraError, SettingError, WeftError, first_line
from weft.models.files import CONFIG_FILE, SETTINGS_FILE, TOKENIZER_FILE, WEIGHTS_INDEX_FILE, set_usual_permissions
from weft.models.resolve import ModelSource, resolve_model
from weft.text.files import files_moved_in, writes_explained
from weft.text.json_objects import read_json_object

logger = logging.getLogger(__name__)

_WEIGHTS_FILE = "model.safetensors"
_PARTIAL = ".partial"
# Fields of config.json that say who wrote the file, not what the model is.
_PROVENANCE = ("_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version")
# Files of the first model that go along: its configuration, and whatever its tokenizer consists of.
_COPIED = (".json", ".txt", ".model", ".spm")
_NOT_COPIED = (SETTINGS_FILE, WEIGHTS_INDEX_FILE, "training.json")
# The encoder's own name before its tensors, if it has one; and parts of it that are heads all the same.
_EMBEDDINGS = re.compile(r"((?:\w+\.)?)embeddings\.")
_HEADS = ("pooler.", "cls.", "lm_head.", "classifier.")
_VOCABULARIES = (TOKENIZER_FILE, "vocab.txt", "vocab.json", "merges.txt")


def average(models: Sequence[str | Path], output: str | Path) -> None:
    """Write the model whose weights are the mean of other models' weights.

    The models must be of one kind: several runs from one starting point, or several moments of one run. Heads that not
    all of them have are left out. Settings are the first model's, without its calibration, which was fitted to its own
    scores.

    Args:
        models: two or more models with weights in safetensors, by name or folder.
        output: the folder to write.

    Raises:
        SettingError: if there are fewer than two models, or the output cannot be written to.
        WeftError: if the models differ in configuration, tokenizer or tensors, or hold values that are no numbers.
    """
    if len(models) < 2:
        raise SettingError(f"`models` must name two or more models, got {len(models)}.")
    folder = Path(output)
    sources = [resolve_model(model).fetched() for model in models]
    _check_output(folder, sources)
    for source in sources:
        _check_weights(source)
    for other in sources[1:]:
        _check_alike(sources[0], other)
    with writes_explained(folder), files_moved_in(folder) as partial:
        _write_mean(sources, partial / _WEIGHTS_FILE)
        first = sources[0].local_folder()
        for path in first.iterdir():
            if path.suffix in _COPIED and path.name not in _NOT_COPIED:
                copyfile(path, partial / path.name)
        settings = sources[0].settings
        languages = dict.fromkeys(code for source in sources for code in source.settings.languages)
        uncalibrated = replace(settings.extraction, calibration=None)
        replace(settings, languages=tuple(languages), extraction=uncalibrated, export=None).write(partial)
        set_usual_permissions(partial)


def _check_output(folder: Path, sources: list[ModelSource]) -> None:
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{folder} is not a writable folder.")
    if folder.exists() and any(folder.samefile(source.local_folder()) for source in sources):
        raise SettingError("`output` must not be one of the models' own folders.")


def _check_weights(source: ModelSource) -> None:
    if not _weight_files(source):
        advice = f"; weft model export {quote(source.name)} --to torch creates them" if source.has_graph else ""
        raise WeftError(f"{source.name} has no weights in safetensors that could be averaged{advice}.")
    if not (source.local_folder() / CONFIG_FILE).is_file():
        raise WeftError(f"{source.name} contains no Hugging Face model: {CONFIG_FILE} is missing.")


def _check_alike(first: ModelSource, other: ModelSource) -> None:
    """Means make sense for models that differ in nothing but the values of their weights."""
    names = f"{first.name} and {other.name}"
    ours, theirs = (_architecture(source) for source in (first, other))
    different = sorted(name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name))
    if different:
        values = " and ".join(str(config.get(different[0], "nothing")) for config in (ours, theirs))
        raise WeftError(f"{names} cannot be averaged: `{different[0]}` in their {CONFIG_FILE} is {values}.")
    if _vocabulary(first) != _vocabulary(other):
        raise WeftError(f"{names} cannot be averaged: their tokenizers differ.")
    for name in ("layer", "joint"):
        said = [getattr(source.settings, name) for source in (first, other)]
        if said[0] != said[1]:
            raise WeftError(
                f"{names} cannot be averaged: `{name}` in their {SETTINGS_FILE} is {said[0]} and {said[1]}."
            )


def _architecture(source: ModelSource) -> dict[str, Any]:
    config = read_json_object(source.local_folder() / CONFIG_FILE)
    # Runs may drop different shares of activations; in use, models drop none.
    return {name: value for name, value in config.items() if name not in _PROVENANCE and "dropout" not in name}


def _vocabulary(source: ModelSource) -> dict[str, Any]:
    """What decides how a tokenizer cuts words, by file."""
    found: dict[str, Any] = {}
    for path in source.local_folder().iterdir():
        if path.name == TOKENIZER_FILE:
            rules = read_json_object(path)
            found[path.name] = {name: rules[name] for name in rules if name not in ("padding", "truncation")}
        elif path.name in _VOCABULARIES or path.suffix in (".model", ".spm"):
            found[path.name] = path.read_bytes()
    return found


def _weight_files(source: ModelSource) -> list[Path]:
    """One file or several, without what training keeps beside them."""
    return sorted(source.local_folder().glob("model*.safetensors"))


def _write_mean(sources: list[ModelSource], path: Path) -> None:
    try:
        from safetensors.torch import save_file
    except ImportError as error:
        raise MissingExtraError("torch", "Averaging models") from error
    partial = path.with_name(path.name + _PARTIAL)
    try:
        save_file(dict(_means(sources)), partial, metadata={"format": "pt"})
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _means(sources: list[ModelSource]) -> Iterator[tuple[str, Any]]:
    """The names and means of all tensors, in the first model's precision."""
    import torch

    with ExitStack() as stack:
        tables = [_open_tensors(source, stack) for source in sources]
        for short in _shared_names(sources, tables):
            values = [table[short].value() for table in tables]
            name = tables[0][short].name
            if len({tuple(value.shape) for value in values}) > 1:
                raise WeftError(f"the models cannot be averaged: the tensor {name} differs in shape.")
            if not values[0].is_floating_point():
                if not all(torch.equal(values[0], value) for value in values[1:]):
                    raise WeftError(f"the models cannot be averaged: {name} holds whole numbers that differ.")
                yield name, values[0]
                continue
            mean = torch.stack([value.double() for value in values]).mean(dim=0)
            if not mean.isfinite().all():
                raise WeftError(f"the models cannot be averaged: {name} holds values that are not numbers.")
            yield name, mean.to(values[0].dtype).contiguous()


def _shared_names(sources: Sequence[ModelSource], tables: Sequence[dict[str, _Tensor]]) -> list[str]:
    """The tensors that all models have; only heads, which no aligner uses, may be missing in some."""
    shared = set(tables[0]).intersection(*tables[1:])
    left_out: dict[str, None] = {}
    for source, table in zip(sources, tables, strict=True):
        for short in sorted(table.keys() - shared):
            if not table[short].in_head:
                raise WeftError(f"the models cannot be averaged: only {source.name} has the tensor {short}.")
            left_out[short.split(".")[0]] = None
    if left_out:
        logger.warning("left out what not all of the models have: %s.", ", ".join(left_out))
    return [short for short in tables[0] if short in shared]


class _Tensor(NamedTuple):
    """A tensor in an open file, under the name that it has there."""

    name: str
    file: Any
    in_head: bool

    def value(self) -> Any:
        return self.file.get_tensor(self.name)


def _short_names(files: dict[str, Any]) -> dict[str, _Tensor]:
    """Tensors by names without the encoder's own: libraries write `embeddings...` or `bert.embeddings...`."""
    prefix = next((found[1] for found in map(_EMBEDDINGS.match, files) if found), "")
    heads = {name: not name.startswith(prefix) or name.removeprefix(prefix).startswith(_HEADS) for name in files}
    return {name.removeprefix(prefix): _Tensor(name, file, heads[name]) for name, file in files.items()}


def _open_tensors(source: ModelSource, stack: ExitStack) -> dict[str, _Tensor]:
    """The tensors of a model, by their short names."""
    from safetensors import SafetensorError, safe_open

    found: dict[str, Any] = {}
    for path in _weight_files(source):
        try:
            file: Any = stack.enter_context(safe_open(path, framework="pt"))
        except (OSError, SafetensorError) as error:
            raise WeftError(f"cannot load the weights in {path}: {first_line(error)}") from error
        found.update(dict.fromkeys(file.keys(), file))
    return _short_names(found)
