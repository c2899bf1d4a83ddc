"""A training batch: for each kind of rows that some objective looks at, one record of tensors.

Whatever is random in a step comes from (seed, step, kind of rows) and is drawn for the whole batch, before it is cut
into pieces or spread over processes: a resumed run, or one on more devices, sees the same masks and partners.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from weft.encoding.subwords import Tokenizer
from weft.training.config import TrainingConfig
from weft.training.packed import PackedCorpus, TrainingPair
from weft.training.rows import Rows, Vocabulary, joint_rows, masked, padded_numbers, single_rows, subword_links
from weft.training.segments import Sentences

Array = npt.NDArray[Any]
Draws = tuple[Array, ...]
P = TypeVar("P", bound="Tensors")


class Tensors(ABC):
    """What is handed to a device as a whole."""

    __slots__ = ()

    @property
    @abstractmethod
    def tokens(self) -> int:
        """Subwords and special tokens that the encoder reads."""

    @abstractmethod
    def mapped(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The same with every tensor changed."""


@dataclass(slots=True)
class Part(Tensors):
    """Rows for the encoder: ids and attention, both of shape (r, l), and in subclasses what belongs to them."""

    ids: Tensor
    attention: Tensor

    @property
    def tokens(self) -> int:
        """Subwords and special tokens in all rows."""
        return int(self.attention.sum())

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Self:
        """The same part with every tensor changed."""
        return type(self)(*(change(getattr(self, item.name)) for item in fields(self)))


@dataclass(slots=True)
class Batch:
    """Some pairs of a step, as many as go through the encoder at once."""

    pairs: int
    parts: dict[str, Tensors]

    def part(self, maker: RowMaker[P]) -> P:
        """What a maker made of these pairs."""
        return cast(P, self.parts[maker.name])

    @property
    def tokens(self) -> int:
        """Subwords and special tokens in all rows."""
        return sum(part.tokens for part in self.parts.values())

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Batch:
        """The same batch with every tensor changed, say moved to a device."""
        return Batch(self.pairs, {name: part.mapped(change) for name, part in self.parts.items()})

    def pin_memory(self) -> Batch:
        """The same batch where copies to a GPU need not wait; what lies on one already stays as it is."""
        return self.mapped(lambda tensor: tensor.pin_memory() if tensor.device.type == "cpu" else tensor)


@dataclass(frozen=True, slots=True)
class Material:
    """What rows are made of besides the pairs: partners come from the corpus, `longest` is the room for a sentence.

    Rows that are laid flat are made of `sentences`. `tokens` are those of the model's and of the teacher's batch where
    these are fixed.
    """

    corpus: PackedCorpus
    config: TrainingConfig
    tokenizer: Tokenizer
    vocabulary: Vocabulary | None
    longest: int
    sentences: Sentences | None = None
    tokens: tuple[int, int] | None = None


def _nothing(generator: np.random.Generator, pairs: Sequence[TrainingPair], material: Material) -> Draws:
    return ()


@dataclass(frozen=True)
class RowMaker(Generic[P]):
    """Makes one kind of rows.

    Attributes:
        name: tells it from others; objectives with the same maker share its rows.
        make: pairs, what was drawn for them, and the material, to a part.
        draw: random numbers for a whole batch, arrays with one row a pair.
    """

    name: str
    make: Callable[[Sequence[TrainingPair], Draws, Material], P]
    draw: Callable[[np.random.Generator, Sequence[TrainingPair], Material], Draws] = _nothing


@dataclass(slots=True)
class AlignedRows(Part):
    """Sources, then targets, one sentence a row, with word numbers and links.

    `source_words` (b, n) and `target_words` (b, m) are -1 for padding; `sure` and `possible` are given links between
    subwords (b, n, m); `given`, `trusted` (gold, not silver) and `weights` have one value a pair.
    """

    source_words: Tensor
    target_words: Tensor
    sure: Tensor
    possible: Tensor
    given: Tensor
    trusted: Tensor
    weights: Tensor


