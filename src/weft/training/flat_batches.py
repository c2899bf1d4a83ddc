"""Batches for encoders that read rows laid flat: what the model reads, what its teacher reads, and how the two meet.

Everything that can be said of a batch without a model is said here, ahead of time and in arrays: which rows are
compared together, which units they are made of, where the teacher reads those, which links are known, what is masked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from weft.arrays import BoolArray, IntArray
from weft.training.batches import Draws, Material, RowMaker, Tensors
from weft.training.changes import Drawn, Made, draw, made_rows
from weft.training.config import TrainingConfig
from weft.training.masks import Masks, drawn_masks
from weft.training.packed import NOBODY, PackedCorpus, PairsOf, TrainingPair, Units
from weft.training.segments import SIDES, FlatRows, Room, Segments, Sentences, lay_flat, row_sizes, there

# Rows are compared with rows of similar length.
_EDGES = (24, 56)
DIRECT, THROUGH, LINKED = range(3)
# Sides are longer than this on average, special tokens included.
_TOKENS_A_SIDE = 5
R = TypeVar("R")


@dataclass(slots=True)
class Grid:
    """Rows of similar length as a padded grid: where the subwords of both sides begin and how many there are, (b, 4).

    `size` is the longest source and the longest target.
    """

    sides: Tensor
    size: tuple[int, int]


@dataclass(slots=True)
class Links:
    """Known links of units: (links, 4) with unit, source word, target word and 2 for sure ones, 1 for possible ones.

    `source_words` (k, n) and `target_words` (k, m) are the words of the units' subwords.
    """

    known: Tensor
    source_words: Tensor
    target_words: Tensor


@dataclass(slots=True)
class Group:
    """Rows that are compared together.

    `rows` says where the model reads them. `units` (units of the batch + 1,) gives the number that each unit has in
    this group. A teacher reads these at `asked`, and with a third sentence between at `asked` and `then`; or their
    links are known. `weights` (b, 3) are those of the objectives teacher, unrelated and gold; `trust` (b, 2) says
    whether missing links mean something, and whether words without links have none.
    """

    kind: int
    rows: Grid
    units: Tensor
    asked: Grid | None
    then: Grid | None
    links: Links | None
    weights: Tensor
    trust: Tensor


@dataclass(slots=True)
class FlatPart(Tensors):
    """All rows of a batch, and in `counts` what the losses of objectives are means over."""

    student: FlatRows
    teacher: FlatRows | None
    groups: list[Group]
    masks: Masks | None
    counts: dict[str, float]

    @property
    def tokens(self) -> int:
        """Subwords and special tokens that the model reads."""
        return self.student.size

    def mapped(self, change: Callable[[Tensor], Tensor]) -> FlatPart:
        """The same with every tensor changed."""
        return _mapped(self, change)


def _mapped(value: R, change: Callable[[Tensor], Tensor]) -> R:
    if isinstance(value, Tensor):
        return cast(R, change(value))
    if isinstance(value, list):
        return cast(R, [_mapped(item, change) for item in value])
    if is_dataclass(value) and not isinstance(value, type):
        kind: Any = type(value)
        return cast(R, kind(*(_mapped(getattr(value, item.name), change) for item in fields(value))))
    return value


def _draw(generator: np.random.Generator, pairs: Sequence[TrainingPair], material: Material) -> Draws:
    assert isinstance(pairs, PairsOf), "steps hand over units"
    return tuple(draw(generator, pairs.units, material.corpus, material.config, material.longest))


def _make(pairs: Sequence[TrainingPair], draws: Draws, material: Material) -> FlatPart:
    assert isinstance(pairs, PairsOf), "steps hand over units"
    return FlatMaker(material).part(pairs.units, Drawn(*draws))


FLAT = RowMaker("flat", _make, _draw)


class FlatMaker:
    """Makes batches of units for one run."""

    def __init__(self, material: Material) -> None:
        assert material.sentences is not None, "runs with such rows have their text at hand"
        self._sentences: Sentences = material.sentences
        self._corpus, self._config, self._material = material.corpus, material.config, material
        self._names = set(self._config.chosen_objectives)

    def fitting(self, units: Units, drawn: Drawn, tokens: tuple[int, int]) -> int:
        """How many of some units, from the first on, fill a batch of the model's and of the teacher's tokens."""
        made, sentences = self._made(units, drawn), self._sentences
        read, _ = self._teacher_rows(made.units, self._asked(made))
        # A partner's row is paid for by the unit that it stands beside.
        payer = np.concatenate([np.arange(len(units)), np.flatnonzero(drawn.double)])
        most = len(units)
        for rows, owner, size in ((made.segments, made.unit, tokens[0]), (read, read.unit[:, 0, 0], tokens[1])):
            room, payers = self._room_of(size), payer[owner]
            spent = np.bincount(payers, weights=row_sizes(rows, sentences), minlength=len(units))
            count = np.bincount(payers, minlength=len(units)) * sentences.rows_a_pair
            for cost, limit in ((spent, room.tokens), (count, room.real_rows)):
                most = min(most, int(np.searchsorted(np.cumsum(cost), limit, side="right")))
        return max(1, most)

    def part(self, units: Units, drawn: Drawn) -> FlatPart:
        """A batch of units."""
        made, sentences, config = self._made(units, drawn), self._sentences, self._config
        student = lay_flat(made.segments, sentences, self._room(0))
        rows, first = self._teacher_rows(made.units, self._asked(made))
        teacher = lay_flat(rows, sentences, self._room(1)) if len(rows) else None
        kind = self._kinds(made)
        bucket = np.searchsorted(np.asarray(_EDGES), student.lengths.max(axis=1, initial=0))
        groups = [
            self._group(number, np.flatnonzero((kind == number) & (bucket == k)), made, student, teacher, first)
            for number in (DIRECT, THROUGH, LINKED)
            for k in range(len(_EDGES) + 1)
            if ((kind == number) & (bucket == k)).any()
        ]
        masks = None
        if self._material.vocabulary is not None and ("masked" in self._names or config.masking.hidden):
            key = drawn.key[made.unit] + made.changed.astype(np.uint64)
            settings = config.masking if "masked" in self._names else replace(config.masking, share=0.0)
            masks = drawn_masks(student, key, settings, self._material.vocabulary, self._material.tokens)
        return FlatPart(student, teacher, groups, masks, self._counts(made, kind, student, masks))

    def _room(self, reader: int) -> Room | None:
        """The fixed size of what the model reads, or the teacher."""
        tokens = self._material.tokens
        return None if tokens is None else self._room_of(tokens[reader])

    def _room_of(self, tokens: int) -> Room:
        joined = SIDES // self._sentences.rows_a_pair
        widest = joined * (self._material.longest + self._sentences.around)
        return Room(tokens, tokens // (joined * _TOKENS_A_SIDE), widest)

    def _made(self, units: Units, drawn: Drawn) -> Made:
        """Rows of units that some objective looks at."""
        made = made_rows(units, drawn, self._sentences, changed="unrelated" in self._names)
        wanted = made.changed | self._is_linked(made) | bool({"teacher", "masked"} & self._names)
        if wanted.all() or not wanted.any():
            return made
        parts = made.segments
        some = Segments(parts.start[wanted], parts.length[wanted], parts.unit[wanted], parts.place[wanted])
        return made._replace(segments=some, unit=made.unit[wanted], changed=made.changed[wanted])

    def _is_linked(self, made: Made) -> BoolArray:
        """Which rows learn from links; where there is gold, the teacher is not asked."""
        if "gold" not in self._names:
            return np.zeros(len(made.unit), dtype=np.bool_)
        return self._corpus.is_given(made.units.pair[made.unit]) & ~made.changed

    def _kinds(self, made: Made) -> IntArray:
        """How what is expected of each row is known; -1 if nothing is."""
        linked = self._is_linked(made)
        nothing = ~linked & ~made.changed & ("teacher" not in self._names)
        kind = np.where(made.units.third[made.unit] >= 0, THROUGH, DIRECT)
        return np.where(linked, LINKED, np.where(nothing, NOBODY, kind))

    def _asked(self, made: Made) -> IntArray:
        """The units that the teacher is asked about."""
        rows = np.isin(self._kinds(made), (DIRECT, THROUGH))
        units = np.unique(made.segments.unit[rows])
        return units[units >= 0]

    def _teacher_rows(self, units: Units, asked: IntArray) -> tuple[Segments, IntArray]:
        """What the teacher reads: pairs as they are, or each side with the third sentence; the first row of each."""
        twice = units.third[asked] >= 0
        first = np.full(len(units), NOBODY)
        first[asked] = np.cumsum(1 + twice) - (1 + twice)
        rows, sentences = Segments.empty(int((1 + twice).sum())), self._sentences
        direct, third = asked[~twice], asked[twice]
        for side, which in enumerate((units.source, units.target)):
            rows.put(first[direct], side, 0, sentences, which[direct], direct)
        rows.put(first[third], 0, 0, sentences, units.source[third], third)
        rows.put(first[third], 1, 0, sentences, units.third[third], third)
        rows.put(first[third] + 1, 0, 0, sentences, units.third[third], third)
        rows.put(first[third] + 1, 1, 0, sentences, units.target[third], third)
        return rows, first

    def _group(
        self, kind: int, rows: IntArray, made: Made, student: FlatRows, teacher: FlatRows | None, first: IntArray
    ) -> Group:
        device = self._sentences.device
        units = np.unique(made.segments.unit[rows])
        units = units[units >= 0]
        numbers = np.zeros(len(made.units) + 1, dtype=np.int64)
        numbers[units] = np.arange(len(units))
        asked = then = links = None
        if kind == LINKED:
            links = self._links(made, units)
        elif teacher is not None and len(units):
            asked = _grid(teacher, first[units], device)
            then = _grid(teacher, first[units] + 1, device) if kind == THROUGH else None
        corpora = [self._config.corpora[number] for number in made.units.corpus[made.unit[rows]].tolist()]
        weight = np.array([corpus.weight for corpus in corpora], dtype=np.float32)
        changed = made.changed[rows]
        weights = np.stack([weight * (~changed & (kind != LINKED)), changed, weight * (kind == LINKED)], axis=1)
        trust = np.array([(not corpus.silver, not corpus.silver and corpus.unlinked) for corpus in corpora])
        return Group(
            kind,
            _grid(student, rows, device),
            there(numbers, device),
            asked,
            then,
            links,
            there(weights.astype(np.float32), device),
            there(trust, device),
        )

    def _links(self, made: Made, units: IntArray) -> Links:
        device, sentences = self._sentences.device, self._sentences
        known = known_links(self._corpus, made.units.pair[units], made.flipped[units])
        words = []
        for which in (made.units.source[units], made.units.target[units]):
            lengths = sentences.lengths[which]
            places = sentences.starts[which][:, None] + np.minimum(np.arange(lengths.max()), lengths[:, None] - 1)
            words.append(sentences.words[there(places, device)].long())
        return Links(there(known, device), words[0], words[1])

    def _counts(self, made: Made, kind: IntArray, student: FlatRows, masks: Masks | None) -> dict[str, float]:
        subwords = student.lengths.sum(axis=1)
        plain = ~made.changed
        counts = {
            "teacher": float(subwords[plain & np.isin(kind, (DIRECT, THROUGH))].sum()),
            "unrelated": float(subwords[made.changed].sum()),
            "masked": 0.0 if masks is None else float(masks.count),
        }
        units = np.unique(made.segments.unit[kind == LINKED])
        units = units[units >= 0]
        asked = np.asarray(self._corpus.arrays["asked"]).reshape(-1, 2)[made.units.pair[units]]
        corpora = self._config.corpora
        complete = np.array([corpus.unlinked and not corpus.silver for corpus in corpora])[made.units.corpus[units]]
        alone = asked[:, 1] * (complete & (self._config.null is not None))
        return {**counts, "gold": float(asked[:, 0].sum() + alone.sum())}


def _grid(rows: FlatRows, some: IntArray, device: torch.device) -> Grid:
    lengths = rows.lengths[some]
    sides = np.concatenate([rows.offsets[some], lengths], axis=1)
    size = lengths.max(axis=0, initial=1)
    return Grid(there(sides, device), (int(size[0]), int(size[1])))


def known_links(corpus: PackedCorpus, pairs: IntArray, flipped: BoolArray) -> IntArray:
    """The given links of some packed pairs, shape (links, 4): number of the pair, both words, 2 for sure, 1 for not."""
    starts = np.asarray(corpus.arrays["link_starts"])
    first, counts = starts[pairs], starts[pairs + 1] - starts[pairs]
    owner = np.repeat(np.arange(len(pairs)), counts)
    index = np.arange(int(counts.sum())) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    words = np.asarray(corpus.arrays["links"]).reshape(-1, 2)[index].astype(np.int64)
    words = np.where(flipped[owner][:, None], words[:, ::-1], words)
    sure = 1 + np.asarray(corpus.arrays["sure"])[index].astype(np.int64)
    return np.concatenate([owner[:, None], words, sure[:, None]], axis=1)


def objectives_with_flat_rows(config: TrainingConfig) -> set[str]:
    """The objectives of a run that learn from rows laid flat."""
    return {"teacher", "unrelated", "gold", "masked"} & set(config.chosen_objectives)
