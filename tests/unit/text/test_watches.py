from __future__ import annotations

import logging

import pytest

from weft.text.pairs import read_pairs
from weft.text.watches import SplitWatch, no_links_remark, warn_of_headings


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
        [(("Das", "ist", "gut", "."), "That is good."), (("a", "b"), ""), (("c",), "  ")],
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
    assert "pairs.txt: the text does not seem to be split into words" in record.getMessage()
    assert record.getMessage().endswith("To split it, add `raw`.")


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


@pytest.mark.parametrize("names", [("source", "target"), ("German", "English"), ("de", "en"), ("id", " Source ")])
def test_a_line_of_column_names_is_noticed(caplog, names):
    warn_of_headings("pairs.tsv", names, "a sentence pair", "remove it")
    [record] = caplog.records
    shown = ", ".join(name.strip() for name in names)
    said = f"pairs.tsv:1: this looks like a line of column names ({shown}), but is read as a sentence pair."
    assert record.getMessage() == f"{said} If it is one, remove it."


@pytest.mark.parametrize("sides", [("ja", "yes"), ("source", "Quelle"), ("das Haus", "the house"), (("de",), ("en",))])
def test_a_sentence_pair_is_no_line_of_column_names(caplog, sides):
    warn_of_headings("pairs.tsv", sides, "a sentence pair", "remove it")
    assert caplog.records == []


@pytest.mark.parametrize(
    ("name", "text", "warnings"),
    [
        ("pairs.tsv", "Source\tTarget\nja\tyes\n", 1),
        ("pairs.tsv", "source\ttarget\nja\tyes\n", 0),
        ("pairs.csv", "German,English\nja,yes\n", 1),
        ("pairs.tsv", "ja\tyes\nsource\ttarget\n", 0),
        ("pairs.txt", "source ||| target\n", 0),
    ],
)
def test_only_the_first_line_of_a_table_is_suspected(caplog, tmp_path, name, text, warnings):
    (tmp_path / name).write_text(text)
    assert len(list(read_pairs(tmp_path / name))) == text.count("\n")
    assert len(caplog.records) == warnings


@pytest.mark.parametrize(
    ("pairs", "linked", "remark"),
    [
        (248, 6, "242 of 248 pairs have no links. Are the two sides in step, line by line?"),
        (1000, 499, "501 of 1,000 pairs have no links."),
        (1000, 500, None),
        (19, 1, None),  # too few to say
        (248, 246, None),
        (0, 0, None),
        (20, 0, "none of the 20 pairs has a link. Perhaps"),
    ],
)
def test_most_pairs_without_links_are_remarked(pairs, linked, remark):
    found = no_links_remark(pairs, linked)
    assert found is None if remark is None else found.startswith(remark)
