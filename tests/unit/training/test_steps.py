from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.errors import SettingError
from weft.training.batches import ALIGNED, MASKED_APART, MASKED_TOGETHER, PARALLEL, Material
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.flat_batches import FLAT
from weft.training.objectives import OBJECTIVES
from weft.training.packing import Packing, pack
from weft.training.rows import Vocabulary
from weft.training.steps import HeldOut, Schedule, Steps, material_of

LIBRARY = word_piece_tokenizer()
TOKENIZER = FastTokenizer(LIBRARY)
VOCABULARY = Vocabulary(LIBRARY.token_to_id("[MASK]"), LIBRARY.get_vocab_size())


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("steps")
    lines = [f"{'das Haus ' * (k % 5 + 1)}||| {'the small house ' * (k % 4 + 1)}{k}\n" for k in range(50)]
    (folder / "text").write_text("".join(lines))
    (folder / "links").write_text("".join("0-0 1p2\n" if k % 2 else "\n" for k in range(50)))
    config = CorpusConfig(str(folder / "text"), links=str(folder / "links"))
    return pack([config], Packing(TOKENIZER, 60, (), "error", True), folder / "packed"), config


def steps_of(corpus, **options):
    packed, source = corpus
    processes = {name: options.pop(name) for name in ("process", "processes") if name in options}
    chosen = {"objectives": tuple(OBJECTIVES), "batch_size": 8, "null": 1.0, **options}
    config = TrainingConfig("out", (source,), **chosen)
    material = Material(packed, config, TOKENIZER, VOCABULARY, longest=60)
    count = processes.get("processes", 1)
    return Steps(material_of(material, torch.device("cpu"), joint=True, processes=count), **processes)


def rows_of(batches, maker):
    return sorted(tuple(row[row != 0].tolist()) for batch in batches for row in batch.part(maker).ids)


def flat_rows(batches):
    """Rows that are laid flat as the model reads them, with masks, and those that its teacher reads."""
    found = []
    for part in (batch.part(FLAT) for batch in batches):
        ids = part.masks.masked(part.student.ids, 1.0)[0]
        for reader, tokens in [(part.student, ids), *([(part.teacher, part.teacher.ids)] if part.teacher else [])]:
            sizes = reader.ends.diff()
            found += [tuple(row.tolist()) for row in tokens[: reader.size].split(sizes[sizes > 0].tolist())]
    return sorted(found)


def test_a_step_depends_on_seed_and_step_alone(corpus):
    first, again = steps_of(corpus), steps_of(corpus)
    _ = again[5]
    [one], [other] = first[3], again[3]
    for name, part in one.parts.items():
        for field in dataclasses.fields(part) if name != FLAT.name else ():
            assert torch.equal(getattr(part, field.name), getattr(other.parts[name], field.name))
    assert flat_rows([one]) == flat_rows([other])
    different = steps_of(corpus, seed=7)[3]
    assert not torch.equal(one.part(MASKED_APART).ids, different[0].part(MASKED_APART).ids)
    assert flat_rows([one]) != flat_rows(different)


def test_processes_and_pieces_share_the_same_batch(corpus):
    whole = steps_of(corpus)[2]
    assert len(whole) == 1
    halves = [batch for k in (0, 1) for batch in steps_of(corpus, process=k, processes=2)[2]]
    small = steps_of(corpus, batch_tokens=40)[2]
    assert len(small) > 2
    for maker in (ALIGNED, MASKED_APART, MASKED_TOGETHER, PARALLEL):
        assert rows_of(halves, maker) == rows_of(small, maker) == rows_of(whole, maker)
    assert flat_rows(halves) == flat_rows(small) == flat_rows(whole)
    for name in ("teacher", "unrelated", "gold", "masked"):
        counts = [sum(batch.part(FLAT).counts[name] for batch in some) for some in (halves, small, whole)]
        assert counts == [counts[0]] * 3
        assert counts[0] > 0
    assert sum(batch.pairs for batch in halves) == 8


