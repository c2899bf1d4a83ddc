from __future__ import annotations

import sys

import pytest

from weft.text import readings
from weft.text.readings import is_japanese, japanese_sounds_of, romaji, sounds_of


@pytest.fixture
def without_dictionary(monkeypatch):
    monkeypatch.setitem(sys.modules, "sudachipy", None)
    readings._reader.cache_clear()
    yield
    readings._reader.cache_clear()


@pytest.fixture
def dictionary():
    for module in ("sudachipy", "sudachidict_core"):
        pytest.importorskip(module, reason="the extra ja is not installed")


@pytest.mark.parametrize(
    ("kana", "letters"),
    [
        ("このもと", "konomoto"),
        ("しゃっきん", "shakin"),
        ("キョウト", "kyouto"),
        ("ちゃぢょじゅ", "chajoju"),
        ("ファミリー", "famiri"),
        ("ヴェネツィア", "benetsia"),
        ("んん", "nn"),
        ("ゃ", "ya"),
        ("京とA", "京toA"),
    ],
)
def test_kana_in_latin_letters(kana, letters):
    assert romaji(kana) == letters


@pytest.mark.parametrize(
    ("latin", "japanese"),
    [
        (("Konomoto-sai",), ("このもとさい",)),
        (("Kōbe",), ("コウベ",)),
        (("Kyouto", "Namba"), ("キョウト", "・", "ナンバ")),
        (("Villa",), ("ビラ",)),
        (("Hokkaidō", "1,912"), ("ホッカイドウ", "１９１２")),
        (("Sho'nin",), ("しょうにん",)),
    ],
)
def test_a_name_sounds_alike_in_both_scripts(latin, japanese):
    assert sounds_of(latin) == japanese_sounds_of(japanese)


def test_numbers_stand_by_themselves():
    assert sounds_of(("the", "23rd", "of", "08")) == ["the", "23", "rd", "of", "8"]


def test_other_scripts_sound_like_nothing():
    assert sounds_of(("Привет", "你好", "!")) == []


@pytest.mark.parametrize(
    ("words", "sound"),
    [
        (("興正",), "kosho"),
        (("興", "正"), "kosho"),  # words that were cut more finely than the dictionary's
        (("松江市", "（", "島根県", "）"), "matsueshi shimaneken"),
        (("世界", "A", "4"), "sekaia 4"),
    ],
)
def test_characters_are_read_as_the_dictionary_says(dictionary, words, sound):
    assert " ".join(japanese_sounds_of(words)) == sound


def test_without_the_dictionary_kana_and_numbers_are_read(without_dictionary):
    assert japanese_sounds_of(("お東", "3", "ダム", "の", "山")) == ["o", "3", "damuno"]


def test_a_sentence_may_be_longer_than_the_dictionary_takes(dictionary):
    assert len("".join(japanese_sounds_of(("東京。",) * 20_000))) == 20_000 * len("tokyo")


def test_a_foreign_word_does_not_make_a_text_japanese():
    english = [("the", "word", "さくら")] + [("a", "tree")] * 30
    assert not is_japanese(english)
    assert not is_japanese([("你好", "！")] * 3)
    assert is_japanese([("桜", "の", "木")] + [("龍樹", "造")] * 4)
    assert not is_japanese([])
