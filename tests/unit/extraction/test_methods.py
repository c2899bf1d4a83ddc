"""A method is one entry of a table: one that is added from outside works everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from models import SENTENCES
from weft.arrays import array_namespace
from weft.errors import SettingError
from weft.extraction import extractor, strips
from weft.extraction.extractor import extract
from weft.extraction.methods import METHODS, Method
from weft.extraction.settings import ExtractionSettings
from weft.models.load import load_encoder
from weft.tuning import DevSet, tune
from weft.types import GoldAlignment, SentencePair

from .conftest import on_torch, random_encoded

PAIRS = [(source, target) for source in range(6) for target in range(6, 12)]


def above_share_of_best(compared, axis, settings):
    """Whatever reaches a share of the best dot product in its row or column."""
    products = compared.products
    best = array_namespace(products).max(products, axis=axis, keepdims=True)
    return (products > settings.effective_threshold * best) & compared.valid


def all_positive(compared, settings):
    return (compared.products > 0) & compared.valid


@pytest.fixture
def added(monkeypatch):
    """Two methods that weft does not have."""
    nearly_best = Method(
        name="nearly-best", threshold=0.75, trial_thresholds=(0.5, 0.75, 0.9), choose=above_share_of_best
    )
    monkeypatch.setitem(METHODS, "nearly-best", nearly_best)
    monkeypatch.setitem(METHODS, "positive", Method(name="positive", find=all_positive))


@pytest.mark.usefixtures("added")
class TestAMethodFromOutside:
    def test_settings_know_its_name_and_threshold(self):
        settings = ExtractionSettings(method="nearly-best")
        assert settings.effective_threshold == 0.75
        assert ExtractionSettings.from_json(settings.to_json()) == settings
        with pytest.raises(SettingError, match="match, nearly-best, positive, got 'nearly'"):
            ExtractionSettings(method="nearly")

    @pytest.mark.parametrize("move", [lambda encoded: encoded, on_torch], ids=["numpy", "torch"])
    def test_it_takes_links_in_batches_and_strips(self, monkeypatch, move):
        encoded = random_encoded(1)
        settings = ExtractionSettings(method="nearly-best", symmetrize="union", null=1)
        expected = []
        for pair in PAIRS:
            source, target = (encoded.states[encoded.starts[k] : encoded.starts[k + 1]] for k in pair)
            products = source @ target.T
            near = [products > 0.75 * products.max(axis=axis, keepdims=True) for axis in (1, 0)]
            rows, columns = np.nonzero((near[0] | near[1]) & (products > 1))
            words = [encoded.words[encoded.starts[k] :] for k in pair]
            expected.append(set(zip(words[0][rows].tolist(), words[1][columns].tolist(), strict=True)))
        assert [alignment.pairs for alignment in extract(move(encoded), PAIRS, settings)] == expected
        monkeypatch.setattr(extractor, "BATCH_CELLS", 1)
        monkeypatch.setattr(extractor, "STRIP_CELLS", 0)
        monkeypatch.setattr(strips, "_STRIP_CELLS", 20)
        assert [alignment.pairs for alignment in extract(move(encoded), PAIRS, settings)] == expected

    def test_one_that_finds_links_at_once_is_never_cut_into_strips(self, monkeypatch):
        whole = extract(random_encoded(2), PAIRS, ExtractionSettings(method="positive"))
        monkeypatch.setattr(extractor, "STRIP_CELLS", 0)
        assert extract(random_encoded(2), PAIRS, ExtractionSettings(method="positive")) == whole

    def test_tuning_tries_its_thresholds(self, tiny_bert):
        sentences = [tuple(sentence.split()) for sentence in SENTENCES]
        diagonal = [frozenset((k, k) for k in range(len(words))) for words in sentences]
        dev = DevSet(
            "same",
            tuple(SentencePair(words, words) for words in sentences),
            tuple(GoldAlignment(links, links) for links in diagonal),
        )
        trials = []
        tune(
            lambda layer: load_encoder(tiny_bert, layer=1)[0],
            [1],
            ["nearly-best"],
            [dev],
            base=ExtractionSettings(),
            nulls=[None],
            report=trials.append,
        )
        assert [trial.settings.threshold for trial in trials] == [0.5, 0.75, 0.9]

    def test_it_says_which_options_it_uses(self):
        assert METHODS["nearly-best"].uses("threshold")
        assert METHODS["nearly-best"].uses("symmetrize")
        assert not METHODS["nearly-best"].uses("alpha")
        assert not METHODS["positive"].uses("threshold")
        assert not METHODS["positive"].uses("symmetrize")


def test_a_method_chooses_scores_or_finds():
    for wrong in ({}, {"choose": above_share_of_best, "find": all_positive}):
        with pytest.raises(TypeError, match="needs one of `choose`, `score` and `find`"):
            Method(name="wrong", **wrong)


def test_the_documentation_lists_every_method_with_its_threshold_and_options():
    page = (Path(__file__).parents[3] / "docs" / "methods.md").read_text(encoding="utf-8")
    rows = {
        name: (threshold, set(re.findall(r"--(\w+)", options)))
        for name, threshold, options in re.findall(r"^\| `(\w+)` \| ([\d.]+|none) \|([^|]*)\|", page, re.MULTILINE)
    }
    expected = {}
    for name, method in METHODS.items():
        threshold = "none" if method.threshold is None else f"{method.threshold:g}"
        options = {option for option in ("symmetrize", "alpha", "cost") if method.uses(option)}
        expected[name] = threshold, options
    assert rows == expected
