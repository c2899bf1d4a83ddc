"""The training loop: accelerate for devices, precision and processes; dev AER, checkpoints and metrics on the way."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from torch import Tensor
from torch.utils.data import DataLoader

from weft.encoding.torch import wrap_tokenizer
from weft.encoding.torch_base import max_length, prefer_stable_kernels
from weft.errors import SettingError, WeftError
from weft.text.files import checksum
from weft.training import checkpoints
from weft.training.card import save_trained
from weft.training.checkpoints import Progress
from weft.training.config import TrainingConfig
from weft.training.corpus import PackedCorpus, Packing, pack
from weft.training.evaluate import LiveEncoder, dev_aers
from weft.training.losses import Losses
from weft.training.model import load_trainable, vocabulary_of
from weft.training.steps import Piece, Steps
from weft.tuning import DevSet

Report = Callable[[dict[str, float]], None]
METRICS_FILE = "metrics.jsonl"
RUN_FILE = "run.json"
_LANGUAGE_MODELS = ("mlm", "tlm")


def train(
    config: TrainingConfig, *, resume: bool = False, overwrite: bool = False, report: Report = lambda record: None
) -> Progress:
    """Train an encoder and leave the best one in the output folder.

    Args:
        config: the run.
        resume: go on from the newest checkpoint in the output folder.
        overwrite: replace a model that is there already.
        report: called with each record of metrics.
    """
    config = config.settled()
    output = Path(config.output)
    _check_output(output, resume=resume, overwrite=overwrite)
    dev_sets = [DevSet.read(prefix) for prefix in config.dev]
    run = TrainingRun(config, dev_sets, report)
    try:
        return run.go(resume=resume)
    except torch.OutOfMemoryError as error:
        message = f"out of memory: lower batch_tokens (now {config.batch_tokens:,}) or max_subwords."
        raise WeftError(message) from error


def _check_output(output: Path, *, resume: bool, overwrite: bool) -> None:
    taken = (output / "config.json").exists() or checkpoints.latest(output / "checkpoints") is not None
    if taken and not resume and not overwrite:
        raise SettingError(f"{output} holds a model already; use --resume to go on or --overwrite to replace it.")
    if overwrite and not resume:
        shutil.rmtree(output / "checkpoints", ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)


def _check_same(config: TrainingConfig, path: Path) -> None:
    """A run goes on only as what it was; half of one run and half of another would be neither."""
    before = TrainingConfig.from_record(json.loads(path.read_text(encoding="utf-8")))
    names = [item.name for item in fields(TrainingConfig) if getattr(before, item.name) != getattr(config, item.name)]
    if names:
        raise SettingError(
            f"the run in {path.parent} had other settings: {', '.join(names)}. Use them, or --overwrite."
        )


def _forget_after(step: int, path: Path) -> None:
    """Drop metrics of steps that are about to be done again."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() and step else []
    path.write_text("".join(line for line in lines if json.loads(line)["step"] <= step))