@dataclass(slots=True)
class PredictedRows(Part):
    """Masked rows: places within the sentence (r, l), flat places to predict, and what stood there (tokens,)."""

    positions: Tensor
    chosen: Tensor
    labels: Tensor


@dataclass(slots=True)
class ParallelRows(Part):
    """Rows of two sentences with places (r, l), and whether they translate each other (r,)."""

    positions: Tensor
    parallel: Tensor


def tensors(*arrays: Array) -> list[Tensor]:
    """Arrays as tensors on the CPU."""
    return [torch.from_numpy(np.asarray(array)) for array in arrays]


def _aligned(pairs: Sequence[TrainingPair], draws: Draws, material: Material) -> AlignedRows:
    rows = single_rows([pair.source_ids for pair in pairs] + [pair.target_ids for pair in pairs], material.tokenizer)
    sure, possible, given = subword_links(pairs)
    sources = [material.config.corpora[pair.corpus] for pair in pairs]
    return AlignedRows(*tensors(
        rows.ids, rows.attention,
        padded_numbers([pair.source_words for pair in pairs]), padded_numbers([pair.target_words for pair in pairs]),
        sure, possible, given, given & ~np.array([source.silver for source in sources]),
        np.array([source.weight for source in sources], dtype=np.float32),
    ))  # fmt: skip


def _masks(generator: np.random.Generator, pairs: Sequence[TrainingPair], sentences: int) -> Draws:
    """Three uniform numbers for each place of both rows of a pair; a row holds one sentence or two."""
    # Room for special tokens too.
    length = sentences * (max(max(len(pair.source_ids), len(pair.target_ids)) for pair in pairs) + 8)
    return tuple(generator.random((len(pairs), length, 3), dtype=np.float32) for _ in range(2))


def _predicted(rows: Rows, draws: Draws, material: Material) -> PredictedRows:
    assert material.vocabulary is not None, "whoever masks needs a mask token"
    found = masked(rows, np.concatenate(draws), material.vocabulary)
    return PredictedRows(*tensors(found.ids, found.attention, found.positions, found.chosen, found.labels))


def _sides(pairs: Sequence[TrainingPair]) -> tuple[list[Array], list[Array]]:
    return [pair.source_ids for pair in pairs], [pair.target_ids for pair in pairs]


def _masked_apart(pairs: Sequence[TrainingPair], draws: Draws, material: Material) -> PredictedRows:
    source, target = _sides(pairs)
    return _predicted(single_rows([*source, *target], material.tokenizer), draws, material)


def _masked_together(pairs: Sequence[TrainingPair], draws: Draws, material: Material) -> PredictedRows:
    source, target = _sides(pairs)
    return _predicted(joint_rows([*source, *target], [*target, *source], material.tokenizer), draws, material)


def _draw_partners(generator: np.random.Generator, pairs: Sequence[TrainingPair], material: Material) -> Draws:
    size = len(material.corpus)
    parallel = (generator.random(len(pairs)) < 0.5) | (size == 1)
    return parallel, generator.integers(size, size=len(pairs))


def _parallel(pairs: Sequence[TrainingPair], draws: Draws, material: Material) -> ParallelRows:
    """Each pair as it is, or with the target of another pair, with equal probability (section 2.2)."""
    parallel, partners = draws
    targets = [
        pair.target_ids if same else material.corpus[int(partner)].target_ids
        for pair, partner, same in zip(pairs, partners, parallel, strict=True)
    ]
    rows = joint_rows([pair.source_ids for pair in pairs], targets, material.tokenizer)
    return ParallelRows(*tensors(rows.ids, rows.attention, rows.positions, parallel))


ALIGNED = RowMaker("aligned", _aligned)
MASKED_APART = RowMaker("masked apart", _masked_apart, lambda generator, pairs, _: _masks(generator, pairs, 1))
MASKED_TOGETHER = RowMaker("masked together", _masked_together, lambda generator, pairs, _: _masks(generator, pairs, 2))
PARALLEL = RowMaker("parallel", _parallel, _draw_partners)
