"""A Hugging Face encoder as a folder for the light half: one ONNX graph that ends at the layer used."""

from __future__ import annotations

import inspect
import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np

from weft.errors import MissingExtraError, SettingError, WeftError, first_line
from weft.models.files import CONFIG_FILE, ONNX_FILE, TOKENIZER_FILE
from weft.models.known import likely_layer
from weft.models.resolve import resolve_model
from weft.models.settings import ExportKind
from weft.models.unpack import is_graph_only, unpack_model
from weft.text.files import files_moved_in
from weft.text.json_objects import read_json_object
from weft.text.pairs import PairReader
from weft.types import Words

EMBEDDING_BITS = (4, 8)
# The configuration lets the graph be turned into torch weights again.
_COPIED = (TOKENIZER_FILE, "tokenizer_config.json", CONFIG_FILE, "README.md")
# A graph whose states point elsewhere than the model's was put together wrongly. A trained one of 7 layers keeps 0.998
# in int8; random ones, as tests use, lose more.
_LEAST_COSINE = {ExportKind.ONNX: 0.9999, ExportKind.ONNX_INT8: 0.8}


def export_model(
    model: str | Path,
    output: Path,
    *,
    to: ExportKind = ExportKind.ONNX_INT8,
    layer: int | None = None,
    embedding_bits: int = 4,
    text: str | Path | None = None,
    reader: PairReader | None = None,
) -> None:
    """Write an encoder's `model.onnx`, tokenizer and `weft.json` to the folder `output`.

    Args:
        model: the name or folder of a Hugging Face encoder; for `torch`, a graph that was exported from one.
        output: the folder to write.
        to: what to write: a graph in float32 or int8, or weights for torch.
        layer: the layer to cut at; by default, the layer in `weft.json`, or a good guess.
        embedding_bits: for int8, the bits per embedding value, 4 or 8.
        text: for int8, sentence pairs on which the ranges of activations are measured and fixed. Without them, the
            ranges follow each batch.
        reader: how `text` is read, if not as `read_pairs` reads it.

    Raises:
        SettingError: the layer, the number of bits or the output folder is impossible.
        WeftError: the model cannot be read or exported.
    """
    found = resolve_model(model).fetched()
    source, stored = found.local_folder(), found.settings
    _check(source, output, embedding_bits, to, text)
    if to is ExportKind.TORCH:
        unpack_model(source, output)
        return
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401 - torch needs it to export, and says so in many more words
    except ImportError as error:
        raise MissingExtraError("torch", "Exporting a model") from error
    from weft.encoding.torch import TorchEncoder, load_config
    from weft.models.activations import sample_pairs

    pairs = None if text is None else sample_pairs(text, reader or PairReader())
    chosen = layer if layer is not None else stored.layer
    if chosen is None:
        chosen = likely_layer(found.name, load_config(source))
    encoder = TorchEncoder(source, layer=chosen, device="cpu", joint=stored.joint)
    states, inputs = _traceable(encoder.model, joint=encoder.joint)
    graph = _trace(states, inputs)
    _shrink(graph, to, encoder, embedding_bits, pairs)
    packed = _packed(graph, source)
    _compare(packed, states, inputs, _LEAST_COSINE[to])
    if chosen != stored.layer:
        stored = replace(stored, extraction=stored.extraction.at_another_layer())
    special = len(encoder.tokenizer.prefix) + len(encoder.tokenizer.suffix)
    longest = stored.max_length or encoder.window + special
    with files_moved_in(output) as partial:
        (partial / ONNX_FILE).write_bytes(packed)
        for name in _COPIED:
            if (source / name).is_file():
                copyfile(source / name, partial / name)
        # Written without indentation, a vocabulary takes two thirds of the space.
        vocabulary = read_json_object(partial / TOKENIZER_FILE)
        compact = json.dumps(vocabulary, ensure_ascii=False, separators=(",", ":"))
        (partial / TOKENIZER_FILE).write_text(compact, encoding="utf-8")
        replace(stored, layer=chosen, max_length=longest, export=to).write(partial)


def _check(source: Path, output: Path, embedding_bits: int, to: ExportKind, text: str | Path | None) -> None:
    if text is not None and to is not ExportKind.ONNX_INT8:
        raise SettingError(f"`text` only works with `to` {ExportKind.ONNX_INT8}; leave it out.")
    if embedding_bits not in EMBEDDING_BITS:
        raise SettingError(f"`embedding_bits` must be 4 or 8, got {embedding_bits}.")
    if is_graph_only(source) and to is not ExportKind.TORCH:
        raise WeftError(f"{source} already contains an ONNX graph; set `to` to torch to turn it back into weights.")
    if to is ExportKind.TORCH and not is_graph_only(source):
        raise WeftError(f"{source} has no ONNX graph to turn into torch weights, or already has torch weights.")
    if not (source / CONFIG_FILE).is_file():
        raise WeftError(f"{source} contains no Hugging Face model: {CONFIG_FILE} is missing.")
    if not (source / TOKENIZER_FILE).is_file():
        raise WeftError(f"{source} has no {TOKENIZER_FILE}, which the exported model needs.")
    if output.exists() and not output.is_dir():
        raise SettingError(f"{output} is not a writable folder.")
    if output.exists() and output.samefile(source):
        raise SettingError("`output` must not be the model's own folder.")


