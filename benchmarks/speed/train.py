"""How much of the hardware training uses: tokens a second of `weft train` against a plain forward and backward pass.

    python benchmarks/speed/train.py [--batch-sizes 8,64,256] [--layers 12] [--width 768] [--precision bf16]

Both run the same encoder (random weights, mBERT's shape by default) over the same batches in the same run: first the
plain passes of the encoder over exactly the rows that the objectives need, then the real training step with masking,
heads, similarities, guide, clipping and AdamW. Text is made up, with sentence lengths like those of real text.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from weft.training.batches import ALIGNED, MASKED_TOGETHER, RowMaker
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.defaults import settled
from weft.training.loop import TrainingRun
from weft.training.steps import ahead

WORDS = 5000


def write_base(folder: Path) -> None:
    """A word-level tokenizer; the encoder itself is made from its architecture."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(WORDS))]
    tokenizer = Tokenizer(models.WordLevel({name: k for k, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {f"{kind}_token": f"[{kind.upper()}]" for kind in ("pad", "unk", "cls", "sep", "mask")}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **special).save_pretrained(
        folder
    )


def write_text(path: Path, pairs: int) -> None:
    """Pairs of sentences of like length: 30 subwords on average, now and then a long one."""
    generator = random.Random(1)
    with path.open("w") as file:
        for _ in range(pairs):
            length = min(100, max(3, int(generator.lognormvariate(3.3, 0.5))))
            sides = [
                " ".join(f"w{generator.randrange(WORDS)}" for _ in range(max(2, length + generator.randint(-3, 3))))
                for _ in range(2)
            ]
            file.write(" ||| ".join(sides) + "\n")


def synchronised() -> float:
    """The time when the device has finished what it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def plain(run: TrainingRun, steps: range, precision: str) -> float:
    """Tokens a second of nothing but the encoder: the same rows, forward and backward."""
    device = run.accelerator.device
    half = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
    batches = [run.steps[step] for step in steps]
    makers: list[tuple[RowMaker[Any], Any]] = [
        (ALIGNED, run.model.states),
        (MASKED_TOGETHER, run.model.top_states),
    ]
    tokens, start = 0, synchronised()
    for pieces in batches:
        for piece in pieces:
            context = torch.autocast(device.type, dtype=half) if half else contextlib.nullcontext()
            for maker, encode in makers:
                rows = piece.part(maker).mapped(lambda tensor: tensor.to(device))
                with context:
                    states = encode(rows.ids, rows.attention)
                states.float().sum().backward()
                tokens += int(rows.attention.sum())
        run.model.zero_grad(set_to_none=True)
    return tokens / (synchronised() - start)


def training(run: TrainingRun, steps: range) -> float:
    """Tokens a second of the real loop, its batches prepared by worker processes."""
    loader = ahead(run.steps, steps.start, workers=run.config.workers, pinned=run.accelerator.device.type == "cuda")
    waiting = islice(loader, len(steps))
    first = next(waiting)  # the workers' start is no part of the speed
    tokens, start = 0, synchronised()
    for pieces in [first]:
        tokens += run.step(pieces)[1]
    for pieces in waiting:
        tokens += run.step(pieces)[1]
    return tokens / (synchronised() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch-sizes", default="8,64,256")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--vocabulary", type=int, default=119_547)
    parser.add_argument("--precision", default="bf16" if torch.cuda.is_available() else "no")
    options = parser.parse_args()
    architecture = {
        "model_type": "bert",
        "hidden_size": options.width,
        "num_hidden_layers": options.layers,
        "num_attention_heads": options.width // 64,
        "intermediate_size": 4 * options.width,
        "vocab_size": options.vocabulary,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_base(folder / "base")
        write_text(folder / "text", 20_000)
        for size in map(int, options.batch_sizes.split(",")):
            config = TrainingConfig(
                str(folder / f"out{size}"),
                (CorpusConfig(str(folder / "text")),),
                model=str(folder / "base"),
                architecture=architecture,
                layer=round(options.layers * 2 / 3),
                objectives=("tlm", "so"),
                batch_size=size,
                batch_tokens=16_384,
                precision=options.precision,
                workers=4,
                max_steps=10_000,
            )
            run = TrainingRun(settled(config)[0], [], lambda record: None, lambda sentence: None)
            run.losses.train()
            training(run, range(5))
            plain(run, range(5), options.precision)
            speeds = [
                (plain(run, range(options.steps), options.precision), training(run, range(options.steps)))
                for _ in range(options.rounds)
            ]
            ceiling, ours = (max(column) for column in zip(*speeds, strict=True))
            print(
                f"batch {size:4}: plain {ceiling:11,.0f} tokens/s, weft train {ours:11,.0f} tokens/s = "
                f"{ours / ceiling:.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
