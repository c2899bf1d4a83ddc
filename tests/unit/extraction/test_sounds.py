from __future__ import annotations

import numpy as np
import pytest

from weft import Aligner
from weft.extraction.pair_evidence import Weights, gain
from weft.extraction.sounds import Sounds

# Kana alone, so that nothing depends on the dictionary.
JAPANESE = [("やまぐち", "さい"), ("このもと", "さい"), ("ひめじ", "し"), ("みかぐら",), ("どうぶつ", "12")]
ENGLISH = [("Yamaguchi-sai",), ("Konomoto-sai",), ("Himeji", "City"), ("Mikagura",), ("12", "animals")]


def part(number):
    return slice(number, number + 1)


@pytest.fixture
def sounds():
    return Sounds.of(JAPANESE, ENGLISH)


@pytest.mark.parametrize("number", range(5))
def test_names_sound_like_themselves_and_unlike_others(sounds, number):
    alike = [sounds.evidence(part(number), part(other))[0] for other in range(5)]
    assert np.argmax(alike) == number
    assert alike[number] > 2 * max(alike[:number] + alike[number + 1 :])


def test_names_of_the_japanese_text_that_are_missing_speak_against_a_pair(sounds):
    assert sounds.evidence(part(1), part(1))[1] == 0.0
    assert sounds.evidence(part(3), part(1))[1] > 0.9
    # What no Japanese word sounds like may well be a translation.
    assert sounds.evidence(part(4), part(4))[1] == 0.0


def test_it_does_not_matter_which_text_is_japanese(sounds):
    turned = Sounds.of(ENGLISH, JAPANESE)
    for i in range(5):
        for j in range(5):
            assert turned.evidence(part(j), part(i)) == sounds.evidence(part(i), part(j))


def test_what_all_sentences_share_says_little():
    shared = Sounds.of([("やまさい",), ("うみさい",), ("そらさい",)], [("Yama-sai",), ("Umi-sai",), ("Sora-sai",)])
    assert shared.weights["sai"] == 0.0
    assert shared.evidence(part(0), part(1))[0] < 0.5 * shared.evidence(part(1), part(1))[0]


def test_two_sentences_together_have_what_either_has(sounds):
    both, one = (sounds.evidence(slice(0, 2), target)[0] for target in (slice(0, 2), part(0)))
    assert both > one > 0


def test_likeness_is_that_of_single_stretches(sounds):
    found = sounds.likeness(slice(1, 4), slice(0, 5))
    expected = [[sounds.evidence(part(i), part(j))[0] for j in range(5)] for i in range(1, 4)]
    np.testing.assert_allclose(found.shared / np.sqrt(np.add.outer(found.source, found.target)), expected)


@pytest.mark.parametrize("texts", [(ENGLISH, ENGLISH), (JAPANESE, JAPANESE), ([("狗",)], ENGLISH), ([], [])])
def test_two_texts_in_one_script_need_no_sounds(texts):
    assert Sounds.of(*texts) is None


def test_a_text_with_nothing_to_hear_speaks_for_nothing():
    silent = Sounds.of(JAPANESE, [("?",), ("Я",)])
    assert silent.evidence(slice(0, 5), slice(0, 2)) == (0.0, 0.0)
    assert silent.likeness(slice(0, 5), slice(0, 2)).shared.tolist() == [[0.0, 0.0]] * 5


def test_the_weights_of_sounds_have_the_right_sign():
    nothing = Weights(*[0.0] * len(Weights._fields))
    assert gain(nothing._replace(alike=1.0)) > gain(nothing) > gain(nothing._replace(unheard=1.0))


def festivals(missing, names, word):
    return [(name, word) for number, name in enumerate(names) if number != missing]


def test_sentences_of_names_are_paired_by_their_sounds(monkeypatch):
    names = [
        "このもと",
        "うるしやま",
        "ちりゅう",
        "みかぐら",
        "たけのうち",
        "おじゃるまる",
        "ふるる",
        "べったら",
        "なごや",
    ]
    latin = ["Konomoto", "Urushiyama", "Chiryu", "Mikagura", "Takenouchi", "Ojarumaru", "Fururu", "Bettara", "Nagoya"]
    texts = festivals(3, names, "まつり"), festivals(5, latin, "Festival")
    right = {(0, 0), (1, 1), (2, 2), (3, 4), (5, 5), (6, 6), (7, 7)}
    aligner = Aligner.from_pretrained()

    def pairs():
        return {(source.start, target.start) for source, target, _ in aligner.align_texts(*texts) if source and target}

    assert pairs() <= right
    assert len(pairs()) >= 5
    monkeypatch.setattr(Sounds, "of", lambda source, target: None)
    assert pairs() - right, "without sounds, chance decides: if not, this test says nothing"
