from __future__ import annotations

import numpy as np
import pytest

from models import SENTENCES
from weft.errors import FormatError, LineCountError, WeftError
from weft.extraction.methods import METHODS
from weft.extraction.settings import ExtractionSettings
from weft.models.load import load_encoder
from weft.tuning import NULLS, DevSet, calibration_error, tune


def write_dev(prefix, source, target, links):
    for ending, content in (("src", source), ("tgt", target), ("talp", links)):
        prefix.with_suffix(f".{ending}").write_text("".join(line + "\n" for line in content))
    return str(prefix)


@pytest.fixture
def same_words(tmp_path):
    """Every sentence with itself: the right links are the diagonal."""
    sentences = SENTENCES * 3
    links = [" ".join(f"{i}-{i}" for i in range(len(sentence.split()))) for sentence in sentences]
    return write_dev(tmp_path / "dev", sentences, sentences, links)


def test_everything_is_tried_and_the_best_is_chosen_and_calibrated(tiny_bert, same_words):
    trials = []
    tuned = tune(
        lambda layer: load_encoder(tiny_bert, layer=layer)[0],
        [0, 1, 2, 3],
        ["softmax", "itermax"],
        [DevSet.read(same_words)],
        base=ExtractionSettings(),
        report=trials.append,
    )
    assert len(trials) >= 4 * (len(METHODS["softmax"].trial_thresholds) + 1) + len(NULLS) - 1
    assert {trial.settings.null for trial in trials} == set(NULLS)
    assert tuned.best.mean_aer == min(trial.mean_aer for trial in trials)
    assert tuned.best.mean_aer < 5
    assert tuned.best.settings.calibration is not None
    assert all(0 < p < 1 for p in tuned.best.settings.calibration.probabilities)


def test_nulls_are_tried_with_the_best_layer_and_method_only(tiny_bert, same_words):
    trials = []
    tuned = tune(
        lambda layer: load_encoder(tiny_bert, layer=layer)[0],
        [1, 2],
        ["argmax"],
        [DevSet.read(same_words)],
        base=ExtractionSettings(null=3),
        nulls=[None, -1000, 1e6],
        report=trials.append,
    )
    assert [trial.settings.null for trial in trials] == [None, None, -1000, 1e6]
    assert trials[-1].mean_aer == 100
    assert tuned.best.settings.null is None


def test_a_dev_set_counted_from_1_is_understood(tmp_path):
    dev = DevSet.read(write_dev(tmp_path / "dev", ["a b", "c"], ["d e", "f"], ["1-1 2-2", "1-1"]))
    assert [gold.sure for gold in dev.gold] == [{(0, 0), (1, 1)}, {(0, 0)}]


def test_bad_dev_sets_are_refused(tmp_path):
    with pytest.raises(WeftError, match="no sure links"):
        DevSet.read(write_dev(tmp_path / "none", ["a"], ["b"], [""]))
    with pytest.raises(LineCountError):
        DevSet.read(write_dev(tmp_path / "short", ["a", "b"], ["c", "d"], ["0-0"]))
    with pytest.raises(FormatError, match=r"bad\.talp:1: expected"):
        DevSet.read(write_dev(tmp_path / "bad", ["a"], ["b"], ["0_0"]))
    with pytest.raises(FileNotFoundError):
        DevSet.read(str(tmp_path / "missing"))


def test_gold_that_points_behind_a_sentence_is_refused(tmp_path):
    with pytest.raises(FormatError, match=r"dev\.talp:1: the link 0-7 is out of range"):
        DevSet.read(write_dev(tmp_path / "dev", ["a b"], ["c d"], ["0-0 0-7"]))


def test_a_handful_of_links_is_no_calibration(tiny_bert, tmp_path):
    dev = DevSet.read(write_dev(tmp_path / "dev", ["das ist"], ["das ist"], ["0-0 1-1"]))
    encoder = load_encoder(tiny_bert, layer=1)[0]
    tuned = tune(lambda layer: encoder, [1], ["itermax"], [dev], base=ExtractionSettings())
    assert tuned.best.settings.calibration is None
    assert tuned.error_after is None


def test_calibration_error_by_hand():
    probabilities = np.array([0.1] * 10 + [0.9] * 10)
    right = np.array([False] * 10 + [True] * 5 + [False] * 5)
    assert calibration_error(probabilities, right, bins=2) == pytest.approx((0.1 + 0.4) / 2)
