"""Step 5: train the encoder from scratch on packed pairs, for a given time, on one GPU.

Every step is one pass over some pairs laid flat, with 15 % of the tokens masked: the hidden states predict the masked
tokens (TLM, or MLM where the sides do not see each other) and are compared with each other under the guide of silver
links (SO, with its cross entropy while links are new). From `--denoise` of the run on, silver links are checked against
the model. With gold pairs, the last `--gold-share` of the run mixes them in.

    python pretrain.py PACKED OUT --minutes 20
"""

from __future__ import annotations

import argparse
import json
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from evaluate import held_out_aer
from flatbert import FlatBert, Muon, Shape
from packed import MASK, SPECIAL_TOKENS, Array, Corpus, FlatBatch, Group, flat_batch, read_shard
from safetensors.torch import load_file, save_file
from similarity import TEMPERATURE, both_ways
from torch import Tensor

EDGES = (16, 32, 64, 128)

Item = TypeVar("Item")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("packed", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--start", type=Path, help="folder of a model to go on from")
    parser.add_argument("--teacher", type=Path, help="folder of a model whose probabilities replace silver links")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--inner", type=int, default=1280, help="width of the feed-forward layers")
    parser.add_argument("--tokens", type=int, default=65_536)
    parser.add_argument("--matrix-rate", type=float, default=0.006)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--warmup", type=float, default=0.02)
    parser.add_argument("--guide", type=float, default=0.03, help="share of the run before links are learned")
    parser.add_argument("--denoise", type=float, default=0.5)
    parser.add_argument("--apart", type=float, default=0.1, help="share of pairs whose sides do not see each other")
    parser.add_argument("--stray", type=float, default=0.0, help="weight of links between words that have none")
    parser.add_argument("--masking", type=float, default=0.15)
    parser.add_argument("--gold", type=float, default=0.4, help="share of the run before gold pairs are mixed in")
    parser.add_argument("--gold-tokens", type=int, default=400, help="tokens of gold in a batch from then on")
    parser.add_argument("--gold-weight", type=float, default=10.0, help="how much more a gold pair counts")
    parser.add_argument("--wait", type=Path, help="begin when this file is there: parts may still be on their way")
    parser.add_argument("--exponent", type=float, default=0.7, help="languages are drawn by size to this power")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--eval-seconds", type=float, default=120)
    return parser.parse_args()


class Supply:
    """Batches without end over the parts that have arrived; new ones are read between rounds."""

    def __init__(self, folder: Path, device: str, exponent: float, seed: int, gold_tokens: int = 0) -> None:
        self.folder, self.device, self.exponent = folder, device, exponent
        self.random = np.random.default_rng(seed)
        self.seen: set[Path] = set()
        self.shards: list[dict[str, Array]] = []
        self.languages: list[str] = []
        self.corpus: Corpus | None = None
        self.gold_tokens, self.with_gold = gold_tokens, False

    def refresh(self) -> None:
        """Read the shards of parts that are complete (a file `done` beside them)."""
        parts = sorted(path.parent for path in self.folder.glob("*/done") if path.parent not in self.seen)
        if not parts:
            return
        for part in parts:
            self.seen.add(part)
            paths = sorted(part.glob("*.xz"))
            with ThreadPoolExecutor(16) as pool:
                self.shards += pool.map(read_shard, paths)
            self.languages += [path.stem for path in paths]
        names = sorted(set(self.languages))
        gold = [read_shard(path) for path in sorted((self.folder / "gold").glob("*.xz"))]
        numbers = [names.index(name) for name in self.languages] + [len(names)] * len(gold)
        self.corpus = Corpus([*self.shards, *gold], numbers, self.device)
        self.of_language = [np.flatnonzero(self.corpus.language == k) for k in range(len(names))]
        self.gold = np.flatnonzero(self.corpus.language == len(names))
        self.corpus.is_gold = self.corpus.language == len(names)
        print(f"{len(self.corpus):,} pairs, {len(self.corpus.ids):,} tokens, {len(names)} languages", flush=True)

    def batches(self, tokens: int, most_pairs: int, round_pairs: int = 400_000) -> Iterator[Array]:
        """Numbers of pairs that fill a batch, round after round."""
        while True:
            self.refresh()
            assert self.corpus is not None
            sizes = np.array([len(numbers) for numbers in self.of_language], dtype=float)
            shares = sizes**self.exponent
            counts = np.minimum(2 * sizes, round_pairs * shares / shares.sum()).astype(int)
            order = np.concatenate([
                self.random.choice(numbers, count, replace=count > len(numbers))
                for numbers, count in zip(self.of_language, counts, strict=True)
            ])  # fmt: skip
            self.random.shuffle(order)
            for pairs in cut(order, self.corpus, tokens - self.gold_tokens, most_pairs):
                yield np.concatenate([self.some_gold(), pairs]) if self.with_gold else pairs

    def some_gold(self) -> Array:
        """Gold pairs at random, as many as there is room for."""
        assert self.corpus is not None
        pairs = self.random.choice(self.gold, 64)
        return pairs[np.cumsum(self.corpus.lengths[pairs].sum(axis=1) + 4) <= self.gold_tokens]


def ahead(batches: Iterator[Item], depth: int = 3) -> Iterator[Item]:
    """The same batches, made in a thread while others are trained on."""
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, batches) for _ in range(depth))
        while True:
            yield waiting.popleft().result()
            waiting.append(thread.submit(next, batches))


