from __future__ import annotations

import pickle
from dataclasses import astuple

import pytest

from weft.errors import SettingError
from weft.scoring.corpus import score, score_files
from weft.scoring.significance import bootstrap_interval, permutation_test
from weft.types import Alignment, GoldAlignment, Link

GOLD = GoldAlignment.of([Link(0, 0), Link(1, 1), Link(1, 2, None, False)])
GOOD = Alignment.of([Link(0, 0), Link(1, 1)])
POOR = Alignment.of([Link(0, 0), Link(2, 2)])


def test_one_alignment_or_many_are_scored_alike():
    assert score(GOLD, GOOD).rates == score([GOLD], [GOOD]).rates
    assert score(iter([GOLD] * 3), (POOR for _ in range(3))).rates.aer == pytest.approx(50.0)


@pytest.mark.parametrize(("gold", "system", "short"), [([GOLD], [], "system"), ([], [GOOD], "gold")])
def test_every_alignment_needs_its_gold(gold, system, short):
    with pytest.raises(SettingError, match=f"`{short}` ends after 0 alignments"):
        score(gold, system)


def test_a_score_prints_as_one_line():
    assert str(score([GOLD] * 4, [POOR] * 4)) == ("AER = 50.0 [50.0, 50.0] P = 50.0 R = 50.0 F1 = 50.0 (sentences = 4)")


def test_scores_on_the_same_gold_are_compared():
    good, poor = (score([GOLD] * 50, [found] * 50, name=name) for name, found in (("good", GOOD), ("poor", POOR)))
    difference = poor.compare(good)
    assert difference.rates.aer == pytest.approx(50.0)
    assert difference.p_values.aer < 0.01
    assert str(difference).startswith("against good: AER +50.0 (p = 0.00")
    assert good.compare(good).p_values.aer == 1


def test_scores_on_other_gold_are_not_compared():
    other = score([GOLD, GoldAlignment.of([Link(0, 0)])], [GOOD, GOOD], name="other")
    with pytest.raises(SettingError, match="system and other were scored against different gold links"):
        score(GOLD, GOOD).compare(other)


def test_the_signature_says_how_to_get_the_same_figures():
    mixed, good = (score([GOLD] * 20, found) for found in ([GOOD] * 12 + [POOR] * 8, [GOOD] * 20))
    said = dict(part.split(":") for part in mixed.signature.split("|"))
    drawn, swapped = (int(said[key].split("-")[1]) for key in ("interval", "test"))
    ends = bootstrap_interval(mixed.counts, samples=drawn, seed=int(said["seed"]))
    assert [list(astuple(end)) for end in mixed.interval] == ends.tolist()
    p_values = permutation_test(good.counts, mixed.counts, samples=swapped, seed=int(said["seed"]))
    assert list(astuple(mixed.compare(good).p_values)) == p_values.tolist()


def test_scores_travel_between_processes():
    before = score(GOLD, POOR)
    after = pickle.loads(pickle.dumps(before))
    assert (str(after), after.signature) == (str(before), before.signature)


def test_files_are_scored_with_the_base_that_was_found(tmp_path):
    (tmp_path / "gold").write_text("1-1 2-2 2p3\n")
    (tmp_path / "mine").write_text("0-0 2-2\n")
    [found] = score_files(tmp_path / "gold", [tmp_path / "mine"])
    assert found.rates == score(GOLD, POOR).rates
    assert "|gold-base:1|" in found.signature


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: [one]])
def test_gold_and_system_in_the_wrong_order_are_a_sentence(wrap):
    with pytest.raises(SettingError, match=r"gold first and the system second.*found Alignment and GoldAlignment"):
        score(wrap(GOOD), wrap(GOLD))
