from __future__ import annotations

import logging

import pytest

from weft.text.watches import SplitWatch


@pytest.mark.parametrize(
    "pairs",
    [
        [("Das ist gut.", "That is good.")],
        [("Das ist gut", "That is good!"), ("Ja .", "Yes."), ("a", "b")],
        [("我昨天在北京买了一本书。", "I bought a book .")],
        [("สวัสดีครับผมชื่อสมชายครับ", "Hello")],
        [("Das ist gut.", "That is good.")] * 30,
        [("Ja, das ist gut", "Yes , that is good")],
        [("他明天去北京", "He goes to Beijing tomorrow")],
        [("He goes to Beijing tomorrow", "他明天去北京")],
        [("昨天，他去了北京 。", "Yesterday he went to Beijing .")],
    ],
)
def test_text_that_is_not_split_is_noticed_once(caplog, pairs):
    caplog.set_level(logging.WARNING, "weft")
    watch = SplitWatch("pairs.txt")
    for pair in pairs:
        if not watch.done:
            watch.look(pair)
    watch.finish()
    [record] = caplog.records
    assert "pairs.txt: the text does not look split into words" in record.getMessage()
    assert record.getMessage().endswith("If it is not, add `raw`.")


@pytest.mark.parametrize(
    "pairs",
    [
        [("Das ist gut .", "That is good .")],
        [("他 明天 去 北京 。", "He goes to Beijing tomorrow .")],
        [("コンピューター を 買う", "buy a computer")],
        [("a b etc.", "a b"), ("c", "d")],
        [(("Das", "ist", "gut."), ("Good.",))],
        [("国際連合", "the United Nations")],
        [("東京都知事選挙", "gubernatorial election")],
        [("a , b ; c", "a , b ; c")],
        [("am 3.", "on 3.")],
        [],
    ],
)
def test_split_text_is_not_suspected(caplog, pairs):
    caplog.set_level(logging.WARNING, "weft")
    watch = SplitWatch("pairs.txt")
    for pair in pairs:
        watch.look(pair)
    watch.finish()
    assert caplog.records == []
