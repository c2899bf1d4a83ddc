"""The aligner: the stages in order, from sentence pairs to alignments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from array_api_compat import to_device

from weft.encoding.batching import in_order
from weft.encoding.encoder import Encoded, Encoder
from weft.encoding.preparation import Prepared, distinct
from weft.encoding.subwords import IntArray
from weft.errors import SettingError, chosen
from weft.extraction.choices import Cost, Scores
from weft.extraction.extractor import begin
from weft.extraction.settings import ExtractionSettings
from weft.extraction.similarity import cosines, dot_products
from weft.models.known import DEFAULT_MODEL
from weft.models.load import load_encoder
from weft.models.resolve import resolve_model
from weft.models.save import save_model
from weft.text.pairs import to_pair
from weft.text.segment import word_splitters
from weft.types import Alignment, SentencePair, Words

Sentence = str | Sequence[str]
Pair = SentencePair | tuple[Sentence, Sentence]
Item = TypeVar("Item")

# Text without blanks is one word to us but many subwords to the encoder, so characters count too.
_CHARACTERS_A_WORD = 4


class Aligner:
    """Aligns sentence pairs with one encoder and one way to take links."""

    def __init__(self, encoder: Encoder, settings: ExtractionSettings | None = None) -> None:
        self.encoder = encoder
        self.settings = settings or ExtractionSettings()

    @classmethod
    def from_pretrained(
        cls,
        model: str | Path = DEFAULT_MODEL,
        *,
        layer: int | None = None,
        device: str = "auto",
        dtype: str = "auto",
        batch_tokens: int | None = None,
        revision: str | None = None,
        token: str | None = None,
        local_files_only: bool = False,
        **settings: Any,
    ) -> Aligner:
        """Load a model: weft's own, a folder, or a name on the Hugging Face hub (with the extra `torch`).

        Args:
            model: which model.
            layer: the layer whose hidden states are compared; the model's settings or a good guess by default.
            device: `auto`, `cpu` or `cuda`.
            dtype: `auto`, `float32`, `bfloat16` or `float16`.
            batch_tokens: how many subwords go through the encoder at once.
            revision: of a model on the hub, the branch, tag or commit; its main branch by default.
            token: of a model on the hub, who asks for it; the token that the hub's own tools have stored by default.
            local_files_only: of a model on the hub, whether to take what is on this machine and ask nobody.
            settings: fields of `ExtractionSettings` that differ from the model's own: `method`, `threshold`,
                `alpha`, `cost`, `symmetrize`, `null`.
        """
        ExtractionSettings().updated(**settings)  # a setting that makes no sense is known before anything is loaded
        source = resolve_model(model, revision=revision, token=token, local_files_only=local_files_only)
        encoder, stored = load_encoder(source, layer=layer, device=device, dtype=dtype, batch_tokens=batch_tokens)
        return cls(encoder, stored.updated(**settings))

    def save_pretrained(self, folder: str | Path) -> None:
        """Write encoder, tokenizer and settings; plain `AutoModel.from_pretrained` loads the folder too."""
        save_model(Path(folder), self.encoder, self.settings)

    def align(
        self,
        source: Sentence,
        target: Sentence,
        *,
        scores: Scores | str = Scores.CALIBRATED,
        raw: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
    ) -> Alignment:
        """Align one pair.

        Args:
            source: a string of words separated by spaces, or a list of words; with `raw` any text.
            target: its translation.
            scores: what links carry: `calibrated`, `raw` or `none`.
            raw: strings are text that is not split into words yet; `alignment.pair` has the words.
            source_language: with `raw`, a language code such as `de` or `ja`; guessed by the script otherwise.
            target_language: the language of the translation.
        """
        options = {"raw": raw, "source_language": source_language, "target_language": target_language}
        return self.align_batch([(source, target)], scores=scores, **options)[0]

    def align_batch(
        self, pairs: Iterable[Pair], *, scores: Scores | str = Scores.CALIBRATED, **options: Any
    ) -> list[Alignment]:
        """Align several pairs; the result has their order and number. `options` are those of `stream`."""
        return list(self.stream(pairs, scores=scores, **options))

    def stream(
        self,
        pairs: Iterable[Pair],
        *,
        scores: Scores | str = Scores.CALIBRATED,
        raw: bool = False,
        source_language: str | None = None,
        target_language: str | None = None,
        chunk_words: int | None = None,
    ) -> Iterator[Alignment]:
        """Align any number of pairs in bounded memory, one alignment for each pair, in order.

        A pair with an empty side has no links.

        Args:
            pairs: any iterable; it is read a few chunks ahead.
            scores: what links carry: `calibrated`, `raw` or `none`.
            raw: strings are text that is not split into words yet.
            source_language: with `raw`, a language code such as `de` or `ja`; guessed by the script otherwise.
            target_language: the language of the translations.
            chunk_words: words of both sides that are encoded together; what suits the encoder by default.

        Raises:
            SettingError: an item of `pairs` is not a pair of sentences; the message names the row.
        """
        start = partial(self.start_chunk, scores=chosen("scores", Scores, scores))
        split = word_splitters(raw, source_language, target_language)
        words = (to_pair(pair, row, split) for row, pair in enumerate(pairs))
        chunks = cut_into_chunks(words, chunk_words or self.encoder.chunk_words, lambda pair: pair)
        return self._stream(start, chunks)

    def _stream(
        self, start: Callable[[list[SentencePair]], Callable[[], list[Alignment]]], chunks: Iterator[list[SentencePair]]
    ) -> Iterator[Alignment]:
        encoder = self.encoder
        for chunk, alignments in in_order(start, chunks, encoder.chunks_at_once, threads=encoder.threads):
            yield from map(Alignment.with_pair, alignments, chunk)

    def start_chunk(self, chunk: Sequence[SentencePair], *, scores: Scores) -> Callable[[], list[Alignment]]:
        """Begin to align pairs all at once, whatever memory that takes; `stream` cuts a corpus into such chunks.

        What is returned gives the alignments. Until it is called a GPU is at work, and Python is free.
        """
        pairs = [pair for pair in chunk if pair.source and pair.target]
        end = self._begin(partial(encode_pairs, self.encoder, pairs), scores) if pairs else list

        def links() -> list[Alignment]:
            found = end()
            if scores is not Scores.NONE:
                found = [_with_pair_score(alignment, pair) for alignment, pair in zip(found, pairs, strict=True)]
            nothing = Alignment(score=None if scores is Scores.NONE else 0.0)
            return _spread(found, [bool(pair.source and pair.target) for pair in chunk], nothing)

        return links

    def start_prepared(self, chunk: Prepared) -> Callable[[], list[Alignment]]:
        """The same for a chunk whose subwords are known, and without scores."""
        encoder: Any = self.encoder  # one that has a `preparation`

        def encode() -> tuple[Encoded, IntArray]:
            return encoder.encode_subwords(chunk.subwords), chunk.pairs

        end = self._begin(encode, Scores.NONE) if len(chunk.pairs) else list
        return lambda: _spread(end(), chunk.filled, Alignment())

    def _begin(
        self, encode: Callable[[], tuple[Encoded, Sequence[tuple[int, int]] | IntArray]], scores: Scores
    ) -> Callable[[], list[Alignment]]:
        lane = self.encoder.lane()
        with lane:
            found = begin(*encode(), self.settings, scores=scores)

        def end() -> list[Alignment]:
            with lane:
                return found()

        return end

    def similarity(self, source: Sentence, target: Sentence, *, kind: str = "cosine") -> npt.NDArray[np.float32]:
        """How similar the words are: cosine or dot product of their closest subwords, shape (source, target)."""
        if kind not in (Cost.COSINE, Cost.DOT):
            raise SettingError(f"`kind` must be cosine or dot, got {kind!r}.")
        pair = to_pair((source, target), 0)
        if not (pair.source and pair.target):
            return np.zeros((len(pair.source), len(pair.target)), dtype=np.float32)
        encoded, [(first, second)] = encode_pairs(self.encoder, [pair])
        sides = [slice(encoded.starts[k], encoded.starts[k + 1]) for k in (first, second)]
        compare = cosines if kind == Cost.COSINE else dot_products
        states = (encoded.states[side][None] for side in sides)
        matrix = np.asarray(to_device(compare(*states)[0], "cpu"))
        rows = np.maximum.reduceat(matrix, _first_of_words(encoded.words[sides[0]]), axis=0)
        return np.maximum.reduceat(rows, _first_of_words(encoded.words[sides[1]]), axis=1).astype(np.float32)


def encode_pairs(encoder: Encoder, pairs: Sequence[SentencePair]) -> tuple[Encoded, list[tuple[int, int]]]:
    """Encode the sentences of pairs; returns each pair's two sentence numbers.

    What occurs twice is encoded once: sentences, or whole pairs where an encoder reads both sentences together.
    """
    sentences, numbers = distinct(pairs, joint=encoder.joint)
    if encoder.joint:
        return encoder.encode_pairs(list(zip(sentences[::2], sentences[1::2], strict=True))), numbers
    return encoder.encode(sentences), numbers


def _spread(
    found: list[Alignment], filled: Sequence[bool] | npt.NDArray[np.bool_], empty: Alignment
) -> list[Alignment]:
    """Alignments of pairs as those of all lines."""
    if len(found) == len(filled):
        return found
    rest = iter(found)
    return [next(rest) if there else empty for there in filled]


def cut_into_chunks(
    items: Iterable[Item], chunk_words: int, pair_of: Callable[[Item], SentencePair]
) -> Iterator[list[Item]]:
    """Whatever holds a pair, in order, about `chunk_words` words at a time; the same text is cut at the same places."""
    chunk: list[Item] = []
    weight = 0
    for item in items:
        chunk.append(item)
        pair = pair_of(item)
        weight += 1 + _weight(pair.source) + _weight(pair.target)
        if weight >= chunk_words:
            yield chunk
            chunk, weight = [], 0
    if chunk:
        yield chunk


def _weight(sentence: Words) -> int:
    words, by_characters = len(sentence), len("".join(sentence)) // _CHARACTERS_A_WORD
    return words if words > by_characters else by_characters  # `max` takes as long as the rest


def _with_pair_score(alignment: Alignment, pair: SentencePair) -> Alignment:
    """The pair's score: mean link probability times the share of words that have a link."""
    if not alignment.links:
        return replace(alignment, score=0.0)
    mean = sum(link.score or 0.0 for link in alignment.links) / len(alignment.links)
    linked = len({link.source for link in alignment.links}) + len({link.target for link in alignment.links})
    coverage = linked / (len(pair.source) + len(pair.target))
    return replace(alignment, score=round(mean * coverage, 6))


def _first_of_words(words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.diff(words, prepend=-1))
