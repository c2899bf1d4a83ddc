"""The encoder in C as WebAssembly: made from the present sources; states and graphs are those of the library."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

from unfit_graphs import UNFIT, changed
from weft import Aligner
from weft.encoding.batches import RowSpans
from weft.encoding.native.encoder import read_model
from weft.encoding.native.library import NativeModel, chosen_kernel, load_library
from weft.models.known import built_in_models

ROOT = Path(__file__).parents[2]
RUN = """
const { readFileSync } = await import("node:fs");
const { NativeModel } = await import("./src/native/model.js");
const asked = JSON.parse(readFileSync(0, "utf8"));
const model = await NativeModel.load(readFileSync(asked.graph));
for (const row of asked.rows) {
  const { states } = await model.run(row);
  console.log(Buffer.from(states.buffer).toString("base64"));
}
"""
READ = """
const { readFileSync } = await import("node:fs");
const { NativeModel } = await import("./src/native/model.js");
const found = {};
for (const graph of JSON.parse(readFileSync(0, "utf8")))
  found[graph] = await NativeModel.load(readFileSync(graph)).then(() => "fit", (error) => error.constructor.name);
console.log(JSON.stringify(found));
"""


class Bare:
    """No special tokens: rows have them already."""

    prefix = suffix = ()


def test_it_was_compiled_from_the_present_sources():
    found = importlib.util.spec_from_file_location("compile_encoder", ROOT / "js" / "compile_encoder.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    stored = re.search(r'SOURCES = "(\w+)"', module.MODULE.read_text(encoding="utf-8"))
    assert stored[1] == module.checksum(), "the encoder in C was changed: run make wasm"


def rows_of(tokenizer, vocabulary: int) -> list[list[list[int]]]:
    """Pairs of real sentences, and sides of random subwords up to what fits; one of them alone."""
    lines = (ROOT / "examples" / "pairs.txt").read_text(encoding="utf-8").splitlines()
    real = [[tokenizer.split([side.split()]).ids.tolist() for side in line.split(" ||| ")] for line in lines]
    chance = np.random.default_rng(1)
    made = [[chance.integers(0, vocabulary, chance.integers(1, 129)).tolist() for _ in range(2)] for _ in range(12)]
    return [*real, *made, [made[0][0]], [[1], [2]]]


def states_in_c(model: NativeModel, row: list[list[int]]) -> np.ndarray:
    ends = np.cumsum([[len(side) for side in row]], axis=1)
    starts = ends - [[len(side) for side in row]]
    states = np.zeros((ends[0, -1], model.width), dtype=np.float32)
    model.run(RowSpans(starts, ends, starts, ends), np.concatenate(row), Bare(), states)
    return states


@pytest.mark.parametrize("name", ["weft-mini", "weft-nano"])
def test_states_have_the_bytes_of_the_library(node, name):
    library = load_library()
    if library is None or chosen_kernel(library) is None:
        pytest.skip("weft is installed without the encoder in C")
    folder = built_in_models()[name]
    weights = read_model(folder)
    rows = rows_of(Aligner.from_pretrained(name).encoder.tokenizer, len(weights.embedding.words))
    asked = {"graph": str(folder / "model.onnx"), "rows": rows}
    found = node("--input-type=module", "-e", RUN, stdin=asked).split()
    model = NativeModel(library, chosen_kernel(library), weights)
    for row, states in zip(rows, found, strict=True):
        assert base64.b64decode(states) == states_in_c(model, row).tobytes()


def test_the_graphs_that_the_library_leaves_to_others_are_left_here_too(node, tmp_path):
    nothing = changed(tmp_path / "nothing", lambda graph: None) / "model.onnx"
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(nothing.read_bytes()[:100_000])
    others = [changed(tmp_path / name, change) / "model.onnx" for name, change in UNFIT.items()]
    graphs = list(map(str, [nothing, damaged, *others]))
    found = json.loads(node("--input-type=module", "-e", READ, stdin=graphs))
    assert found == {graph: "fit" if graph == str(nothing) else "UnfitError" for graph in graphs}
