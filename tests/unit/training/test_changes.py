from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.training.changes import ADDED, CUT, UNCHANGED, UNRELATED, draw, made_rows
from weft.training.config import ChangesConfig, CorpusConfig, TrainingConfig
from weft.training.packing import Packing, pack
from weft.training.segments import Sentences

TOKENIZER = FastTokenizer(word_piece_tokenizer())
LONGEST = 24


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("changes")
    words = ["das", "Haus", "schläft", "der", "kleine", "Hund"]
    lines = [f"{' '.join(words[k % 6 :] + words[: k % 4])} ||| {'the small house dog ' * (k % 2 + 1)}{k}\n"
             for k in range(40)]  # fmt: skip
    (folder / "text").write_text("".join(lines))
    source = CorpusConfig(str(folder / "text"))
    packed = pack([source], Packing(TOKENIZER, LONGEST, (), "error", True), folder / "packed")
    return packed, TrainingConfig("out", (source,), changed=1.0, changes=ChangesConfig(double=0.3))


def rows_of(text, seed, **changes):
    corpus, config = text
    units = corpus.units(np.arange(len(corpus)))
    drawn = draw(np.random.default_rng(seed), units, corpus, replace(config, **changes), LONGEST)
    return drawn, made_rows(units, drawn, Sentences(corpus, TOKENIZER, joint=True))


def test_parts_are_where_they_say_they_were(text):
    """What stayed of a unit is at its place in the unit's sentence; one side of a changed row is never touched."""
    corpus, _ = text
    starts = np.asarray(corpus.arrays["starts"])
    for seed in range(5):
        drawn, made = rows_of(text, seed)
        sides = made.units.source, made.units.target
        for row, side, slot in np.argwhere(made.segments.length > 0).tolist():
            unit, start = made.segments.unit[row, side, slot], made.segments.start[row, side, slot]
            if unit >= 0:
                assert start - made.segments.place[row, side, slot] == starts[sides[side][unit]]
        lengths = made.segments.length.sum(axis=2)
        assert lengths.min() >= 1
        assert lengths.max() <= LONGEST
        changed = np.flatnonzero(made.changed)
        assert np.array_equal(lengths[changed, 0], corpus.lengths[sides[0][made.unit[changed]]])
        kinds = drawn.change[made.unit[changed]]
        own = (made.segments.unit[changed] >= 0) & (made.segments.length[changed] > 0)
        assert not own[kinds == UNRELATED].any()
        assert own[kinds == ADDED].sum(axis=(1, 2)).tolist() == [2] * int((kinds == ADDED).sum())
        assert (lengths[changed, 1] < corpus.lengths[sides[1][made.unit[changed]]])[kinds == CUT].all()
        assert {UNRELATED, ADDED, CUT} == set(kinds.tolist())


def test_pairs_are_flipped_doubled_and_changed_as_often_as_asked(text):
    found = [rows_of(text, seed, changed=0.25)[0] for seed in range(40)]
    share = {
        "flipped": np.mean([drawn.flipped.mean() for drawn in found]),
        "changed": np.mean([(drawn.change != UNCHANGED).mean() for drawn in found]),
    }
    assert share == pytest.approx({"flipped": 0.5, "changed": 0.25}, abs=0.06)
    assert 0.1 < np.mean([drawn.double.mean() for drawn in found]) <= 0.33
    none, made = rows_of(text, 1, changed=0.0)
    assert (none.change == UNCHANGED).all()
    assert not made.changed.any()


def test_strangers_come_from_anywhere_or_from_near_by(text):
    for near, least, most in ((0.0, 8, 30), (1.0, 1, 4)):
        drawn, _ = rows_of(text, 1, changes=ChangesConfig(near=near))
        distance = np.abs(drawn.partner[:, 3] - np.arange(len(drawn.partner)))
        assert distance.min() > 0
        assert least <= np.median(distance) <= most


def test_a_pair_is_not_its_own_stranger(tmp_path):
    """The same sentence in another pair is no unrelated one."""
    (tmp_path / "text").write_text("das Haus ||| the house\nder Hund ||| the house\n")
    source = CorpusConfig(str(tmp_path / "text"))
    corpus = pack([source], Packing(TOKENIZER, LONGEST, (), "error", True), tmp_path / "packed")
    units = corpus.units(np.arange(2))
    for seed in range(20):
        drawn = draw(np.random.default_rng(seed), units, corpus, TrainingConfig("o", (source,), changed=1.0), LONGEST)
        assert (drawn.change[~drawn.flipped] == UNCHANGED).all()
        assert (drawn.partner[:, 3] != units.pair).all()
