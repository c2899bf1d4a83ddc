"""An exported ONNX graph back into Hugging Face weights, for what needs torch: training, GPUs, `AutoModel`.

What int8 rounded away stays away, and the head for masked words was never in the graph.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from shutil import copyfile, rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.errors import MissingExtraError, WeftError, first_line
from weft.models.files import CONFIG_FILE, ONNX_FILE, has_graph, has_weights, set_usual_permissions
from weft.models.settings import ModelSettings
from weft.text.files import files_moved_in, writes_explained

Array = npt.NDArray[Any]

_COPIED = ("tokenizer.json", "tokenizer_config.json", "README.md")
_FAMILY = ("bert", "electra")  # Electra may have narrow embeddings, which it projects
_MODULE = "model."  # the exporter traces the encoder as the part `model` of a module
_ATTENTION = ("attention.self.query", "attention.self.key", "attention.self.value")
_PRODUCTS = (*_ATTENTION, "attention.output.dense", "intermediate.dense", "output.dense")
_NORMED = ("attention.output", "output")


def is_graph_only(folder: Path) -> bool:
    """Whether a folder holds an ONNX graph and no weights that torch could load."""
    return has_graph(folder) and not has_weights(folder)


@cache
def torch_folder(folder: Path) -> Path:
    """The folder itself, or if it holds just a graph, a copy with weights that lives as long as this process."""
    if not is_graph_only(folder):
        return folder
    copy = Path(mkdtemp(prefix="weft-"))
    atexit.register(rmtree, copy, ignore_errors=True)
    unpack_model(folder, copy)
    return copy


def graph_tensors(folder: Path) -> Callable[[], dict[str, Any]] | None:
    """How to take BERT's tensors out of a folder that holds nothing but a graph; None if it holds weights."""
    return partial(_tensors, folder) if is_graph_only(folder) else None


def _tensors(folder: Path) -> dict[str, Any]:
    try:
        import onnx
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "Turning an ONNX graph into torch weights") from error
    try:
        found = list(_weights(onnx.load(folder / ONNX_FILE).graph))
    except Exception as error:  # graphs of other programs lack one thing or another, and damaged ones any
        raise WeftError(f"the graph in {folder} was not exported by weft: {first_line(error)}") from error
    return {name: torch.from_numpy(value.copy()) for name, value in found}


def unpack_model(source: Path, output: Path) -> None:
    """Write the encoder that `source` was exported from into `output`, as plain transformers load it."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("torch", "Turning an ONNX graph into torch weights") from error
    from weft.encoding.torch import library_silence, load_config

    if not (source / CONFIG_FILE).is_file():
        raise WeftError(f"{source} has no {CONFIG_FILE}, without which its graph cannot be turned into torch weights.")
    config = load_config(source)
    settings = ModelSettings.read(source)
    config.num_hidden_layers = config.num_hidden_layers if settings.layer is None else settings.layer
    make: Any = transformers.AutoModel.from_config  # untyped there
    try:
        model = make(config)
    except Exception as error:  # each architecture has checks of its own
        raise WeftError(f"{source / CONFIG_FILE} describes no model: {first_line(error)}") from error
    found = _tensors(source) if config.model_type in _FAMILY else {}
    expected = model.state_dict()
    missing = [name for name in expected if name not in found and not name.startswith("pooler.")]
    if missing or any(found[name].shape != expected[name].shape for name in found.keys() & expected.keys()):
        raise WeftError(
            f"the graph in {source} is not the {config.model_type} of its {CONFIG_FILE}, "
            "and cannot be turned into torch weights."
        )
    model.load_state_dict(found, strict=False)
    with writes_explained(output), files_moved_in(output) as partial:
        with library_silence():
            model.save_pretrained(partial)
        for name in _COPIED:
            if (source / name).is_file():
                copyfile(source / name, partial / name)
        replace(settings, export=None).write(partial)
        set_usual_permissions(partial)


def _weights(graph: Any) -> Iterator[tuple[str, Array]]:
    """Names and values as BERT's `state_dict` has them.

    Equal constants share a name in a graph, so that only the order of products and norms tells what each of them is.
    """
    from onnx import numpy_helper

    constants = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    yield from ((name.removeprefix(_MODULE), value) for name, value in constants.items() if name.startswith(_MODULE))
    if "words.rows" in constants:
        yield "embeddings.word_embeddings.weight", _word_embeddings(constants)
    products = [part for node in graph.node for part in _products(node, graph, constants)]
    if len(products) % len(_PRODUCTS) == 1:
        weight, bias = products.pop(0)
        yield "embeddings_project.weight", weight.T
        yield "embeddings_project.bias", bias
    for number, (weight, bias) in enumerate(products):
        layer, part = divmod(number, len(_PRODUCTS))
        yield f"encoder.layer.{layer}.{_PRODUCTS[part]}.weight", weight.T
        yield f"encoder.layer.{layer}.{_PRODUCTS[part]}.bias", bias
    norms = [node for node in graph.node if node.op_type == "LayerNormalization"]
    names = ["embeddings.LayerNorm"] + [
        f"encoder.layer.{layer}.{part}.LayerNorm" for layer in range(len(norms) // 2) for part in _NORMED
    ]
    for name, node in zip(names, norms, strict=True):
        yield f"{name}.weight", constants[node.input[1]]
        yield f"{name}.bias", constants[node.input[2]]


def _products(node: Any, graph: Any, constants: dict[str, Array]) -> Iterator[tuple[Array, Array]]:
    """Weight (inputs, outputs) and bias of the linear maps that a node stands for."""
    if node.op_type == "MatMulIntegerToFloat":
        yield constants[node.input[1]] * constants[node.input[3]], constants[node.input[6]]
    elif node.op_type == "QAttention":  # queries, keys and values in one product
        weight = constants[node.input[1]] * constants[node.input[4]]
        yield from zip(np.split(weight, 3, axis=1), np.split(constants[node.input[2]], 3), strict=True)
    elif node.op_type == "MatMul" and node.input[1] in constants:
        addition = next(other for other in graph.node if node.output[0] in other.input)
        yield constants[node.input[1]], constants[addition.input[1]]


def _word_embeddings(constants: dict[str, Array]) -> Array:
    """The rows as the graph restores them."""
    scales = constants["words.scales"].astype(np.float32)
    shares = constants["words.levels"][constants["words.rows"]].reshape(*scales.shape, -1)
    return (shares * scales[..., None]).reshape(len(scales), -1)
