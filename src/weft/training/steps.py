"""A run's steps: which pairs, drawn how, cut into batches that fit the memory.

A step depends on (seed, step) alone. Its random numbers are drawn for the whole step, in its order, before each process
takes its share: a resumed run, or one on more processes, learns from exactly the same.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from zlib import crc32

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from weft.arrays import IntArray
from weft.errors import WeftError
from weft.training.batches import Batch, Draws, Material, Part, RowMaker
from weft.training.config import TrainingConfig, known
from weft.training.corpus import TrainingPair, sampling_order
from weft.training.objectives import makers
from weft.training.rows import pieces

# Enough to see a difference, and quickly read.
_MOST_HELD_OUT = 500
_AT_ONCE = 64
_ENDLESS = 1 << 40
_TOKENS_ON_GPU, _TOKENS_ON_CPU = 8192, 512


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


class _Sampled(Dataset[list[Batch]]):
    """Batches of pairs, with what their objectives look at."""

    def __init__(self, material: Material, *, process: int, processes: int) -> None:
        self._material = material
        self._makers = makers(material.config)
        self._budget = tokens_at_once(material.config)
        self._process, self._processes = process, processes

    def batches(self, numbers: Sequence[int] | IntArray, seed: tuple[int, ...]) -> list[Batch]:
        """This process's share of some pairs."""
        material = self._material
        pairs = [material.corpus[int(number)] for number in numbers]
        draws = {
            # Each kind of rows has numbers of its own: another objective beside it changes none of them.
            maker.name: maker.draw(np.random.default_rng((*seed, crc32(maker.name.encode()))), pairs, material)
            for maker in self._makers
        }
        own = list(range(len(pairs)))[self._process :: self._processes]
        return [self._batch(pairs, draws, chosen) for chosen in pieces(pairs, own, self._budget)]

    def _batch(self, pairs: Sequence[TrainingPair], draws: dict[str, Draws], chosen: list[int]) -> Batch:
        some = [pairs[number] for number in chosen]
        return Batch(len(some), {maker.name: self._part(maker, some, draws, chosen) for maker in self._makers})

    def _part(
        self, maker: RowMaker[Any], pairs: list[TrainingPair], draws: dict[str, Draws], chosen: list[int]
    ) -> Part:
        made: Part = maker.make(pairs, tuple(drawn[chosen] for drawn in draws[maker.name]), self._material)
        return made


class Steps(_Sampled):
    """The steps of a run as one process sees them; each is a list of batches."""

    def __init__(self, material: Material, *, process: int = 0, processes: int = 1) -> None:
        super().__init__(material, process=process, processes=processes)
        config, corpus = material.config, material.corpus
        found = np.bincount(corpus.arrays["corpus"].astype(np.int64), minlength=len(config.corpora))
        self._sizes = [int(size) for size in found]
        self.held_out = held_out(len(corpus), config)
        self._epoch, self._order = -1, np.zeros(0, dtype=np.int64)
        self.schedule = Schedule.of(len(self._order_of(0)), config, processes=processes)

    def _order_of(self, epoch: int) -> IntArray:
        if epoch != self._epoch:
            order = sampling_order(self._sizes, self._material.config, epoch=epoch)
            self._order = order[~np.isin(order, self.held_out)] if len(self.held_out) else order
            self._epoch = epoch
        return self._order

    def __len__(self) -> int:
        return self.schedule.total_steps or _ENDLESS

    def __getitem__(self, step: int) -> list[Batch]:
        epoch, part = self.schedule.place(step)
        return self.batches(self._order_of(epoch)[part], (self._material.config.seed, step, 1))


class HeldOut(_Sampled):
    """Pairs that are kept back, the same ones with the same masks whenever they are looked at."""

    def __init__(self, material: Material, numbers: IntArray, *, process: int = 0, processes: int = 1) -> None:
        super().__init__(material, process=process, processes=processes)
        self._numbers = numbers

    def __len__(self) -> int:
        return -(-len(self._numbers) // _AT_ONCE)

    def __iter__(self) -> Iterator[list[Batch]]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, part: int) -> list[Batch]:
        chosen = self._numbers[part * _AT_ONCE : (part + 1) * _AT_ONCE]
        return self.batches(chosen, (self._material.config.seed, part, 2))


def held_out(pairs: int, config: TrainingConfig) -> IntArray:
    """The numbers of the pairs that are kept back; at least one if any, and never all."""
    count = min(_MOST_HELD_OUT, pairs - 1, round(pairs * (config.held_out or 0)))
    generator = np.random.default_rng((config.seed, 3))
    return np.sort(generator.permutation(pairs)[: max(0, count)])


def ahead(steps: Steps, first: int, *, workers: int, pinned: bool) -> Iterator[list[Batch]]:
    """The steps from `first` on, made by other processes while earlier ones are trained on.

    Args:
        steps: the run's.
        first: the number of the first one wanted.
        workers: how many processes; 0 makes each step when it is wanted.
        pinned: whether they go to a GPU.
    """
    loader: DataLoader[list[Batch]] = DataLoader(
        steps,
        batch_size=None,
        sampler=range(first, len(steps)),
        num_workers=workers,
        pin_memory=pinned,
        worker_init_fn=_leave_ends_to_the_main_process,
    )
    try:
        yield from loader
    except (ConnectionError, EOFError, FileNotFoundError) as error:  # it died while a batch was being fetched from it
        raise _lost_worker() from error


@contextmanager
def lost_workers_named() -> Iterator[None]:
    """A process that prepares batches and is killed is a sentence; torch raises wherever the main one is just then."""
    try:
        yield
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):
            raise
        raise _lost_worker() from error


def _lost_worker() -> WeftError:
    return WeftError(
        "a process that prepares batches was killed, perhaps because memory ran out; continue with `resume`, or "
        "set `workers` to 0 to do without such processes."
    )


def _leave_ends_to_the_main_process(worker: int) -> None:
    """Being told to stop is for the main process, which ends those that prepare batches in order."""
    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    sys.excepthook = _say_unless_nobody_listens


def _say_unless_nobody_listens(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """A main process that ends while it fetches a batch breaks the connection; only other faults are worth saying."""
    if not issubclass(kind, (ConnectionError, EOFError)):
        sys.__excepthook__(kind, error, traceback)
