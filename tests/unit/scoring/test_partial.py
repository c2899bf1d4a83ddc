"""Gold of some pairs of a text is scored against links for all of them, or against links for those pairs alone."""

from __future__ import annotations

import json
import logging

import pytest

from weft.errors import SettingError
from weft.scoring.corpus import score_files
from weft.scoring.partial import pair_numbers

ALL = "0-0\n0-1\n1-0\n1-1\n0-0 1-1\n"


@pytest.fixture
def file(tmp_path):
    def written(name: str, text: str):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


@pytest.fixture
def gold(file):
    """The second pair and the fourth, which has no links."""
    records = [{"pair": 2, "links": [[0, 1]]}, {"pair": 4, "links": []}]
    return file("gold.jsonl", "".join(json.dumps(record) + "\n" for record in records))


def counts(scores) -> list[list[list[int]]]:
    return [each.counts.tolist() for each in scores]


def test_links_for_all_pairs_score_as_links_for_the_pairs_of_the_gold(gold, file, caplog):
    every, some = file("all", ALL), file("some", "0-1\n1-1\n")
    assert counts(score_files(gold, [every, some])) == [[[1, 1, 1, 1], [0, 0, 1, 0]]] * 2
    assert caplog.text == ""  # "no links" was stated


def test_sentences_and_errors_are_those_of_the_pairs(gold, file):
    texts = file("s", "a\nb\nc\nd e\nf g\n"), file("t", "h\ni j\nk\nl m\nn o\n")
    seen = []
    score_files(gold, [file("all", ALL)], sentences=texts, observe=lambda *each: seen.append(each[:2]))
    assert [(number, pair.source) for number, pair in seen] == [(2, ("b",)), (4, ("d", "e"))]


def test_another_number_of_lines_is_refused(gold, file):
    with pytest.raises(SettingError, match=r"has 3 lines, but .*gold.jsonl has 2 pairs, the last of which is number 4"):
        score_files(gold, [file("few", "0-0\n0-1\n1-0\n")])


@pytest.mark.parametrize("numbers", [[2, 1], [0, 1], [True, 2], [1, None], ["1", "2"]])
def test_other_fields_called_pair_are_no_numbers(file, numbers):
    gold = file("gold.jsonl", "".join(json.dumps({"pair": each, "links": []}) + "\n" for each in numbers))
    assert pair_numbers(gold) is None


def test_blank_lines_of_the_gold_are_remarked_on_or_left_out(file, caplog):
    gold, system = file("gold.talp", "\n0-1\n\n1-1\n\n"), file("all", "0-0\n0-1\n1-0\n1-1\n\n")
    with caplog.at_level(logging.WARNING):
        [score] = score_files(gold, [system])
    assert (len(score.counts), score.rates.precision) == (5, 50)
    assert "gold.talp: 2 of 5 lines have no links here" in caplog.text
    assert "`skip_unannotated`" in caplog.text
    caplog.clear()
    [score] = score_files(gold, [system], skip_unannotated=True)
    assert (len(score.counts), score.rates.precision, caplog.text) == (2, 100, "")
