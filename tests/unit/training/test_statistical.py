from __future__ import annotations

import pytest

from toy import write_corpus
from weft.errors import WeftError
from weft.text.links import read_links
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
    assert found.pop(10) == ([], [])
    right = sum(len(set(links.grown) & expected) for links, expected in zip(found, gold, strict=True))
    assert right / sum(len(links.grown) for links in found) > 0.9
    assert right / sum(map(len, gold)) > 0.7
    assert not any(set(links.grown) & set(links.others) for links in found)
    write_links(with_gap, tmp_path / "guide.links")
    read = list(read_links(tmp_path / "guide.links"))
    assert not read.pop(10).links
    for links, line in zip(found, read, strict=True):
        assert {link.indices for link in line.links if link.sure} == set(links.grown)
        assert {link.indices for link in line.links if not link.sure} == set(links.others)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5])
def test_some_pairs_have_links_and_the_others_a_blank_line(corpus, tmp_path, share):
    pairs, _ = corpus
    write_links(pairs, tmp_path / "guide.links", share=share)
    lines = (tmp_path / "guide.links").read_text().split("\n")[:-1]
    assert len(lines) == len(pairs)
    assert sum(map(bool, lines)) == share * len(pairs)


def test_nothing_to_align_is_a_sentence():
    with pytest.raises(WeftError, match="no sentence pair to align"):
        list(statistical_links([SentencePair((), ())]))
