from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weft.extraction.words import dense_word_links, raw_scores, word_links

subword_links = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 5), st.floats(0, 1, width=32)), max_size=40
)


@given(links=subword_links)
def test_words_get_their_strongest_subword_link(library, links):
    columns = [library(np.asarray([link[k] for link in links], dtype=np.int64)) for k in range(3)]
    scores = library(np.asarray([link[3] for link in links], dtype=np.float32))
    best: dict[tuple, float] = {}
    for pair, source, target, score in links:
        best[pair, source, target] = max(score, best.get((pair, source, target), 0.0))
    scored = word_links(*columns, scores)
    assert list(zip(scored.pair, scored.source, scored.target, strict=True)) == sorted(best)
    assert scored.scores.tolist() == [best[key] for key in sorted(best)]
    plain = word_links(*columns, None)
    assert list(zip(plain.pair, plain.source, plain.target, strict=True)) == sorted(best)
    assert plain.scores is None


def words_of_subwords(sizes):
    """The word of each subword, for words of these sizes."""
    return [word for word, size in enumerate(sizes) for _ in range(size)]


sentence = st.lists(st.integers(1, 3), min_size=1, max_size=5).map(words_of_subwords)


@given(pairs=st.lists(st.tuples(sentence, sentence), min_size=1, max_size=4), data=st.data())
def test_a_dense_batch_gives_the_same_links(library, pairs, data):
    shape = (len(pairs), *(max(len(pair[side]) for pair in pairs) for side in (0, 1)))
    links = np.zeros(shape, dtype=bool)
    words = [np.zeros((len(pairs), size), dtype=np.int64) for size in shape[1:]]
    for number, pair in enumerate(pairs):
        chosen = data.draw(st.lists(st.tuples(*(st.integers(0, len(side) - 1) for side in pair)), max_size=8))
        links[number][tuple(np.array(chosen, dtype=np.int64).reshape(-1, 2).T)] = True
        for side, known in zip(pair, words, strict=True):
            known[number, : len(side)] = side
    counts = np.array([[side[-1] + 1 for side in pair] for pair in pairs])
    dense = dense_word_links(*map(library, (links, *words)), counts)()
    pair, row, column = links.nonzero()
    sparse = word_links(pair, words[0][pair, row], words[1][pair, column], None)
    for ours, theirs in zip(dense[:3], sparse[:3], strict=True):
        assert ours.tolist() == theirs.tolist()


def test_raw_scores_by_hand(library):
    products = np.array([[[2.0, 0.0], [0.0, 1.0]]])
    there = np.exp(products / np.sqrt(2)) / np.exp(products / np.sqrt(2)).sum(axis=2, keepdims=True)
    back = np.exp(products / np.sqrt(2)) / np.exp(products / np.sqrt(2)).sum(axis=1, keepdims=True)
    ours = raw_scores(library(products), library(np.ones((1, 2, 2), dtype=bool)))
    np.testing.assert_allclose(np.asarray(ours), 2 * there * back / (there + back), atol=1e-8)
