from __future__ import annotations

import torch

from weft.training.batches import AlignedRows
from weft.training.config import GuideConfig
from weft.training.losses import Directions
from weft.training.passes import between_words, guide_links


def aligned(source_words, target_words, links, given):
    ids = torch.zeros(2 * len(given), 1)
    return AlignedRows(
        ids, ids, source_words, target_words, links, torch.zeros_like(links), given, given, torch.ones(len(given))
    )


def guide_case():
    forward = torch.tensor([[[0.9, 0.04, 0.06], [0.3, 0.6, 0.1]]]).repeat(2, 1, 1)
    backward = torch.tensor([[[0.7, 0.05, 0.9], [0.3, 0.95, 0.1]]]).repeat(2, 1, 1)
    links = torch.tensor([[[False, True, True], [False, False, False]]] * 2)
    rows = aligned(torch.tensor([[0, 1]] * 2), torch.tensor([[0, 1, 2]] * 2), links, torch.tensor([True, False]))
    return Directions(forward, backward, torch.ones_like(forward, dtype=torch.bool)), rows


def test_the_guide_is_given_links_or_the_models_own():
    probabilities, rows = guide_case()
    links = guide_links(probabilities, rows, GuideConfig(), threshold=0.001, denoise=False)
    assert links[0].tolist() == [[False, True, True], [False, False, False]]
    assert links[1].all()  # every cell exceeds 0.001 both ways


def test_a_strict_guide_and_denoising():
    probabilities, rows = guide_case()
    strict = guide_links(probabilities, rows, GuideConfig(), threshold=0.5, denoise=False)
    assert strict[1].tolist() == [[True, False, False], [False, True, False]]
    guide = GuideConfig(denoise_keep=0.05, denoise_add=0.5)
    checked = guide_links(probabilities, rows, guide, threshold=0.001, denoise=True)
    # given: (0,1) is rejected both ways and dropped, (0,2) stays; (0,0) and (1,1) are certain both ways and added
    assert checked[0].tolist() == [[True, False, True], [False, True, False]]


def test_links_spread_over_whole_words():
    links = torch.zeros(1, 4, 3, dtype=torch.bool)
    rows = aligned(torch.tensor([[0, 0, 1, -1]]), torch.tensor([[0, 1, 1]]), links, torch.tensor([True]))
    links[0, 1, 2] = True
    expected = [[False, True, True], [False, True, True], [False] * 3, [False] * 3]
    assert between_words(links, (rows.source_words, rows.target_words))[0].tolist() == expected
