"""Rows that are compared together: states gathered into padded grids, and what is known of units moved into rows.

Letters in shapes: b rows, n source and m target subwords; k units with n' and m' subwords.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from weft.training.config import ThroughConfig
from weft.training.flat_batches import LINKED, FlatPart, Grid, Group, Links
from weft.training.losses import NullDirections, cross_entropy, null_directions
from weft.training.model import TrainableEncoder
from weft.training.through import composed

Sides = tuple[Tensor, Tensor]


class Cells(NamedTuple):
    """Where each cell of rows (b, n, m) lies in the matrices of their units, and whether it lies there."""

    unit: Tensor
    source: Tensor
    target: Tensor
    valid: Tensor


class Comparison(NamedTuple):
    """A group of rows with the model's log probabilities."""

    group: Group
    ours: NullDirections
    cells: Cells


def gathered(grid: Grid) -> tuple[Sides, Sides]:
    """Where the subwords of both sides stand among all tokens, (b, n) and (b, m), and which of these are there."""
    places, inside = [], []
    for side, size in enumerate(grid.size):
        along = torch.arange(size, device=grid.sides.device)
        real = along < grid.sides[:, 2 + side, None]
        places.append(grid.sides[:, side, None] + along * real)
        inside.append(real)
    return (places[0], places[1]), (inside[0], inside[1])


def states_of(states: Tensor, grid: Grid) -> Sides:
    """The states of both sides, shapes (b, n, d) and (b, m, d)."""
    places, _ = gathered(grid)
    return states[places[0]], states[places[1]]


def directions_of(states: Tensor, grid: Grid, null: float | None) -> NullDirections:
    """Log probabilities of rows with a null."""
    return null_directions(*states_of(states, grid), *gathered(grid)[1], null=null)


def cells_of(part: FlatPart, group: Group) -> Cells:
    """Where the cells of a group's rows lie in the matrices of its units."""
    places, inside = gathered(group.rows)
    owners = [part.student.unit[place] for place in places]
    valid = (owners[0][:, :, None] == owners[1][:, None, :]) & (owners[0] >= 0)[:, :, None]
    valid = valid & inside[0][:, :, None] & inside[1][:, None, :]
    at = [part.student.place[place] for place in places]
    return Cells(group.units[owners[0]], at[0], at[1], valid)


def moved(matrices: Tensor, cells: Cells) -> Tensor:
    """Matrices of units (k, n', m') as those of rows (b, n, m); 0 where a row has nothing of its unit."""
    _, n, m = matrices.shape
    index = ((cells.unit * n + cells.source) * m)[:, :, None] + cells.target[:, None, :]
    return torch.where(cells.valid, matrices.reshape(-1)[torch.where(cells.valid, index, 0)], 0)


def with_null(forward: Tensor, backward: Tensor) -> Sides:
    """Probabilities (b, n, m) with those of the null behind them, which has the rest: (b, n, m + 1), (b, n + 1, m)."""
    return (
        torch.cat([forward, (1 - forward.sum(2, keepdim=True)).clamp(min=0)], dim=2),
        torch.cat([backward, (1 - backward.sum(1, keepdim=True)).clamp(min=0)], dim=1),
    )


def link_matrices(links: Links) -> Tensor:
    """Known links between the subwords of units, shape (k, n', m'): 2 for sure ones, 1 for possible ones, else 0."""
    source, target = links.source_words, links.target_words
    (count, n), m = source.shape, target.shape[1]
    between = torch.zeros(count, n, m, dtype=torch.uint8, device=source.device)  # no more words than subwords
    owner, i, j, kind = links.known.unbind(1)
    between[owner, i, j] = kind.to(torch.uint8)
    rows = between.gather(1, source[:, :, None].expand(-1, -1, m))
    return rows.gather(2, target[:, None, :].expand(-1, n, -1))


class FlatPasses:
    """What model and teacher make of rows laid flat; each pass is run when it is first asked for, and once.

    Attributes:
        part: the rows.
    """

    def __init__(
        self,
        model: TrainableEncoder,
        teacher: TrainableEncoder | None,
        part: FlatPart,
        *,
        null: float | None,
        through: ThroughConfig,
        masking: float,
    ) -> None:
        self.part = part
        self._model, self._teacher = model, teacher
        self._null, self._through, self._masking = null, through, masking

    @cached_property
    def _read(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """States of the alignment layer, those of the last layer, and what stood at masked places."""
        rows, masks, labels = self.part.student, self.part.masks, None
        ids = rows.ids
        if masks is not None and self._masking:
            ids, labels = masks.masked(ids, self._masking)
        elif masks is not None and self._model.training:
            ids = masks.with_hidden(ids)
        return *self._model.flat_states(rows, ids, top=labels is not None), labels

    @property
    def states(self) -> Tensor:
        """The model's states of the alignment layer, shape (tokens, d)."""
        return self._read[0]

    @cached_property
    def taught_states(self) -> Tensor:
        """The teacher's states of what it reads, shape (tokens, d)."""
        rows = self.part.teacher
        assert self._teacher is not None, "objectives that need a teacher say so"
        assert rows is not None, "a teacher is asked about what it reads"
        with torch.no_grad():
            return self._teacher.flat_states(rows, rows.ids)[0]

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """All groups of rows."""
        return [
            Comparison(group, directions_of(self.states, group.rows, self._null), cells_of(self.part, group))
            for group in self.part.groups
        ]

    @cached_property
    def entropies(self) -> list[tuple[Group, Tensor]]:
        """The cross entropy of each row with what the teacher says, shape (b,), group by group."""
        asked = [comparison for comparison in self.comparisons if comparison.group.kind != LINKED]
        return [(each.group, cross_entropy(each.ours, *self.taught(each))) for each in asked]

    @torch.no_grad()
    def taught(self, comparison: Comparison) -> Sides:
        """What the teacher says of rows: what stayed of a unit keeps its links, all else goes to the null."""
        group, cells = comparison.group, comparison.cells
        if group.asked is None:
            nothing = torch.zeros(cells.valid.shape, device=cells.valid.device)
            return with_null(nothing, nothing)
        theirs = directions_of(self.taught_states, group.asked, self._null)
        forward, backward = theirs.forward[:, :, :-1].exp(), theirs.backward[:, :-1].exp()
        if group.then is not None:
            rest = directions_of(self.taught_states, group.then, self._null)
            forward, backward = composed((forward, backward), rest, self._through)
        return with_null(moved(forward, cells), moved(backward, cells))

    def masked_words(self) -> Tensor | None:
        """The summed loss of masked places; None if nothing is masked."""
        _, states, labels = self._read
        if labels is None or self.part.masks is None:
            return None
        return self._model.masked_loss(states[self.part.masks.places], labels)

    def words(self, group: Group) -> Sides:
        """The words of a group's subwords, (b, n) and (b, m), -1 for padding."""
        places, inside = gathered(group.rows)
        both = (
            self.part.student.word[place].masked_fill(~real, -1) for place, real in zip(places, inside, strict=True)
        )
        source, target = both
        return source, target
