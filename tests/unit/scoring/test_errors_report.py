from __future__ import annotations

from weft.scoring.errors_report import ErrorReport
from weft.types import GoldAlignment, Link, SentencePair


def test_wrong_and_missing_pairs_are_counted_and_the_worst_sentence_comes_first():
    sentence = SentencePair(("das", "ist", "gut"), ("that", "is", "good"))
    gold = GoldAlignment.of([Link(0, 0), Link(1, 1), Link(2, 2), Link(0, 1, None, False)])
    report = ErrorReport(worst=2)
    report.add(sentence, gold, {(0, 0), (1, 1), (2, 2)})
    report.add(sentence, gold, {(0, 1), (1, 1), (2, 0)})
    report.add(sentence, gold, {(0, 0), (1, 1), (2, 0)})
    report.add(sentence, gold, {(0, 0), (1, 1), (2, 0)})
    assert report.wrong == {("gut", "that"): 3}
    assert report.missing == {("das", "that"): 1, ("gut", "good"): 3}
    assert [number for number, _ in report.worst_sentences] == [2, 3]
    assert report.worst_sentences[0][1].missing == (("das", "that"), ("gut", "good"))


def test_perfect_sentences_are_not_among_the_worst():
    report = ErrorReport()
    report.add(SentencePair(("a",), ("b",)), GoldAlignment.of([Link(0, 0)]), {(0, 0)})
    assert report.worst_sentences == []
