from __future__ import annotations

import numpy as np
import pytest
import torch

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.errors import LineCountError
from weft.training.batches import Material
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.corpus import Packing, pack
from weft.training.losses import NullDirections, cross_entropy, null_directions
from weft.training.through import THROUGH, replaced

TOKENIZER = FastTokenizer(word_piece_tokenizer())
LENGTHS = [(3, 2, 4), (2, 4, 1)]  # subwords of source, third sentence and target


def packed(folder, third):
    (folder / "text").write_text("das Haus ||| the house\nschläft ||| sleeping dog\nder Hund ||| the dog\n")
    (folder / "third").write_text(third)
    source = CorpusConfig(str(folder / "text"), through=str(folder / "third"))
    corpus = pack([source], Packing(TOKENIZER, 50, (), "error", True), folder / "packed")
    return Material(corpus, TrainingConfig("out", (source,)), TOKENIZER, None, 50)


def test_rows_hold_each_side_with_the_third_sentence(tmp_path):
    """A blank line is no sentence; a batch without any has no rows."""
    material = packed(tmp_path, "the small house\n\nthe dog sleeping\n")
    pairs = [material.corpus[number] for number in range(3)]
    assert pairs[1].through is None
    rows = THROUGH.make(pairs, (), material)
    assert rows.chosen.tolist() == [0, 2]
    thirds = [pairs[k].through.tolist() for k in (0, 2)]
    expected = [*(pairs[k].source_ids.tolist() for k in (0, 2)), *thirds,
                *thirds, *(pairs[k].target_ids.tolist() for k in (0, 2))]  # fmt: skip
    found = [row[mask.bool()].tolist()[1:-1] for row, mask in zip(rows.ids, rows.attention, strict=True)]
    assert found == expected
    assert len(THROUGH.make(pairs[1:2], (), material).chosen) == 0


def test_as_many_lines_as_there_are_pairs(tmp_path):
    with pytest.raises(LineCountError, match="third"):
        packed(tmp_path, "the small house\n")


def logs_of(lengths, generator):
    """Log probabilities of random states."""
    n, m = np.max(lengths, axis=0)
    states = [torch.randn(len(lengths), size, 5, generator=generator) for size in (n, m)]
    real = [torch.arange(size) < torch.tensor([pair[side] for pair in lengths])[:, None]
            for side, size in enumerate((n, m))]  # fmt: skip
    return null_directions(*states, *real, null=0.5)


def test_probabilities_are_multiplied_and_the_null_has_the_rest():
    generator = torch.Generator().manual_seed(3)
    pairs = [(x, y) for x, _, y in LENGTHS]
    direct = logs_of([pairs[0], (4, 2), pairs[1]], generator)
    halves = logs_of([*((x, e) for x, e, _ in LENGTHS), *((e, y) for _, e, y in LENGTHS)], generator)
    found = replaced(direct, halves, torch.tensor([0, 2]))
    assert torch.equal(found.forward[1], direct.forward[1])
    for k, (row, (x, e, y)) in enumerate(zip((0, 2), LENGTHS, strict=True)):
        there, back = found.forward[row].exp(), found.backward[row].exp()
        for i in range(x):
            for j in range(y):
                expected = sum(halves.forward[k, i, t].exp() * halves.forward[2 + k, t, j].exp() for t in range(e))
                assert there[i, j].item() == pytest.approx(expected.item(), abs=1e-6)
                expected = sum(halves.backward[k, i, t].exp() * halves.backward[2 + k, t, j].exp() for t in range(e))
                assert back[i, j].item() == pytest.approx(expected.item(), abs=1e-6)
        assert there[:x].sum(1).tolist() == pytest.approx([1] * x, abs=1e-5)
        assert back[:, :y].sum(0).tolist() == pytest.approx([1] * y, abs=1e-5)


def test_padding_costs_nothing():
    """The loss of a pair is the same whatever longer pair stands beside it."""
    generator = torch.Generator().manual_seed(4)
    direct, halves = logs_of([(3, 4), (5, 6)], generator), logs_of([(3, 2), (2, 4)], generator)
    padded = replaced(direct, halves, torch.tensor([0]))
    alone = NullDirections(
        torch.cat([direct.forward[:1, :3, :4], direct.forward[:1, :3, -1:]], dim=2),
        torch.cat([direct.backward[:1, :3, :4], direct.backward[:1, -1:, :4]], dim=1),
        direct.source[:1, :3],
        direct.target[:1, :4],
    )
    wanted = replaced(alone, halves, torch.tensor([0]))
    losses = [
        cross_entropy(ours, theirs.forward.exp(), theirs.backward.exp(), weights).item()
        for ours, theirs, weights in ((direct, padded, torch.tensor([1.0, 0.0])), (alone, wanted, torch.ones(1)))
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
