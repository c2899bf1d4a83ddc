from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.sentences import sentence_starts, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", 1),
        ("no end at all", 1),
        ("Yes . No .", 2),
        ("He left. She stayed.", 2),
        ('" Yes . " " No . "', 2),
        ("( He left . ) She stayed .", 2),
        ("Dr. Smith met Mr . Jones .", 1),
        ("J. S. Bach lived here .", 1),
        ("am 3. Mai war es warm . Dann kam Regen .", 2),
        ("It was 1999. Then came 2000.", 2),
        ("Wirklich ?! Ja … Gut .", 3),
        ("他 来 了 。 我 走 了 。", 2),
        ("「 はい 。 」 と 言った 。", 2),
        ("هل أنت هنا ؟ نعم .", 2),
        ("यह है । वह था ।", 2),
        ("ይህ ነው ። ያ ነበር ።", 2),
        ("3.5 percent of U.S. firms", 1),
    ],
)
def test_sentences_begin_behind_marks(text, sentences):
    assert len(sentence_starts(tuple(text.split()))) == sentences


@given(st.lists(st.text(alphabet=".!?。\"')»ab1", min_size=1, max_size=4), max_size=30).map(tuple))
def test_starts_rise_from_0_and_no_sentence_begins_with_a_closing_bracket(words):
    starts = sentence_starts(words)
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    assert all(start < len(words) for start in starts[1:])
    assert not any(set(words[start]) <= set("\"')»") for start in starts[1:])


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("fr", ["M. Dupont est parti à 8 h. 30 le 1er mai.", "Il pleuvait.", "Mme. Leroy l'attendait."]),
        ("fr", ["César est né en 100 av. J.-C. et mourut en 44 av. J.-C. à Rome.", "Il pleuvait."]),
        (None, ["César est né en 100 av. J.-C. et mourut en 44 av. J.-C. à Rome.", "Il pleuvait."]),
        (None, ["Ella vive en EE. UU. desde 1990.", "Trabaja mucho."]),
        ("en", ["So do I.", "He said no.", "We live in the UK.", "J. R. Smith came."]),
        ("en", ["we met him.", "so do we.", "then it rained."]),
    ],
)
def test_abbreviations_that_the_library_does_not_know_end_no_sentence(language, sentences):
    text = " ".join(sentences)
    assert [text[start:end] for start, end in split_sentences(text, language)] == sentences
