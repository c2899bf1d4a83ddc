"""Two commits on a GPU: the tests that need CUDA, and whether the newer commit is as fast as the older one.

    python benchmarks/gpu/commits.py pack OLD NEW FOLDER [--python 3.12]     where there is git and a package index
    python3 FOLDER/commits.py run [--pairs 200000] [--rounds 3]              on the machine with the GPU

The machine with the GPU needs torch, transformers, tokenizers, safetensors, accelerate, onnxruntime and numpy. `pack`
puts everything else into FOLDER: both commits without the built-in model, and the other packages that weft and its
tests need. That is less than 15 MB.

`run` first runs tests/gpu of the newer commit. Then `weft align` of both commits, in turns, aligns made-up text with an
encoder of mBERT's shape and random weights. A run over all pairs and one over a tenth of them give the rate with and
without start-up. The newer commit passes with at least 98 % of the older one's rates and the same links.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from itertools import accumulate
from pathlib import Path

PACKAGES = ("array-api-compat", "attrs", "backports.zstd", "cattrs", "entmax", "lap", "pytest", "rich", "typer==0.23.*")
# What those need in turn, without what torch and transformers have brought. pip would fetch another torch.
THEIR_PACKAGES = (
    *("annotated-doc", "click", "iniconfig", "markdown-it-py", "mdurl", "pluggy", "pygments", "shellingham"),
)
NOT_PACKED = (":!src/weft/models/weft-mini", ":!src/weft/models/weft-nano")
# conftest.py imports forking.py and asking.py.
TESTS = ("tests/gpu", "tests/models.py", "tests/toy.py", "tests/conftest.py", "tests/forking.py", "tests/asking.py")
COMMITS = ("old", "new")
LAYER = 8
VOCABULARY = 119_547
LEAST = 0.98


def pack(options: argparse.Namespace) -> None:
    folder: Path = options.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, commit in zip(COMMITS, (options.old, options.new), strict=True):
        (folder / name).mkdir()
        paths = ["src", "pyproject.toml", *(TESTS if name == "new" else ())]
        archive = subprocess.run(["git", "archive", commit, "--", *paths, *NOT_PACKED], check=True, capture_output=True)
        subprocess.run(["tar", "--extract", "--directory", folder / name], input=archive.stdout, check=True)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--target",
        folder / "packages",
        "--no-compile",
    ]
    wheels = ["--only-binary", ":all:", "--python-version", options.python]
    subprocess.run([*command, *wheels, "--no-deps", *PACKAGES, *THEIR_PACKAGES], check=True)
    shutil.copy(__file__, folder / "commits.py")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")


def run(options: argparse.Namespace) -> None:
    folder = Path(__file__).resolve().parent
    new = folder / "new"
    tests: list[str | Path] = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", new / "tests" / "gpu"]
    failed = subprocess.run(tests, cwd=new, env=_environment(folder, "new"), check=False).returncode
    scratch = folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    words = made_up_words(20_000)
    write_encoder(scratch / "encoder", words)
    sizes = (options.pairs, options.pairs // 10)
    for size in sizes:
        write_text(scratch / f"text.{size}", words, size)
    seconds: dict[tuple[str, int], list[float]] = {(name, size): [] for name in COMMITS for size in sizes}
    for turn in range(options.rounds + 1):  # the first turn fills caches of files and kernels, and does not count
        for name in COMMITS if turn % 2 else reversed(COMMITS):
            for size in sizes:
                taken = align(folder, name, scratch, size, options.dtype)
                if turn:
                    seconds[name, size].append(taken)
                print(f"turn {turn}, {name}, {size:,} pairs: {taken:.1f} s", flush=True)
    fine = report(seconds, sizes) and same_links(scratch, sizes[0])
    sys.exit(1 if failed or not fine else 0)


def align(folder: Path, name: str, scratch: Path, size: int, dtype: str) -> float:
    """Align with one commit as a user would, and return the seconds it took."""
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "weft",
        "align",
        scratch / f"text.{size}",
        "-o",
        scratch / f"{name}.{size}",
    ]
    settings: list[str | Path] = [
        "--model",
        scratch / "encoder",
        "--layer",
        str(LAYER),
        "--device",
        "cuda",
        "--dtype",
        dtype,
    ]
    begun = time.perf_counter()
    subprocess.run([*command, *settings], env=_environment(folder, name), check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun


def report(seconds: dict[tuple[str, int], list[float]], sizes: tuple[int, int]) -> bool:
    """Print the rates of both commits; whether the newer one's are good enough."""
    many, few = sizes
    fine = True
    for what in ("with start-up", "without start-up"):
        rates = {}
        for name in COMMITS:
            whole, part = (statistics.median(seconds[name, size]) for size in sizes)
            rates[name] = many / whole if what == "with start-up" else (many - few) / (whole - part)
        share = rates["new"] / rates["old"]
        fine = fine and share >= LEAST
        print(f"{what}: old {rates['old']:,.0f}, new {rates['new']:,.0f} pairs/s: {share:.1%}")
    return fine


