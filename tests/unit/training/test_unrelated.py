from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.training.batches import Material
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.corpus import Packing, pack
from weft.training.unrelated import UNRELATED

TOKENIZER = FastTokenizer(word_piece_tokenizer())
LONGEST = 12


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unrelated")
    words = ["das", "Haus", "schläft", "der", "kleine", "Hund"]
    lines = [f"{' '.join(words[k % 6 :] + words[: k % 4])} ||| {'the small house dog ' * (k % 2 + 1)}{k}\n"
             for k in range(40)]  # fmt: skip
    (folder / "text").write_text("".join(lines))
    source = CorpusConfig(str(folder / "text"))
    packed = pack([source], Packing(TOKENIZER, LONGEST, (), "error", True), folder / "packed")
    return Material(packed, TrainingConfig("out", (source,), changed=1.0), TOKENIZER, None, LONGEST)


def test_words_that_stayed_are_where_they_say_they_were(material):
    """The ids at each origin are those of the original pair; one side of a pair is never touched."""
    pairs = [material.corpus[number] for number in range(len(material.corpus))]
    kinds = {"whole": 0, "added": 0, "cut": 0}
    for seed in range(5):
        draws = UNRELATED.draw(np.random.default_rng(seed), pairs, material)
        rows = UNRELATED.make(pairs, draws, material)
        for k, pair in enumerate(pairs):
            touched = 0
            for row, origin, ids in ((k, rows.source_origin[k], pair.source_ids),
                                     (len(pairs) + k, rows.target_origin[k], pair.target_ids)):  # fmt: skip
                real = origin[origin > -2].tolist()
                now = rows.ids[row, 1 : 1 + len(real)].tolist()
                assert int(rows.attention[row].sum()) == len(real) + 2
                assert 1 <= len(real) <= LONGEST
                assert all(ids[place] == found for place, found in zip(real, now, strict=True) if place >= 0)
                if real != list(range(len(ids))):
                    touched += 1
                    stayed = [place for place in real if place >= 0]
                    assert stayed == sorted(stayed)
                    kinds["whole" if not stayed else "added" if -1 in real else "cut"] += 1
            assert touched <= 1
    assert kinds["whole"] > kinds["added"] > 20
    assert kinds["cut"] > 20


def test_a_share_of_the_pairs_is_changed(material):
    """As many as asked for, each beside the pair that it was made from; a batch without any has a row of no weight."""
    pairs = [material.corpus[number] for number in range(len(material.corpus))]
    some = replace(material, config=replace(material.config, changed=0.25))
    draws = UNRELATED.draw(np.random.default_rng(1), pairs, some)
    rows = UNRELATED.make(pairs, draws, some)
    assert 3 <= len(rows.chosen) <= 20
    assert rows.weights.all()
    for place, number in enumerate(rows.chosen.tolist()):
        stayed = rows.source_origin[place][rows.source_origin[place] >= 0].tolist()
        assert [pairs[number].source_ids[k] for k in stayed] == [
            int(rows.ids[place, 1 + column])
            for column, origin in enumerate(rows.source_origin[place].tolist())
            if origin >= 0
        ]
    none = UNRELATED.make(pairs, draws, replace(material, config=replace(material.config, changed=0.0)))
    assert none.chosen.tolist() == [0]
    assert none.weights.tolist() == [0.0]
