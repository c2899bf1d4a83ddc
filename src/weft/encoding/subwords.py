"""Words to subwords: ids, the word each subword belongs to, and overlapping windows for sentences that are too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from tokenizers import Tokenizer as LibraryTokenizer

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subwords:
    """A sentence cut into subwords, without special tokens: their ids and the index of each one's word."""

    ids: Sequence[int]
    words: Sequence[int]


class Tokenizer(Protocol):
    """What encoders need of a tokenizer. `prefix` and `suffix` are the special tokens round a sentence."""

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    pad: int

    def split(self, sentences: Sequence[Words]) -> list[Subwords]:
        """Cut sentences into subwords; every word gets at least one."""
        ...


class FastTokenizer:
    """A tokenizer of the tokenizers library; it also says which word a subword came from."""

    def __init__(self, tokenizer: LibraryTokenizer, *, pad: int | None = None) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self.prefix, self.suffix = self._special_tokens()
        self.pad = self._first_known(("[PAD]", "<pad>")) if pad is None else pad
        self._unknown = self._first_known(("[UNK]", "<unk>", "<|endoftext|>"))

    def split(self, sentences: Sequence[Words]) -> list[Subwords]:
        """Cut sentences into subwords; a word that the tokenizer swallows whole becomes the unknown token."""
        encodings = self._tokenizer.encode_batch(
            list(map(list, sentences)), is_pretokenized=True, add_special_tokens=False
        )
        pieces = [Subwords(encoding.ids, cast("list[int]", encoding.word_ids)) for encoding in encodings]
        return [
            piece if len(set(piece.words)) == len(words) else self._with_unknown(piece, len(words))
            for piece, words in zip(pieces, sentences, strict=True)
        ]

    def _with_unknown(self, piece: Subwords, n_words: int) -> Subwords:
        found = list(zip(piece.words, piece.ids, strict=True))
        found += [(word, self._unknown) for word in set(range(n_words)) - set(piece.words)]
        found.sort(key=lambda item: item[0])
        return Subwords([identifier for _, identifier in found], [word for word, _ in found])

    def _special_tokens(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        encoding = self._tokenizer.encode(["a"], is_pretokenized=True)
        inside = [position for position, word in enumerate(encoding.word_ids) if word is not None]
        return tuple(encoding.ids[: inside[0]]), tuple(encoding.ids[inside[-1] + 1 :])

    def _first_known(self, names: Sequence[str]) -> int:
        known = (self._tokenizer.token_to_id(name) for name in names)
        return next((identifier for identifier in known if identifier is not None), 0)


class WordByWordTokenizer:
    """A Hugging Face tokenizer written in Python (XLM, Marian): words are cut one at a time and remembered."""

    def __init__(self, tokenizer: Any) -> None:
        with_special = tokenizer.build_inputs_with_special_tokens([-1])
        inside = with_special.index(-1)
        self.prefix, self.suffix = tuple(with_special[:inside]), tuple(with_special[inside + 1 :])
        self.pad = tokenizer.pad_token_id or 0
        self._unknown = tokenizer.unk_token_id or 0

        @lru_cache(maxsize=1 << 16)
        def cut(word: str) -> tuple[int, ...]:
            return tuple(tokenizer.convert_tokens_to_ids(tokenizer.tokenize(word))) or (self._unknown,)

        self._cut = cut

    def split(self, sentences: Sequence[Words]) -> list[Subwords]:
        """Cut sentences into subwords."""
        return [self._split(words) for words in sentences]

    def _split(self, words: Words) -> Subwords:
        pieces = [self._cut(word) for word in words]
        ids = [identifier for piece in pieces for identifier in piece]
        return Subwords(ids, [index for index, piece in enumerate(pieces) for _ in piece])


class Window(NamedTuple):
    """Subwords `start` to `end` go through the encoder together; the states of `keep_start` to `keep_end` are used."""

    start: int
    end: int
    keep_start: int
    keep_end: int


def n_windows(length: int, size: int) -> int:
    """How many windows of at most `size` subwords a sentence takes; they overlap by about a half."""
    return 1 if length <= size else -(-(length - size) // max(1, size // 2)) + 1


def windows(length: int, size: int) -> list[Window]:
    """Cover a sentence with windows of at most `size` subwords.

    A sentence that fits is one window. A longer one is covered by windows that overlap by about a half, and every
    subword is taken from the window in which it is farthest from the edges, so all of them have context.
    """
    starts = _even_starts(length, size, n_windows(length, size))
    cuts = [(start + size + following) // 2 for start, following in pairwise(starts)]
    return _windows(starts, [0, *cuts, length], min(length, size))


def windows_abreast(length: int, size: int, count: int) -> list[Window]:
    """Cover a sentence with as many windows as the longer sentence beside it takes, at least `n_windows`.

    Each gives its share of the subwords, so that every stretch of a sentence meets the same stretch of the other.
    """
    edges = [round(index * length / count) for index in range(count + 1)]
    return _windows(_even_starts(length, size, count), edges, min(length, size))


def _even_starts(length: int, size: int, count: int) -> list[int]:
    return [round(index * max(0, length - size) / max(1, count - 1)) for index in range(count)]


def _windows(starts: list[int], edges: list[int], width: int) -> list[Window]:
    return [
        Window(start, start + width, keep_start, keep_end)
        for start, (keep_start, keep_end) in zip(starts, pairwise(edges), strict=True)
    ]
