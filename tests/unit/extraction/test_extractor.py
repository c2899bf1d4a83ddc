from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from weft.extraction import extractor, similarity, strips
from weft.extraction.extractor import extract
from weft.extraction.settings import ExtractionSettings
from weft.extraction.symmetrize import Symmetrization, symmetrize

from .conftest import on_torch, random_encoded

METHODS = ["softmax", "entmax", "geometric", "ot", "argmax", "itermax", "match"]
PAIRS = [(source, target) for source in range(6) for target in range(6, 12)]


def by_hand(encoded, pair, settings: ExtractionSettings):
    """The paper's section 2 for one pair, without batches, padding or shortcuts; softmax only."""
    source, target = (encoded.states[encoded.starts[k] : encoded.starts[k + 1]].astype(np.float64) for k in pair)
    products = source @ target.T
    there = special.softmax(products, axis=1) > settings.effective_threshold
    back = special.softmax(products, axis=0) > settings.effective_threshold
    sets = [set(zip(*map(np.ndarray.tolist, direction.nonzero()), strict=True)) for direction in (there, back)]
    words = [encoded.words[encoded.starts[k] : encoded.starts[k + 1]] for k in pair]
    tempered = [
        special.softmax(products / np.sqrt(products.shape[1]), axis=1),
        special.softmax(products / np.sqrt(products.shape[0]), axis=0),
    ]
    scores = 2 * tempered[0] * tempered[1] / (tempered[0] + tempered[1])
    links: dict[tuple[int, int], float] = {}
    for i, j in symmetrize(*sets, settings.symmetrize):
        key = (int(words[0][i]), int(words[1][j]))
        links[key] = max(links.get(key, 0.0), scores[i, j])
    return links


@pytest.mark.parametrize("heuristic", Symmetrization)
@pytest.mark.parametrize("threshold", [0.001, 0.1])
@pytest.mark.parametrize("cells", [100, 1 << 19])
def test_batches_give_what_the_paper_says(monkeypatch, heuristic, threshold, cells):
    monkeypatch.setattr(extractor, "BATCH_CELLS", cells)
    encoded = random_encoded(1)
    settings = ExtractionSettings(threshold=threshold, symmetrize=heuristic)
    for pair, alignment in zip(PAIRS, extract(encoded, PAIRS, settings, scores="raw"), strict=True):
        expected = by_hand(encoded, pair, settings)
        assert [link.indices for link in alignment.links] == sorted(expected)
        for link in alignment.links:
            assert link.score == pytest.approx(expected[link.indices], abs=2e-6)


def geometric_by_hand(encoded, pair, threshold: float) -> set[tuple[int, int]]:
    """Words with a subword each that give the other's word probabilities with a geometric mean above the threshold."""
    source, target = (encoded.states[encoded.starts[k] : encoded.starts[k + 1]].astype(np.float64) for k in pair)
    words = [encoded.words[encoded.starts[k] : encoded.starts[k + 1]].tolist() for k in pair]
    there, back = (special.softmax(source @ target.T, axis=axis) for axis in (1, 0))
    return {
        (one, other)
        for i, one in enumerate(words[0])
        for j, other in enumerate(words[1])
        if np.sqrt(
            sum(there[i, k] for k, word in enumerate(words[1]) if word == other)
            * sum(back[k, j] for k, word in enumerate(words[0]) if word == one)
        )
        > threshold
    }


@pytest.mark.parametrize("threshold", [0.05, 0.13, 0.4])
@pytest.mark.parametrize("short", [0, 1024])
def test_the_geometric_mean_is_that_of_words(monkeypatch, threshold, short):
    monkeypatch.setattr(similarity, "_SHORT", short)
    encoded = random_encoded(7)
    settings = ExtractionSettings(method="geometric", threshold=threshold)
    for pair, alignment in zip(PAIRS, extract(encoded, PAIRS, settings), strict=True):
        assert alignment.pairs == geometric_by_hand(encoded, pair, threshold)


@pytest.mark.parametrize("heuristic", ["intersection", "grow-diag-final-and"])
@pytest.mark.parametrize("method", METHODS)
def test_numpy_and_torch_give_the_same_links(method, heuristic):
    settings = ExtractionSettings(method=method, symmetrize=heuristic)
    encoded = random_encoded(2)
    ours = extract(encoded, PAIRS, settings, scores="raw")
    theirs = extract(on_torch(encoded), PAIRS, settings, scores="raw")
    assert [alignment.pairs for alignment in ours] == [alignment.pairs for alignment in theirs]
    scores = [[link.score for alignment in side for link in alignment.links] for side in (ours, theirs)]
    np.testing.assert_allclose(scores[0], scores[1], atol=3e-6)


@pytest.mark.parametrize("heuristic", Symmetrization)
@pytest.mark.parametrize("method", ["softmax", "entmax", "geometric", "argmax"])
@pytest.mark.parametrize("move", [lambda encoded: encoded, on_torch], ids=["numpy", "torch"])
def test_strips_give_what_whole_matrices_give(monkeypatch, method, heuristic, move):
    encoded = move(random_encoded(3))
    settings = ExtractionSettings(method=method, symmetrize=heuristic)
    whole = extract(encoded, PAIRS, settings, scores="raw")
    monkeypatch.setattr(extractor, "BATCH_CELLS", 1)
    monkeypatch.setattr(extractor, "STRIP_CELLS", 0)
    monkeypatch.setattr(strips, "_STRIP_CELLS", 20)
    in_strips = extract(encoded, PAIRS, settings, scores="raw")
    assert [alignment.pairs for alignment in in_strips] == [alignment.pairs for alignment in whole]
    scores = [[link.score for alignment in side for link in alignment.links] for side in (whole, in_strips)]
    np.testing.assert_allclose(scores[0], scores[1], atol=3e-6)
    assert extract(encoded, PAIRS, settings)[0].pairs == whole[0].pairs


@pytest.mark.parametrize("method", METHODS)
def test_without_scores_links_are_the_same(method):
    encoded, settings = random_encoded(4), ExtractionSettings(method=method)
    plain = extract(encoded, PAIRS, settings)
    assert [a.pairs for a in plain] == [a.pairs for a in extract(encoded, PAIRS, settings, scores="raw")]
    assert all(link.score is None for alignment in plain for link in alignment.links)


def test_one_word_to_one_word():
    encoded = random_encoded(5, longest=1)
    for method in METHODS:
        assert extract(encoded, [(0, 1)], ExtractionSettings(method=method))[0].pairs == {(0, 0)}


def test_a_threshold_of_1_links_nothing():
    encoded = random_encoded(6)
    assert all(not a.links for a in extract(encoded, PAIRS, ExtractionSettings(threshold=1.0), scores="raw"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("heuristic", [Symmetrization.INTERSECTION, Symmetrization.GROW_DIAG])
def test_a_device_gives_the_links_of_the_host(monkeypatch, method, heuristic):
    """What runs on a device, where the number of links is never asked for, on tensors that anybody has."""
    encoded = random_encoded(3)
    settings = ExtractionSettings(method=method, symmetrize=heuristic)
    here = extract(encoded, PAIRS, settings)
    monkeypatch.setattr(extractor, "is_on_host", lambda states: False)
    assert extract(on_torch(encoded), PAIRS, settings) == here