@pytest.mark.parametrize("processes", [1, 2])
def test_steps_are_filled_with_pairs_at_random(corpus, processes):
    options = {
        "step_tokens": 700,
        "max_steps": 9,
        "objectives": ("teacher", "unrelated", "masked"),
        "processes": processes,
    }
    shares = [steps_of(corpus, **options, process=process) for process in range(processes)]
    for step in range(4):
        parts = [batch.part(FLAT) for steps in shares for batch in steps[step]]
        again = [batch.part(FLAT) for steps in shares for batch in steps[step]]
        assert [part.student.ids.tolist() for part in parts] == [part.student.ids.tolist() for part in again]
        assert 500 < sum(part.student.size for part in parts) <= 700
        assert sum(part.teacher.size for part in parts) <= 700
        if processes == 1:  # one size for all, so that the encoder can be compiled
            assert len(parts[0].student.ids) == len(parts[0].teacher.ids) == 700
            assert len(parts[0].student.ends) == len(parts[0].teacher.ends) == 71
    other = steps_of(corpus, **{**options, "processes": 1})[5][0].part(FLAT)
    assert other.student.ids.tolist() != parts[0].student.ids.tolist()


def test_more_steps_than_an_index_holds_are_as_good_as_endless(corpus):
    steps = steps_of(corpus, max_steps=10**20, epochs=1e30)
    assert len(steps) > 10**9
    assert steps[10**9]


def test_a_step_has_room_for_any_pair(corpus):
    with pytest.raises(SettingError, match="`step_tokens` and `teacher_tokens` must be at least 496 for sentences"):
        steps_of(corpus, step_tokens=400, max_steps=1, objectives=("teacher",))


def test_given_links_cover_all_subwords_of_their_words(corpus):
    [batch] = steps_of(corpus)[0]
    rows = batch.part(ALIGNED)
    assert rows.given.any()
    assert not rows.given.all()
    for k in rows.given.nonzero()[:, 0].tolist():
        source, target = rows.source_words[k], rows.target_words[k]
        assert torch.equal(rows.sure[k], (source[:, None] == 0) & (target[None] == 0))
        assert torch.equal(rows.possible[k], (source[:, None] == 1) & (target[None] == 2))
    assert not rows.sure[~rows.given].any()


def test_half_of_the_pairs_are_not_parallel(corpus):
    steps = steps_of(corpus)
    parallel = torch.cat([batch.part(PARALLEL).parallel for step in range(60) for batch in steps[step]])
    assert parallel.float().mean().item() == pytest.approx(0.5, abs=0.1)


def test_a_share_is_kept_back_and_never_trained_on(corpus):
    steps = steps_of(corpus, held_out=0.2)
    assert len(steps.held_out) == 10
    seen = np.concatenate([steps._order_of(epoch) for epoch in range(5)])
    assert sorted({*seen.tolist(), *steps.held_out.tolist()}) == list(range(50))
    assert not set(seen.tolist()) & set(steps.held_out.tolist())
    packed, source = corpus
    config = TrainingConfig("out", (source,), objectives=("so",))
    kept = HeldOut(Material(packed, config, TOKENIZER, VOCABULARY, longest=60), steps.held_out)
    assert sum(batch.pairs for batches in kept for batch in batches) == 10


@pytest.mark.parametrize(
    ("pairs", "batch", "epochs", "max_steps", "processes", "expected"),
    [
        (10, 4, 1, None, 1, 3),
        (10, 4, 1, None, 4, 2),
        (3, 8, 1, None, 1, 1),
        (3, 8, 0.5, None, 1, 1),
        (10, 4, 1, 50, 1, 50),
    ],
)
def test_every_run_has_at_least_one_step(pairs, batch, epochs, max_steps, processes, expected):
    config = TrainingConfig("o", (CorpusConfig("x"),), batch_size=batch, epochs=epochs, max_steps=max_steps)
    schedule = Schedule.of(pairs, config, processes=processes)
    assert schedule.total_steps == expected
    assert all(len(range(pairs)[schedule.place(step)[1]]) >= min(pairs, processes) for step in range(expected))
