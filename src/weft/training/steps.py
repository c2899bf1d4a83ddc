"""A run's steps: which pairs, drawn how, cut into batches that fit the memory.

A step depends on (seed, step) alone. Its random numbers are drawn for the whole step, in its order, before each process
takes its share: a resumed run, or one on more processes, learns from exactly the same.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import parent_process
from types import TracebackType
from zlib import crc32

import numpy as np
import torch

from weft.arrays import IntArray
from weft.errors import SettingError, WeftError
from weft.training.batches import Batch, Draws, Material
from weft.training.changes import Drawn
from weft.training.config import TrainingConfig, known
from weft.training.flat_batches import FLAT, FlatMaker, objectives_with_flat_rows
from weft.training.objectives import makers
from weft.training.packed import PairsOf, Units
from weft.training.rows import pieces
from weft.training.sampling import RandomPairs, sampling_order
from weft.training.segments import Sentences

# Enough to see a difference, and quickly read.
_MOST_HELD_OUT = 500
_AT_ONCE = 64
_ENDLESS = 1 << 40
# Fewer than a pair has on average, so that enough are drawn to fill a step.
_TOKENS_A_PAIR = 24
_AHEAD = 3
_STEPS_A_WORKER = 2
_SECONDS_TO_END = 2
_MOST_SIDES = 8
# Text may take so much of the room that a GPU has left.
_TEXT_ON_DEVICE = 0.25
_TOKENS_ON_GPU, _TOKENS_ON_CPU = 8192, 512

Make = Callable[[int], list[Batch]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How many steps a run has, and where epochs begin."""

    steps_per_epoch: int
    batch_size: int
    total_steps: int | None
    """None if only the clock ends the run."""

    @classmethod
    def of(cls, pairs_per_epoch: int, config: TrainingConfig, *, processes: int = 1) -> Schedule:
        """At least one step, however small the corpus; the last batch of an epoch may be smaller.

        It is left out if it has no pair for some process.
        """
        size = known(config.batch_size)
        whole, rest = divmod(pairs_per_epoch, size)
        per_epoch = max(1, whole + (rest >= processes))
        total = config.max_steps
        if total is None and (config.epochs is not None or config.minutes is None):
            total = max(1, round(per_epoch * (config.epochs or 1.0)))
        return cls(per_epoch, size, total)

    def place(self, step: int) -> tuple[int, slice]:
        """The epoch of a step and its part of the epoch's order."""
        epoch, number = divmod(step, self.steps_per_epoch)
        return epoch, slice(number * self.batch_size, (number + 1) * self.batch_size)


def tokens_at_once(config: TrainingConfig) -> int:
    """Subwords that go through the encoder at once: as given, or what suits the device."""
    return config.batch_tokens or (_TOKENS_ON_GPU if torch.cuda.is_available() else _TOKENS_ON_CPU)


def material_of(material: Material, device: torch.device, *, joint: bool, processes: int) -> Material:
    """The same with the text at hand for rows that are laid flat; what a GPU has room for is laid there.

    Args:
        material: what rows are made of.
        device: where the model is.
        joint: whether it reads both sentences of a pair together.
        processes: how many there are; one alone has batches of a fixed size, where those are asked for.
    """
    config = material.config
    flat = objectives_with_flat_rows(config)
    if not flat:
        return material
    sentences = Sentences(material.corpus, material.tokenizer, joint=joint)
    fits = device.type == "cuda" and sentences.bytes < _TEXT_ON_DEVICE * torch.cuda.mem_get_info(device)[0]
    if fits and set(config.chosen_objectives) <= flat:  # other rows are made by processes that know no GPU
        sentences.move(device)
    fixed = config.step_tokens is not None and processes == 1
    # A pair costs most if it stands beside another and a teacher reads both by way of a third language.
    least = _MOST_SIDES * (material.longest + sentences.around)
    if config.step_tokens is not None and min(step_sizes(config)) < least:
        raise SettingError(
            f"`step_tokens` and `teacher_tokens` must be at least {least:,} for sentences of up to {material.longest} "
            f"subwords, got {min(step_sizes(config)):,}."
        )
    return replace(material, sentences=sentences, tokens=step_sizes(config) if fixed else None)