def _board(output: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise WeftError("metrics for TensorBoard need its package: pip install tensorboard.") from error
    make: Any = SummaryWriter
    return make(str(output / "tensorboard"))


@dataclass(slots=True)
class _Totals:
    """Sums of losses and tokens since the last report, kept on the device until then."""

    losses: dict[str, Tensor]
    tokens: int = 0
    steps: int = 0

    def add(self, losses: dict[str, Tensor], tokens: int) -> None:
        for name, loss in losses.items():
            self.losses[name] = self.losses.get(name, torch.zeros_like(loss)) + loss
        self.tokens += tokens
        self.steps += 1


class TrainingRun:
    """One training run: everything loaded and prepared; `go` trains."""

    def __init__(self, config: TrainingConfig, dev_sets: list[DevSet], report: Report) -> None:
        self.config = config
        self.dev_sets = dev_sets
        self.report = report
        self.output = Path(config.output)
        # Heads and upper layers may have no part in some objectives.
        uneven = DistributedDataParallelKwargs(find_unused_parameters=True)
        self.accelerator = Accelerator(mixed_precision=config.precision, kwargs_handlers=[uneven])
        prefer_stable_kernels()
        torch.manual_seed(config.seed)
        self.model, self.library_tokenizer = load_trainable(config)
        self.tokenizer = wrap_tokenizer(self.library_tokenizer)
        if config.batch_size < self.accelerator.num_processes:
            raise SettingError(f"`batch_size` must be at least the number of processes, got {config.batch_size}.")
        self.corpus = self._pack()
        vocabulary = vocabulary_of(self.library_tokenizer) if set(_LANGUAGE_MODELS) & set(config.objectives) else None
        self.steps = Steps(
            self.corpus,
            config,
            self.tokenizer,
            vocabulary,
            process=self.accelerator.process_index,
            processes=self.accelerator.num_processes,
        )
        losses = Losses(self.model, config, prefix=len(self.tokenizer.prefix))
        optimizer = torch.optim.AdamW(
            losses.parameters(),
            lr=config.learning_rate,
            weight_decay=config.weight_decay,
            fused=torch.cuda.is_available(),
        )
        self.losses, self.optimizer = self.accelerator.prepare(losses, optimizer)
        self.progress = Progress()
        self.board = _board(self.output) if config.tensorboard and self.accelerator.is_main_process else None

    def _pack(self) -> PackedCorpus:
        config = self.config
        room = max_length(self.model.library.config, self.library_tokenizer.model_max_length)
        special = len(self.tokenizer.prefix) + len(self.tokenizer.suffix)
        longest = min(config.max_subwords, room // 2 - special)
        packing = Packing(self.tokenizer, longest, config.exclude, config.overlap, config.use_possible)
        files = [Path(path) for corpus in config.corpora for path in (corpus.path, corpus.target, corpus.links) if path]
        parts = (
            [asdict(corpus) for corpus in config.corpora],
            config.exclude,
            config.overlap,
            config.use_possible,
            longest,
        )
        key = json.dumps([parts, [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]])
        key += self.library_tokenizer.name_or_path
        folder = self.output / f"corpus-{checksum(key.encode(), size=8).hexdigest()}"
        with self.accelerator.main_process_first():
            return pack(config.corpora, packing, folder)

    def go(self, *, resume: bool) -> Progress:
        """Train from the start, or from the newest checkpoint."""
        newest = checkpoints.latest(self.output / "checkpoints") if resume else None
        if newest:
            _check_same(self.config, self.output / RUN_FILE)
            self.progress = checkpoints.load(self.accelerator, newest)
        if self.accelerator.is_main_process:
            self.config.save(self.output / RUN_FILE)
            _forget_after(self.progress.step, self.output / METRICS_FILE)
        total = self.steps.schedule.total_steps
        remaining = range(self.progress.step, total)
        loader: DataLoader[list[Piece]] = DataLoader(
            self.steps,
            batch_size=None,
            sampler=remaining,
            num_workers=self.config.workers,
            pin_memory=self.accelerator.device.type == "cuda",
        )
        totals = _Totals({})
        start = time.perf_counter()
        self.losses.train()
        for pieces in loader:
            totals.add(*self.step(pieces))
            self.progress.step += 1
            step = self.progress.step
            if step % self.config.log_every == 0 or step == total:
                self._report(totals, time.perf_counter() - start)
                totals, start = _Totals({}), time.perf_counter()
            if self.dev_sets and (step % self.config.eval_every == 0 or step == total) and self._evaluate():
                break
            if step % self.config.save_every == 0 or step == total:
                checkpoints.save(self.accelerator, self.output / "checkpoints", self.progress)
        if not self.dev_sets:
            self._save()
        self.accelerator.end_training()
        return self.progress

    def step(self, pieces: list[Piece]) -> tuple[dict[str, Tensor], int]:
        """One optimizer step over all pieces; the losses are means over the whole batch of all processes."""
        config, step = self.config, self.progress.step
        # Dropout depends on the step alone, so a resumed run repeats it.
        torch.manual_seed(hash((config.seed, step, self.accelerator.process_index)) & 0x7FFFFFFF)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * self._rate(step)
        counts = self._counts(pieces)
        denoise = step >= config.guide.denoise_after * self.steps.schedule.total_steps
        sums: dict[str, Tensor] = {}
        tokens = 0
        for number, piece in enumerate(pieces):
            last = number == len(pieces) - 1
            with contextlib.nullcontext() if last else self.accelerator.no_sync(self.losses):
                moved = {name: value.to(self.accelerator.device, non_blocking=True) for name, value in piece.items()}
                with self.accelerator.autocast():
                    losses = self.losses(moved, denoise=denoise)
                means = {name: loss * self._scale(name, counts) for name, loss in losses.items()}
                self.accelerator.backward(torch.stack(list(means.values())).sum() * self.accelerator.num_processes)
            for name, value in means.items():
                sums[name] = sums.get(name, torch.zeros_like(value)) + value.detach()
            tokens += sum(int(value.sum()) for name, value in piece.items() if name.endswith("attention"))
        self.accelerator.clip_grad_norm_(self.losses.parameters(), config.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return sums, tokens

    def _counts(self, pieces: list[Piece]) -> dict[str, float]:
        """Pairs and masked tokens of the whole batch, over all pieces and processes."""
        names = ["pairs", *(name for name in _LANGUAGE_MODELS if name in self.config.objectives)]
        own = [
            sum(float(piece["pairs"]) if name == "pairs" else float(len(piece[f"{name}_labels"])) for piece in pieces)
            for name in names
        ]
        if self.accelerator.num_processes > 1:  # alone there is nothing to wait for the device for
            shared: Any = self.accelerator.reduce(torch.tensor(own, device=self.accelerator.device), reduction="sum")
            own = shared.tolist()
        return dict(zip(names, own, strict=True))

    def _scale(self, objective: str, counts: dict[str, float]) -> float:
        if objective in _LANGUAGE_MODELS:
            return 2 / max(1.0, counts[objective])  # two terms: both sentences (MLM), or both orders (TLM)
        return (self.config.beta if objective == "co" else 1.0) / counts["pairs"]

    def _rate(self, step: int) -> float:
        """The share of the learning rate at a step: up in a straight line, then down in another."""
        total = self.steps.schedule.total_steps
        rising = round(self.config.warmup * total)
        if step < rising:
            return (step + 1) / rising
        return (total - step) / max(1, total - rising)

    def _report(self, totals: _Totals, seconds: float) -> None:
        values = torch.stack(
            [*totals.losses.values(), torch.tensor(float(totals.tokens), device=self.accelerator.device)]
        )
        summed: Any = self.accelerator.reduce(values, reduction="sum")
        *losses, tokens = summed.tolist()
        record = {"step": float(self.progress.step), "of": float(self.steps.schedule.total_steps)}
        record |= {name: loss / totals.steps for name, loss in zip(totals.losses, losses, strict=True)}
        record |= {"tokens/s": tokens / seconds, "lr": self.optimizer.param_groups[0]["lr"]}
        self._write(record)

    def _write(self, record: dict[str, float]) -> None:
        if self.accelerator.is_main_process:
            with (self.output / METRICS_FILE).open("a") as file:
                file.write(json.dumps(record) + "\n")
            if self.board is not None:
                for name, value in record.items():
                    self.board.add_scalar(name, value, int(record["step"]))
            self.report(record)

    def _evaluate(self) -> bool:
        """Score the dev sets and keep the model if it is the best so far; true if it is time to stop."""
        room = max_length(self.model.library.config, self.library_tokenizer.model_max_length)
        encoder = LiveEncoder(self.model, self.tokenizer, max_length=room, batch_tokens=self.config.batch_tokens)
        aers = dev_aers(encoder, self.model, self.dev_sets, self.config.extraction)
        mean = sum(aers) / len(aers)
        names = {f"aer {dev.name}": aer for dev, aer in zip(self.dev_sets, aers, strict=True)}
        self._write({"step": float(self.progress.step), "aer": mean, **names})
        progress = self.progress
        if progress.best_aer is None or mean < progress.best_aer:
            self.progress = replace(progress, best_aer=mean, best_step=progress.step, without_gain=0)
            self._save()
        else:
            self.progress = replace(progress, without_gain=progress.without_gain + 1)
        return self.config.patience is not None and self.progress.without_gain >= self.config.patience

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            save_trained(
                self.output,
                self.model,
                self.library_tokenizer,
                self.config,
                self.progress,
                self.corpus.counts,
            )
        self.accelerator.wait_for_everyone()
