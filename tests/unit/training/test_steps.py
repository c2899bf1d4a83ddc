from __future__ import annotations

import numpy as np
import pytest
import torch

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.training.batches import Vocabulary, joint_rows, masked, single_rows
from weft.training.config import CorpusConfig, GuideConfig, TrainingConfig
from weft.training.corpus import Packing, pack
from weft.training.losses import between_words, guide_links
from weft.training.objectives import Directions
from weft.training.steps import Schedule, Steps

LIBRARY = word_piece_tokenizer()
TOKENIZER = FastTokenizer(LIBRARY)
VOCABULARY = Vocabulary(LIBRARY.token_to_id("[MASK]"), LIBRARY.get_vocab_size())
GENERATOR = np.random.default_rng(0)


def sentences(count=400, length=30):
    return [GENERATOR.integers(5, VOCABULARY.size, size=length) for _ in range(count)]


def test_rows_hold_sentences_between_special_tokens():
    x, y = np.array([7, 8, 9]), np.array([11])
    rows = joint_rows([x, y], [y, x], TOKENIZER)
    assert rows.ids.tolist() == [[2, 7, 8, 9, 3, 2, 11, 3], [2, 11, 3, 2, 7, 8, 9, 3]]
    assert (rows.ids[rows.inside] >= 5).all()
    single = single_rows([x, y], TOKENIZER)
    assert single.ids.tolist() == [[2, 7, 8, 9, 3], [2, 11, 3, 0, 0]]
    assert single.attention.tolist() == [[True] * 5, [True] * 3 + [False] * 2]


def test_masking_is_80_10_10_of_15_percent_and_spares_special_tokens():
    rows = single_rows(sentences(), TOKENIZER)
    draws = GENERATOR.random((*rows.ids.shape, 3), dtype=np.float32)
    result = masked(rows, draws, VOCABULARY)
    before = rows.ids.reshape(-1)[result.chosen]
    after = result.ids.reshape(-1)[result.chosen]
    assert len(result.chosen) / rows.inside.sum() == pytest.approx(0.15, abs=0.01)
    assert np.mean(after == VOCABULARY.mask) == pytest.approx(0.8, abs=0.03)
    assert np.mean(after == before) == pytest.approx(0.1, abs=0.03)
    assert (result.labels == before).all()
    assert rows.inside.reshape(-1)[result.chosen].all()
    untouched = np.ones(rows.ids.size, dtype=bool)
    untouched[result.chosen] = False
    assert (result.ids.reshape(-1)[untouched] == rows.ids.reshape(-1)[untouched]).all()


def test_masks_do_not_leak_from_one_pass_into_the_next():
    rows = single_rows(sentences(20), TOKENIZER)
    original = rows.ids.copy()
    draws = [GENERATOR.random((*rows.ids.shape, 3), dtype=np.float32) for _ in range(2)]
    masked(rows, draws[0], VOCABULARY)
    assert (rows.ids == original).all()
    after_another = masked(rows, draws[1], VOCABULARY)
    alone = masked(single_rows([row[1:-1] for row in original], TOKENIZER), draws[1], VOCABULARY)
    assert (after_another.ids == alone.ids).all()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("steps")
    lines = [f"{'das Haus ' * (k % 5 + 1)}||| {'the small house ' * (k % 4 + 1)}{k}\n" for k in range(50)]
    (folder / "text").write_text("".join(lines))
    (folder / "links").write_text("".join("0-0 1-2\n" if k % 2 else "\n" for k in range(50)))
    config = CorpusConfig(str(folder / "text"), links=str(folder / "links"))
    return pack([config], Packing(TOKENIZER, 60, (), "error", True), folder / "packed"), config


def steps_of(corpus, **options):
    packed, source = corpus
    processes = {name: options.pop(name) for name in ("process", "processes") if name in options}
    config = TrainingConfig("out", (source,), objectives=("mlm", "tlm", "so", "psi", "co"), batch_size=8, **options)
    return Steps(packed, config, TOKENIZER, VOCABULARY, **processes)