def _traceable(model: Any, *, joint: bool) -> tuple[Any, dict[str, Any]]:
    """A module that returns the states alone, and an example of what it is given."""
    import torch

    class States(torch.nn.Module):
        """The cut encoder; inputs that it does not know are never handed on."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(
            self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None, position_ids: Any = None
        ) -> Any:
            """Ids of shape (rows, length) to states of shape (rows, length, width)."""
            others = {"token_type_ids": token_type_ids, "position_ids": position_ids}
            given = {name: value for name, value in others.items() if value is not None}
            return self.model(input_ids=input_ids, attention_mask=attention_mask, **given).last_hidden_state

    # Fused attention of torch would be traced as the operator of one opset; plain products can be recognised later.
    model.set_attn_implementation("eager")
    taken = inspect.signature(model.forward).parameters
    inputs = {
        "input_ids": torch.tensor([[2, 1, 3, 1, 2], [3, 2, 1, 1, 1]]),
        # A mask of ones alone would be left out of the graph.
        "attention_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
    }
    if "token_type_ids" in taken and getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])
    if joint and "position_ids" in taken:
        inputs["position_ids"] = torch.tensor([[0, 1, 2, 0, 1], [0, 1, 0, 0, 0]])
    return States().eval(), inputs


def _trace(states: Any, inputs: dict[str, Any]) -> Any:
    """The module as an ONNX model for any number of rows of any length."""
    import torch

    shape = {0: torch.export.Dim("rows"), 1: torch.export.Dim("length")}
    shapes = {name: shape if name in inputs else None for name in inspect.signature(states.forward).parameters}
    with _torch_silence():
        try:
            program = torch.onnx.export(
                states,
                (),
                kwargs=inputs,
                input_names=list(inputs),
                output_names=["states"],
                dynamic_shapes={name: shapes[name] for name in inputs},
                opset_version=20,
                dynamo=True,
                verbose=False,
            )
        except torch.onnx.errors.OnnxExporterError as error:
            raise WeftError(f"torch cannot export this architecture to ONNX: {first_line(error)}") from error
    assert program is not None
    model = program.model_proto
    del model.metadata_props[:]
    for node in model.graph.node:
        # Where each node came from in torch's code: as large as a small model's layers, and of no use to a reader.
        del node.metadata_props[:]
        node.ClearField("doc_string")
    return model


def _shrink(
    model: Any, to: ExportKind, encoder: Any, embedding_bits: int, pairs: Sequence[tuple[Words, Words]] | None
) -> None:
    """Make a graph small; without pairs, the ranges of activations are not fixed."""
    from weft.models.activations import made_up_pairs, observe
    from weft.models.quantise import activations, keep_norms_apart, quantise

    keep_norms_apart(model)
    if to is not ExportKind.ONNX_INT8:
        return
    sentences = pairs or made_up_pairs(Path(encoder.source) / TOKENIZER_FILE)
    observed = observe(model, activations(model), encoder.batches(sentences))
    quantise(
        model,
        heads=encoder.model.config.num_attention_heads,
        embedding_bits=embedding_bits,
        moments={name: seen.moments for name, seen in observed.items()},
        ranges=None if pairs is None else {name: (seen.low, seen.high) for name, seen in observed.items()},
    )


def _packed(model: Any, source: Path) -> bytes:
    try:
        return bytes(model.SerializeToString())
    except Exception as error:  # protobuf's own error for what is over its limit differs between versions
        raise WeftError(f"{source} is too large for one ONNX file, which holds at most 2 GB.") from error


def _compare(packed: bytes, states: Any, inputs: dict[str, Any], least: float) -> None:
    """Run the graph beside the model: what was put together wrongly must not be written."""
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(packed, options, providers=["CPUExecutionProvider"])
    real = inputs["attention_mask"].numpy() > 0
    ours = session.run(None, {name: value.numpy() for name, value in inputs.items()})[0][real]
    with torch.inference_mode():
        theirs = states(**inputs).float().numpy()[real]
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    cosine = float(((ours * theirs).sum(axis=1) / lengths).mean())
    if not cosine >= least:
        raise WeftError(f"the exported graph does not give the model's states (cosine {cosine:.3f}); nothing written.")


@contextmanager
def _torch_silence() -> Iterator[None]:
    """Keep torch's remarks on its own libraries off the screen."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
