from __future__ import annotations

import pytest

from weft.models.languages import unknown_languages, unknown_words_remark


@pytest.mark.parametrize("code", ["de", "DE-at", "zh_Hant", "cmn", "no", "", "und", None])
def test_nothing_is_said_of_languages_that_the_model_knows(code):
    assert list(unknown_languages(["de", "nb", "zh"], code, "de")) == []


def test_other_languages_are_named_with_those_it_knows():
    assert list(unknown_languages(["de", "en"], "chr", "en-GB")) == [
        "`source_language` chr is not a language that the model was trained on: de, en."
    ]
    assert list(unknown_languages([], "chr", "xx")) == []


def test_the_remark_counts_lines():
    assert unknown_words_remark(1, []).startswith("in 1 line more than a third")
    assert unknown_words_remark(2000, ["de", "en"]).startswith("in 2,000 lines")
    assert unknown_words_remark(2, ["de", "en"]).endswith("It was trained on de, en.")
