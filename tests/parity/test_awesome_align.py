"""Link by link against what the original awesome-align program printed for a tiny random BERT."""

from __future__ import annotations

import pytest

from weft import Aligner, read_links, read_pairs

FILES = {(2, "softmax"): 35_382, (2, "entmax15"): 4_483, (4, "softmax"): 78_664, (4, "entmax15"): 23_301}


@pytest.mark.parametrize(("layer", "method"), FILES)
def test_links_and_probabilities_are_the_originals(data, layer, method):
    folder = data / "peers" / "awesome-align-parity"
    expected = list(read_links(folder / f"layer{layer}.{method}.expected"))
    aligner = Aligner.from_pretrained(folder, layer=layer, device="cpu", method=method.removesuffix("15"))
    ours = list(aligner.stream(read_pairs(folder / "pairs.txt"), scores="raw"))
    assert len(ours) == len(expected) == 120
    assert sum(len(alignment.links) for alignment in expected) == FILES[layer, method]
    for mine, theirs in zip(ours, expected, strict=True):
        assert mine.pairs == theirs.pairs
        assert [link.score for link in mine.links] == pytest.approx([link.score for link in theirs.links], abs=1e-4)


def test_the_command_line_takes_the_originals_file_as_it_is(data, weft):
    folder = data / "peers" / "awesome-align-parity"
    done = weft("align", folder / "pairs.txt", "--model", folder, "--layer", 2, "--device", "cpu", "--scores", "raw")
    assert done.returncode == 0
    expected = list(read_links(folder / "layer2.softmax.expected"))
    lines = done.stdout.splitlines()
    assert [len(line.split()) for line in lines] == [len(alignment.links) for alignment in expected]
    tokens = [token.split(":")[0] for token in lines[0].split()]
    assert tokens == [f"{link.source}-{link.target}" for link in expected[0].links]
