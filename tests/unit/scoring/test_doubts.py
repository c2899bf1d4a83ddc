from __future__ import annotations

import random

import pytest

from weft.errors import FormatError
from weft.scoring.corpus import score_files
from weft.scoring.doubts import MisplacedLinks
from weft.types import GoldAlignment


def _corpus(count):
    """Links of sentences of five to ten words, in any order, one to one."""
    generator = random.Random(1)
    for _ in range(count):
        length = generator.randint(5, 10)
        yield set(enumerate(generator.sample(range(length), length)))


def _remark(gold, system):
    doubts = MisplacedLinks()
    for truth, links in zip(gold, system, strict=True):
        doubts.add(GoldAlignment(frozenset(truth), frozenset(truth)), links)
    return doubts.remark()


LINKS = list(_corpus(40))


@pytest.mark.parametrize(
    ("system", "remark"),
    [
        (LINKS, None),
        (
            [{(j, i) for i, j in links} for links in LINKS],
            "with source and target swapped, AER would be 0.0 instead of",
        ),
        (
            [*LINKS[1:], LINKS[0]],
            "if each line belonged to the next line of the gold file, AER would be 0.0 instead of",
        ),
        ([LINKS[-1], *LINKS[:-1]], "if each line belonged to the previous line of the gold file, AER would be 0.0"),
        (LINKS[5:] + LINKS[:5], None),  # just bad
        ([set() for _ in LINKS], None),
    ],
)
def test_links_in_the_wrong_place_are_noticed(system, remark):
    found = _remark(LINKS, system)
    assert found is None if remark is None else found.startswith(remark)


def test_a_few_sentences_prove_nothing():
    assert _remark(LINKS[:4], [*LINKS[1:4], LINKS[0]]) is None


def test_files_are_scored_as_they_are_and_the_reason_is_said(tmp_path, caplog):
    gold, system, text = (tmp_path / name for name in ("gold", "system", "text"))
    written = [" ".join(f"{i}-{j}" for i, j in sorted(links)) + "\n" for links in LINKS]
    gold.write_text("".join(written))
    system.write_text("".join([*written[1:], written[0]]))
    text.write_text("".join(" ".join("a" * len(links)) + "\n" for links in LINKS))
    [score] = score_files(gold, [system])
    assert score.rates.aer > 60
    assert "system: if each line belonged to the next line of the gold file" in caplog.text
    with pytest.raises(FormatError, match=r"out of range: .* If each line belonged to the next line") as failure:
        score_files(gold, [system], sentences=(text, text))
    assert "counts from 1" not in str(failure.value)
