import pytest

from weft.errors import SettingError
from weft.text.given import to_pair
from weft.types import SentencePair

GOOD = SentencePair(("das", "ist", "gut"), ("that", "is", "good"))


@pytest.mark.parametrize(
    "pair",
    [GOOD, ("das ist gut", "that is good"), (["das", "ist", "gut"], "that is good"), ["das ist gut", GOOD.target]],
)
def test_whatever_people_call_a_pair_becomes_one(pair):
    assert to_pair(pair, 0) == GOOD


@pytest.mark.parametrize(
    "pair",
    [
        None,
        float("nan"),
        "das ist gut",
        ("das",),
        ("a", "b", "c"),
        {"source": "a", "target": "b"},
        ("a", None),
        (float("nan"), "b"),
        (["a", None], "b"),
        (["a", 3], "b"),
        SentencePair("das ist gut", None),
        7,
    ],
)
def test_what_is_no_pair_is_named_with_its_row(pair):
    with pytest.raises(SettingError, match="row 5 of `pairs`: expected a sentence"):
        to_pair(pair, 5)
