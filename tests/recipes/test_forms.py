"""The forms of training text in the recipe of weft-mini."""

import random
import sys
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

RECIPE = Path(__file__).resolve().parents[2] / "recipes" / "weft-mini"

sentences = st.lists(st.text("石油市场价格的攀升かなA1", min_size=1, max_size=6), min_size=1, max_size=8)


@pytest.fixture(autouse=True)
def _recipe_modules(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPE))
    yield
    sys.modules.pop("forms", None)


@given(words=sentences, data=st.data(), seed=st.integers(0, 999))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_words_that_are_cut_keep_their_letters_and_their_links(words, data, seed):
    from forms import finer

    numbers = st.tuples(st.integers(0, len(words) - 1), st.integers(0, 9))
    links = data.draw(st.sets(numbers))

    parts, finer_links = finer(words, links, random.Random(seed))

    assert "".join(parts) == "".join(words)
    ends = list(accumulate(map(len, words)))
    whole = [
        next(i for i, end in enumerate(ends) if place < end) for place in accumulate(map(len, parts[:-1]), initial=0)
    ]
    expected = {(place, j) for place, i in enumerate(whole) for k, j in links if k == i}
    assert set(finer_links) == expected
    assert len(finer_links) == len(expected)


def test_only_han_words_are_cut_and_only_some_of_them():
    from forms import finer

    words = ["石油市场", "かな", "3月", "A", "价格"]
    forms = {tuple(finer(words, [], random.Random(seed))[0]) for seed in range(200)}

    assert tuple(words) in forms
    assert ("石油", "市场", "かな", "3月", "A", "价", "格") in forms
    assert all({"かな", "3月", "A"} <= set(form) for form in forms)
