"""Gold (end of steps 5 and 8 to 10): epochs of the supervised objective over the dev sets, or mixed with silver pairs.

Gold batches may alternate with denoised silver ones (`--silver-weight`). Sentences that are held out say when to stop;
the best weights are kept.

    python finetune.py PACKED START OUT --epochs 10
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from evaluate import held_out_aer
from packed import MASK, SPECIAL_TOKENS, Array, Corpus, FlatBatch, flat_batch, read_shard
from pretrain import EDGES, Supply, alignment_loss, denoised, loaded, save
from similarity import both_ways
from torch import Tensor


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("packed", type=Path)
    parser.add_argument("start", type=Path, help="folder of the pretrained model")
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=float, default=10)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--gold-tokens", type=int, default=4096)
    parser.add_argument("--silver-tokens", type=int, default=16_384)
    parser.add_argument("--silver-weight", type=float, default=0.5)
    parser.add_argument("--cross", type=float, default=0.3, help="weight of the cross entropy beside SO")
    parser.add_argument("--stray", type=float, default=0.0, help="weight of links between words that have none")
    parser.add_argument("--possible", choices=("sure", "free"), default="sure", help="what possible links are")
    parser.add_argument("--apart", type=float, default=0.1)
    parser.add_argument("--masking", type=float, default=0.05, help="share of tokens replaced by a mask in gold")
    parser.add_argument("--dropout", type=float, default=0.0, help="share of activations dropped")
    parser.add_argument("--all", action="store_true", help="train on what was held out too; keep the last weights")
    parser.add_argument("--last", action="store_true", help="keep the last weights, not those that score best")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def gold_batches(corpus: Corpus, tokens: int, random: np.random.Generator) -> Iterator[Array]:
    """Gold pairs in random order, epoch after epoch, about so many tokens at a time."""
    while True:
        order = random.permutation(len(corpus))
        ends = np.cumsum(corpus.lengths[order].sum(axis=1) + 4)
        yield from np.split(order, np.searchsorted(ends, np.arange(tokens, ends[-1], tokens)))


class Finetuning:
    """One run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(options.seed)
        self.random = np.random.default_rng(options.seed)
        self.model = loaded(options.start, self.device)
        self.model.dropout = options.dropout
        trained = [value for name, value in self.model.named_weights().items() if "cls." not in name]
        self.optimiser = torch.optim.AdamW(trained, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01)
        folders = ["gold", "held"] if options.all else ["gold"]
        paths = [path for folder in folders for path in sorted((options.packed / folder).glob("*.xz"))]
        shards = [read_shard(path) for path in paths]
        self.gold = Corpus(shards, list(range(len(shards))), self.device)
        self.supply = Supply(options.packed, self.device, 0.7, options.seed)

    def _batch(self, corpus: Corpus, pairs: Array) -> FlatBatch:
        swapped = self.random.random(len(pairs)) < 0.5
        apart = self.random.random(len(pairs)) < self.options.apart
        tokens = int((corpus.lengths[pairs].sum(axis=1) + 4).sum())
        return flat_batch(corpus, pairs, swapped=swapped, apart=apart, tokens=tokens, rows=2 * len(pairs), edges=EDGES)

    def _loss(self, batch: FlatBatch, silver: bool) -> Tensor:
        ids = batch.ids
        if not silver and self.options.masking:
            hidden = (torch.rand(len(ids), device=ids.device) < self.options.masking) & (ids >= SPECIAL_TOKENS)
            ids = ids.masked_fill(hidden, MASK)
        with torch.autocast(self.device, torch.bfloat16):
            states = self.model(ids, batch.positions, batch.types, batch.ends)
        total, linked = torch.zeros((), device=self.device), torch.zeros((), device=self.device)
        for group in batch.groups:
            forward, backward = both_ways(states, group)
            guide = group.guide
            if silver:
                guide = denoised(forward, backward, guide, group.words, group.inside)
            if self.options.possible == "sure":
                guide = guide | group.possible
            loss, count = alignment_loss(
                forward, backward, guide, self.options.cross, stray=self.options.stray, possible=group.possible
            )
            total, linked = total + loss, linked + count
        return total / linked.clamp(min=1)

    def train(self) -> None:
        """Train, evaluating after every epoch; keep the best weights."""
        options = self.options
        gold = gold_batches(self.gold, options.gold_tokens, self.random)
        silver = self.supply.batches(options.silver_tokens, 4096) if options.silver_weight else None
        epoch = int((self.gold.lengths.sum() + 4 * len(self.gold)) // options.gold_tokens) + 1
        steps, best = int(options.epochs * epoch), np.inf
        history = []
        for step in range(steps + 1):
            if step % (2 * epoch) == 0 or step == steps:
                scores = held_out_aer(self.model, options.packed / "held", self.device)
                print(f"epoch {step / epoch:.1f} {scores}", flush=True)
                history.append({"step": step, "held": scores})
                if options.all or options.last or scores["joint"]["mean"] < best:  # type: ignore[index]
                    best = scores["joint"]["mean"]  # type: ignore[index]
                    save(
                        self.model,
                        options.out,
                        {"history": history, "options": {k: str(v) for k, v in vars(options).items()}},
                    )
            for group in self.optimiser.param_groups:
                group["lr"] = options.rate * min(1, (step + 1) / 20) * (1 - step / (steps + 1))
            loss = self._loss(self._batch(self.gold, next(gold)), silver=False)
            if silver is not None:
                pairs = next(silver)
                assert self.supply.corpus is not None
                loss = loss + options.silver_weight * self._loss(self._batch(self.supply.corpus, pairs), silver=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.optimiser.param_groups[0]["params"], 1.0)
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)


if __name__ == "__main__":
    Finetuning(arguments()).train()
