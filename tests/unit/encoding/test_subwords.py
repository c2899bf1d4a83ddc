from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers
from transformers import PreTrainedTokenizerFast

from models import word_piece_tokenizer
from strategies import sentences
from weft.encoding.subwords import FastTokenizer, WordByWordTokenizer, unknown_words
from weft.encoding.windows import windows
from weft.errors import WeftError

LIBRARY = word_piece_tokenizer()
FAST = FastTokenizer(LIBRARY)
UNKNOWN = LIBRARY.token_to_id("[UNK]")


def test_special_tokens_are_found_round_the_sentence():
    assert (FAST.prefix, FAST.suffix, FAST.pad) == ((2,), (3,), 0)


def test_subwords_know_their_words():
    [piece] = FAST.split([("das", "Haus", ",", "schläft.")])
    tokens = [LIBRARY.id_to_token(identifier) for identifier in piece.ids]
    assert tokens[0] == "das"
    assert piece.words[0] == 0
    assert tokens[-1] == "."
    assert piece.words[-1] == 3
    assert list(piece.words) == sorted(piece.words)


@pytest.mark.parametrize("word", ["\u200b", "\x00", "\u00a0", "\ufeff"])
def test_a_word_that_the_tokenizer_swallows_becomes_unknown(word):
    [piece] = FAST.split([("das", word, "Haus")])
    assert set(piece.words) == {0, 1, 2}
    assert [identifier for identifier, index in zip(piece.ids, piece.words, strict=True) if index == 1] == [UNKNOWN]


@given(st.lists(sentences, min_size=1, max_size=4))
def test_unknown_words_are_those_with_an_unknown_subword(batch):
    subwords = FAST.split(batch)
    slow = [len({word for identifier, word in zip(*piece, strict=True) if identifier == UNKNOWN}) for piece in subwords]
    assert unknown_words(subwords, FAST.unknown).tolist() == slow
    assert not unknown_words(subwords, None).any()


@given(st.lists(sentences, min_size=1, max_size=4))
def test_every_word_has_a_subword_and_their_order_is_kept(batch):
    for words, piece in zip(batch, FAST.split(batch), strict=True):
        assert set(piece.words) == set(range(len(words)))
        assert list(piece.words) == sorted(piece.words)
        assert len(piece.ids) == len(piece.words)


class PythonTokenizer(PreTrainedTokenizerFast):
    """What a tokenizer written in Python looks like from outside: words in, tokens out, one word at a time."""

    is_fast = False

    def build_inputs_with_special_tokens(self, ids):
        return [self.cls_token_id, *ids, self.sep_token_id]


@given(st.lists(sentences, min_size=1, max_size=3))
def test_word_by_word_gives_the_same_subwords(batch):
    library = PythonTokenizer(
        tokenizer_object=Tokenizer.from_str(LIBRARY.to_str()), pad_token="[PAD]", unk_token="[UNK]",
        cls_token="[CLS]", sep_token="[SEP]",
    )  # fmt: skip
    slow = WordByWordTokenizer(library)
    assert (slow.prefix, slow.suffix, slow.pad) == (FAST.prefix, FAST.suffix, FAST.pad)
    for mine, theirs in zip(slow.split(batch), FAST.split(batch), strict=True):
        assert mine.ids.tolist() == theirs.ids.tolist()
        assert mine.words.tolist() == theirs.words.tolist()


@given(st.lists(sentences, max_size=5))
def test_words_that_are_remembered_are_cut_as_the_library_cuts_whole_sentences(batch):
    subwords = FAST.split(batch)
    whole = LIBRARY.encode_batch(list(map(list, batch)), is_pretokenized=True, add_special_tokens=False)
    assert len(subwords) == len(batch)
    for piece, encoding, words in zip(subwords, whole, batch, strict=True):
        if len(set(encoding.word_ids)) == len(words):  # none was swallowed
            assert piece.ids.tolist() == encoding.ids
            assert piece.words.tolist() == encoding.word_ids


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr("weft.encoding.subwords._MOST_WORDS", 10)
    tokenizer = FastTokenizer(word_piece_tokenizer())
    for round_ in range(5):
        words = tuple(f"w{round_}{number}" for number in range(8))
        assert tokenizer.split([words])[0].words.max() == 7
        assert len(tokenizer._numbers) <= 10
    several = tuple(f"x{number}" for number in range(25))
    assert tokenizer.split([several])[0].words.max() == 24


def test_a_copy_in_another_process_starts_anew():
    copy = pickle.loads(pickle.dumps(FAST))
    assert copy.split([("das", "Haus")]).ids.tolist() == FAST.split([("das", "Haus")]).ids.tolist()


@given(st.integers(1, 3000), st.integers(1, 600))
def test_windows_cover_every_subword_once(length, size):
    covered = windows(length, size)
    kept = [position for window in covered for position in range(window.keep_start, window.keep_end)]
    assert kept == list(range(length))
    for window in covered:
        assert 0 <= window.start <= window.keep_start <= window.keep_end <= window.end <= length
        assert window.end - window.start <= size


@given(st.integers(50, 3000), st.integers(20, 600))
def test_subwords_come_from_the_window_where_they_are_most_central(length, size):
    covered = windows(length, size)

    def centrality(window, position):
        # The sentence's own ends are no edges: nothing was cut off there.
        left = position - window.start if window.start > 0 else length
        right = window.end - 1 - position if window.end < length else length
        return min(left, right)

    for window in covered:
        for position in range(window.keep_start, window.keep_end):
            best = max(centrality(other, position) for other in covered if other.start <= position < other.end)
            assert centrality(window, position) >= best - 1


def test_a_sentence_that_fits_is_one_window():
    assert windows(512, 512) == [(0, 512, 0, 512)]


def test_a_tokenizer_that_makes_nothing_of_letters_is_a_sentence():
    library = word_piece_tokenizer()
    library.normalizer = normalizers.Replace("a", "")
    with pytest.raises(WeftError, match="no token of the letter a"):
        FastTokenizer(library)


def test_a_template_without_its_tokens_is_a_sentence():
    """The library panics over it, and a panic is no Exception."""
    damaged = json.loads(word_piece_tokenizer().to_str())
    damaged["post_processor"]["special_tokens"] = {}
    with pytest.raises(WeftError, match="the model's tokenizer is damaged"):
        FastTokenizer(Tokenizer.from_str(json.dumps(damaged)))
