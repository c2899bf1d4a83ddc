"""Hypothesis strategies shared by several tests."""

from __future__ import annotations

from hypothesis import strategies as st

from weft.types import Alignment, Link, SentencePair

word_pairs = st.tuples(st.integers(0, 12), st.integers(0, 12))
word_pair_sets = st.sets(word_pairs, max_size=30)


@st.composite
def links(draw, *, scores: bool, possible: bool):
    score = draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)) if scores else None
    return Link(*draw(word_pairs), score, draw(st.booleans()) if possible else True)


def alignments(*, scores: bool, possible: bool):
    return st.lists(links(scores=scores, possible=possible), max_size=12).map(Alignment.of)


# Anything but blanks and line ends: NBSP, U+3000, U+2028, form feeds and control characters are parts of words.
words = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\r\ufeff"), min_size=1, max_size=8
).filter(lambda word: word != "|||")
sentences = st.lists(words, min_size=1, max_size=8).map(tuple)
sentence_pairs = st.builds(SentencePair, sentences, sentences)
