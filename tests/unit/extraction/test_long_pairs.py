from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft import Aligner
from weft.encoding.bert import BertEncoder, read_bert
from weft.extraction.scores import Scores
from weft.types import SentencePair

TEXT = """
Der Vertrag beginnt am ersten Januar . ||| The contract starts on the first of January .
Beide Seiten können ihn mit einer Frist von drei Monaten kündigen . ||| Both may cancel it at three months' notice .
Die Miete wird immer am Anfang des Monats bezahlt . ||| The rent is always paid at the beginning of the month .
Wer zu spät bezahlt , muss eine Gebühr zahlen . ||| Anyone who pays late has to pay a fee .
Haustiere sind in der Wohnung nicht erlaubt . ||| Pets are not allowed in the flat .
Der Garten gehört allen Bewohnern des Hauses . ||| The garden belongs to all residents of the house .
Fahrräder stehen im Keller neben der Treppe . ||| Bicycles are kept in the basement next to the stairs .
Nach zehn Uhr abends muss es ruhig sein . ||| After ten o'clock in the evening it must be quiet .
Der Schlüssel darf niemals kopiert werden . ||| The key must never be copied .
Bei Fragen rufen Sie bitte den Hausmeister an . ||| If you have questions , please call the caretaker .
Er wohnt im Erdgeschoss und spricht auch Türkisch . ||| He lives on the ground floor and also speaks Turkish .
Wir wünschen Ihnen eine gute Zeit in Ihrem neuen Zuhause ! ||| We wish you a good time in your new home !
"""
PAIRS = [SentencePair(*(tuple(side.split()) for side in line.split("|||"))) for line in TEXT.strip().splitlines()]


@pytest.fixture(scope="module")
def aligner():
    return Aligner.from_pretrained()


@pytest.fixture(scope="module")
def alone(aligner):
    """The links of each sentence pair by itself."""
    return [alignment.pairs for alignment in aligner.align_batch(PAIRS, scores="none")]


def join(numbers, side):
    return tuple(word for number in numbers for word in PAIRS[number][side])


def moved(alone, source, target):
    """The links of sentence pairs, as links of a text whose sides have these sentences."""
    starts = [
        dict(zip(numbers, np.cumsum([0, *(len(PAIRS[number][side]) for number in numbers)]).tolist(), strict=False))
        for side, numbers in enumerate((source, target))
    ]
    return {
        (i + starts[0][number], j + starts[1][number]) for number in set(source) & set(target) for i, j in alone[number]
    }


@pytest.mark.parametrize("missing", [(), (4,)])
def test_a_text_has_the_links_of_its_sentences(aligner, alone, missing):
    source, target = range(len(PAIRS)), [number for number in range(len(PAIRS)) if number not in missing]
    found = aligner.align(join(source, 0), join(target, 1)).pairs
    expected = moved(alone, list(source), target)
    assert len(found & expected) >= 0.97 * len(expected)
    assert len(found - expected) <= 0.03 * len(expected)


def test_short_pairs_beside_a_long_one_are_aligned_as_ever(aligner, alone):
    everything = range(len(PAIRS))
    text = SentencePair(join(everything, 0), join(everything, 1))
    found = aligner.align_batch([PAIRS[0], text, PAIRS[1], text], scores="none")
    assert found[0].pairs == alone[0]
    assert found[2].pairs == alone[1]
    assert found[1].pairs == found[3].pairs == aligner.align(*text).pairs


def test_scores_and_the_pairs_score_are_there(aligner):
    everything = range(len(PAIRS))
    found = aligner.align(join(everything, 0), join(everything, 1))
    assert all(0 < link.score <= 1 for link in found)
    assert 0.5 < found.score <= 1


def test_text_without_marks_is_aligned_in_overlapping_pieces(aligner, alone):
    everything = range(len(PAIRS))
    places = [[index for index, word in enumerate(join(everything, side)) if word not in ".!,"] for side in (0, 1)]
    bare = SentencePair(*(tuple(join(everything, side)[place] for place in places[side]) for side in (0, 1)))
    tokenize = replace(aligner.encoder.tokenize, window=48)  # so that a short text is long
    lines = tokenize([bare])
    assert lines.stretches.soft == {0: True, 1: True}
    found = aligner.begin(lines, scores=Scores.NONE)()[0].pairs
    kept = [{place: index for index, place in enumerate(side)} for side in places]
    links = moved(alone, everything, everything)
    expected = {(kept[0][i], kept[1][j]) for i, j in links if i in kept[0] and j in kept[1]}
    assert 2 * len(found & expected) / (len(found) + len(expected)) > 0.85


def test_an_encoder_that_reads_sentences_by_themselves_and_a_word_without_end(tiny_bert):
    aligner = Aligner(BertEncoder(read_bert(tiny_bert), layer=2, device="cpu"))
    everything = range(len(PAIRS))
    lines = [
        SentencePair(join(everything, 0), join(everything, 1)),
        SentencePair(("a" * 400,), ("b" * 300, "c")),
        SentencePair(("Haus",) * 200, ("house",)),
    ]
    found = aligner.begin(aligner.encoder.tokenize(lines), scores=Scores.RAW)()
    assert aligner.encoder.long_sentences > 0
    for line, alignment in zip(lines, found, strict=True):
        assert len(alignment.pairs) == len(alignment.links) > 0
        assert all(link.source < len(line.source) and link.target < len(line.target) for link in alignment)
