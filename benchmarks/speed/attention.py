"""Other ways to write the attention of an int8 graph, against the one that ships: CPU seconds of the same batches.

Every batch goes through every variant in turn, several times over, and the median of each counts: a machine that slows
down for a while slows all of them down. All variants hold the same int8 weights.

    python benchmarks/speed/attention.py $WEFT_DATA/gold --pairs 400
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from weft import Aligner
from weft.models.quantise import MICROSOFT
from weft.models.resolve import resolve_model

SETS = ("de-en", "fr-en", "ro-en", "ja-en", "zh-en")
Heads = Callable[["Rewritten", str, list[str], str], Iterator[Any]]


class Rewritten:
    """A graph whose `QAttention` becomes three integer products and another kind of attention."""

    def __init__(self, path: Path, attention: Heads) -> None:
        self.model = onnx.load(path)
        self._graph = self.model.graph
        self._constants = {item.name: item for item in self._graph.initializer}
        nodes = list(self._mask())
        for number, node in enumerate(self._graph.node):
            nodes.extend(self._layer(node, f"layer.{number}", attention) if node.op_type == "QAttention" else [node])
        del self._graph.node[:]
        self._graph.node.extend(nodes)

    def constant(self, name: str, value: Any) -> str:
        """Add a constant to the graph and return its name."""
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(value, name)
            self._graph.initializer.append(self._constants[name])
        return name

    def _value(self, name: str) -> Any:
        return numpy_helper.to_array(self._constants[name])

    def _mask(self) -> Iterator[Any]:
        """What is added to scores: `bias` of shape (rows, 1, 1, length), `wide` of (rows, 1, length, length)."""
        one, two = self.constant("one", np.array([1])), self.constant("two", np.array([2]))
        axes = self.constant("axes", np.array([1, 2]))
        yield helper.make_node("Cast", ["attention_mask"], ["mask.float"], to=TensorProto.FLOAT)
        yield helper.make_node(
            "Sub", ["mask.float", self.constant("float.one", np.array([1], dtype=np.float32))], ["mask.minus"]
        )
        yield helper.make_node(
            "Mul", ["mask.minus", self.constant("large", np.array([1e4], dtype=np.float32))], ["mask.flat"]
        )
        yield helper.make_node("Unsqueeze", ["mask.flat", axes], ["bias"])
        yield helper.make_node("Shape", ["attention_mask"], ["mask.shape"])
        yield helper.make_node("Slice", ["mask.shape", one, two], ["mask.length"])
        yield helper.make_node("Concat", [one, one, "mask.length", one], ["mask.wide"], axis=0)
        yield helper.make_node("Expand", ["bias", "mask.wide"], ["wide"])

    def _layer(self, node: Any, name: str, attention: Heads) -> Iterator[Any]:
        states, weight, bias, scale, weight_scale, _, zero = node.input
        parts = []
        thirds = np.split(np.arange(self._value(bias).size), 3)
        for part, columns in zip(("query", "key", "value"), thirds, strict=True):
            result = f"{name}.{part}"
            own = [
                self.constant(f"{result}.int8", np.ascontiguousarray(self._value(weight)[:, columns])),
                self.constant(f"{result}.scale", self._value(weight_scale)[columns]),
                self.constant(f"{result}.bias", self._value(bias)[columns]),
            ]
            inputs = [states, own[0], scale, own[1], zero, "", own[2]]
            yield helper.make_node("MatMulIntegerToFloat", inputs, [result], domain=MICROSOFT)
            parts.append(result)
        self.heads = helper.get_attribute_value(node.attribute[0])
        self.width = len(self._value(bias)) // 3
        yield from attention(self, name, parts, node.output[0])


def multi_head(graph: Rewritten, name: str, parts: list[str], result: str) -> Iterator[Any]:
    """The operator `MultiHeadAttention` of onnxruntime."""
    inputs = [*parts, "", "mask32"]
    yield helper.make_node("MultiHeadAttention", inputs, [result], domain=MICROSOFT, num_heads=graph.heads)


def standard(graph: Rewritten, name: str, parts: list[str], result: str) -> Iterator[Any]:
    """The `Attention` of ONNX itself (opset 23, onnxruntime 1.23 and later)."""
    graph.model.opset_import[0].version = 23
    heads = {"q_num_heads": graph.heads, "kv_num_heads": graph.heads}
    yield helper.make_node("Attention", [*parts, "wide"], [result], **heads)


def single_steps(graph: Rewritten, name: str, parts: list[str], result: str) -> Iterator[Any]:
    """Products, softmax and transposed copies, one by one."""
    size = graph.width // graph.heads
    apart = graph.constant("apart", np.array([0, 0, graph.heads, size]))
    together = graph.constant("together", np.array([0, 0, graph.width]))
    for part in parts:
        yield helper.make_node("Reshape", [part, apart], [f"{part}.apart"])
        yield helper.make_node("Transpose", [f"{part}.apart"], [f"{part}.heads"], perm=[0, 2, 1, 3])
    query, key, value = (f"{part}.heads" for part in parts)
    scale = {"alpha": size**-0.5, "transB": 1}
    yield helper.make_node("FusedMatMul", [query, key], [f"{name}.scores"], domain=MICROSOFT, **scale)
    yield helper.make_node("Add", [f"{name}.scores", "bias"], [f"{name}.masked"])
    yield helper.make_node("Softmax", [f"{name}.masked"], [f"{name}.shares"], axis=-1)
    yield helper.make_node("MatMul", [f"{name}.shares", value], [f"{name}.mixed"])
    yield helper.make_node("Transpose", [f"{name}.mixed"], [f"{name}.back"], perm=[0, 2, 1, 3])
    yield helper.make_node("Reshape", [f"{name}.back", together], [result])


VARIANTS: dict[str, Heads] = {"MultiHeadAttention": multi_head, "Attention": standard, "single steps": single_steps}


def _session(graph: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.enable_mem_pattern = False
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _batches(gold: Path, model: str, wanted: int) -> list[dict[str, Any]]:
    pairs = []
    for name in SETS:
        sides = [(gold / name / f"test.{side}").read_text(encoding="utf-8").splitlines() for side in ("src", "tgt")]
        pairs += [(tuple(source.split()), tuple(target.split())) for source, target in zip(*sides, strict=True)]
    chosen = pairs[:: max(1, len(pairs) // wanted)]
    encoder: Any = Aligner.from_pretrained(model).encoder
    return [batch.inputs() for batch in encoder.batches(chosen)]


def main() -> None:
    """Time every variant and compare its states with those of the graph as it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    path = resolve_model(options.model).local_folder() / "model.onnx"
    sessions = {"QAttention": _session(path.read_bytes())}
    for name, attention in VARIANTS.items():
        sessions[name] = _session(Rewritten(path, attention).model.SerializeToString())
    seconds, differences = dict.fromkeys(sessions, 0.0), dict.fromkeys(sessions, 0.0)
    for batch in _batches(options.gold, options.model, options.pairs):
        taken: dict[str, list[float]] = {name: [] for name in sessions}
        for _ in range(options.rounds):
            states = {}
            for name, session in sessions.items():
                start = time.thread_time()
                states[name] = session.run(None, batch)[0][batch["attention_mask"] > 0]
                taken[name].append(time.thread_time() - start)
        for name in sessions:
            seconds[name] += float(np.median(taken[name]))
            differences[name] = max(differences[name], float(np.abs(states[name] - states["QAttention"]).max()))
    for name in sessions:
        ratio = seconds["QAttention"] / seconds[name]
        print(f"{name:20} {seconds[name]:7.2f} s  {ratio:5.2f} times  largest difference {differences[name]:.2g}")


if __name__ == "__main__":
    main()