def cut(order: Array, corpus: Corpus, tokens: int, most_pairs: int) -> Iterator[Array]:
    """Pairs in order, as many at a time as fit."""
    widths = corpus.lengths[order].sum(axis=1) + 4
    ends = np.cumsum(widths)
    first, base = 0, 0
    while True:
        last = min(int(np.searchsorted(ends, base + tokens, side="right")), first + most_pairs)
        if last >= len(order):
            return
        yield order[first:last]
        first, base = last, int(ends[last - 1])


def masked(ids: Tensor, share: float, strength: float, vocabulary: int) -> tuple[Tensor, Tensor, Tensor]:
    """Ids with some replaced, the places, and what stood there; always the same number of places.

    A `strength` under 1 leaves more of the places as they are: what is aligned later has no masks in it.
    """
    draws = torch.rand(len(ids), device=ids.device).masked_fill(ids < SPECIAL_TOKENS, -1)
    places = draws.topk(int(share * 0.85 * len(ids))).indices
    labels = ids[places]
    how = torch.rand(len(places), device=ids.device)
    anything = torch.randint(SPECIAL_TOKENS, vocabulary, places.shape, device=ids.device)
    replaced = torch.where(how < 0.8 * strength, MASK, torch.where(how > 1 - 0.1 * strength, anything, labels))
    return ids.index_put((places,), replaced), places, labels


