from __future__ import annotations

from collections import Counter

import pytest
import torch
import transformers

from models import word_piece_tokenizer
from weft.encoding.torch import wrap_tokenizer
from weft.errors import WeftError
from weft.training.vocabulary import (
    extended_tokenizer,
    first_embeddings,
    grow_embeddings,
    learned_pieces,
    unread_words,
)
from weft.types import Alignment, Link, SentencePair

NEW = ["ఇల్లు", "ఇల్లులో", "కుక్క", "కుక్కలో", "చెట్టు", "చెట్టులో"]
OLD = ["das", "Haus", "the", "house", "dog", "schläft", "kleine"]


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_piece_tokenizer(), pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    )  # fmt: skip


@pytest.fixture(scope="module")
def larger(tokenizer):
    pairs = [SentencePair(tuple(NEW), tuple(OLD))] * 3
    words = unread_words(tokenizer, pairs)
    assert set(words) >= set(NEW)
    assert set(words.values()) == {3}
    return extended_tokenizer(tokenizer, learned_pieces(tokenizer, words, 40))


def test_new_words_are_read_and_old_ones_cut_as_before(tokenizer, larger):
    assert not unread_words(larger, [SentencePair(tuple(NEW), ())])
    readable = [word for word in OLD if not unread_words(tokenizer, [SentencePair((word,), ())])]
    assert len(readable) > 3
    for word in readable:
        assert larger.encode(word) == tokenizer.encode(word)
    assert larger.encode(NEW[0])[0] == tokenizer.cls_token_id
    old, new = tokenizer.get_vocab(), larger.get_vocab()
    assert all(new[piece] == number for piece, number in old.items())
    assert sorted(set(new.values()) - set(old.values())) == list(range(len(old), len(new)))


def test_pieces_are_kept_to_the_number_asked_for(tokenizer):
    assert len(learned_pieces(tokenizer, Counter(dict.fromkeys(NEW, 5)), 7)) == 7


def test_another_kind_of_vocabulary_is_refused():
    from tokenizers import Tokenizer, models

    other = transformers.PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.Unigram([("a", 0.0)], unk_id=0)))
    with pytest.raises(WeftError, match="only a WordPiece vocabulary"):
        learned_pieces(other, Counter(NEW), 5)


def test_a_new_piece_begins_where_its_translation_is(tokenizer, larger):
    old = len(tokenizer)
    embeddings = torch.randn(old, 16, generator=torch.Generator().manual_seed(0))
    pair = SentencePair((NEW[2],), ("dog",))
    linked = [(pair, Alignment((Link(0, 0),)))] * 50 + [(pair, None)]
    rows = first_embeddings(embeddings, wrap_tokenizer(larger), len(larger) - old, linked)
    pieces = [number - old for number in larger.encode(NEW[2], add_special_tokens=False)]
    dog = embeddings[tokenizer.encode("dog", add_special_tokens=False)].mean(0)
    assert torch.cosine_similarity(rows[pieces], dog[None]).min() > 0.95
    torch.testing.assert_close(rows.norm(dim=1), embeddings.norm(dim=1).median().expand(len(rows)))


def test_embeddings_grow_and_stay_tied():
    library = transformers.BertForMaskedLM(
        transformers.BertConfig(vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                                intermediate_size=8)
    )  # fmt: skip
    before = library.get_input_embeddings().weight.detach().clone()
    grow_embeddings(library, torch.ones(3, 8))
    after = library.get_input_embeddings().weight
    assert torch.equal(after[:20], before)
    assert torch.equal(after[20:], torch.ones(3, 8))
    assert library.config.vocab_size == 23
    assert library.get_output_embeddings().weight is after
