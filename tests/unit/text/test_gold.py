from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import FormatError, LineCountError, SettingError
from weft.text.gold import GoldFile, counts_from_1, read_gold, read_sentences
from weft.text.pairs import NOTHING
from weft.types import GoldAlignment, SentencePair

THREE_WORDS = SentencePair(("a", "b", "c"), ("d", "e", "f"))


@pytest.fixture
def gold(tmp_path):
    def write(content: str):
        path = tmp_path / "gold.talp"
        path.write_text(content)
        return path

    return write


@pytest.mark.parametrize(
    ("content", "pairs", "base"),
    [
        ("0-1 2-2\n", None, 0),
        ("1-1\n1p0\n", None, 0),
        ("1-1 2-2\n", None, 1),
        ("", None, 0),
        ("\n\n", None, 0),
        ("1-1 3-2\n", [THREE_WORDS], 1),
        ("1-1 2p3\n", [THREE_WORDS], 1),
        ("1-1 2-2\n", [THREE_WORDS], 1),
        ("1 1 1 S\n", None, 0),
        ('{"links": [[1, 1]]}\n', None, 0),
    ],
)
def test_the_base_is_found(gold, content, pairs, base):
    assert GoldFile(gold(content), pairs).base == base


def test_indices_come_out_counted_from_0(gold):
    assert list(read_gold(gold("1-1 2p2\n\n3-1\n"))) == [
        GoldAlignment(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)})),
        GoldAlignment(frozenset(), frozenset()),
        GoldAlignment(frozenset({(2, 0)}), frozenset({(2, 0)})),
    ]


def test_a_decision_is_told_with_its_reason(gold, caplog):
    caplog.set_level(logging.WARNING, "weft")
    path = gold("1-1 2-2\n")
    GoldFile(path, option="gold_base")
    GoldFile(path)
    GoldFile(gold("1-1\n1-3\n"), [THREE_WORDS] * 2)
    GoldFile(gold("0-0\n"))
    GoldFile(gold("1-1\n"), base=1)
    first, unnamed, second = (record.getMessage() for record in caplog.records)
    assert "word indices seem to start at 1, because there is no index 0 in 2 links. Set `gold_base`" in first
    advice = "If they start at 0, convert the file and use the result:"
    assert unnamed.endswith(f"{advice} weft convert {path} links.jsonl --to jsonl")
    assert "on line 2 the index 3 equals the sentence's length" in second


def test_a_zero_after_the_decision_for_1_is_refused(gold):
    rows = GoldFile(gold("1-1\n3-1\n0-1\n"), [THREE_WORDS] * 3)
    with pytest.raises(FormatError, match=r"gold\.talp:3: found '0-1', but on line 2 the index 3 equals") as caught:
        list(rows)
    assert "there is no index 0" not in str(caught.value)
    assert str(caught.value).endswith("The file seems to count from 1 in some lines and from 0 in others.")
    with pytest.raises(FormatError, match=r"gold\.talp:1: found '0p0', but `base` is 1, so words are"):
        list(read_gold(gold("0p0\n"), base=1))


def test_links_out_of_range_are_refused(gold):
    with pytest.raises(FormatError, match=r"gold\.talp:2: the link 3-1 is out of range: .* 3 and 3 words, counted fro"):
        list(read_gold(gold("0-1\n3-1\n"), [THREE_WORDS] * 2))
    with pytest.raises(FormatError, match=r"gold\.talp:1: the link 4-3 is out of range: .* counted from 1\."):
        list(read_gold(gold("4-3\n"), [THREE_WORDS]))
    with pytest.raises(FormatError, match="0 and 0 words"):
        list(GoldFile(gold("0-0\n"), [NOTHING]))
    with pytest.raises(FormatError, match=r"counted from 0\. If the file counts from 1, set `base` to 1\."):
        list(read_gold(gold("1-1\n3-3\n"), [THREE_WORDS] * 2, base=0))
    [row] = GoldFile(gold("0-0\n"), [NOTHING], skip_unread=True)
    assert row.pair == NOTHING


def test_every_line_needs_its_pair(gold):
    with pytest.raises(LineCountError, match=r"gold\.talp has 2 lines but the text has 1 line"):
        list(read_gold(gold("0-0\n\n"), [THREE_WORDS]))


def test_a_missing_file_and_a_senseless_base_are_known_at_once(gold, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_gold(tmp_path / "nothing")
    with pytest.raises(SettingError, match="`base` must be 0, 1 or None, got 2"):
        read_gold(gold("0-0\n"), base=2)


@given(
    lengths=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=8),
    data=st.data(),
    base=st.sampled_from([0, 1]),
)
def test_whatever_the_base_the_links_are_the_same(tmp_path_factory, lengths, data, base):
    """One link on a first and one on a last word are enough to know the base."""
    pairs = [SentencePair(("x",) * source, ("y",) * target) for source, target in lengths]
    links = [
        data.draw(st.sets(st.tuples(st.integers(0, source - 1), st.integers(0, target - 1)), max_size=5))
        for source, target in lengths
    ]
    links[0] |= {(0, 0), (lengths[0][0] - 1, lengths[0][1] - 1)}
    path = tmp_path_factory.mktemp("gold") / "gold.talp"
    path.write_text("".join(" ".join(f"{i + base}-{j + base}" for i, j in sorted(row)) + "\n" for row in links))
    assert [set(found.sure) for found in read_gold(path, pairs)] == links


def test_links_without_an_index_0_seem_to_count_from_1(gold):
    assert counts_from_1(gold("\n1-1\n"))
    assert not counts_from_1(gold("1-1\n2-0\n"))
    assert not counts_from_1(gold("\n"))
    assert not counts_from_1(gold("1 1 1\n"))


def test_blank_lines_are_sentences_without_words_but_bad_bytes_are_errors(tmp_path):
    (tmp_path / "src").write_bytes(b"a b\n\n\xff\n")
    (tmp_path / "tgt").write_bytes(b"c\nd\ne\n")
    sentences = read_sentences(tmp_path / "src", tmp_path / "tgt")
    assert [next(sentences), next(sentences)] == [SentencePair(("a", "b"), ("c",)), NOTHING]
    with pytest.raises(FormatError, match="expected UTF-8"):
        next(sentences)
