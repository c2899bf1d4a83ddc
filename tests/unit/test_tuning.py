from __future__ import annotations

import numpy as np
import pytest

from models import SENTENCES
from weft.aligner import Aligner
from weft.annotation.project import Project, create_project
from weft.annotation.record import Annotation, State
from weft.annotation.sentences import ProjectPair
from weft.errors import FormatError, LineCountError, SettingError, WeftError
from weft.extraction.calibration import Calibration
from weft.extraction.methods import METHODS
from weft.extraction.settings import ExtractionSettings
from weft.models.load import load_encoder
from weft.scoring.corpus import score
from weft.tuning import NULLS, DevSet, ScoredLinks, calibrated, calibration_error, tune
from weft.types import GoldAlignment, Link, SentencePair


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


def test_own_thresholds_are_tried_with_methods_that_have_one(tiny_bert, same_words):
    trials = []
    tune(
        lambda layer: load_encoder(tiny_bert, layer=layer)[0],
        [1],
        ["softmax", "argmax"],
        [DevSet.read(same_words)],
        base=ExtractionSettings(),
        thresholds=[0.25, 0.75],
        nulls=[None],
        report=trials.append,
    )
    assert [(trial.settings.method, trial.settings.threshold) for trial in trials] == [
        ("softmax", 0.25),
        ("softmax", 0.75),
        ("argmax", None),
    ]


def test_a_trial_has_the_rates_that_scoring_gives(tiny_bert, same_words):
    dev, trials = DevSet.read(same_words), []
    tune(
        lambda layer: load_encoder(tiny_bert, layer=layer)[0],
        [1],
        ["itermax"],
        [dev, dev],
        base=ExtractionSettings(),
        nulls=[None],
        report=trials.append,
    )
    aligner = Aligner.from_pretrained(tiny_bert, layer=1, method="itermax")
    expected = score(dev.gold, aligner.align_batch(dev.pairs)).rates
    assert trials[0].rates == (expected, expected)
    assert trials[0].mean.precision == expected.precision
    assert trials[0].mean.recall == expected.recall


def numbered_dev_set(count):
    """Sentences whose words tell their line, with a diagonal of sure links and one possible link."""
    pairs = [
        SentencePair(*(tuple(f"{side}{line}.{word}" for word in range(4)) for side in "st")) for line in range(count)
    ]
    diagonal = frozenset((k, k) for k in range(4))
    gold = GoldAlignment(diagonal, diagonal | {(0, 3)})
    return DevSet("numbered", tuple(pairs), (gold,) * count)


@pytest.mark.parametrize("count", [2, 37, 74, 100])
def test_unrelated_pairs_are_of_different_lines_and_have_no_right_link(count):
    unrelated = numbered_dev_set(count).unrelated()
    assert len(unrelated.pairs) == len(unrelated.gold) == (count + 1) // 2
    for pair, gold in zip(unrelated.pairs, unrelated.gold, strict=True):
        assert pair.source[0].split(".")[0][1:] != pair.target[0].split(".")[0][1:]
        assert not gold.possible


def test_half_translated_pairs_have_a_clause_too_many_or_too_few():
    dev = numbered_dev_set(100)
    half = dev.half_translated()
    shapes = {(len(pair.source), len(pair.target)) for pair in half.pairs}
    assert shapes == {(4, 6), (6, 4), (4, 2), (2, 4)}
    for pair, gold in zip(half.pairs, half.gold, strict=True):
        rows, columns = min(4, len(pair.source)), min(4, len(pair.target))
        assert gold.sure == {(k, k) for k in range(min(rows, columns))}
        assert ((0, 3) in gold.possible) == (columns == 4)
        own = {word.split(".")[0][1:] for side in pair for word in side[:4]}
        assert len(own) == 1  # what is added comes after the sentence itself


def test_probabilities_of_links_between_unrelated_sentences_fall(tiny_bert, same_words):
    """The mixture teaches the curve what it could not learn from translations, where every link is right."""
    dev, encoder = DevSet.read(same_words), load_encoder(tiny_bert, layer=1)[0]
    settings = ExtractionSettings(method="argmax", null=-1000)
    true = ScoredLinks.of(encoder, settings, [dev])
    unrelated = ScoredLinks.of(encoder, settings, [dev.unrelated()])
    assert len(unrelated.scores) > 20
    assert not unrelated.right.any()
    fitted, errors = calibrated(encoder, settings, [dev])
    alone = Calibration.fit(true.scores, true.right)
    # How many links unrelated sentences get depends on the processor's last digits: half of the 20 is enough here.
    assert fitted.calibration(unrelated.scores).mean() < alone(unrelated.scores).mean() - 0.02
    assert 0 <= errors.after <= 1
    assert errors.before == pytest.approx(calibration_error(true.scores, true.right), abs=1e-4)


def test_a_dev_set_counted_from_1_is_understood(tmp_path):
    dev = DevSet.read(write_dev(tmp_path / "dev", ["a b", "c"], ["d e", "f"], ["1-1 2-2", "1-1"]))
    assert [gold.sure for gold in dev.gold] == [{(0, 0), (1, 1)}, {(0, 0)}]


def test_the_confirmed_pairs_of_a_project_are_a_dev_set(tmp_path):
    pairs = [SentencePair(("das", "Haus"), ("the", "house")), SentencePair(("ja",), ("oh", "yes"))]
    create_project(tmp_path / "work", map(ProjectPair, pairs))
    with pytest.raises(SettingError, match="no confirmed pair yet"):
        DevSet.read(str(tmp_path / "work"))
    project = Project.open(tmp_path / "work")
    project.put("Ann", 1, Annotation((Link(0, 1), Link(0, 0, sure=False)), State.DONE))
    project.close()
    dev = DevSet.read(str(tmp_path / "work"))
    assert dev.pairs == (pairs[1],)
    assert dev.gold == (GoldAlignment(frozenset({(0, 1)}), frozenset({(0, 0), (0, 1)})),)


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
    assert tuned.errors is None


def test_calibration_error_by_hand():
    probabilities = np.array([0.1] * 10 + [0.9] * 10)
    right = np.array([False] * 10 + [True] * 5 + [False] * 5)
    assert calibration_error(probabilities, right, bins=2) == pytest.approx((0.1 + 0.4) / 2)
