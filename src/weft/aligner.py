"""The aligner: the stages in order, from sentence pairs to alignments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from weft.arrays import BoolArray, IntArray, to_device
from weft.encoding.batches import cut_by_weight
from weft.encoding.encoder import Encoder, encode_pairs
from weft.encoding.pending import Pending, in_order
from weft.encoding.subwords import TokenizedPairs
from weft.errors import SettingError, chosen
from weft.extraction.extractor import begin_links
from weft.extraction.long_pairs import LongPair, alternatives, pairs_of, shortened
from weft.extraction.methods import Cost
from weft.extraction.pair_score import doubted, with_pair_score
from weft.extraction.scores import Scores
from weft.extraction.settings import ExtractionSettings
from weft.extraction.similarity import cosines, dot_products
from weft.extraction.sounds import Sounds
from weft.models.known import DEFAULT_MODEL
from weft.models.load import load_encoder
from weft.models.resolve import resolve_model
from weft.models.save import save_model
from weft.text.blanks import among_blanks, marks_in, without_blanks
from weft.text.given import to_one_pair, to_pair, to_texts
from weft.text.segment import word_splitters
from weft.types import Alignment, SentencePair, Words

Sentence = str | Sequence[str]
Pair = SentencePair | tuple[Sentence, Sentence]
Item = TypeVar("Item")

# Text without blanks is one word to us but many subwords to the encoder, so characters count too.
_CHARACTERS_A_WORD = 4
# All unknown words look the same to an encoder; with more than this share of them on either side, what it finds is
# guesswork. Each side for itself: the longer one would hide that the other is unread.
_MOST_UNKNOWN = 1 / 3


class Aligner:
    """Aligns sentence pairs with one encoder and one method of extracting links. Several threads may share it."""

    def __init__(
        self, encoder: Encoder, settings: ExtractionSettings | None = None, *, languages: Sequence[str] = ()
    ) -> None:
        if isinstance(encoder, (str, Path)):
            raise SettingError(
                f"`encoder` must be an encoder, got a name. Use Aligner.from_pretrained({str(encoder)!r})."
            )
        self.encoder = encoder
        self.settings = settings or ExtractionSettings()
        self.languages = tuple(languages)
        """Codes of the languages that the encoder was trained on, where its model says so."""

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
        """Load a built-in model, a folder, or a model on the Hugging Face Hub (with the extra `torch`).

        Args:
            model: the model's name or folder.
            layer: the layer whose hidden states are compared; by default, the model's own, or a good guess.
            device: `auto`, `cpu` or `cuda`.
            dtype: `auto`, `float32`, `bfloat16` or `float16`.
            batch_tokens: the number of subwords to encode at once.
            revision: for a model on the Hub, the branch, tag or commit; the main branch by default.
            token: for a model on the Hub, your access token; by default, the one that the Hub's own tools have stored.
            local_files_only: for a model on the Hub, use only the files that are already on this machine.
            settings: fields of `ExtractionSettings` that differ from the model's own: `method`, `threshold`,
                `alpha`, `cost`, `symmetrize`, `null`.
        """
        ExtractionSettings().updated(**settings)  # a setting that makes no sense is known before anything is loaded
        source = resolve_model(model, revision=revision, token=token, local_files_only=local_files_only).fetched()
        encoder, stored = load_encoder(source, layer=layer, device=device, dtype=dtype, batch_tokens=batch_tokens)
        return cls(encoder, stored.updated(**settings), languages=source.settings.languages)

    def __repr__(self) -> str:
        settings, model = self.settings, self.encoder.source or "a model without a folder"
        null = "" if settings.null is None else f", null {settings.null:g}"
        return f"<Aligner: {model}, {settings.method}, threshold {settings.effective_threshold:g}{null}>"

    def save_pretrained(self, folder: str | Path) -> None:
        """Save the encoder, the tokenizer and the settings. `AutoModel.from_pretrained` can load the folder too."""
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
            source: a string of words separated by spaces, or a list of words; with `raw`, any text.
            target: its translation.
            scores: which scores the links have: `calibrated`, `raw` or `none`.
            raw: whether strings are text that is not split into words yet; `alignment.pair` contains the words.
            source_language: with `raw`, a language code such as `de` or `ja`; by default, guessed from the script.
            target_language: the language of the translation.

        Raises:
            SettingError: a side is not a sentence, such as a whole column of a table or half of a surrogate pair.
        """
        pair = to_one_pair(source, target, word_splitters(raw, source_language, target_language))
        return self.align_batch([pair], scores=scores)[0]

    def align_batch(
        self, pairs: Iterable[Pair], *more: object, scores: Scores | str = Scores.CALIBRATED, **options: Any
    ) -> list[Alignment]:
        """Align several pairs: one alignment for each, in the same order. `options` are those of `stream`.

        Raises:
            SettingError: source and target are given as two lists, or an item of `pairs` is not a pair.
        """
        if more:
            raise SettingError(
                "`pairs` is one list of pairs; of two lists, make it with zip(source, target, strict=True)."
            )
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
        """Align any number of pairs in bounded memory: one alignment for each pair, in the same order.

        A pair with an empty side has no links. Neither does a word that is empty or has only invisible
        characters.

        Args:
            pairs: any iterable. It is read a few chunks ahead.
            scores: which scores the links have: `calibrated`, `raw` or `none`.
            raw: whether strings are text that is not split into words yet.
            source_language: with `raw`, a language code such as `de` or `ja`; by default, guessed from the script.
            target_language: the language of the translations.
            chunk_words: how many words of both sides are encoded together; by default, it suits the encoder.

        Raises:
            SettingError: an item of `pairs` is not a pair of sentences; the message names the row.
        """
        kind = chosen("scores", Scores, scores)
        split = word_splitters(raw, source_language, target_language)
        words = (to_pair(pair, row, split, pairs) for row, pair in enumerate(pairs))
        chunks = cut_into_chunks(words, chunk_words or self.encoder.pace.chunk_words, lambda pair: pair)
        aligned = self.align_chunks(chunks, self.encoder.tokenize, scores=kind)
        return chain.from_iterable(map(Alignment.with_pair, alignments, chunk) for chunk, alignments in aligned)

    def align_chunks(
        self,
        chunks: Iterable[Item],
        tokenize: Callable[[Item], TokenizedPairs],
        *,
        scores: Scores,
        at_once: int | None = None,
    ) -> Iterator[tuple[Item, list[Alignment]]]:
        """Align the chunks of a corpus, in order. Each chunk gets as many alignments as it has lines.

        Args:
            chunks: objects that each stand for some lines that are encoded together. A few are read ahead.
            tokenize: a function that splits a chunk into subwords; for pairs, the encoder's own `tokenize`.
            scores: which scores the links have.
            at_once: how many chunks are in progress at a time; by default, it suits the encoder.
        """
        pace = self.encoder.pace
        begin = lambda chunk: self.begin(tokenize(chunk), scores=scores)  # noqa: E731 - a name for the line below
        return in_order(begin, chunks, at_once or pace.chunks_at_once, threads=pace.threads)

    def begin(self, lines: TokenizedPairs, *, scores: Scores) -> Pending[list[Alignment]]:
        """Start to align all lines at once, however much memory that takes: subwords → states → similarity → links.

        A pair that is too long to be read at once is first cut into stretches of about a sentence, which are paired.
        """
        nothing = Alignment(score=None if scores is Scores.NONE else 0.0)
        if not len(lines.pairs):
            return lambda: [nothing] * len(lines.filled)
        stream = self.encoder.device_stream()
        with stream:
            short = shortened(lines, self.encoder.encode_stretches)
            links = begin_links(self.encoder.encode(short.subwords), short.pairs, self.settings, scores=scores)
        n_words = lines.n_words
        unknown = (lines.unknown / n_words).max(axis=1)

        def alignments() -> list[Alignment]:
            with stream:
                found = short.whole(links())
            for number in np.flatnonzero(unknown > _MOST_UNKNOWN).tolist():
                words, share = int(lines.unknown[number].sum()), float(unknown[number])
                found[number] = doubted(found[number], words, share, lowered=scores is Scores.CALIBRATED)
            if scores is not Scores.NONE:
                found = list(map(with_pair_score, found, n_words.sum(axis=1).tolist()))
            return _spread(found, lines.filled, nothing)

        return alignments

    def align_texts(
        self,
        source: Sequence[Words],
        target: Sequence[Words],
        *,
        scores: Scores | str = Scores.CALIBRATED,
        on_progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> list[tuple[range, range, Alignment]]:
        """Align two texts whose sentences are not paired yet.

        Args:
            source: the sentences of a text, each a tuple of words. No sentence may be empty.
            target: the sentences of its translation; their number may differ.
            scores: which scores the links have: `calibrated`, `raw` or `none`.
            on_progress: called with how many possible pairs of sentences are aligned, and how many there are in all.

        Returns:
            Both texts from beginning to end. Each item contains the numbers of the source sentences and of the target
            sentences that belong together (up to three with two), and the links of their words. For a sentence without
            a counterpart, the other range is empty.
        """
        kind = chosen("scores", Scores, scores)
        # Scores say which sentences belong together, whether anybody wants to see them or not.
        read = [list(map(without_blanks, text)) for text in to_texts(source, target)]
        kept = Scores.CALIBRATED if kind is Scores.NONE else kind
        texts, found = self.sentence_pairs(*read, scores=kept, on_progress=on_progress)
        nothing = Alignment(score=0.0)
        aligned = [
            (range(*pair[:2]), range(*pair[2:4]), nothing if links is None else links)
            for pair, links in texts.chosen(found)
        ]
        if read != [list(map(tuple, text)) for text in (source, target)]:
            aligned = [
                (ours, theirs, among_blanks(links, source[ours.start : ours.stop], target[theirs.start : theirs.stop]))
                for ours, theirs, links in aligned
            ]
        if kind is Scores.NONE:
            return [(source, target, links.without_scores()) for source, target, links in aligned]
        return aligned

    def sentence_pairs(
        self,
        source: Sequence[Words],
        target: Sequence[Words],
        *,
        scores: Scores,
        on_progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> tuple[LongPair, list[Alignment]]:
        """The sentences of two texts that may belong together, and the links of each such pair."""
        tokenizer = self.encoder.tokenize.tokenizer
        subwords = tokenizer.split([tuple(chain.from_iterable(text)) for text in (source, target)])
        starts = [
            first + np.searchsorted(subwords[side].words, [0, *accumulate(map(len, text))])
            for side, (first, text) in enumerate(zip(subwords.starts.tolist(), (source, target), strict=False))
        ]
        sides, sounds = (starts[0], starts[1]), Sounds.of(source, target)
        texts = alternatives(subwords, sides, self.encoder.encode_stretches, may_differ=True, sounds=sounds)
        texts = replace(texts, marks=(marks_in(source), marks_in(target)))
        found: list[Alignment] = []
        for pieces in cut_by_weight(texts.pieces, self.encoder.pace.chunk_words, lambda piece: piece.n_words):
            found.extend(self.begin(pairs_of(pieces, subwords, tokenizer.unknown), scores=scores)())
            on_progress(len(found), len(texts.pieces))
        return texts, found

    def similarity(self, source: Sentence, target: Sentence, *, kind: str = "cosine") -> npt.NDArray[np.float32]:
        """How similar the words of two sentences are: the similarity of their closest subwords.

        Args:
            source: a string of words separated by spaces, or a list of words.
            target: its translation.
            kind: `cosine` or `dot`.

        Returns:
            An array of shape (source words, target words), with 0 for words without a visible character.
        """
        if kind not in (Cost.COSINE, Cost.DOT):
            raise SettingError(f"`kind` must be cosine or dot, got {kind!r}.")
        pair = to_one_pair(source, target)
        matrix = np.zeros((len(pair.source), len(pair.target)), dtype=np.float32)
        encoded, numbers = encode_pairs(self.encoder, [pair])
        if not len(numbers):
            return matrix
        sides = [slice(encoded.starts[k], encoded.starts[k + 1]) for k in numbers[0].tolist()]
        compare = cosines if kind == Cost.COSINE else dot_products
        states = (encoded.states[side][None] for side in sides)
        closest = np.asarray(to_device(compare(*states)[0], "cpu"))
        words = [encoded.words[side] for side in sides]
        for axis, side in enumerate(words):
            closest = np.maximum.reduceat(closest, _first_of_words(side), axis=axis)
        matrix[np.ix_(*map(np.unique, words))] = closest
        return matrix


def _spread(found: list[Alignment], filled: BoolArray, empty: Alignment) -> list[Alignment]:
    """Alignments of pairs as those of all lines."""
    if len(found) == len(filled):
        return found
    rest = iter(found)
    return [next(rest) if there else empty for there in filled]


def cut_into_chunks(
    items: Iterable[Item], chunk_words: int, pair_of: Callable[[Item], SentencePair]
) -> Iterator[list[Item]]:
    """Cut a corpus into chunks; the same text is cut at the same places.

    Args:
        items: whatever holds a pair.
        chunk_words: about how many words of both sides a chunk has.
        pair_of: an item's pair.
    """

    def weight_of(item: Item) -> int:
        source, target = pair_of(item)
        return 1 + _weight(source) + _weight(target)

    return cut_by_weight(items, chunk_words, weight_of)


def _weight(sentence: Words) -> int:
    words, by_characters = len(sentence), len("".join(sentence)) // _CHARACTERS_A_WORD
    return words if words > by_characters else by_characters  # `max` takes as long as the rest


def _first_of_words(words: IntArray) -> IntArray:
    return np.flatnonzero(np.diff(words, prepend=-1))
