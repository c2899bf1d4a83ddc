from __future__ import annotations

import numpy as np
import pytest

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.errors import LineCountError, WeftError
from weft.training.config import CorpusConfig, TrainingConfig
from weft.training.packed import Pool
from weft.training.packing import Packing, pack
from weft.training.sampling import RandomPairs, sampling_order

PACKING = Packing(FastTokenizer(word_piece_tokenizer()), 50, (), "error", True)


def sampling(*limits, **options):
    return TrainingConfig("o", tuple(CorpusConfig("x", limit=limit) for limit in limits), seed=1, **options)


def pools(*sizes):
    firsts = np.cumsum([0, *sizes])
    return [Pool(k, int(firsts[k]), size) for k, size in enumerate(sizes)]


def test_an_epoch_takes_every_pair_once_in_an_order_of_its_own():
    orders = [sampling_order(pools(10, 5), sampling(None, None), epoch=epoch) for epoch in (0, 1, 0)]
    assert sorted(orders[0].tolist()) == sorted(orders[1].tolist()) == list(range(15))
    assert orders[0].tolist() != orders[1].tolist()
    assert orders[0].tolist() == orders[2].tolist()


def test_limits_and_temperatures():
    limited = sampling_order(pools(100, 20), sampling(10, None), epoch=0)
    assert (np.sum(limited < 100), np.sum(limited >= 100)) == (10, 20)
    warm = sampling_order(pools(900, 100), sampling(None, None, temperature=2), epoch=0)
    assert len(warm) == 1000
    assert np.sum(warm >= 900) == 250  # 10 / (30 + 10) of 1000, so pairs of the small corpus come again
    assert set(warm[warm >= 900].tolist()) == set(range(900, 1000))


@pytest.fixture
def folder(tmp_path):
    """Six lines in four languages, of which one is there twice; German and English lack a line each."""
    texts = {
        "de": ["das Haus", "", "der Hund", "klein", "gut", "da"],
        "en": ["the house", "a", "the dog", "small", "", "there"],
        "fr": ["la maison", "b", "", "petite", "bon", ""],
        "ko": ["x", "y", "", "z", "", "w"],
        "ko-whole": ["x y", "y", "", "z", "", "w"],
    }
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def packed(folder, *corpora):
    records = [CorpusConfig(str(folder), hub="en", **options) for options in corpora]
    config = TrainingConfig("o", tuple(records), step_tokens=100, max_steps=1)
    return pack(records, PACKING, folder / "packed"), config


def test_each_language_of_multi_parallel_text_is_a_pool_with_the_hub(folder):
    corpus, _ = packed(folder, {})
    assert [pool.size for pool in corpus.pools] == [4, 3, 4, 4]
    units = corpus.units(np.arange(4))
    for number in range(4):
        pair = corpus.training_pair(units, number)
        line = [0, 2, 3, 5][number]
        sides = [(folder / f"{name}.txt").read_text().splitlines()[line].split() for name in ("de", "en")]
        found = PACKING.tokenizer.split([tuple(side) for side in sides])
        assert (pair.source_ids.tolist(), pair.target_ids.tolist()) == tuple(list(part.ids) for part in found)


def test_two_languages_of_a_line_are_drawn_with_the_hubs_sentence(folder):
    corpus, config = packed(folder, {}, {"others": True})
    assert corpus.counts["pairs"] == 15
    sentences = len(corpus.lengths)
    assert sentences == 22  # the folder is packed once
    units = RandomPairs(corpus, config).draw(np.random.default_rng(1), 400)
    through = units[units.pair < 0]
    assert 100 < len(through) < len(units)
    lines = np.asarray(corpus.arrays["lines"]).reshape(5, 6)
    language, line = np.array([np.argwhere(lines == number)[0] for number in through.source.tolist()]).T
    other, same = np.array([np.argwhere(lines == number)[0] for number in through.target.tolist()]).T
    assert np.array_equal(line, same)
    assert np.array_equal(through.third, lines[-1, line])
    assert (language != other).all()
    assert not ((language >= 2) & (other >= 2)).any()  # Korean and Korean
    assert set(language.tolist()) == {0, 1, 2, 3}


def test_only_languages_that_are_asked_for(folder):
    corpus, config = packed(folder, {"languages": ("fr", "ko")}, {"others": True, "languages": ("de", "fr")})
    assert [pool.size for pool in corpus.pools] == [3, 4]
    through = RandomPairs(corpus, config).draw(np.random.default_rng(1), 100)
    through = through[through.pair < 0]
    lines = np.asarray(corpus.arrays["lines"]).reshape(5, 6)
    assert set(through.source.tolist()) | set(through.target.tolist()) == {*lines[:2, 0], *lines[:2, 3]}


def test_shares_are_kept_and_sizes_count_within_them(folder):
    (folder / "pairs").write_text("".join(f"{k} ||| {k} a\n" for k in range(50)))
    records = [CorpusConfig(str(folder / "pairs"), share=0.2), CorpusConfig(str(folder), hub="en", share=0.3),
               CorpusConfig(str(folder), hub="en", others=True, share=0.5)]  # fmt: skip
    config = TrainingConfig("o", tuple(records), step_tokens=100, max_steps=1, temperature=2.0)
    corpus = pack(records, PACKING, folder / "packed")
    units = RandomPairs(corpus, config).draw(np.random.default_rng(1), 4000)
    counts = np.bincount(units.corpus, minlength=3) / 4000
    assert counts[:2].tolist() == pytest.approx([0.2, 0.3], abs=0.03)
    of_pools = np.bincount(units.pool[(units.corpus == 1)], minlength=5)[1:5]
    expected = np.sqrt([4, 3, 4, 4])
    assert (of_pools / of_pools.sum()).tolist() == pytest.approx((expected / expected.sum()).tolist(), abs=0.05)


def test_mistakes_in_multi_parallel_text_are_named(folder):
    (folder / "fr.txt").write_text("la\n")
    with pytest.raises(LineCountError, match=r"fr\.txt has 1 line"):
        packed(folder, {})
    with pytest.raises(WeftError, match=r"has no eo\.txt, which `hub` names"):
        pack([CorpusConfig(str(folder), hub="eo")], PACKING, folder / "other")