def alignment_loss(
    forward: Tensor, backward: Tensor, guide: Tensor, cross: float, weights: Tensor | float = 1.0, stray: float = 0.0,
    possible: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """SO and `cross` times the cross entropy with the guide, summed over linked subwords, and how many there are.

    `stray` weighs what SO leaves open: words without a link must not find each other. `possible` links are as good as
    sure ones to SO and are no strays, but nobody asks for them. `weights` has one number a pair, shape (b, 1).
    """
    links = guide.float()
    allowed = links if possible is None else (guide | possible).float()
    losses, count = [], []
    for logs, axis in ((forward, 2), (backward, 1)):
        linked = links.sum(axis)
        there = (linked > 0).float() * weights
        found = (logs.exp() * allowed).sum(axis)
        entropy = -(logs * links).sum(axis) / linked.clamp(min=1)
        losses.append((there * (1 - found) + cross * entropy * there).sum())
        count.append(there.sum())
    total = losses[0] + losses[1]
    if stray:
        agreed = 0.99 * torch.minimum(forward, backward).exp()
        total = total - stray * (torch.log1p(-agreed) * (1 - allowed)).sum(2).mul(weights).sum()
    return total, count[0] + count[1]


def distillation_loss(
    ours: tuple[Tensor, Tensor], theirs: tuple[Tensor, Tensor], group: Group
) -> tuple[Tensor, Tensor]:
    """Cross entropy with a teacher's probabilities in both directions, summed over subwords, and how many there are."""
    losses, count = [], []
    for logs, teacher, inside, axis in zip(ours, theirs, group.inside, (2, 1), strict=True):
        losses.append(-(teacher.exp() * logs).sum(axis)[inside].sum())
        count.append(inside.sum())
    return losses[0] + losses[1], count[0] + count[1]


@torch.no_grad()
def denoised(
    forward: Tensor, backward: Tensor, guide: Tensor, words: Iterable[Tensor], inside: Iterable[Tensor],
    keep: float = 0.05, add: float = 0.5,
) -> Tensor:  # fmt: skip
    """Silver links that one direction believes in, and those that both are sure of, between whole words.

    `words` are the numbers of the words that pieces of either side belong to, `inside` which pieces are there: (b, n)
    and (b, m).
    """
    strongest, weakest = torch.maximum(forward, backward).exp(), torch.minimum(forward, backward).exp()
    same = [
        ((word[:, :, None] == word[:, None, :]) & there[:, :, None] & there[:, None, :]).half()
        for word, there in zip(words, inside, strict=True)
    ]

    def whole(links: Tensor) -> Tensor:
        return (same[0] @ links.half() @ same[1]) > 0

    return (guide & whole(strongest > keep)) | whole(weakest > add)


def fold(weights: dict[str, Tensor], layers: int, exponent: float) -> dict[str, Tensor]:
    """Move the temperature into the last LayerNorm and out of the head above it, which changes nothing else."""
    result = {name: value.detach().clone() for name, value in weights.items()}
    scale = TEMPERATURE**exponent
    for name in ("weight", "bias"):
        result[f"bert.encoder.layer.{layers - 1}.output.LayerNorm.{name}"] *= scale
    result["cls.predictions.transform.dense.weight"] /= scale
    return result


def loaded(folder: Path, device: str) -> FlatBert:
    """The model that `save` wrote."""
    config = json.loads((folder / "config.json").read_text())
    shape = Shape(
        vocabulary=config["vocab_size"],
        width=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        inner=config["intermediate_size"],
        positions=config["max_position_embeddings"],
        embedding=config.get("embedding_size", 0),
    )
    model = FlatBert(shape).to(device)
    stored = {name: value.float() for name, value in load_file(folder / "model.safetensors").items()}
    stored = fold(stored, shape.layers, 0.5)
    for name, value in model.named_weights().items():
        value.data.copy_(stored[name])
    return model


def save(model: FlatBert, out: Path, report: dict[str, object]) -> None:
    """Write weights, configuration and report as a Hugging Face folder (without its tokenizer)."""
    out.mkdir(parents=True, exist_ok=True)
    weights = fold(model.named_weights(), model.shape.layers, -0.5)
    save_file({k: v.half().contiguous().cpu() for k, v in weights.items()}, out / "model.safetensors", {"format": "pt"})
    (out / "config.json").write_text(json.dumps(model.shape.config(), indent=2))
    (out / "report.json").write_text(json.dumps(report, indent=2))


class Run:
    """A training run by the clock."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(options.seed)
        torch.backends.cuda.matmul.allow_tf32 = True
        shape = Shape(width=options.width, layers=options.layers, heads=options.width // 64, inner=options.inner)
        self.model = loaded(options.start, self.device) if options.start else FlatBert(shape).to(self.device)
        named = self.model.named_weights()
        matrices = [value for name, value in named.items() if ".layer." in name and value.ndim == 2]
        others = [value for name, value in named.items() if not (".layer." in name and value.ndim == 2)]
        self.muon = Muon(matrices, lr=options.matrix_rate)
        self.adam = torch.optim.AdamW(
            others, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.0, fused=self.device == "cuda"
        )
        compiled = not options.no_compile
        self.encode = torch.compile(self.model, dynamic=False) if compiled else self.model
        teacher = loaded(options.teacher, self.device) if options.teacher else None
        self.teacher = torch.compile(teacher, dynamic=False) if teacher and compiled else teacher
        self.predict = torch.compile(self._language_model, dynamic=False) if compiled else self._language_model
        self.supply = Supply(options.packed, self.device, options.exponent, options.seed, options.gold_tokens)
        self.random = np.random.default_rng(options.seed + 1)
        self.most_pairs = options.tokens // 22
        self.history: list[dict[str, object]] = []

    def _language_model(self, states: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(self.model.predictions(states).float(), labels)

    def train(self) -> None:
        """Train until the time is over; evaluate and save on the way."""
        options = self.options
        batches = ahead(self.batches())
        for progress in (0.0, 1.0):  # reads the first part and compiles before the clock starts
            self.step(next(batches), progress, 0.0)
        while options.wait and not options.wait.exists():
            time.sleep(0.2)
        self.supply.refresh()
        batches = ahead(self.batches())
        next(batches)
        began = evaluated = logged = time.time()
        limit, step, tokens = options.minutes * 60, 0, 0
        sums, counted = torch.zeros(2, device=self.device), 0
        while (progress := (time.time() - began) / limit) < 1:
            rate = min(1.0, progress / options.warmup if options.warmup else 1.0) * (1 - progress)
            self.supply.with_gold = progress >= options.gold
            batch = next(batches)
            sums += self.step(batch, progress, rate)
            tokens += batch.size
            step += 1
            if step in (1, 2, 3, 20) or step % 250 == 0:
                torch.cuda.synchronize() if self.device == "cuda" else None
                lm, so = (sums / (step - counted)).tolist()
                counted = step
                sums.zero_()
                if not lm + so < np.inf:
                    raise SystemExit(f"the loss is {lm + so} at step {step}")
                now = time.time()
                print(f"step {step} {100 * progress:.1f} % {now - began:.0f} s lm {lm:.3f} so {so:.3f} "
                      f"{tokens / (now - logged):,.0f} tokens/s", flush=True)  # fmt: skip
                tokens, logged = 0, now
            if time.time() - evaluated > options.eval_seconds:
                self.evaluate(step, progress)
                evaluated = time.time()
        self.evaluate(step, 1.0)
        save(
            self.model,
            options.out,
            {"steps": step, "history": self.history, "options": {k: str(v) for k, v in vars(options).items()}},
        )

    def evaluate(self, step: int, progress: float) -> None:
        """AER on the gold that is held out, and a checkpoint."""
        scores = {str(folder.name): held_out_aer(self.model, folder, self.device)
                  for folder in (self.options.packed / "held",)}  # fmt: skip
        for name, score in scores.items():
            print(f"  {name} {score}", flush=True)
        self.history.append({"step": step, "progress": progress, **scores})
        save(self.model, self.options.out, {"history": self.history})

    def batches(self) -> Iterator[FlatBatch]:
        """Batches of the supply, laid flat; sides are swapped, and kept apart, at random."""
        options = self.options
        for pairs in self.supply.batches(options.tokens, self.most_pairs):
            assert self.supply.corpus is not None
            swapped = self.random.random(len(pairs)) < 0.5
            apart = self.random.random(len(pairs)) < options.apart
            yield flat_batch(self.supply.corpus, pairs, swapped=swapped, apart=apart, tokens=options.tokens,
                             rows=options.tokens // 16, edges=EDGES)  # fmt: skip

    def step(self, batch: FlatBatch, progress: float, rate: float) -> Tensor:
        """One step; returns the losses for the log."""
        options = self.options
        for optimiser, full in ((self.muon, options.matrix_rate), (self.adam, options.rate)):
            for parameters in optimiser.param_groups:
                parameters["lr"] = full * rate
        ids, places, labels = masked(
            batch.ids, options.masking, 1.0 if progress < options.denoise else 0.4, self.model.shape.vocabulary
        )
        with torch.autocast(self.device, torch.bfloat16):
            states = self.encode(ids, batch.positions, batch.types, batch.ends)
            language_model = self.predict(states[places], labels)
        total, linked = torch.zeros((), device=self.device), torch.zeros((), device=self.device)
        if self.teacher is not None:
            with torch.no_grad(), torch.autocast(self.device, torch.bfloat16):
                taught = self.teacher(batch.ids, batch.positions, batch.types, batch.ends)
            for group in batch.groups:
                loss, count = distillation_loss(both_ways(states, group), both_ways(taught, group), group)
                total, linked = total + loss, linked + count
        elif progress >= options.guide:
            cross = 0.5 * (1 - progress) if progress < options.denoise else 0.1
            stray = 0.0 if progress < options.denoise else options.stray
            for group in batch.groups:
                forward, backward = both_ways(states, group)
                guide = group.guide
                if progress >= options.denoise:
                    guide = denoised(forward, backward, guide, group.words, group.inside)
                guide = torch.where(group.gold[:, None, None], group.guide | group.possible, guide)
                weights = 1 + (options.gold_weight - 1) * group.gold[:, None].float()
                loss, count = alignment_loss(forward, backward, guide, cross, weights, stray)
                total, linked = total + loss, linked + count
        links = total / linked.clamp(min=1)
        weight = 1.0 if progress < options.denoise else 0.5
        (weight * language_model + 2 * links).backward()
        torch.nn.utils.clip_grad_norm_([*self.adam.param_groups[0]["params"]], 1.0)
        self.muon.step()
        self.adam.step()
        self.model.zero_grad(set_to_none=True)
        return torch.stack([language_model.detach(), links.detach()])


if __name__ == "__main__":
    Run(arguments()).train()
