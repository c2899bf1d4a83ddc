"""The null: one more word of constant similarity on each side, against a slow transcription of the definition."""

from __future__ import annotations

import entmax as entmax_library
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from weft.extraction import extractor, strips
from weft.extraction.extractor import extract
from weft.extraction.settings import ExtractionSettings
from weft.extraction.similarity import MASKED, entmax
from weft.extraction.symmetrize import symmetrize

from .conftest import on_torch, random_encoded

METHODS = ["softmax", "entmax", "geometric", "ot", "argmax", "itermax", "match"]
PAIRS = [(source, target) for source in range(6) for target in range(6, 12)]
# Dot products of the random states are about normal with a deviation of 4.
NULLS = [-3.0, 2.0, 6.0]


def shares(products, null, alpha):
    """Source-to-target and target-to-source shares, with the null written out as one more column and one more row."""
    n, m = products.shape
    wide = np.hstack([products, np.full((n, 1), null)])
    tall = np.vstack([products, np.full((1, m), null)])
    if alpha == 1:
        return special.softmax(wide, axis=1)[:, :m], special.softmax(tall, axis=0)[:n]
    both = (
        entmax_library.entmax_bisect(torch.from_numpy(matrix), alpha=alpha, dim=axis, n_iter=60).numpy()
        for matrix, axis in ((wide, 1), (tall, 0))
    )
    there, back = both
    return there[:, :m], back[:n]


def by_hand(encoded, pair, settings):
    """The links of one pair with their scores: no batches, no padding, no shortcuts."""
    source, target = (encoded.states[encoded.starts[k] : encoded.starts[k + 1]].astype(np.float64) for k in pair)
    words = [encoded.words[encoded.starts[k] : encoded.starts[k + 1]] for k in pair]
    products = source @ target.T
    sets = [
        set(zip(*map(np.ndarray.tolist, (share > settings.effective_threshold).nonzero()), strict=True))
        for share in shares(products, settings.null, settings.exponent)
    ]
    there, back = shares(products, settings.null, 1)
    support = (there.sum(1).mean() + back.sum(0).mean()) / 2
    links = {"pair": support}
    for i, j in symmetrize(*sets, settings.symmetrize):
        key = (int(words[0][i]), int(words[1][j]))
        score = special.expit((products[i, j] - settings.null) / 4) * support**0.5
        links[key] = max(links.get(key, 0.0), score)
    return links


def scores_of(alignments):
    return [
        {"pair": alignment.score} | {link.indices: link.score for link in alignment.links} for alignment in alignments
    ]


def assert_like(found, expected):
    assert [set(links) for links in found] == [set(links) for links in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=3e-6)


@settings(deadline=None)
@given(
    shape=st.tuples(st.integers(1, 2), st.integers(1, 7), st.integers(1, 7)),
    seed=st.integers(0, 10_000),
    null=st.floats(-12, 12),
    alpha=st.sampled_from([1.0, 1.3, 1.5, 2.0]),
)
def test_shares_with_a_null_are_those_of_a_longer_row(library, shape, seed, null, alpha):
    products = 4 * np.random.default_rng(seed).normal(size=shape)
    for axis in (2, 1):
        found = np.asarray(entmax(library(products), axis=axis, alpha=alpha, null=null))
        expected = np.stack([shares(one, null, alpha)[0 if axis == 2 else 1] for one in products])
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_padding_gets_nothing_beside_a_null(library):
    scores = np.full((1, 2, 3), MASKED, dtype=np.float32)
    for alpha in (1.0, 1.3, 1.5, 2.0):
        found = np.asarray(entmax(library(scores), axis=2, alpha=alpha, null=15.0))
        assert (found == 0).all()


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("method", ["softmax", "entmax"])
@pytest.mark.parametrize("heuristic", ["intersection", "union", "grow-diag-final-and"])
@pytest.mark.parametrize("move", [lambda encoded: encoded, on_torch], ids=["numpy", "torch"])
def test_batches_and_strips_follow_the_definition(monkeypatch, move, heuristic, method, null):
    plain = random_encoded(1)
    settings = ExtractionSettings(method=method, threshold=0.01, symmetrize=heuristic, null=null)
    expected = [by_hand(plain, pair, settings) for pair in PAIRS]
    encoded = move(plain)
    assert_like(scores_of(extract(encoded, PAIRS, settings, scores="raw")), expected)
    monkeypatch.setattr(extractor, "BATCH_CELLS", 1)
    monkeypatch.setattr(extractor, "STRIP_CELLS", 0)
    monkeypatch.setattr(strips, "_STRIP_CELLS", 20)
    assert_like(scores_of(extract(encoded, PAIRS, settings, scores="raw")), expected)


@pytest.mark.parametrize("method", METHODS)
def test_a_null_that_everything_beats_is_none(method):
    encoded = random_encoded(2)
    off = extract(encoded, PAIRS, ExtractionSettings(method=method))
    assert extract(encoded, PAIRS, ExtractionSettings(method=method, null=-1000)) == off
    assert any(alignment.links for alignment in off)


@pytest.mark.parametrize("method", METHODS)
def test_a_null_that_beats_everything_leaves_no_links(method):
    encoded = random_encoded(2)
    assert not any(alignment.links for alignment in extract(encoded, PAIRS, ExtractionSettings(method=method, null=99)))


@pytest.mark.parametrize("method", ["ot", "argmax", "itermax", "match"])
@pytest.mark.parametrize("where", ["host", "device", "strips"])
def test_other_methods_keep_the_links_that_beat_the_null(monkeypatch, method, where):
    plain = random_encoded(3, longest=6)
    words = np.arange(len(plain.words)) - np.repeat(plain.starts[:-1], plain.lengths)  # a word is a subword
    plain = type(plain)(plain.states, words, plain.starts)
    before = extract(plain, PAIRS, ExtractionSettings(method=method))
    expected = []
    for (source, target), alignment in zip(PAIRS, before, strict=True):
        products = plain.states[plain.starts[source] :] @ plain.states[plain.starts[target] :].T
        expected.append({link for link in alignment.pairs if products[link] > 3})
    if where == "device":
        monkeypatch.setattr(extractor, "is_on_host", lambda states: False)
        plain = on_torch(plain)
    elif where == "strips":
        monkeypatch.setattr(extractor, "BATCH_CELLS", 1)
        monkeypatch.setattr(extractor, "STRIP_CELLS", 0)
        monkeypatch.setattr(strips, "_STRIP_CELLS", 7)
    found = extract(plain, PAIRS, ExtractionSettings(method=method, null=3))
    assert [alignment.pairs for alignment in found] == expected
    assert any(expected)
    assert sum(map(len, expected)) < sum(len(alignment.links) for alignment in before)


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("method", METHODS)
def test_a_device_gives_the_links_of_the_host(monkeypatch, method, null):
    encoded = random_encoded(3)
    settings = ExtractionSettings(method=method, null=null)
    here = extract(encoded, PAIRS, settings)
    monkeypatch.setattr(extractor, "is_on_host", lambda states: False)
    assert extract(on_torch(encoded), PAIRS, settings) == here
