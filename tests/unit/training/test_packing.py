from __future__ import annotations

import pytest

from models import word_piece_tokenizer
from weft.encoding.subwords import FastTokenizer
from weft.errors import FormatError, LineCountError, WeftError
from weft.training.config import CorpusConfig
from weft.training.corpus import corpus_lines, in_words
from weft.training.packing import Packing, pack

TOKENIZER = FastTokenizer(word_piece_tokenizer())


@pytest.fixture
def packed(tmp_path):
    def run(text: str, links: str | None = None, **options):
        (tmp_path / "text").write_text(text)
        if links is not None:
            (tmp_path / "links").write_text(links)
        corpus = CorpusConfig(str(tmp_path / "text"), links=None if links is None else str(tmp_path / "links"))
        settings = {"max_subwords": 50, "exclude": (), "overlap": "error", "use_possible": True, **options}
        number = len(list(tmp_path.glob("packed*")))
        return pack([corpus], Packing(TOKENIZER, **settings), tmp_path / f"packed{number}")

    return run


def test_pairs_come_back_as_the_tokenizer_gives_them(packed):
    corpus = packed("das Haus ||| the house\nschläft ||| sleeping dog\n", "0-0 1p1\n\n")
    assert len(corpus) == 2
    for number, sides in enumerate([(("das", "Haus"), ("the", "house")), (("schläft",), ("sleeping", "dog"))]):
        source, target = TOKENIZER.split(sides)
        pair = corpus[number]
        assert pair.source_ids.tolist() == list(source.ids)
        assert pair.source_words.tolist() == list(source.words)
        assert pair.target_ids.tolist() == list(target.ids)
        assert pair.target_words.tolist() == list(target.words)
    assert corpus[0].links.tolist() == [[0, 0], [1, 1]]
    assert corpus[1].links is None


def test_possible_links_can_be_left_out(packed):
    corpus = packed("a b ||| c d\ne ||| f\n", "0-0 1p1\n0p0\n", use_possible=False)
    assert corpus[0].links.tolist() == [[0, 0]]
    assert corpus[1].links is None


def test_bad_double_and_long_lines_are_left_out_and_counted(packed):
    corpus = packed("a ||| b\n\nrubbish\na ||| b\n" + "x " * 60 + "||| y\nc ||| d\n")
    assert len(corpus) == 2
    assert {name: count for name, count in corpus.counts.items() if count} == {
        "pairs": 2, "bad lines": 2, "duplicates": 1, "too long": 1,
    }  # fmt: skip


def test_names_of_columns_and_sentences_without_a_counterpart_are_no_bad_lines(packed):
    assert packed("source\ttarget\na\tb\nc\td\n").counts["bad lines"] == 0
    alone = '{"source": ["c"], "source_span": [1, 2], "target": [], "target_span": null}\n'
    corpus = packed('{"source": ["a"], "target": ["b"]}\n' + alone + '{"source": ["c"]}\n')
    assert (corpus.counts["pairs"], corpus.counts["bad lines"]) == (1, 1)
    assert in_words(corpus.counts) == ["1 pair", "1 bad line"]


def test_counts_are_said_as_people_say_them():
    counts = {"pairs": 2000, "with links": 1, "bad lines": 0, "duplicates": 1, "too long": 3, "in test sets": 1}
    assert in_words(counts) == ["2,000 pairs", "1 with links", "1 duplicate", "3 too long", "1 in test sets"]


def test_links_stay_in_step_with_lines_that_are_left_out(packed):
    corpus = packed("a ||| b\n\nc d ||| e\n", "0-0\n\n1-0\n")
    assert corpus[1].links.tolist() == [[1, 0]]


def test_languages_of_text_that_is_split_are_only_names(tmp_path):
    (tmp_path / "text").write_text("a ||| b\n")
    (tmp_path / "third").write_text("c d\n")
    languages = {"source_language": "de", "target_language": "en", "through_language": "ja"}
    corpus = CorpusConfig(str(tmp_path / "text"), through=str(tmp_path / "third"), **languages)
    assert [line.through for line in corpus_lines(corpus, True)] == [("c", "d")]


def test_links_that_do_not_fit_are_named(packed):
    with pytest.raises(FormatError, match=r"links:2: the link 0-3 is out of range: source and target have 1 and 1"):
        packed("a ||| b\nc ||| d\n", "0-0\n0-3\n")
    with pytest.raises(LineCountError, match="has 2 lines;"):
        packed("a ||| b\nc ||| d\n", "0-0\n")


def test_sentences_of_test_sets_are_refused_or_dropped(packed, tmp_path):
    (tmp_path / "test.src").write_text("Das ist ein Haus .\n12\n")
    (tmp_path / "test.tgt").write_text("That is a café !\n12\n")
    text = "gut ||| good\nfoo ||| that is a cafe\nDAS IST, ein Haus ||| bar\n34 ||| 34 x\n"
    with pytest.raises(FormatError, match=r"text:2: this sentence is in the test set .*test"):
        packed(text, exclude=(str(tmp_path / "test"),))
    corpus = packed(text, exclude=(str(tmp_path / "test"),), overlap="drop")
    assert corpus.counts["in test sets"] == 2
    assert len(corpus) == 2


def test_nothing_to_train_on_is_an_error(packed):
    with pytest.raises(WeftError, match="has no pairs to train on"):
        packed("rubbish\n")


def test_a_packed_corpus_is_not_packed_again(packed, tmp_path):
    packed("a ||| b\n")
    corpus = CorpusConfig(str(tmp_path / "no longer there"))
    again = pack([corpus], Packing(TOKENIZER, 50, (), "error", True), tmp_path / "packed0")
    assert len(again) == 1
