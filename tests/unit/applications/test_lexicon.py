from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import alignments, sentence_pairs
from weft.applications.lexicon import LexicalWeights, Lexicon
from weft.types import Alignment, Link, SentencePair


def counted(*sentences, **options):
    lexicon = Lexicon(**options)
    for line, (source, target, links) in enumerate(sentences, start=1):
        pair = SentencePair(tuple(source.split()), tuple(target.split()))
        lexicon.add(pair, Alignment.of(Link(*map(int, item.split("-"))) for item in links.split()), line)
    return lexicon


SENTENCES = [
    ("das Haus ist alt", "the house is old", "0-0 1-1 2-2 3-3"),
    ("Das Haus", "the house", "0-0 1-1"),
    ("Haus und Hof", "home and yard", "0-0 1-1 2-2"),
]


def test_counts_probabilities_and_the_shortest_example():
    first, *rest = counted(*SENTENCES).entries()
    assert (first.source, first.target, first.count, first.line) == ("Haus", "house", 2, 2)
    assert (first.target_given_source, first.source_given_target) == (2 / 3, 1.0)
    assert [(entry.source, entry.target) for entry in rest][:2] == [("Das", "the"), ("Haus", "home")]


def test_lower_case():
    entries = {(entry.source, entry.target): entry.count for entry in counted(*SENTENCES, lowercase=True).entries()}
    assert entries["das", "the"] == 2


def test_rare_pairs_are_hidden_and_still_counted():
    (entry, *_), best = counted(*SENTENCES).entries(min_count=2), list(counted(*SENTENCES).entries(best=1))
    assert entry.target_given_source == 2 / 3
    assert [entry.target for entry in best if entry.source == "Haus"] == ["house"]


def test_pairs_without_letters_can_be_left_out():
    lexicon = counted(("ja , 5 % .", "yes , 5 percent ।", "0-0 1-1 2-2 3-3 4-4"))
    assert len(list(lexicon.entries())) == 5
    kept = [(entry.source, entry.target) for entry in lexicon.entries(punctuation=False, best=1)]
    assert kept == [("%", "percent"), ("5", "5"), ("ja", "yes")]


@settings(deadline=None)
@given(st.lists(st.tuples(sentence_pairs, alignments(scores=False, possible=False)), max_size=5))
def test_counts_equal_plain_counting(corpus):
    lexicon, expected = Lexicon(), Counter()
    for line, (pair, alignment) in enumerate(corpus, start=1):
        inside = [link for link in alignment.links if link.source < len(pair.source) and link.target < len(pair.target)]
        lexicon.add(pair, Alignment(tuple(inside)), line)
        expected.update((pair.source[link.source], pair.target[link.target]) for link in inside)
    entries = list(lexicon.entries())
    assert {(entry.source, entry.target): entry.count for entry in entries} == expected
    for entry in entries:
        assert entry.source in corpus[entry.line - 1][0].source
        assert entry.target in corpus[entry.line - 1][0].target
        assert entry.target_given_source == entry.count / sum(
            count for (source, _), count in expected.items() if source == entry.source
        )


def test_words_without_links_count_as_null():
    weights = LexicalWeights()
    weights.add(SentencePair(("a", "b"), ("x",)), Alignment((Link(0, 0),)))
    weights.add(SentencePair(("b",), ("x",)), Alignment((Link(0, 0),)))
    assert weights.of_source("a", ["x"]) == 0.5
    assert weights.of_source("b", []) == 1.0
    assert weights.of_target("x", ["a", "b"]) == (1.0 + 0.5) / 2


def read_by_marian(lines, best=100):
    """Marian's own reader, as its source has it: `in >> target >> source >> probability`, NULL skipped, then pruned."""
    tokens = " ".join(lines).split()
    known = {}
    for target, source, probability in zip(tokens[::3], tokens[1::3], tokens[2::3], strict=True):
        if "NULL" not in (target, source):
            known.setdefault(source, {})[target] = float(probability)
    return {source: sorted(of, key=of.get, reverse=True)[:best] for source, of in known.items()}


def test_a_shortlist_is_what_marian_reads():
    lexicon = Lexicon()
    pair = SentencePair(("das", "Haus", "NULL", "a b"), ("the", "house", "x", "y"))
    lexicon.add(pair, Alignment.of([Link(0, 0), Link(1, 1), Link(1, 0), Link(2, 2), Link(3, 3)]), 1)
    lexicon.add(pair, Alignment.of([Link(1, 1)]), 2)
    rows = list(lexicon.shortlist())
    assert dict.fromkeys(rows) == dict.fromkeys([("house", "Haus", 2 / 3), ("the", "das", 1.0), ("the", "Haus", 1 / 3)])
    read = read_by_marian(f"{word} {given} {share:.8f}" for word, given, share in rows)
    assert read == {"Haus": ["house", "the"], "das": ["the"]}
    assert list(lexicon.shortlist(best=1)) == [("house", "Haus", 2 / 3), ("the", "das", 1.0)]
    assert ("das", "the", 0.5) in list(lexicon.shortlist(to_source=True))
