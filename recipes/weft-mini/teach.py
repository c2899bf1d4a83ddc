"""Steps 5 and 6 of a next generation: a student learns from a frozen teacher, from links, and from pairs that are none.

Every step is one pass over rows laid flat (`rows.py`). A null of constant similarity stands beside the words of the
other sentence: what has no partner finds the null. Pairs that the teacher knows are learned by cross entropy with its
probabilities in both directions; lines of two other languages by what it says of both with English; languages that it
does not know by silver links, which are checked against the student in the second half; gold by its links. Some rows
are no translations, or have a clause too much or too little, or hold two pairs.

    python teach.py BUNDLE OUT --start FOLDER --teacher FOLDER --minutes 20

Several students may learn from the same rows, which the teacher then reads only once: `--start` names all of them, and
each is written to a folder of its name in OUT.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from flatbert import Muon, loaded, save
from looking import look
from rows import (
    LINKED,
    NOBODY,
    PIVOT,
    PLAIN,
    TAUGHT,
    UNRELATED,
    Flat,
    Group,
    Logs,
    Segments,
    Units,
    agreed,
    both_ways_with_null,
    by_length,
    denoised,
    flat,
    group,
    link_matrices,
    masked,
    there,
)  # fmt: skip
from store import AROUND, MASK, MOST_SIDE, SPECIAL_TOKENS
from supply import Supply, ahead
from torch import Tensor

from weft.arrays import BoolArray, IntArray

TOKENS_A_ROW = 10  # at least, those of padding among them
SHARES = ("taught", "pivot", "silver", "joined", "gold", "new")
WARMUP = 0.03  # share of the run in which the rates rise
MASKED_MORE = 0.3  # share of the run in which masks are seen more often and weigh more
DENOISE = 0.45  # share of the run before silver links are checked
CROSS, STRAY = 0.5, 2.0  # weights beside SO: of the cross entropy, and of links between words that have none
LOOK_SECONDS = 240


@dataclass(frozen=True)
class Options:
    """What the command line says: `bundle` and `out` stand first, each other field is an option of its name."""

    bundle: Path
    out: Path
    teacher: Path  # folder of the model whose probabilities are learned
    start: tuple[Path, ...] = ()  # folders of the models to go on from
    minutes: float = 20.0
    steps: int = 0  # so many steps instead of minutes
    shares: tuple[float, ...] = (0.55, 0.15, 0.24, 0.06, 0.0, 0.0)  # see SHARES
    modes: tuple[float, ...] = (0.68, 0.1, 0.08, 0.06, 0.08)  # plain, unrelated, added, cut, double
    tokens: int = 65_536
    teacher_tokens: int = 0  # of the teacher's batch, if it differs
    pivot_power: float = 1.0  # exponent of what was composed through English
    pivot_odds: float = 1.0  # factor of the odds against the null, likewise
    matrix_rate: tuple[float, ...] = (0.003,)  # of Muon, of each student; 0 leaves all to Adam
    rate: tuple[float, ...] = (6e-4,)
    masking: float = 0.1
    unmasked: float = 0.75  # share of the run after which nothing is masked
    hidden: float = 0.0  # share of tokens masked and not predicted
    dropout: float = 0.0
    apart: float = 0.0  # share of plain rows whose sides are read one by one
    whole: float = (
        0.0  # weight of the mean that links are taken by, instead of the smaller direction, in the loss of gold
    )
    seed: int = 1
    no_compile: bool = False


def arguments() -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    for item in fields(Options):
        name, default = f"--{item.name.replace('_', '-')}", item.default
        if item.name in ("bundle", "out"):
            parser.add_argument(item.name, type=Path)
        elif default is MISSING:
            parser.add_argument(name, type=Path, required=True)
        elif default is False:
            parser.add_argument(name, action="store_true")
        elif isinstance(default, tuple):
            parser.add_argument(name, type=float if default else Path, nargs="+", default=default, required=not default)
        else:
            parser.add_argument(name, type=type(default), default=default)
    return Options(**vars(parser.parse_args()))


@dataclass
class Batch:
    """Rows for the student, rows for the teacher, rows of linked units (not encoded), and the units themselves."""

    student: Flat
    teacher: Flat | None
    linked: Flat | None
    units: Units
    segments: Segments
    mode: IntArray
    first_row: IntArray  # of each unit, in `teacher` or `linked`


def unit_rows(supply: Supply, units: Units, kinds: tuple[int, ...], used: BoolArray) -> tuple[Segments, IntArray]:
    """Rows of the units as they are; a pivot has two, with English second in one and first in the other."""
    which = np.flatnonzero(np.isin(units.kind, kinds) & used)
    twice = units.kind[which] == PIVOT
    first = np.full(len(units), NOBODY)
    first[which] = np.cumsum(1 + twice) - (1 + twice)
    rows = Segments.empty(int((1 + twice).sum()))
    direct, pivots = which[~twice], which[twice]
    for side, sentences in enumerate((units.source, units.target)):
        rows.put(first[direct], side, 0, supply.sentences, sentences[direct], direct)
    rows.put(first[pivots], 0, 0, supply.sentences, units.source[pivots], pivots)
    rows.put(first[pivots], 1, 0, supply.sentences, units.through[pivots], pivots)
    rows.put(first[pivots] + 1, 0, 0, supply.sentences, units.through[pivots], pivots)
    rows.put(first[pivots] + 1, 1, 0, supply.sentences, units.target[pivots], pivots)
    return rows, first


class Student:
    """A model that learns, and what moves its weights."""

    def __init__(self, start: Path, out: Path, device: str, options: Options, rates: tuple[float, float]) -> None:
        self.out, self.rate, self.matrix_rate = out, *rates
        self.model = loaded(start, device)
        self.model.dropout = options.dropout
        named = self.model.named_weights()
        inner = {name for name, value in named.items() if ".layer." in name and value.ndim == 2 and self.matrix_rate}
        others = [value for name, value in named.items() if name not in inner]
        self.muon = Muon([named[name] for name in inner], lr=self.matrix_rate) if inner else None
        self.adam = torch.optim.AdamW(others, lr=self.rate, betas=(0.9, 0.98), weight_decay=0.0, fused=device == "cuda")
        compiled = not options.no_compile
        self.encode = torch.compile(self.model, dynamic=False) if compiled else self.model
        self.predict = torch.compile(self._language_model, dynamic=False) if compiled else self._language_model
        self.history: list[dict[str, object]] = []

    def _language_model(self, states: Tensor, labels: Tensor) -> Tensor:
        return F.cross_entropy(self.model.predictions(states).float(), labels)

    def update(self, rate: float) -> None:
        """Take a step along the gradients, at a share of the full rates."""
        for each in self.adam.param_groups:
            each["lr"] = self.rate * rate
        for each in self.muon.param_groups if self.muon else ():
            each["lr"] = self.matrix_rate * rate
        torch.nn.utils.clip_grad_norm_([*self.adam.param_groups[0]["params"]], 1.0)
        if self.muon:
            self.muon.step()
        self.adam.step()
        self.model.zero_grad(set_to_none=True)


def students(options: Options, device: str) -> list[Student]:
    """The students of a run; each has its own rates where several are given."""
    starts = options.start
    outs = [options.out] if len(starts) == 1 else [options.out / start.name for start in starts]
    both = (rates if len(rates) > 1 else rates * len(starts) for rates in (options.rate, options.matrix_rate))
    return [Student(start, out, device, options, rates)
            for start, out, rates in zip(starts, outs, zip(*both, strict=True), strict=True)]  # fmt: skip


class Run:
    """A training run by the clock or by steps."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.manual_seed(options.seed)
        torch.backends.cuda.matmul.allow_tf32 = True
        self.students = students(options, self.device)
        teacher = loaded(options.teacher, self.device)
        self.teacher = teacher if options.no_compile else torch.compile(teacher, dynamic=False)
        self.most_rows = options.tokens // 24
        self.warm()
        shares = dict(zip(SHARES, options.shares, strict=True))
        self.supply = Supply(options.bundle, self.device, seed=options.seed, shares=shares)

    def warm(self) -> None:
        """Compile before the clock starts."""
        began = time.time()
        if self.device == "cpu":
            return
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device != "cpu"):
            with torch.no_grad():
                self.teacher(*self._anything(self.teacher_tokens))
            rows = self._anything(self.options.tokens)
            for student in self.students:
                states = student.encode(*rows)
                loss = states.float().mean()
                if self.options.masking:
                    _, places, labels = masked(rows[0], self.options.masking, 1.0, student.model.shape.vocabulary)
                    loss = student.predict(states[places], labels)
                loss.backward()
                student.model.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        print(f"compiled in {time.time() - began:.0f} s", flush=True)

    def _anything(self, tokens: int) -> tuple[Tensor, ...]:
        """Random tokens in rows as long as may be."""
        ids = torch.randint(5, 1000, (tokens,), device=self.device)
        zeros = torch.zeros_like(ids)
        ends = torch.full((tokens // TOKENS_A_ROW + 1,), tokens, dtype=torch.int32, device=self.device)
        steps = torch.arange(0, tokens + 1, MOST_SIDE, dtype=torch.int32, device=self.device)
        ends[: len(steps)] = steps
        return ids, zeros, zeros, ends

    @property
    def teacher_tokens(self) -> int:
        """Tokens of the teacher's batch; a row without English costs it two."""
        return self.options.teacher_tokens or self.options.tokens

    def batches(self) -> Iterator[Batch]:
        """Batches of the supply."""
        sizes, supply = (self.options.tokens, self.teacher_tokens), self.supply
        for some, partners, mode in supply.batches(sizes, self.most_rows, self.options.modes):
            segments, units = supply.segments(some, partners, mode)
            apart = (mode == PLAIN) & (supply.random.random(len(mode)) < self.options.apart)
            most = sizes[0] // TOKENS_A_ROW
            student = flat(segments, supply.sentences, tokens=sizes[0], rows=most, apart=apart)
            used = np.zeros(len(units), dtype=bool)
            used[segments.unit[segments.unit >= 0]] = True
            rows, first = unit_rows(supply, units, (TAUGHT, PIVOT), used)
            most = sizes[1] // TOKENS_A_ROW
            teacher = flat(rows, supply.sentences, tokens=sizes[1], rows=most) if len(rows.start) else None
            rows, first_linked = unit_rows(supply, units, (LINKED,), used)
            size = int(rows.length.sum()) + 2 * AROUND * len(rows.start)
            linked = flat(rows, supply.sentences, tokens=size, rows=len(rows.start)) if len(rows.start) else None
            first = np.where(units.kind == LINKED, first_linked, first)
            yield Batch(student, teacher, linked, units, segments, mode, first)

    def train(self) -> None:
        """Train until the time is over; look at dev sets and save on the way."""
        options = self.options
        batches = ahead(self.batches())
        self.step(next(batches), 0.0, 0.0)
        began = looked = logged = time.time()
        limit, step, tokens = options.minutes * 60, 0, 0
        sums, counted = torch.zeros(len(self.students), 4, device=self.device), 0
        progress = 0.0
        while progress < 1:
            rate = min(1.0, progress / WARMUP) * (1 - progress)
            batch = next(batches)
            sums += self.step(batch, progress, rate)
            tokens += batch.student.size
            step += 1
            if step in (1, 2, 3, 20) or step % 250 == 0:
                losses = (sums / (step - counted)).flatten().tolist()
                counted = step
                sums.zero_()
                if not sum(losses) < np.inf:
                    raise SystemExit(f"the losses are {losses} at step {step}")
                now = time.time()
                shown = " ".join(f"{loss:.3f}" for loss in losses)
                speed = f"{tokens / (now - logged):,.0f} tokens/s"
                print(f"step {step} {100 * progress:.1f} % {now - began:.0f} s, losses {shown}, {speed}", flush=True)
                tokens, logged = 0, now
            if time.time() - looked > LOOK_SECONDS:
                self.look(step, progress)
                looked = time.time()
            progress = step / options.steps if options.steps else (time.time() - began) / limit
        self.look(step, 1.0)

    def look(self, step: int, progress: float) -> None:
        """Scores on dev sets, and a checkpoint."""
        options = {name: str(value) for name, value in vars(self.options).items()}
        for student in self.students:
            scores = look(student.model, self.options.bundle / "dev", self.device)
            print(f"  {student.out.name} {json.dumps(scores)}", flush=True)
            student.history.append({"step": step, "progress": progress, **scores})
            save(student.model, student.out, {"history": student.history, "options": options})

    def step(self, batch: Batch, progress: float, rate: float) -> Tensor:
        """One step; returns the losses for the log, four a student."""
        options, rows, taught = self.options, batch.student, None
        weight = 1.0 if progress < MASKED_MORE else 0.5
        ids, hidden_there = rows.ids, None
        if options.masking and progress < options.unmasked:
            ids, *hidden_there = masked(ids, options.masking, weight, self.students[0].model.shape.vocabulary)
        if options.hidden:
            hidden = (torch.rand(len(ids), device=ids.device) < options.hidden) & (ids >= SPECIAL_TOKENS)
            ids = ids.masked_fill(hidden, MASK)
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device != "cpu"):
            if batch.teacher is not None:
                with torch.no_grad():
                    read = batch.teacher
                    taught = self.teacher(read.ids, read.positions, read.types, read.ends)
            states = [student.encode(ids, rows.positions, rows.types, rows.ends) for student in self.students]
            language_model = torch.zeros(len(self.students), 1, device=self.device)
            if hidden_there:
                places, labels = hidden_there
                read_as = (
                    student.predict(each[places], labels) for student, each in zip(self.students, states, strict=True)
                )
                language_model = torch.stack(list(read_as))[:, None]
        losses = self.losses(batch, states, taught, progress)
        (weight * language_model.sum() + 2 * losses.sum()).backward()
        for student in self.students:
            student.update(rate)
        return torch.cat([language_model.detach(), losses.detach()], dim=1)

    def losses(self, batch: Batch, states: list[Tensor], taught: Tensor | None, progress: float) -> Tensor:
        """Losses of taught rows, of linked rows and of words without a partner, means over pieces; (students, 3)."""
        kind = np.where(batch.mode == UNRELATED, TAUGHT, batch.units.kind[: len(batch.mode)])
        sums = [{name: torch.zeros(2, device=self.device) for name in ("taught", "linked", "null")} for _ in states]
        for family in (TAUGHT, PIVOT, LINKED):
            chosen = np.flatnonzero(kind == family)
            for rows in by_length(batch.student.lengths, chosen) if len(chosen) else ():
                padded = group(batch.student, rows, self.device)
                wanted = [] if family == LINKED else self.wanted(batch, padded, taught, family)
                for each, totals in zip(states, sums, strict=True):
                    logs = both_ways_with_null(each, padded)
                    if family == LINKED:
                        found = self.linked(batch, padded, logs, progress)
                    else:
                        found = {"taught": self.taught(padded, logs, wanted)}
                    for name, (loss, count) in found.items():
                        totals[name] = totals[name] + torch.stack([loss, count])
        loss, count = torch.stack([torch.stack(list(totals.values())) for totals in sums]).unbind(2)
        return loss / count.sum(1, keepdim=True).clamp(min=1)

    def known(self, batch: Batch, padded: Group) -> tuple[IntArray, Tensor, Tensor]:
        """Units that rows speak of; where each cell of the rows lies in their matrices; and whether it lies there."""
        units = np.unique(batch.segments.unit[padded.rows])
        units = units[units >= 0]
        numbers = np.zeros(len(batch.units) + 1, dtype=np.int64)
        numbers[units] = np.arange(len(units))
        local = there(numbers, self.device)
        owners = [batch.student.unit[places] for places in padded.places]
        at = [batch.student.place[places].clamp(min=0) for places in padded.places]
        valid = (owners[0][:, :, None] == owners[1][:, None, :]) & (owners[0] >= 0)[:, :, None]
        valid = valid & padded.inside[0][:, :, None] & padded.inside[1][:, None, :]
        base = local[owners[0].clamp(min=0)] * MOST_SIDE + at[0]
        return units, base[:, :, None] * MOST_SIDE + at[1][:, None, :], valid

    def spread(self, matrices: Tensor, index: Tensor, valid: Tensor) -> Tensor:
        """Matrices of units (k, n, m) as those of rows (b, n, m)."""
        _, n, m = matrices.shape
        place = (index // (MOST_SIDE * MOST_SIDE) * n + index // MOST_SIDE % MOST_SIDE) * m + index % MOST_SIDE
        return torch.where(valid, matrices.reshape(-1)[torch.where(valid, place, 0)], 0)

    @torch.no_grad()
    def wanted(self, batch: Batch, padded: Group, taught: Tensor | None, family: int) -> list[Tensor]:
        """The teacher's probabilities in both directions for the cells of rows; 0 where it says nothing."""
        units, index, valid = self.known(batch, padded)
        if not len(units):
            return [torch.zeros(valid.shape, device=self.device)] * 2
        assert taught is not None
        return [self.spread(each, index, valid) for each in self.probabilities(batch, units, taught, family)]

    def taught(self, padded: Group, logs: Logs, wanted: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Cross entropy with the teacher's probabilities in both directions; what is not there is the null's."""
        forward, backward, null_forward, null_backward = logs
        total = torch.zeros((), device=self.device)
        for target, log, null, inside, axis in zip(
            wanted, (forward, backward), (null_forward, null_backward), padded.inside, (2, 1), strict=True
        ):
            nothing = (1 - target.sum(axis)).clamp(min=0)
            total = total - ((target * log).sum(axis) + nothing * null)[inside].sum()
        return total, (padded.inside[0].sum() + padded.inside[1].sum()).float()

    def probabilities(self, batch: Batch, units: IntArray, taught: Tensor, family: int) -> list[Tensor]:
        """The teacher's probabilities for units, both of shape (k, n, m); those of a pivot go through English."""
        assert batch.teacher is not None
        read = batch.teacher
        first = both_ways_with_null(taught, group(read, batch.first_row[units], self.device))[:2]
        if family == TAUGHT:
            return [log.exp() for log in first]
        second = both_ways_with_null(taught, group(read, batch.first_row[units] + 1, self.device))[:2]
        composed = (one.exp() @ two.exp() for one, two in zip(first, second, strict=True))
        return [self._evened(each, axis) for each, axis in zip(composed, (2, 1), strict=True)]

    def _evened(self, composed: Tensor, axis: int) -> Tensor:
        """Multiplied probabilities are peaked and lose to the null at each step: both are undone in part."""
        power, odds = self.options.pivot_power, self.options.pivot_odds
        mass = composed.sum(axis, keepdim=True)
        even = composed**power
        even = even * mass / even.sum(axis, keepdim=True).clamp(min=1e-9)
        return odds * even / (1 + (odds - 1) * mass)

    def linked(self, batch: Batch, padded: Group, logs: Logs, progress: float) -> dict[str, tuple[Tensor, Tensor]]:
        """SO, cross entropy and strays of rows whose links are known, and the null of words known to have none."""
        supply = self.supply
        assert batch.linked is not None
        units, index, valid = self.known(batch, padded)
        of_units = group(batch.linked, batch.first_row[units], self.device)
        matrices = link_matrices(batch.units, units, supply.links, supply.sure, (of_units, batch.linked))
        between = self.spread(matrices, index, valid)
        forward, backward, null_forward, null_backward = logs
        silver, full = self.of_rows(batch, padded)
        guide, possible = between == 2, between == 1
        if progress >= DENOISE:
            words = [batch.student.word[places] for places in padded.places]
            guide = torch.where(silver[:, None, None], denoised(forward, backward, guide, words, padded.inside), guide)
        allowed = (guide | possible).float()
        links = guide.float()
        total, count = torch.zeros((), device=self.device), torch.zeros((), device=self.device)
        lone, lone_count = torch.zeros((), device=self.device), torch.zeros((), device=self.device)
        for side, (log, null, axis) in enumerate(((forward, null_forward, 2), (backward, null_backward, 1))):
            amount = links.sum(axis)
            there_is = (amount > 0).float()
            found = (log.exp() * allowed).sum(axis)
            entropy = -(log * links).sum(axis) / amount.clamp(min=1)
            total = total + (there_is * (1 - found) + CROSS * entropy * there_is).sum()
            count = count + there_is.sum()
            nobody = batch.student.unit[padded.places[side]] == NOBODY
            alone = padded.inside[side] & (nobody | (full[:, None] & (allowed.sum(axis) == 0)))
            lone = lone - (CROSS * null * alone).sum()
            lone_count = lone_count + alone.sum()
        stray = torch.where(silver, 0.5 * (progress >= DENOISE), 1.0)[:, None, None] * STRAY
        if self.options.whole:
            words = [batch.student.word[places] for places in padded.places]
            mean = agreed(logs, words)
            total = total - self.options.whole * (links * mean.log()).sum()
        else:
            mean = torch.minimum(forward, backward).exp()
        total = total - (stray * torch.log1p(-0.99 * mean) * (1 - allowed)).sum()
        return {"linked": (total, count), "null": (lone, lone_count)}

    def of_rows(self, batch: Batch, padded: Group) -> tuple[Tensor, Tensor]:
        """Whether the links of rows are silver, and whether words without links are known to have none; (b,)."""
        full = batch.units.unlinked_is_null[padded.rows]
        starts = batch.units.link_start[padded.rows]
        return there(starts < self.supply.silver_links, self.device), there(full, self.device)


if __name__ == "__main__":
    Run(arguments()).train()
