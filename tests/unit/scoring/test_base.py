from __future__ import annotations

import pytest

from weft.errors import FormatError
from weft.scoring.base import detect_base
from weft.types import SentencePair

THREE_WORDS = SentencePair(("a", "b", "c"), ("d", "e", "f"))


@pytest.fixture
def gold(tmp_path):
    def write(content: str):
        path = tmp_path / "gold.talp"
        path.write_text(content)
        return path

    return write


@pytest.mark.parametrize(
    ("content", "sentences", "base"),
    [
        ("0-1 2-2\n", None, 0),
        ("1-1\n1p0\n", None, 0),
        ("1-1 2-2\n", None, 1),
        ("", None, 0),
        ("\n\n", None, 0),
        ("1-1 3-2\n", [THREE_WORDS], 1),
        ("1-1 2p3\n", [THREE_WORDS], 1),
        ("1-1 2-2\n", [THREE_WORDS], 0),
        ("1 1 1 S\n", None, 0),
        ('{"links": [[1, 1]]}\n', None, 0),
    ],
)
def test_the_base_is_found(gold, content, sentences, base):
    assert detect_base(gold(content), sentences).number == base


def test_a_decision_comes_with_its_reason(gold):
    assert "no index 0 in 2 links" in detect_base(gold("1-1 2-2\n")).reason
    assert "on line 2 the index 3 equals" in detect_base(gold("1-1\n1-3\n"), [THREE_WORDS] * 2).reason
    assert detect_base(gold("0-0\n")).reason == ""


def test_contradictions_are_refused(gold):
    with pytest.raises(FormatError, match=r"gold\.talp:2: the index 3 equals .* but line 1 has an index 0"):
        detect_base(gold("0-1\n3-1\n"), [THREE_WORDS] * 2)
