"""Pairs that are written are read back, or refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strategies import sentence_pairs
from weft.text.pair_lines import format_pair, format_pairs
from weft.text.pairs import read_pairs
from weft.types import SentencePair


@pytest.mark.parametrize("format", ["bars", "tsv", "csv", "jsonl"])
@given(pairs=st.lists(sentence_pairs, min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back(tmp_path_factory, format, pairs):
    path = tmp_path_factory.mktemp("pairs") / "file"
    path.write_bytes("".join(format_pairs(pairs, format)).encode())
    assert list(read_pairs(path, format=format)) == pairs


@pytest.mark.parametrize("format", ["bars", "tsv", "csv"])
@pytest.mark.parametrize("word", ["", "New York", "a\tb", "a\nb"])
def test_words_that_a_format_cannot_hold_are_refused(format, word):
    with pytest.raises(ValueError, match="jsonl"):
        format_pair(SentencePair((word, "x"), ("y",)), format)
    assert json.loads(format_pair(SentencePair((word, "x"), ("y",)), "jsonl"))["source"] == [word, "x"]


def test_a_pair_of_names_of_columns_can_be_written():
    pair = SentencePair(("source",), ("target",))
    assert list(format_pairs([pair], "tsv")) == ["source\ttarget\n"]
    assert list(format_pairs([pair], "csv")) == ["source,target\n"]
