"""weft on a GPU beside what the GPU could give, and beside awesome-align, in one run.

    python benchmarks/speed/gpu.py [--text PAIRS] [--pairs 200000] [--peer "awesome-align"]

The encoder has mBERT's shape, random weights and mBERT's tokenizer (`$WEFT_DATA/mbert-tokenizer`), cut at layer 8. The
text is `source ||| target`; by default the German, French, Romanian and Japanese test sets of `$WEFT_DATA` again and
again, the words of each sentence in another order every time, so that nothing that occurred before is of any help.

The ceiling is the plain forward pass of the same layers over the same sentences at the same precision: cut into
subwords beforehand, sorted by length, nothing done with the result. Programs run as their users run them, twice:
over all pairs and over a tenth. The first time is what a user waits for; the difference of the two is what they do
without start-up.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers
from peers import DATA, LAYER, common, run, write_encoder

from weft.encoding.batches import token_batches
from weft.encoding.torch import TorchEncoder
from weft.text.pairs import read_pairs
from weft.types import SentencePair

LANGUAGES = ("de", "fr", "ro", "ja")
BATCH_TOKENS = 65_536


def write_text(given: Path | None, count: int, path: Path) -> None:
    """So many lines of the text given, or of the test sets with their words in ever new orders."""
    if given is not None:
        lines = given.read_text("utf-8").split("\n")[:count]
    else:
        sides = [DATA / "gold" / f"{language}-en" / "test" for language in LANGUAGES]
        pairs = [pair for side in sides for pair in read_pairs(f"{side}.src", f"{side}.tgt")]
        generator = random.Random(1)
        lines = [_shuffled(pairs[number % len(pairs)], generator) for number in range(count)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _shuffled(pair: SentencePair, generator: random.Random) -> str:
    sides = [list(side) for side in (pair.source, pair.target)]
    for side in sides:
        generator.shuffle(side)
    return " ||| ".join(" ".join(side) for side in sides)


def ceiling(model: Path, text: Path, dtype: str) -> float:
    """Pairs a second of the bare encoder."""
    encoder = TorchEncoder(model, layer=LAYER, device="cuda", dtype=dtype)
    pairs = list(read_pairs(text))
    pieces = encoder.tokenizer.split([side for pair in pairs for side in (pair.source, pair.target)])
    lengths = (pieces.starts[1:] - pieces.starts[:-1] + encoder.special).tolist()
    batches = [[lengths[row] for row in batch] for batch in token_batches(lengths, BATCH_TOKENS)]
    ids = torch.randint(1000, 100_000, (BATCH_TOKENS,), device="cuda")
    seconds = 0.0
    for measured in (False, True):  # the first time round the kernels are loaded
        torch.cuda.synchronize()
        began = time.perf_counter()
        for batch in batches if measured else batches[:: max(1, len(batches) // 10)]:
            _forward(encoder, batch, ids)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - began
    return len(pairs) / seconds


@torch.inference_mode()
def _forward(encoder: TorchEncoder, lengths: Sequence[int], ids: torch.Tensor) -> None:
    longest = torch.tensor(lengths, device="cuda")
    mask = (torch.arange(max(lengths), device="cuda") < longest[:, None]).long()
    encoder.model(input_ids=ids[: mask.numel()].view(mask.shape), attention_mask=mask)


def timed(name: str, command: Sequence[str], texts: Sequence[tuple[Path, int]], out: Path) -> dict[str, float]:
    """Pairs a second with start-up, and without: from a long and a short run."""
    (_, pairs), (_, fewer) = texts
    seconds = [run([part.format(text=path, out=out / f"{name}.{size}") for part in command]) for path, size in texts]
    rates = {"pairs": pairs, "seconds": seconds[0], "end to end": pairs / seconds[0]}
    return {**rates, "without start-up": (pairs - fewer) / (seconds[0] - seconds[1])}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--peer", default="awesome-align", help="the command that runs awesome-align; empty: without")
    parser.add_argument("--peer-pairs", type=int, default=7_000)
    parser.add_argument("--workers", type=int, default=0, help="processes that share the GPU in one of the runs")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, transformers {transformers.__version__}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        encoder, out = folder / "encoder", folder / "links"
        out.mkdir()
        write_encoder(encoder)
        sizes = {options.pairs, options.pairs // 10, options.peer_pairs, options.peer_pairs // 10}
        texts = {size: folder / f"text.{size}" for size in sizes}
        for size, path in texts.items():
            write_text(options.text, size, path)
        results = measure(options, encoder, texts, out)
    print(json.dumps(results, indent=1))


def measure(
    options: argparse.Namespace, encoder: Path, texts: dict[int, Path], out: Path
) -> dict[str, dict[str, float] | float | str]:
    """All runs; prints each as it ends."""
    many = [(texts[size], size) for size in (options.pairs, options.pairs // 10)]
    few = [(texts[size], size) for size in (options.peer_pairs, options.peer_pairs // 10)]
    weft = [sys.executable, "-m", "weft", "align", "{text}", "-o", "{out}", "--device", "cuda"]
    same = [*weft, "--model", str(encoder), "--layer", str(LAYER)]
    results: dict[str, dict[str, float] | float | str] = {}

    def note(name: str, value: dict[str, float] | float | str) -> None:
        results[name] = value
        print(f"{name}: {value}", flush=True)

    note("plain forward pass, bfloat16", ceiling(encoder, many[0][0], "bfloat16"))
    note("weft bfloat16", timed("bfloat16", [*same, "--dtype", "bfloat16"], many, out))
    note("weft float32", timed("float32", [*same, "--dtype", "float32"], many[1:] + few[:1], out))
    tenth = options.pairs // 10
    note("links, bfloat16 and float32", common(out / f"bfloat16.{tenth}", out / f"float32.{tenth}"))
    if options.peer:
        command = [
            *shlex.split(options.peer), "--model_name_or_path", str(encoder), "--data_file", "{text}", "--output_file",
            "{out}", "--extraction", "softmax", "--align_layer", str(LAYER), "--batch_size", "32", "--num_workers", "4",
        ]  # fmt: skip
        note("awesome-align", timed("awesome", command, few, out))
        size = options.peer_pairs
        note("links, weft float32 and awesome-align", common(out / f"float32.{size}", out / f"awesome.{size}"))
    note("plain forward pass, float32", ceiling(encoder, many[1][0], "float32"))
    note("weft-mini bfloat16", timed("mini", [*weft, "--model", "weft-mini", "--dtype", "bfloat16"], many, out))
    run([part.format(text=many[1][0], out=out / "mini32") for part in [*weft, "--dtype", "float32"]])
    note("links of weft-mini, bfloat16 and float32", common(out / f"mini.{tenth}", out / "mini32"))
    if options.workers:
        several = [*same, "--dtype", "bfloat16", "--workers", str(options.workers)]
        note(f"weft bfloat16, {options.workers} processes", timed("workers", several, many, out))
    return results


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    main()