def same_links(scratch: Path, size: int) -> bool:
    old, new = ((scratch / f"{name}.{size}").read_text().splitlines() for name in COMMITS)
    same = sum(one == other for one, other in zip(old, new, strict=True))
    print(f"lines with the same links: {same:,} of {len(old):,}")
    return same >= 0.999 * len(old)


def _environment(folder: Path, name: str) -> dict[str, str]:
    # Packages of the machine come first: what was packed fills gaps.
    code = folder / name / "src"
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(code), str(folder / "packages")])}


def made_up_words(count: int) -> list[str]:
    """Words of one to four made-up syllables, so that some are cut into several subwords."""
    generator = random.Random(1)
    endings = ("a", "e", "i", "o", "u", "an", "er", "is")
    syllables = [first + second for first in "bdfghklmnprstvz" for second in endings]
    return ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(count)]


def write_text(path: Path, words: list[str], pairs: int) -> None:
    """Pairs of 5 to 45 words a side; a few words are frequent and most are rare, as in real text."""
    generator = random.Random(2)
    # Summed up once: `choices` would do it again for every sentence.
    sums = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    with path.open("w", encoding="utf-8") as file:
        for _ in range(pairs):
            length = generator.randint(5, 45)
            sides = (
                generator.choices(words, cum_weights=sums, k=max(1, length + generator.randint(-3, 3)))
                for _ in range(2)
            )
            file.write(" ||| ".join(map(" ".join, sides)) + "\n")


def write_encoder(folder: Path, words: list[str]) -> None:
    """A model of mBERT's shape with random weights; its WordPiece tokenizer is learned from the words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=8_000, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator([" ".join(words)], trainer)
    vocabulary = tokenizer.get_vocab()
    vocabulary |= {f"[unused{number}]": number for number in range(len(vocabulary), VOCABULARY)}
    tokenizer.model = models.WordPiece(vocabulary, unk_token="[UNK]")
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, num_hidden_layers=12, hidden_size=768, intermediate_size=3_072
    )
    transformers.BertModel(config).save_pretrained(folder)
    names = {f"{name[1:-1].lower()}_token": name for name in special}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names)
    fast.save_pretrained(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    packing = commands.add_parser("pack", help="collect what the machine with the GPU needs")
    packing.add_argument("old", help="the commit to compare with")
    packing.add_argument("new", help="the commit to test")
    packing.add_argument("folder", type=Path)
    packing.add_argument("--python", default="3.12", help="the version of Python on the machine with the GPU")
    packing.set_defaults(do=pack)
    running = commands.add_parser("run", help="test and measure")
    running.add_argument("--pairs", type=int, default=200_000)
    running.add_argument("--rounds", type=int, default=3)
    running.add_argument("--dtype", default="bfloat16")
    running.set_defaults(do=run)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
