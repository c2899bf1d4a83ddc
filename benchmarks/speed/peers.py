"""weft against every aligner that is installed, on the same text, in one run.

    python benchmarks/speed/peers.py [--text PAIRS] [--limit 447] [--rounds 3] [--mini FOLDER]

Text is `source ||| target`; by default the French test set of `$WEFT_DATA`. Encoder-based tools get the same encoder,
one of mBERT's shape with random weights and mBERT's tokenizer (`$WEFT_DATA/mbert-tokenizer`), cut at layer 8. Each tool
runs as its users run it, from start to links on disk; rounds are interleaved, so that a slow minute of the machine hits
all alike. Tools that are not on the PATH (awesome-align, eflomal-align, fast_align) or cannot be imported (simalign)
are left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

DATA = Path(os.environ.get("WEFT_DATA", Path(__file__).parents[3] / "shared" / "data"))
LAYER = 8
FIRST = "awesome-align"
SIMALIGN = """
import sys
from simalign import SentenceAligner
model, layer, source, target = sys.argv[1:]
aligner = SentenceAligner(model=model, token_type="bpe", matching_methods="a", device="cpu", layer=int(layer))
with open(source, encoding="utf-8") as pairs, open(target, "w") as out:
    for line in pairs:
        x, y = line.rstrip("\\n").split(" ||| ")
        links = aligner.get_word_aligns(x.split(), y.split())["inter"]
        print(" ".join(f"{i}-{j}" for i, j in links), file=out)
"""


def write_text(given: Path | None, limit: int | None, path: Path) -> int:
    """The text as `source ||| target` lines; how many."""
    if given is None:
        sides = [
            (DATA / "gold" / "fr-en" / f"test.{side}").read_text("utf-8").split("\n")[:-1] for side in ("src", "tgt")
        ]
        lines = [" ||| ".join(pair) for pair in zip(*sides, strict=True)]
    else:
        lines = given.read_text("utf-8").split("\n")[:-1]
    path.write_text("\n".join(lines[:limit]) + "\n", "utf-8")
    return len(lines[:limit])


def write_encoder(folder: Path) -> None:
    """An encoder of mBERT's shape, in the file formats of both old and new tools."""
    import torch
    import transformers

    torch.manual_seed(0)
    tokenizer = transformers.BertTokenizer.from_pretrained(DATA / "mbert-tokenizer", do_lower_case=False)
    tokenizer.model_max_length = 512
    config = transformers.BertConfig(vocab_size=len(tokenizer), num_hidden_layers=12, hidden_size=768)
    model = transformers.BertForMaskedLM(config)
    model.save_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    tokenizer.save_pretrained(folder)
    shutil.copyfile(DATA / "mbert-tokenizer" / "vocab.txt", folder / "vocab.txt")


def contenders(text: Path, encoder: Path, graphs: dict[str, Path], mini: str, out: Path) -> dict[str, list[str]]:
    """What is run for each tool that is there; links go to `out`/NAME."""
    weft = [sys.executable, "-m", "weft", "align", str(text), "--device", "cpu"]
    commands = {
        "weft, float32": [*weft, "--model", str(encoder), "--layer", str(LAYER)],
        "weft, bfloat16": [*weft, "--model", str(encoder), "--layer", str(LAYER), "--dtype", "bfloat16"],
        "weft, float32 graph": [*weft, "--model", str(graphs["onnx"])],
        "weft, int8 graph": [*weft, "--model", str(graphs["onnx-int8"])],
        "weft-mini": [*weft, "--model", mini],
    }
    commands = {name: [*command, "-o", str(out / name)] for name, command in commands.items()}
    if shutil.which(FIRST):
        commands[FIRST] = [
            FIRST, "--model_name_or_path", str(encoder), "--data_file", str(text), "--output_file", str(out / FIRST),
            "--extraction", "softmax", "--align_layer", str(LAYER), "--batch_size", "32", "--no_cuda",
            "--num_workers", "1",
        ]  # fmt: skip
    if shutil.which("eflomal-align"):
        files = ["-f", str(out / "eflomal"), "-r", str(out / "eflomal.back"), "--overwrite"]
        commands["eflomal"] = ["eflomal-align", "-i", str(text), *files]
    if shutil.which("fast_align"):
        commands["fast_align"] = ["sh", "-c", f"fast_align -d -o -v -i {text} > {out / 'fast_align'}"]
    if _has_simalign():
        commands["simalign"] = [
            sys.executable,
            "-c",
            SIMALIGN,
            str(encoder),
            str(LAYER),
            str(text),
            str(out / "simalign"),
        ]
    return commands


def _has_simalign() -> bool:
    return subprocess.run([sys.executable, "-c", "import simalign"], capture_output=True, check=False).returncode == 0


def run(command: Sequence[str]) -> float:
    """Seconds from start to end; what the tool says is shown only if it fails."""
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stderr[-2000:]}")
    return time.perf_counter() - began


def common(first: Path, second: Path) -> str:
    """How many links two files share, of how many in each."""
    if not (first.is_file() and second.is_file()):
        return ""
    sets = [
        [set(line.split()) for line in path.read_text("utf-8").split("\n")[:-1]] for path in (first, second)
    ]  # fmt: skip
    both = sum(len(x & y) for x, y in zip(*sets, strict=True))
    return f"{both:,} of {sum(map(len, sets[0])):,} / {sum(map(len, sets[1])):,}"


def main() -> None:
    """Run all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mini", default="weft-mini")
    parser.add_argument("--only", help="names separated by semicolons")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        text, encoder, out = (Path(scratch, name) for name in ("text", "encoder", "links"))
        graphs = {kind: Path(scratch, kind) for kind in ("onnx", "onnx-int8")}
        out.mkdir()
        pairs = write_text(options.text, options.limit, text)
        write_encoder(encoder)
        for kind, folder in graphs.items():
            run([sys.executable, "-m", "weft", "model", "export", str(encoder), "--layer", str(LAYER), "--to", kind,
                 "--text", str(text), "-o", str(folder)])  # fmt: skip
        commands = contenders(text, encoder, graphs, options.mini, out)
        if options.only:
            commands = {name: command for name, command in commands.items() if name in options.only.split(";")}
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                seconds[name].append(run(command))
        base = statistics.median(seconds[FIRST]) if FIRST in seconds else None
        print(f"{pairs:,} pairs, median of {options.rounds} rounds, start-up included")
        for name, times in sorted(seconds.items(), key=lambda item: statistics.median(item[1])):
            middle = statistics.median(times)
            ratio = f"{base / middle:6.1f} x" if base else ""
            print(f"{name:20} {middle:8.1f} s {pairs / middle:8.1f} pairs/s {ratio}  {common(out / FIRST, out / name)}")


if __name__ == "__main__":
    main()
