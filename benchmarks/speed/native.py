"""The encoder in C against onnxruntime on the same batches: CPU seconds of one core, and how far states are apart.

Every batch goes through onnxruntime and through every kernel that the processor has, in turn and several times over,
and the median of each counts: a machine that slows down for a while slows all of them down. Ends with an error if the
states of a kernel are not onnxruntime's but for rounding, or if a row's states depend on its batch.

    python hatch_build.py                                        # compile the library
    python benchmarks/speed/native.py $WEFT_DATA/gold            # or a file with a pair a line: source ||| target
    python benchmarks/speed/native.py pairs.txt --kernels avx2 --sparse 0 0.1 0.2 0.3

`--sparse` tries shares of active neurons up to which the others are left out, in place of the kernel's own.
Needs numpy, onnxruntime, tokenizers, and weft from this repository.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src"))
try:
    import array_api_compat  # noqa: F401
except ImportError:  # a machine on which only this is measured can do without: all arrays here are numpy's
    stand_in: Any = ModuleType("array_api_compat")
    stand_in.array_namespace, stand_in.device = (lambda *arrays: np), (lambda array: None)
    sys.modules["array_api_compat"] = stand_in

from weft.encoding.batches import RowSpans, pad_rows  # noqa: E402
from weft.encoding.native.encoder import read_model  # noqa: E402
from weft.encoding.native.library import LIBRARY, NativeModel, kernels, load_library  # noqa: E402
from weft.encoding.onnx import OnnxEncoder  # noqa: E402

SETS = ("de-en", "fr-en", "ro-en", "ja-en", "zh-en")
Sentence = tuple[str, ...]
# Integer sums are equal. The last bit of a float is not, and now and then it rounds an activation to the next of its
# 256 values, which later layers carry on. States keep their direction all the same.
LEAST_MEAN_COSINE, LEAST_COSINE = 0.9995, 0.99


def read_pairs(given: Path, wanted: int) -> list[tuple[Sentence, Sentence]]:
    """Some of the pairs of a file, or of the five test sets in a folder."""
    if given.is_dir():
        sides = [
            [line for name in SETS for line in (given / name / f"test.{side}").read_text("utf-8").splitlines()]
            for side in ("src", "tgt")
        ]
        lines = list(zip(*sides, strict=True))
    else:
        lines = [(a, b) for a, _, b in (line.partition("|||") for line in given.read_text("utf-8").splitlines())]
    pairs = [(tuple(source.split()), tuple(target.split())) for source, target in lines]
    filled = [pair for pair in pairs if all(pair)]
    return filled[:: max(1, len(filled) // wanted)]


def compare(encoder: Any, models: dict[str, NativeModel], pairs: Any, rounds: int) -> dict[str, tuple[float, Any]]:
    """CPU seconds and states of onnxruntime and of each native model."""
    subwords = encoder.tokenizer.split(list(chain.from_iterable(pairs)))
    names = ["onnxruntime", *models]
    states = {name: np.zeros((len(subwords.ids) + 1, encoder.width), dtype=np.float32) for name in names}
    seconds = dict.fromkeys(names, 0.0)

    def run(name: str, rows: RowSpans) -> float:
        start = time.thread_time()
        if name in models:
            models[name].run(rows, subwords.ids, encoder.tokenizer, states[name])
        else:
            batch, stored_at = pad_rows(rows, subwords.ids, encoder.tokenizer)
            states[name][stored_at] = encoder._forward(batch)
        return time.thread_time() - start

    for rows in encoder._batches(subwords, sides=2 if encoder.joint else 1):
        taken = [[run(name, rows) for name in names] for _ in range(rounds)]
        for name, own in zip(names, zip(*taken, strict=True), strict=True):
            seconds[name] += float(np.median(own))
    for name, model in models.items():  # each row by itself: the same bytes
        whole = encoder._batches(subwords, sides=2 if encoder.joint else 1)
        few = [rows[[k]] for rows in whole[:: max(1, len(whole) // 10)] for k in range(len(rows.start))]
        alone = states[name].copy()
        for row in few:
            model.run(row, subwords.ids, encoder.tokenizer, alone)
        if not np.array_equal(alone, states[name]):
            sys.exit(f"{name}: the states of a row depend on those beside it")
    return {name: (seconds[name], states[name][:-1]) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="a file of pairs, or the folder of the gold sets")
    parser.add_argument("--model", default="weft-mini", help="a built-in model, or a folder")
    parser.add_argument("--number", type=int, default=300, help="how many pairs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kernels", nargs="*", help="those to try; all that the processor has by default")
    parser.add_argument("--sparse", nargs="*", type=float, default=[-1.0])
    parser.add_argument("--batch-tokens", type=int)
    parser.add_argument("--library", type=Path, default=LIBRARY, help="another library than the package's own")
    options = parser.parse_args()
    library = load_library(options.library)
    if library is None:
        sys.exit(f"{options.library} is not there, or not of this version: python hatch_build.py compiles it")
    found = kernels(library)
    print(f"kernels of this processor: {', '.join(found) or 'none'}")
    folder = Path(options.model) if Path(options.model).is_dir() else ROOT / "src" / "weft" / "models" / options.model
    weights, models = read_model(folder), {}
    for kernel in options.kernels or found:
        for sparse in options.sparse:
            name = kernel if sparse < 0 else f"{kernel}, sparse {sparse:g}"
            models[name] = NativeModel(library, found[kernel], weights, sparse=sparse)
    longest = len(weights.embedding.positions)
    encoder = OnnxEncoder(folder, max_length=longest, batch_tokens=options.batch_tokens, joint=True)
    results = compare(encoder, models, read_pairs(options.pairs, options.number), options.rounds)
    base, theirs = results["onnxruntime"]
    print(f"{'onnxruntime':24} {base:7.2f} s  {len(theirs)} subwords")
    failed = False
    for name in models:
        seconds, ours = results[name]
        lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
        cosines = (ours * theirs).sum(axis=1) / lengths
        equal = (np.abs(ours - theirs).max(axis=1) < 1e-4).mean()
        fine = cosines.mean() >= LEAST_MEAN_COSINE and cosines.min() >= LEAST_COSINE
        failed |= not fine
        print(
            f"{name:24} {seconds:7.2f} s  {base / seconds:5.2f} times as fast  cosine {cosines.mean():.5f}, least "
            f"{cosines.min():.5f}  {equal:.0%} of the states equal to 4 digits{'' if fine else '  WRONG'}"
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
