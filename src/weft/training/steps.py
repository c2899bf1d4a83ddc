"""A run's steps: which pairs, which masks, which non-parallel partners, cut into pieces that fit the memory.

A step depends on (seed, step) alone. Its random numbers are drawn for the whole batch, in the batch's order, before
each process takes its share: a resumed run, or one on more processes, learns from exactly the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import Dataset

from weft.encoding.subwords import Tokenizer
from weft.training.batches import (
    MaskedRows,
    Vocabulary,
    joint_rows,
    masked,
    padded_words,
    pieces,
    single_rows,
    subword_links,
)
from weft.training.config import TrainingConfig
from weft.training.corpus import PackedCorpus, TrainingPair, sampling_order

FloatArray = npt.NDArray[np.float32]
Piece = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How many steps a run has, and where epochs begin."""

    steps_per_epoch: int
    batch_size: int
    total_steps: int

    @classmethod
    def of(cls, pairs_per_epoch: int, config: TrainingConfig, *, processes: int = 1) -> Schedule:
        """At least one step, however small the corpus; the last batch of an epoch may be smaller.

        It is left out if it has no pair for some process.
        """
        whole, rest = divmod(pairs_per_epoch, config.batch_size)
        per_epoch = max(1, whole + (rest >= processes))
        total = max(1, round(per_epoch * config.epochs)) if config.max_steps is None else config.max_steps
        return cls(per_epoch, config.batch_size, total)

    def place(self, step: int) -> tuple[int, slice]:
        """The epoch of a step and its part of the epoch's order."""
        epoch, number = divmod(step, self.steps_per_epoch)
        return epoch, slice(number * self.batch_size, (number + 1) * self.batch_size)


class Steps(Dataset[list[Piece]]):
    """The steps of a run as one process sees them; each is a list of pieces."""

    def __init__(
        self,
        corpus: PackedCorpus,
        config: TrainingConfig,
        tokenizer: Tokenizer,
        vocabulary: Vocabulary | None,
        *,
        process: int = 0,
        processes: int = 1,
    ) -> None:
        self._corpus = corpus
        self._config = config
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._process, self._processes = process, processes
        found = np.bincount(corpus.arrays["corpus"].astype(np.int64), minlength=len(config.corpora))
        self._sizes = [(int(size), source.limit) for size, source in zip(found, config.corpora, strict=True)]
        self._epoch, self._order = -1, np.zeros(0, dtype=np.int64)
        self.schedule = Schedule.of(len(self._order_of(0)), config, processes=processes)

    def _order_of(self, epoch: int) -> npt.NDArray[np.int64]:
        if epoch != self._epoch:
            config = self._config
            self._order = sampling_order(self._sizes, temperature=config.temperature, seed=config.seed, epoch=epoch)
            self._epoch = epoch
        return self._order

    def __len__(self) -> int:
        return self.schedule.total_steps

    def __getitem__(self, step: int) -> list[Piece]:
        epoch, part = self.schedule.place(step)
        numbers = self._order_of(epoch)[part]
        batch = [self._corpus[int(number)] for number in numbers]
        draws = _Draws(self._config, step, batch, len(self._corpus))
        own = list(range(len(batch)))[self._process :: self._processes]
        return [self._piece(batch, draws, chosen) for chosen in pieces(batch, own, self._config.batch_tokens)]

    def _piece(self, batch: Sequence[TrainingPair], draws: _Draws, chosen: list[int]) -> Piece:
        pairs = [batch[number] for number in chosen]
        objectives = self._config.objectives
        arrays: dict[str, npt.NDArray[np.generic]] = {"pairs": np.array(len(pairs))}
        if "so" in objectives or "co" in objectives:
            arrays |= self._alignment(pairs)
        if self._vocabulary and "mlm" in objectives:
            sides = [[pair.source_ids for pair in pairs], [pair.target_ids for pair in pairs]]
            rows = single_rows([*sides[0], *sides[1]], self._tokenizer)
            drawn = np.concatenate([draws.mlm[0][chosen], draws.mlm[1][chosen]])
            arrays |= _named("mlm", masked(rows, drawn, self._vocabulary))
        if self._vocabulary and "tlm" in objectives:
            sides = [[pair.source_ids for pair in pairs], [pair.target_ids for pair in pairs]]
            rows = joint_rows([*sides[0], *sides[1]], [*sides[1], *sides[0]], self._tokenizer)
            drawn = np.concatenate([draws.tlm[0][chosen], draws.tlm[1][chosen]])
            arrays |= _named("tlm", masked(rows, drawn, self._vocabulary))
        if "psi" in objectives:
            arrays |= self._parallel(pairs, draws, chosen)
        return {name: torch.from_numpy(np.asarray(value)) for name, value in arrays.items()}

    def _alignment(self, pairs: Sequence[TrainingPair]) -> dict[str, npt.NDArray[np.generic]]:
        rows = single_rows([pair.source_ids for pair in pairs] + [pair.target_ids for pair in pairs], self._tokenizer)
        links, given = subword_links(pairs)
        weights = [self._config.corpora[pair.corpus].weight for pair in pairs]
        return {
            "ids": rows.ids,
            "attention": rows.attention,
            "source_words": padded_words([pair.source_words for pair in pairs]),
            "target_words": padded_words([pair.target_words for pair in pairs]),
            "links": links,
            "given": given,
            "weights": np.asarray(weights, dtype=np.float32),
        }

    def _parallel(
        self, pairs: Sequence[TrainingPair], draws: _Draws, chosen: list[int]
    ) -> dict[str, npt.NDArray[np.generic]]:
        """Each pair as it is, or with the target of another pair, with equal probability (section 2.2)."""
        others = [self._corpus[int(draws.partners[number])] for number in chosen]
        parallel = draws.parallel[chosen]
        targets = [
            pair.target_ids if same else other.target_ids
            for pair, other, same in zip(pairs, others, parallel, strict=True)
        ]
        rows = joint_rows([pair.source_ids for pair in pairs], targets, self._tokenizer)
        return {
            "psi_ids": rows.ids,
            "psi_attention": rows.attention,
            "psi_positions": rows.positions,
            "psi_parallel": parallel,
        }


class _Draws:
    """All random numbers of one step, for the whole batch."""

    def __init__(self, config: TrainingConfig, step: int, batch: Sequence[TrainingPair], corpus_size: int) -> None:
        # The 1 keeps these apart from the orders of epochs, which come from (seed, epoch).
        generator = np.random.default_rng((config.seed, step, 1))
        # Two sentences and room for special tokens.
        single = max(max(len(pair.source_ids), len(pair.target_ids)) for pair in batch) + 8
        self.mlm = [_uniform(generator, len(batch), single) for _ in range(2)] if "mlm" in config.objectives else []
        self.tlm = [_uniform(generator, len(batch), 2 * single) for _ in range(2)] if "tlm" in config.objectives else []
        self.parallel = (generator.random(len(batch)) < 0.5) | (corpus_size == 1)
        self.partners = generator.integers(corpus_size, size=len(batch))


def _uniform(generator: np.random.Generator, rows: int, length: int) -> FloatArray:
    return generator.random((rows, length, 3), dtype=np.float32)


def _named(name: str, rows: MaskedRows) -> dict[str, npt.NDArray[np.generic]]:
    return {
        f"{name}_ids": rows.ids,
        f"{name}_attention": rows.attention,
        f"{name}_positions": rows.positions,
        f"{name}_chosen": rows.chosen,
        f"{name}_labels": rows.labels,
    }
