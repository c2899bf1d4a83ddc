from __future__ import annotations

import pytest

from weft.errors import SettingError
from weft.text.languages import checked_code
from weft.text.segment import segmenter_for

NAMES = [
    ("german", "de"),
    ("Italian", "it"),
    ("danish", "da"),
    ("Farsi", "fa"),
    ("Nynorsk", "nn"),
    ("Deutsch", "de"),
    ("日本語", "ja"),
]


@pytest.mark.parametrize(("name", "code"), NAMES)
def test_a_name_is_answered_with_its_code(name, code):
    with pytest.raises(SettingError, match=f"{name} is the name of a language; use its code, {code}\\."):
        segmenter_for(name)


@pytest.mark.parametrize(("code", "language"), [("cn", "zh"), ("JP", "ja"), ("cz-CZ", "cs")])
def test_codes_of_countries_are_answered_with_the_language(code, language):
    with pytest.raises(SettingError, match=f"{code} is the code of a country; the language is {language}"):
        segmenter_for(code)


@pytest.mark.parametrize("code", ["lao", "ewe", "ido", "deu_Latn", "zh-Hant", "xx", "klingonese"])
def test_other_codes_stay_even_if_they_are_names_too(code):
    assert checked_code(code) == code.replace("_", "-").split("-")[0]


@pytest.mark.parametrize(("name", "code"), [("Japanese", "ja"), (" thai ", "th"), ("und", ""), (None, "")])
def test_names_of_languages_with_rules_of_their_own_are_understood(name, code):
    assert checked_code(name) == code
