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


@given(words=sentences, seed=st.integers(0, 999))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_words_that_are_cut_keep_their_letters_and_their_borders(words, seed):
    from forms import finer

    parts = finer(words, random.Random(seed))

    assert "".join(parts) == "".join(words)
    assert set(accumulate(map(len, words))) <= set(accumulate(map(len, parts)))


def test_only_han_words_are_cut_and_only_some_of_them():
    from forms import finer

    words = ["石油市场", "かな", "3月", "A", "价格"]
    forms = {tuple(finer(words, random.Random(seed))) for seed in range(200)}

    assert tuple(words) in forms
    assert ("石油", "市场", "かな", "3月", "A", "价", "格") in forms
    assert all({"かな", "3月", "A"} <= set(form) for form in forms)
