from __future__ import annotations

import pytest

from toy import write_corpus
from weft.errors import WeftError
from weft.training.statistical import statistical_links, write_links
from weft.types import SentencePair

pytest.importorskip("thot")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("statistical")
    prefix = write_corpus(folder, "text", 300, seed=4)
    sides = [[tuple(line.split()) for line in prefix.with_suffix(e).read_text().splitlines()] for e in (".src", ".tgt")]
    pairs = [SentencePair(x, y) for x, y in zip(*sides, strict=True)]
    gold = [{tuple(map(int, link.split("-"))) for link in line.split()}
            for line in prefix.with_suffix(".talp").read_text().splitlines()]  # fmt: skip
    return pairs, gold


def test_links_are_found_in_the_text_alone_and_every_time_the_same(corpus, tmp_path):
    pairs, gold = corpus
    with_gap = [*pairs[:10], SentencePair((), ()), *pairs[10:]]
    found = list(statistical_links(with_gap))
    assert found.pop(10) == []
    right = sum(len(set(links) & expected) for links, expected in zip(found, gold, strict=True))
    assert right / sum(map(len, found)) > 0.9
    assert right / sum(map(len, gold)) > 0.7
    write_links(with_gap, tmp_path / "guide.links")
    lines = (tmp_path / "guide.links").read_text().splitlines()
    assert lines[10] == ""
    assert lines[0] == " ".join(f"{i}-{j}" for i, j in found[0])


def test_nothing_to_align_is_a_sentence():
    with pytest.raises(WeftError, match="no sentence pair to align"):
        list(statistical_links([SentencePair((), ())]))