class _Sampled:
    """Batches of pairs, with what their objectives look at."""

    def __init__(self, material: Material, *, process: int, processes: int) -> None:
        self._material = material
        self._makers = makers(material.config)
        self._budget = tokens_at_once(material.config)
        self._process, self._processes = process, processes

    def batches(self, units: Units, seed: tuple[int, ...]) -> list[Batch]:
        """This process's share of some pairs."""
        pairs = PairsOf(self._material.corpus, units)
        draws = self._draws(pairs, seed)
        own = list(range(len(pairs)))[self._process :: self._processes]
        return [self._batch(pairs, draws, chosen) for chosen in pieces(pairs.lengths, own, self._budget)]

    @property
    def is_flat(self) -> bool:
        """Whether all rows are laid flat."""
        return all(maker.name == FLAT.name for maker in self._makers)

    def _draws(self, pairs: PairsOf, seed: tuple[int, ...]) -> dict[str, Draws]:
        return {
            # Each kind of rows has numbers of its own: another objective beside it changes none of them.
            maker.name: maker.draw(np.random.default_rng((*seed, crc32(maker.name.encode()))), pairs, self._material)
            for maker in self._makers
        }

    def _batch(self, pairs: PairsOf, draws: dict[str, Draws], chosen: Sequence[int] | IntArray) -> Batch:
        which = np.asarray(chosen, dtype=np.int64)
        some = pairs.some(which)
        parts = {
            maker.name: maker.make(some, tuple(drawn[which] for drawn in draws[maker.name]), self._material)
            for maker in self._makers
        }
        return Batch(len(some), parts)


