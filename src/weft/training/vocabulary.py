"""Pieces for words that a tokenizer cannot read: learned from the corpus, added behind the old ones.

Words that could be read before are cut as before. A new piece holds a character that the old ones lack, or is a single
character; so it never matches within a word that the old pieces cover.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from weft.encoding.subwords import Tokenizer
from weft.encoding.torch import load_tokenizer
from weft.errors import WeftError
from weft.text.json_objects import read_json_object
from weft.types import Alignment, SentencePair

TOKENIZER_FILE = "tokenizer.json"
_CONTINUED = "##"
# A word that is seen often says no more about its pieces than one that is seen this often.
_MOST_COUNTED = 100
# How many words' worth of doubt there is about where a new piece belongs.
_DOUBT = 1.0
_FEWEST = 2


def unread_words(tokenizer: Any, pairs: Iterable[SentencePair]) -> Counter[str]:
    """Words that come out as the unknown token, with how often they occur."""
    counts = Counter(word for pair in pairs for side in (pair.source, pair.target) for word in side)
    library = tokenizer.backend_tokenizer
    unknown, words = tokenizer.unk_token_id, list(counts)
    cut = library.encode_batch([[word] for word in words], is_pretokenized=True, add_special_tokens=False)
    return Counter({
        word: counts[word] for word, encoding in zip(words, cut, strict=True) if unknown in encoding.ids
    })  # fmt: skip


def learned_pieces(tokenizer: Any, words: Counter[str], most: int) -> list[str]:
    """At most so many new pieces for words that cannot be read, in the order in which they were learned.

    Args:
        tokenizer: of the Hugging Face library, with WordPiece inside.
        words: the words, with how often they occur.
        most: how many pieces to add.

    Raises:
        WeftError: the tokenizer has no WordPiece model.
    """
    from tokenizers import Tokenizer, models, trainers

    library = tokenizer.backend_tokenizer if tokenizer.is_fast else None
    if library is None or not isinstance(library.model, models.WordPiece):
        raise WeftError("only a WordPiece vocabulary, as BERT and weft-mini have, can be extended.")
    old = library.get_vocab(with_added_tokens=True)
    learner = Tokenizer(models.WordPiece(unk_token=tokenizer.unk_token))
    learner.normalizer, learner.pre_tokenizer = library.normalizer, library.pre_tokenizer
    # The alphabet comes on top of what is asked for: without it no word could be read at all.
    trainer = trainers.WordPieceTrainer(
        vocab_size=most + 2 * len({c for word in words for c in word}), min_frequency=_FEWEST, show_progress=False
    )
    repeated = (word for word, count in words.items() for _ in range(min(count, _MOST_COUNTED)))
    learner.train_from_iterator(repeated, trainer)
    found = sorted(learner.get_vocab().items(), key=lambda item: item[1])
    characters = {piece.removeprefix(_CONTINUED) for piece in old}
    return [piece for piece, _ in found if piece not in old and _harmless(piece, characters)][:most]


def _harmless(piece: str, characters: set[str]) -> bool:
    text = piece.removeprefix(_CONTINUED)
    return len(text) == 1 or any(character not in characters for character in text)


def extended_tokenizer(tokenizer: Any, pieces: Sequence[str]) -> Any:
    """The same tokenizer with further pieces, whose ids come after all others."""
    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        path = Path(folder) / TOKENIZER_FILE
        settings = read_json_object(path)
        vocabulary = settings["model"]["vocab"]
        first = len(tokenizer)
        vocabulary |= {piece: first + number for number, piece in enumerate(pieces)}
        path.write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")
        return load_tokenizer(folder, 0)


@torch.no_grad()
def grow_embeddings(library: Any, rows: Tensor) -> None:
    """Add rows to the word embeddings of a Hugging Face model, and to whatever is tied to them.

    Args:
        library: the model.
        rows: shape (pieces, d).
    """
    before = library.get_input_embeddings().weight.shape[0]
    library.resize_token_embeddings(before + len(rows), mean_resizing=False)
    library.get_input_embeddings().weight[before:] = rows
    library.tie_weights()


@torch.no_grad()
def first_embeddings(
    embeddings: Tensor, tokenizer: Tokenizer, pieces: int, linked: Iterable[tuple[SentencePair, Alignment | None]]
) -> Tensor:
    """Where new pieces begin: at the mean of what the words that they are linked with begin at.

    So a word lies beside its translation from the start, as names and numbers do that are written alike. Pieces that no
    link says anything about begin at the mean of all.

    Args:
        embeddings: those of the old pieces, shape (v, d).
        tokenizer: the extended one.
        pieces: how many are new.
        linked: sentence pairs with links, where there are any.

    Returns:
        Embeddings of the new pieces, shape (pieces, d), as long as old ones are.
    """
    old = len(embeddings)
    typical = embeddings.norm(dim=1).median()
    mean = embeddings.mean(0)
    sums, counts = mean.expand(pieces, -1) * _DOUBT, torch.full((pieces, 1), _DOUBT)
    for pair, alignment in linked:
        if alignment is None:
            continue
        cut = tokenizer.split([(word,) for side in (pair.source, pair.target) for word in side])
        ids = [torch.from_numpy(piece.ids.copy()) for piece in cut]
        for link in filter(lambda link: link.sure, alignment.links):
            ends = ids[link.source], ids[len(pair.source) + link.target]
            for new, known in (ends, ends[::-1]):
                added = new[new >= old] - old
                if len(added) and (known < old).all():
                    sums[added] += embeddings[known].mean(0)
                    counts[added] += 1
    means = sums / counts
    rows: Tensor = means / means.norm(dim=1, keepdim=True).clamp(min=1e-6) * typical
    return rows
