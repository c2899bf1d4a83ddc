"""The whole way against SimAlign: the same model, the same sentences, its links."""

from __future__ import annotations

import pytest
from simalign import SentenceAligner

from models import SENTENCES, make_model
from weft import Aligner

METHODS = {"argmax": "inter", "itermax": "itermax", "match": "mwmf"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("simalign") / "bert", max_positions=512)


@pytest.mark.parametrize("method", METHODS)
def test_links_are_simaligns(model, method):
    theirs = SentenceAligner(model=str(model), token_type="bpe", matching_methods="mai", layer=2)
    ours = Aligner.from_pretrained(model, layer=2, device="cpu", method=method)
    pairs = [(first, second) for first in SENTENCES[:5] for second in SENTENCES[5:]]
    for pair, alignment in zip(pairs, ours.align_batch(pairs), strict=True):
        assert sorted(alignment.pairs) == theirs.get_word_aligns(*pair)[METHODS[method]]