class Steps(_Sampled):
    """The steps of a run as one process sees them; each is a list of batches."""

    def __init__(self, material: Material, *, process: int = 0, processes: int = 1) -> None:
        super().__init__(material, process=process, processes=processes)
        config, corpus = material.config, material.corpus
        self.held_out = held_out(len(corpus), config)
        self._epoch, self._order = -1, np.zeros(0, dtype=np.int64)
        self._drawn = None if config.step_tokens is None else RandomPairs(corpus, config)
        per_epoch = len(self._order_of(0)) if self._drawn is None else len(corpus)
        self.schedule = Schedule.of(per_epoch, config, processes=processes)

    def _order_of(self, epoch: int) -> IntArray:
        if epoch != self._epoch:
            order = sampling_order(self._material.corpus.pools, self._material.config, epoch=epoch)
            self._order = order[~np.isin(order, self.held_out)] if len(self.held_out) else order
            self._epoch = epoch
        return self._order

    def __len__(self) -> int:
        return min(self.schedule.total_steps or _ENDLESS, _ENDLESS)

    def __getitem__(self, step: int) -> list[Batch]:
        seed = self._material.config.seed, step, 1
        if self._drawn is not None:
            return self._filled(self._drawn, seed)
        epoch, part = self.schedule.place(step)
        return self.batches(self._material.corpus.units(self._order_of(epoch)[part]), seed)

    def _filled(self, drawn: RandomPairs, seed: tuple[int, ...]) -> list[Batch]:
        """Pairs at random, as many as fill a step."""
        tokens = step_sizes(self._material.config)
        units = drawn.draw(np.random.default_rng(seed), max(1, tokens[0] // _TOKENS_A_PAIR))
        units = units[~np.isin(units.pair, self.held_out)] if len(self.held_out) else units
        pairs = PairsOf(self._material.corpus, units)
        draws = self._draws(pairs, seed)
        flat = FlatMaker(self._material)
        count = flat.fitting(units, Drawn(*draws[FLAT.name]), tokens)
        return [self._batch(pairs, draws, np.arange(count)[self._process :: self._processes])]


class HeldOut(_Sampled):
    """Pairs that are kept back, the same ones with the same masks whenever they are looked at."""

    def __init__(self, material: Material, numbers: IntArray, *, process: int = 0, processes: int = 1) -> None:
        # Each pair stands alone in its row, and batches are of any size.
        alone = replace(material.config, changes=replace(material.config.changes, double=0.0))
        super().__init__(replace(material, config=alone, tokens=None), process=process, processes=processes)
        self._numbers = numbers

    def __len__(self) -> int:
        return -(-len(self._numbers) // _AT_ONCE)

    def __iter__(self) -> Iterator[list[Batch]]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, part: int) -> list[Batch]:
        chosen = self._numbers[part * _AT_ONCE : (part + 1) * _AT_ONCE]
        return self.batches(self._material.corpus.units(chosen), (self._material.config.seed, part, 2))


def compiles(config: TrainingConfig, device: torch.device, processes: int) -> bool:
    """Whether encoders are compiled: asked for, or where all batches have one size and attention has no padding."""
    if config.compile is not None:
        return config.compile
    return device.type == "cuda" and config.precision != "no" and config.step_tokens is not None and processes == 1


def step_sizes(config: TrainingConfig) -> tuple[int, int]:
    """Tokens of a step that is filled, for the model and for the teacher."""
    tokens = known(config.step_tokens)
    return tokens, config.teacher_tokens or tokens


def held_out(pairs: int, config: TrainingConfig) -> IntArray:
    """The numbers of the pairs that are kept back; at least one if any, and never all."""
    count = min(_MOST_HELD_OUT, pairs - 1, round(pairs * (config.held_out or 0)))
    generator = np.random.default_rng((config.seed, 3))
    return np.sort(generator.permutation(pairs)[: max(0, count)])


def ahead(steps: Steps, first: int, *, workers: int, pinned: bool) -> Iterator[list[Batch]]:
    """The steps from `first` on, made while earlier ones are trained on: by a thread, or by other processes.

    Rows that are laid flat are made by few calls of large arrays, where the text lies; all others by Python.

    Args:
        steps: the run's.
        first: the number of the first one wanted.
        workers: how many processes; 0 makes each step when it is wanted.
        pinned: whether they go to a GPU.
    """
    numbers = range(first, len(steps))
    if workers and steps.is_flat:
        yield from _made_by(ThreadPoolExecutor(1, thread_name_prefix="batches"), steps.__getitem__, numbers, _AHEAD)
        return
    made = _by_processes(steps, numbers, workers) if workers else map(steps.__getitem__, numbers)
    for batches in made:
        yield [batch.pin_memory() for batch in batches] if pinned else batches


def _made_by(executor: Executor, make: Make, numbers: range, at_once: int) -> Iterator[list[Batch]]:
    """Steps in order, so many of them being made or waiting."""
    wanted = iter(numbers)
    try:
        waiting = deque(executor.submit(make, number) for number in islice(wanted, at_once))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(executor.submit(make, number) for number in islice(wanted, 1))
    finally:
        executor.shutdown(cancel_futures=True)


def _by_processes(steps: Steps, numbers: range, workers: int) -> Iterator[list[Batch]]:
    # Not torch's loader: it tells of a lost worker wherever the main process happens to be, even where nobody listens.
    pool = ProcessPoolExecutor(workers, initializer=_begin_worker, initargs=(steps,))
    try:
        yield from _made_by(pool, _make_step, numbers, _STEPS_A_WORKER * workers)
    except BrokenProcessPool as error:
        raise WeftError(
            "a process that prepares batches was killed, perhaps because memory ran out; continue with `resume`, or "
            "set `workers` to 0 to do without such processes."
        ) from error


_of_this_worker: list[Steps] = []


def _begin_worker(steps: Steps) -> None:
    """Set up a process that prepares batches: how and when it ends is up to the main process."""
    _of_this_worker.append(steps)
    torch.set_num_threads(1)
    for name in ("SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        # Told to stop together with the main process, it lets that one speak first.
        signal.signal(signal.SIGTERM, lambda number, frame: signal.alarm(_SECONDS_TO_END))
    threading.Thread(target=_end_with_the_main_process, daemon=True).start()
    sys.excepthook = _say_unless_nobody_listens


def _end_with_the_main_process() -> None:
    main = parent_process()
    if main is not None:
        main.join()
        os._exit(1)


def _say_unless_nobody_listens(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """A main process that ends while it fetches a batch breaks the connection; only other faults are worth saying."""
    if not issubclass(kind, (ConnectionError, EOFError)):
        sys.__excepthook__(kind, error, traceback)


def _make_step(number: int) -> list[Batch]:
    return _of_this_worker[0][number]
