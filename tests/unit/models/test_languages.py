from __future__ import annotations

import json

import pytest

from weft.models.known import built_in_models
from weft.models.languages import unknown_languages, unknown_words_remark
from weft.text.languages import _CODES


@pytest.mark.parametrize("code", ["de", "DE-at", "zh_Hant", "cmn", "no", "", "und", None])
def test_nothing_is_said_of_languages_that_the_model_knows(code):
    assert list(unknown_languages(["de", "nb", "zh"], code, "de")) == []


def test_other_languages_are_named_with_those_it_knows():
    assert list(unknown_languages(["de", "en"], "chr", "en-GB")) == [
        "`source_language` chr is not a language that the model was trained on. It knows de, en."
    ]
    assert list(unknown_languages([], "chr", "xx")) == []


def test_a_name_is_answered_with_what_a_code_is_and_a_long_list_with_its_length():
    [remark] = unknown_languages([f"x{number}" for number in range(131)], "klingonese", None)
    assert "Codes have two or three letters, such as de." in remark
    assert remark.endswith("It knows 131 languages, which weft model info lists.")


def test_the_remark_counts_lines():
    assert unknown_words_remark(1, []).startswith("in 1 line, the model cannot read more than a third")
    assert unknown_words_remark(2000, ["de", "en"]).startswith("in 2,000 lines, ")
    way_out = "To teach it another language, use weft train --extend-vocabulary."
    assert unknown_words_remark(2, ["de", "en"]).endswith(f"It knows de, en. {way_out}")
    assert unknown_words_remark(2, []).endswith(f"lowered. {way_out}")


@pytest.mark.parametrize("code", ["jpn", "deu_Latn", "swh-Latn", "SPA", "dut", "nor"])
def test_three_letters_name_the_languages_that_two_letters_name(code):
    assert list(unknown_languages(["de", "es", "ja", "nb", "nl", "sw"], code, None)) == []


def test_every_language_of_the_built_in_model_has_a_name():
    settings = json.loads((built_in_models()["weft-mini"] / "weft.json").read_text(encoding="utf-8"))
    assert set(_CODES.values()) == set(settings["languages"])