def rows_of(pieces, name):
    return sorted(tuple(row[row != 0].tolist()) for piece in pieces for row in piece[name])


def test_a_step_depends_on_seed_and_step_alone(corpus):
    first, again = steps_of(corpus), steps_of(corpus)
    _ = again[5]
    for name, value in first[3][0].items():
        assert torch.equal(value, again[3][0][name])
    assert not torch.equal(first[3][0]["mlm_ids"], steps_of(corpus, seed=7)[3][0]["mlm_ids"])


def test_processes_and_pieces_share_the_same_batch(corpus):
    whole = steps_of(corpus)[2]
    assert len(whole) == 1
    halves = [piece for k in (0, 1) for piece in steps_of(corpus, process=k, processes=2)[2]]
    small = steps_of(corpus, batch_tokens=40)[2]
    assert len(small) > 2
    for name in ("ids", "mlm_ids", "tlm_ids", "psi_ids"):
        assert rows_of(halves, name) == rows_of(small, name) == rows_of(whole, name)
    assert sum(int(piece["pairs"]) for piece in halves) == 8


def test_given_links_cover_all_subwords_of_their_words(corpus):
    [piece] = steps_of(corpus)[0]
    assert piece["given"].any()
    assert not piece["given"].all()
    for k in piece["given"].nonzero()[:, 0].tolist():
        source, target = piece["source_words"][k], piece["target_words"][k]
        linked = ((source[:, None] == 0) & (target[None] == 0)) | ((source[:, None] == 1) & (target[None] == 2))
        assert torch.equal(piece["links"][k], linked)
    assert not piece["links"][~piece["given"]].any()


def test_half_of_the_pairs_are_not_parallel(corpus):
    steps = steps_of(corpus)
    parallel = torch.cat([piece["psi_parallel"] for epoch_step in range(60) for piece in steps[epoch_step]])
    assert parallel.float().mean().item() == pytest.approx(0.5, abs=0.1)


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


def guide_case():
    forward = torch.tensor([[[0.9, 0.04, 0.06], [0.3, 0.6, 0.1]]]).repeat(2, 1, 1)
    backward = torch.tensor([[[0.7, 0.05, 0.9], [0.3, 0.95, 0.1]]]).repeat(2, 1, 1)
    piece = {
        "source_words": torch.tensor([[0, 1]] * 2), "target_words": torch.tensor([[0, 1, 2]] * 2),
        "links": torch.tensor([[[False, True, True], [False, False, False]]] * 2),
        "given": torch.tensor([True, False]),
    }  # fmt: skip
    return Directions(forward, backward, torch.ones_like(forward, dtype=torch.bool)), piece


def test_the_guide_is_given_links_or_the_models_own():
    probabilities, piece = guide_case()
    links = guide_links(probabilities, piece, GuideConfig(), threshold=0.001, denoise=False)
    assert links[0].tolist() == [[False, True, True], [False, False, False]]
    assert links[1].all()  # every cell exceeds 0.001 both ways


def test_a_strict_guide_and_denoising():
    probabilities, piece = guide_case()
    strict = guide_links(probabilities, piece, GuideConfig(), threshold=0.5, denoise=False)
    assert strict[1].tolist() == [[True, False, False], [False, True, False]]
    checked = guide_links(probabilities, piece, GuideConfig(), threshold=0.001, denoise=True)
    # given: (0,1) is rejected both ways and dropped, (0,2) stays; (0,0) and (1,1) are certain both ways and added
    assert checked[0].tolist() == [[True, False, True], [False, True, False]]


def test_links_spread_over_whole_words():
    piece = {"source_words": torch.tensor([[0, 0, 1, -1]]), "target_words": torch.tensor([[0, 1, 1]])}
    links = torch.zeros(1, 4, 3, dtype=torch.bool)
    links[0, 1, 2] = True
    expected = [[False, True, True], [False, True, True], [False] * 3, [False] * 3]
    assert between_words(links, piece)[0].tolist() == expected
