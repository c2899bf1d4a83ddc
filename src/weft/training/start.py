"""What a run starts with: model and tokenizer, new pieces for words that it cannot read, links for it, a teacher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch

from weft.encoding.torch import load_tokenizer, wrap_tokenizer
from weft.errors import SettingError, WeftError
from weft.text.files import whole_folder
from weft.training.config import STATISTICAL, CorpusConfig, TrainingConfig, known
from weft.training.corpus import corpus_key, corpus_lines, corpus_pairs
from weft.training.model import TrainableEncoder, load_trainable, tokenizer_content
from weft.training.statistical import write_links
from weft.training.vocabulary import (
    extended_tokenizer,
    first_embeddings,
    grow_embeddings,
    learned_pieces,
    unread_words,
)

_VOCABULARY = "vocabulary"
# A corpus is in the new language if so many of its words are unknown, or nearly as many as in the corpus with the most:
# a language in a known script may have only one word in a thousand that the model cannot read.
_UNREAD = 0.05
_NEARLY = 0.5
_LOOKED_AT = 2000
_MOST_LINKED = 20_000


@dataclass(slots=True)
class Start:
    """Everything a run begins with; `tokenizer` is the Hugging Face library's."""

    config: TrainingConfig
    model: TrainableEncoder
    tokenizer: Any
    teacher: TrainableEncoder | None
    said: str


def load_start(config: TrainingConfig, *, with_psi: bool, with_teacher: bool) -> Start:
    """Load what a run begins with, and make what is missing.

    Args:
        config: the run, settled.
        with_psi: whether some objective needs a head that tells parallel sentences.
        with_teacher: whether some objective needs a teacher.
    """
    if with_teacher and config.teacher is None and config.architecture is not None:
        raise SettingError("`teacher` must name a model: one that starts from scratch has nothing to teach.")
    output = Path(config.output)
    model, tokenizer = load_trainable(config, with_psi=with_psi)
    # First of all, because it may find that there is nothing to do.
    larger = _larger_tokenizer(config, tokenizer, output) if config.extend_vocabulary else tokenizer
    config = _with_links(config, tokenizer, output)
    teacher = _teacher(config, model, tokenizer) if with_teacher else None
    said = ""
    if config.extend_vocabulary:
        added = len(larger) - len(tokenizer)
        embeddings = model.library.get_input_embeddings().weight.detach()
        linked = islice(chain.from_iterable(map(_linked, config.corpora)), _MOST_LINKED)
        grow_embeddings(model.library, first_embeddings(embeddings, wrap_tokenizer(larger), added, linked))
        if teacher is not None:  # who does not know the new pieces reads each of them as unknown
            unknown = teacher.library.get_input_embeddings().weight[tokenizer.unk_token_id]
            grow_embeddings(teacher.library, unknown.detach().expand(added, -1).clone())
        guided = ", ".join(corpus.path for corpus in config.corpora if corpus.silver)
        said = f"the vocabulary has {added:,} new pieces, {len(larger):,} in all."
        said += f" In the new language, without gold: {guided}." if guided else ""
        tokenizer = larger
    if teacher is not None:
        teacher.requires_grad_(False).eval()
    return Start(config, model, tokenizer, teacher, said)


def _teacher(config: TrainingConfig, model: TrainableEncoder, tokenizer: Any) -> TrainableEncoder:
    name = config.teacher or config.model
    layer = model.layer if config.teacher is None else None
    own = replace(config, model=name, layer=layer, architecture=None, dropout=None)
    state = torch.random.get_rng_state()
    teacher, its_tokenizer = load_trainable(own)
    torch.random.set_rng_state(state)
    if tokenizer_content(its_tokenizer) != tokenizer_content(tokenizer):
        raise SettingError(
            f"`teacher` must split words as the base does: {name} and {config.model} have different tokenizers."
        )
    return teacher


def _with_links(config: TrainingConfig, tokenizer: Any, output: Path) -> TrainingConfig:
    """The run with links of a statistical aligner where they are asked for, or where a language is new."""
    new = _in_new_language(config.corpora, tokenizer) if config.extend_vocabulary else [False] * len(config.corpora)
    share = known(config.guide.share)
    guided = [
        _guided(corpus, output, share) if corpus.links == STATISTICAL or (is_new and corpus.links is None) else corpus
        for corpus, is_new in zip(config.corpora, new, strict=True)
    ]
    return replace(config, corpora=tuple(guided))


def _guided(corpus: CorpusConfig, output: Path, share: float) -> CorpusConfig:
    path = output / f"guide-{corpus_key(replace(corpus, links=None))}-{share:g}.links"
    if not path.exists():
        write_links(list(corpus_pairs(corpus)), path, share=share)
    return replace(corpus, links=str(path), silver=True)


def _in_new_language(corpora: Sequence[CorpusConfig], tokenizer: Any) -> list[bool]:
    """Which corpora are in the language that the vocabulary is extended for."""
    shares = [_unread(corpus, tokenizer) for corpus in corpora]
    least = min(_UNREAD, _NEARLY * max(shares))
    return [share >= least for share in shares]


def _unread(corpus: CorpusConfig, tokenizer: Any) -> float:
    """The share of words that the tokenizer cannot read."""
    some = list(islice(corpus_pairs(corpus), _LOOKED_AT))
    words = sum(len(pair.source) + len(pair.target) for pair in some)
    return unread_words(tokenizer, some).total() / max(1, words)


def _linked(corpus: CorpusConfig) -> Iterator[Any]:
    return ((line.pair, line.links) for line in corpus_lines(corpus, True) if corpus.links)


def _larger_tokenizer(config: TrainingConfig, tokenizer: Any, output: Path) -> Any:
    """The tokenizer with new pieces; a resumed run takes the ones that it had."""
    folder = output / _VOCABULARY
    if not folder.is_dir():
        words = unread_words(tokenizer, chain.from_iterable(map(corpus_pairs, config.corpora)))
        pieces = learned_pieces(tokenizer, words, config.extend_vocabulary)
        if not pieces:
            raise WeftError(
                f"{config.model} can read every word of the text that occurs more than once; leave the vocabulary as "
                "it is. If it aligns this language badly all the same, give it links of a statistical aligner: "
                "`links` = `eflomal`."
            )
        with whole_folder(folder) as unfinished:
            extended_tokenizer(tokenizer, pieces).save_pretrained(unfinished)
    return load_tokenizer(folder, 0)
