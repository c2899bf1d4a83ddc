"""The training loop: accelerate for devices, precision and processes; scores, checkpoints and metrics on the way."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from accelerate.state import AcceleratorState
from torch import Tensor

from weft.encoding.positions import max_length
from weft.encoding.torch import wrap_tokenizer
from weft.encoding.torch_base import prefer_stable_kernels
from weft.errors import SettingError, WeftError
from weft.text.json_objects import read_json_object
from weft.training import checkpoints
from weft.training.agreement import LITTLE_TO_LEARN, has_little_to_learn
from weft.training.batches import Batch, Material
from weft.training.card import run_summary, save_trained, trained_settings
from weft.training.checkpoints import Progress
from weft.training.config import TrainingConfig, known
from weft.training.defaults import epochs_by_size, settled
from weft.training.evaluate import LiveEncoder, dev_aers, held_out_losses
from weft.training.files import check_files, check_same, few_gold_remark, known_dev_remark
from weft.training.kept import KeptWeights
from weft.training.metrics import Metrics, Report, Totals
from weft.training.model import tokenizer_content, vocabulary_of
from weft.training.objectives import Losses, needs, scales
from weft.training.optimizers import optimizers_of
from weft.training.pace import Pace, duration
from weft.training.packed import PackedCorpus
from weft.training.packing import Packing, pack, packing_key
from weft.training.start import load_start
from weft.training.steps import HeldOut, Steps, ahead, compiles, material_of, tokens_at_once
from weft.tuning import DevSet

Say = Callable[[str], None]
RUN_FILE = "run.json"
# After so many steps there is a first guess how long it will take; then a word at least every so many seconds.
_FIRST_GUESS = 3
_QUIET = 60.0


def train(
    config: TrainingConfig,
    *,
    resume: bool = False,
    overwrite: bool = False,
    report: Report = lambda record: None,
    say: Say = lambda sentence: None,
) -> Progress:
    """Train an encoder and leave the best one in the output folder.

    Args:
        config: the settings of the run.
        resume: continue from the newest checkpoint in the output folder.
        overwrite: replace a model that is already there.
        report: called with each record of metrics.
        say: called with messages for people: what was chosen, how long the run will take, and the result.

    Returns:
        The state of the run at its end, with the scores before and after.

    Raises:
        WeftError: something is wrong with the settings, the files or the run itself.
    """
    config, chosen = settled(config)
    output = Path(config.output)
    dev_sets = check_files(config, resume=resume, overwrite=overwrite)
    if overwrite and not resume:
        shutil.rmtree(output / "checkpoints", ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    if resume and (done := checkpoints.finished(config)):
        say(f"the run in {output} is already complete; nothing is left to resume.")
        return done
    run = TrainingRun(config, dev_sets, report, say)
    known_dev = "" if resume else known_dev_remark(config, dev_sets)
    for remark in filter(None, (chosen, few_gold_remark(config), known_dev)):
        run.say(remark)
    try:
        return run.go(resume=resume)
    except torch.OutOfMemoryError as error:
        message = f"out of memory: lower `batch_tokens` (now {tokens_at_once(config):,}) or `max_subwords`."
        raise WeftError(message) from error


class TrainingRun:
    """One training run: everything loaded and prepared; `go` trains."""

    def __init__(self, config: TrainingConfig, dev_sets: list[DevSet], report: Report, say: Say) -> None:
        self.dev_sets = dev_sets
        self._asked = config
        self.output = Path(config.output)
        # Heads and upper layers may have no part in some objectives.
        uneven = DistributedDataParallelKwargs(find_unused_parameters=True)
        AcceleratorState._reset_state()  # accelerate remembers the precision of an earlier run in this process
        self.accelerator = Accelerator(mixed_precision=config.precision, kwargs_handlers=[uneven])
        self.say: Say = say if self.accelerator.is_main_process else lambda sentence: None
        prefer_stable_kernels()
        torch.manual_seed(config.seed)
        with self.accelerator.main_process_first():
            start = load_start(config, with_psi=needs(config, "psi"), with_teacher=needs(config, "teacher"))
        self.config = config = start.config
        self.model, self.library_tokenizer = start.model, start.tokenizer
        self.tokenizer = wrap_tokenizer(self.library_tokenizer)
        if known(config.batch_size) < self.accelerator.num_processes:
            raise SettingError(f"`batch_size` must be at least the number of processes, got {config.batch_size}.")
        self.corpus = self._pack()
        self.config = config = epochs_by_size(config, len(self.corpus))
        masks = needs(config, "mask") or config.masking.hidden > 0
        vocabulary = vocabulary_of(self.library_tokenizer) if masks else None
        device, processes = self.accelerator.device, self.accelerator.num_processes
        material = Material(self.corpus, config, self.tokenizer, vocabulary, self._longest())
        material = material_of(material, device, joint=self.model.joint, processes=processes)
        place = {"process": self.accelerator.process_index, "processes": processes}
        self.steps = Steps(material, **place)
        self.held_out = HeldOut(material, self.steps.held_out, **place)
        teacher = None if start.teacher is None else start.teacher.to(device)
        special = len(self.tokenizer.prefix), len(self.tokenizer.suffix)
        self.plain = Losses(self.model, config, special=special, teacher=teacher)
        optimizers = optimizers_of(self.plain, self.model.layers, config)
        self.losses, *self.optimizers = self.accelerator.prepare(self.plain, *optimizers)
        self.kept = KeptWeights(self.model, known(config.start_share))
        self._rates = [known(config.learning_rate), config.matrix_learning_rate]
        self._compiles = compiles(config, device, processes)
        if self._compiles:
            for model, tokens in zip((self.model, teacher), material.tokens or (), strict=False):
                if model is not None:
                    model.compile_flat(tokens)
        self.progress = Progress()
        speaks = self.accelerator.is_main_process
        self.metrics = Metrics(self.output, report, speaks=speaks, tensorboard=config.tensorboard)
        self._remark = start.said
        self.settings = trained_settings(config, self.model.layer, joint=self.model.joint)
        self.pace = Pace(self.steps.schedule.total_steps, config.minutes, known(config.warmup))

    def _longest(self) -> int:
        """Subwords of a sentence that there is room for."""
        room = max_length(self.model.library.config, self.library_tokenizer.model_max_length)
        special = len(self.tokenizer.prefix) + len(self.tokenizer.suffix)
        # Places begin again with the second sentence where a model reads both together.
        return min(self.config.max_subwords, (room if self.model.joint else room // 2) - special)

    def _pack(self) -> PackedCorpus:
        config = self.config
        packing = Packing(self.tokenizer, self._longest(), config.exclude, config.overlap, config.use_possible)
        key = packing_key(config.corpora, packing, tokenizer_content(self.library_tokenizer))
        with self.accelerator.main_process_first():
            return pack(config.corpora, packing, self.output / f"corpus-{key}")

    def go(self, *, resume: bool) -> Progress:
        """Train from the start, or from the newest checkpoint."""
        newest = checkpoints.latest(self.output / "checkpoints") if resume else None
        if newest:
            before = TrainingConfig.from_record(read_json_object(self.output / RUN_FILE))
            check_same(self.config, before, self.output)
            self.progress = checkpoints.load(self.accelerator, newest)
        if self.accelerator.is_main_process:
            self.config.save(self.output / RUN_FILE)
        self.metrics.forget_after(self.progress.step)
        self._announce()
        if self.progress.step == 0 and self._is_judged:
            self._evaluate()
        self.losses.train()
        if self._compiles:
            self._warm_up()
        self._train()
        if not self._is_judged:
            with self.kept.in_place():
                self._save()
        if not self.config.keep_checkpoints:
            checkpoints.finish(self.accelerator, self.output / "checkpoints", self._asked, self.progress)
        self.accelerator.end_training()
        return self.progress

    def _announce(self) -> None:
        if self._remark:
            self.say(self._remark)
        self.say(run_summary(self.config, self.corpus.counts, len(self.steps.held_out), self.pace.total))

    def _train(self) -> None:
        pinned = self.accelerator.device.type == "cuda"
        loader = ahead(self.steps, self.progress.step, workers=self.config.workers, pinned=pinned)
        config, totals, total = self.config, Totals(), self.pace.total
        self.pace.start(self.progress.step, self.progress.seconds)
        first, reported = self.progress.step, self.pace.seconds
        spoken = reported
        for batches in loader:
            seconds = self._shared_seconds()
            if self.pace.share(self.progress.step, seconds) >= 1:
                break
            totals.add(*self.step(batches, seconds))
            self.progress.step += 1
            step = self.progress.step
            ended = step == total
            judged = self._is_judged and (step % config.eval_every == 0 or ended)
            saved = step % config.save_every == 0 or ended
            reports = step % config.log_every == 0 or ended
            if not reports and (step == first + _FIRST_GUESS or self.pace.seconds - spoken > _QUIET):
                self._say_left()
                spoken = self.pace.seconds
            if judged or saved:
                totals.check(step)
            if reports:
                self._report(totals, self.pace.seconds - reported)
                totals, reported = Totals(), self.pace.seconds
                spoken = reported
            if judged and self._evaluate():
                return
            if saved:
                self._checkpoint()
        if self.pace.total is None or self.progress.step < self.pace.total:  # the clock ended it
            totals.check(self.progress.step)
            if self._is_judged:
                self._evaluate()
            self._checkpoint()

    def _say_left(self) -> None:
        """How long it will take; the first steps of a process are the slowest, so it may be less."""
        left, total = self.pace.left(self.progress.step), self.pace.total
        if left:
            of = f" of {total:,}" if total else ""
            self.say(f"step {self.progress.step:,}{of}, {duration(left)} left.")

    def _checkpoint(self) -> None:
        self.progress.seconds = self.pace.seconds
        checkpoints.save(self.accelerator, self.output / "checkpoints", self.progress)

    def _shared_seconds(self) -> float:
        """Time spent, the same for all processes."""
        if self.config.minutes is None or self.accelerator.num_processes == 1:
            return self.pace.seconds
        own = torch.tensor([self.pace.seconds], device=self.accelerator.device)
        shared: Any = self.accelerator.reduce(own, reduction="mean")
        return float(shared[0])

    def step(self, batches: list[Batch], seconds: float = 0.0) -> tuple[dict[str, Tensor], int]:
        """One optimizer step over all batches; the losses are means over the whole step of all processes."""
        config, step = self.config, self.progress.step
        # Dropout depends on the step alone, so a resumed run repeats it.
        torch.manual_seed(hash((config.seed, step, self.accelerator.process_index)) & 0x7FFFFFFF)
        for optimizer, rate in zip(self.optimizers, self._rates, strict=False):
            for group in optimizer.param_groups:
                group["lr"] = rate * self.pace.rate(step, seconds)
        by, share = scales(batches, config, self._total), self.pace.share(step, seconds)
        denoise = share >= known(config.guide.denoise_after)
        masking = config.masking.strength(share)
        sums: dict[str, Tensor] = {}
        tokens = 0
        for number, batch in enumerate(batches):
            last = number == len(batches) - 1
            with contextlib.nullcontext() if last else self.accelerator.no_sync(self.losses):
                with self.accelerator.autocast():
                    losses = self.losses(self._here(batch), denoise=denoise, masking=masking)
                means = {name: loss * by[name] for name, loss in losses.items()}
                self.accelerator.backward(torch.stack(list(means.values())).sum() * self.accelerator.num_processes)
            for name, value in means.items():
                sums[name] = sums.get(name, torch.zeros_like(value)) + value.detach()
            tokens += batch.tokens
        # Muon takes no notice of how long gradients are.
        clipped = [value for group in self.optimizers[0].param_groups for value in group["params"]]
        self.accelerator.clip_grad_norm_(clipped, config.clip)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return sums, tokens

    def _total(self, counts: list[float]) -> list[float]:
        """Sums over all processes."""
        if self.accelerator.num_processes == 1:  # alone there is nothing to wait for the device for
            return counts
        shared: Any = self.accelerator.reduce(torch.tensor(counts, device=self.accelerator.device), reduction="sum")
        found: list[float] = shared.tolist()
        return found

    def _warm_up(self) -> None:
        """Read a step and forget it: encoders are compiled before the clock starts."""
        for batch in self.steps[self.progress.step]:
            with self.accelerator.autocast():
                losses = self.losses(self._here(batch), masking=1.0)
            self.accelerator.backward(torch.stack(list(losses.values())).sum())
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)

    def _here(self, batch: Batch) -> Batch:
        return batch.mapped(lambda tensor: tensor.to(self.accelerator.device, non_blocking=True))

    def _report(self, totals: Totals, seconds: float) -> None:
        values = torch.stack(
            [*totals.losses.values(), torch.tensor(float(totals.tokens), device=self.accelerator.device)]
        )
        summed: Any = self.accelerator.reduce(values, reduction="sum")
        *losses, tokens = summed.tolist()
        record = {"step": float(self.progress.step), "of": float(self.pace.total or 0)}
        record |= {name: loss / totals.steps for name, loss in zip(totals.losses, losses, strict=True)}
        record |= {"tokens/s": tokens / seconds, "lr": self.optimizers[0].param_groups[0]["lr"]}
        record["seconds left"] = self.pace.left(self.progress.step) or 0.0
        self.metrics.write(record)

    @property
    def _is_judged(self) -> bool:
        """Whether anything says how good the model is; otherwise the last weights are kept."""
        return bool(self.dev_sets) or len(self.held_out) > 0

    def _evaluate(self) -> bool:
        """Score the weights to keep, and keep them if they are the best so far; true if it is time to stop."""
        with self.kept.in_place():
            score, parts = self._dev_aer() if self.dev_sets else self._held_out_loss()
            self.metrics.write({"step": float(self.progress.step), **parts})
            self.progress = self.progress.scored(score)
            if self.progress.without_gain == 0:
                self._save()
        if self.progress.step == 0 and has_little_to_learn(self.config, parts):
            self.say(LITTLE_TO_LEARN)
        return self.config.patience is not None and self.progress.without_gain >= self.config.patience

    def _dev_aer(self) -> tuple[float, dict[str, float]]:
        room = max_length(self.model.library.config, self.library_tokenizer.model_max_length)
        encoder = LiveEncoder(self.model, self.tokenizer, max_length=room, batch_tokens=tokens_at_once(self.config))
        aers = dev_aers(encoder, self.model, self.dev_sets, self.config.extraction)
        mean = sum(aers) / len(aers)
        return mean, {"aer": mean} | {f"aer {dev.name}": aer for dev, aer in zip(self.dev_sets, aers, strict=True)}

    def _held_out_loss(self) -> tuple[float, dict[str, float]]:
        def total(values: Tensor) -> Tensor:
            summed: Tensor = self.accelerator.reduce(values, reduction="sum")
            return summed

        parts = held_out_losses(self.plain, iter(self.held_out), self.config, self.accelerator.device, total)
        return parts["held out"], parts

    def _save(self) -> None:
        if self.accelerator.is_main_process:
            save_trained(
                self.output,
                self.model,
                self.library_tokenizer,
                self.config,
                self.settings,
                self.progress,
                self.corpus.counts,
            )
        self.accelerator.wait_for_everyone()
