"""Words to subwords: ids, the word that each subword belongs to, and which sentences make up which pair."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from weft.arrays import BoolArray, IntArray
from weft.encoding.processes import ProcessBound
from weft.encoding.stretches import Stretches, find_stretches
from weft.errors import WeftError
from weft.text.blanks import is_blank
from weft.text.files import checksum
from weft.types import SentencePair, Words

if TYPE_CHECKING:
    from tokenizers import Tokenizer as LibraryTokenizer


# Words that are remembered. A corpus has most of its words in common; what is rare is cut again.
_MOST_WORDS = 1 << 20
_MOST_CHARACTERS = 1 << 25


class SentenceSubwords(NamedTuple):
    """One sentence cut into subwords, without special tokens: their ids and the index of each one's word."""

    ids: IntArray
    words: IntArray


@dataclass(frozen=True, slots=True)
class Subwords:
    """Sentences cut into subwords, one after the other and without special tokens.

    `ids` and `words` have the shape (subwords,): each one's id, and the index of its word in its sentence. Sentence k
    owns what lies from `starts[k]` to `starts[k + 1]`. `pieces` (sentences,) is there if some are parts of longer ones.
    """

    ids: IntArray
    words: IntArray
    starts: IntArray
    pieces: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_words(self) -> IntArray:
        """Words of each sentence."""
        return self.words[self.starts[1:] - 1] + 1

    def __getitem__(self, number: int) -> SentenceSubwords:
        start, end = self.starts[number], self.starts[number + 1]
        return SentenceSubwords(self.ids[start:end], self.words[start:end])

    def __iter__(self) -> Iterator[SentenceSubwords]:
        return map(self.__getitem__, range(len(self)))

    def parts(self, starts: IntArray, ends: IntArray, first_words: IntArray | None = None) -> Subwords:
        """Any stretches of these sentences as sentences of their own.

        Args:
            starts: where each stretch begins among the subwords.
            ends: where each ends.
            first_words: the word that becomes word 0 of each; by default that of its first subword.
        """
        lengths = ends - starts
        borders = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(borders[-1]) + np.repeat(starts - borders[:-1], lengths)
        zero = self.words[starts] if first_words is None else first_words
        return Subwords(self.ids[places], self.words[places] - np.repeat(zero, lengths), borders)


class TokenizedPairs(NamedTuple):
    """Lines of sentence pairs cut into subwords: all that an encoder needs to know of them.

    `pairs` has the shape (pairs, 2): the numbers of each pair's two sentences among the subwords. `filled` (lines,)
    says which lines hold a pair; one with an empty side holds none. `unknown` (pairs, 2) counts the words of each
    side that the encoder's vocabulary does not cover. `stretches` is there if some pairs are too long to be encoded as
    they are. `blank` (pairs, 2) is there if some words are blank, and counts those that `Subwords.n_words` counts too.
    """

    subwords: Subwords
    pairs: IntArray
    filled: BoolArray
    unknown: IntArray
    stretches: Stretches | None = None
    blank: IntArray | None = None

    @property
    def n_words(self) -> IntArray:
        """Words of each side that are there to be read, shape (pairs, 2)."""
        counted = self.subwords.n_words[self.pairs]
        return counted if self.blank is None else counted - self.blank


class Tokenizer(Protocol):
    """What encoders need of a tokenizer. `prefix` and `suffix` are the special tokens round a sentence.

    `unknown` is the id that stands for text outside the vocabulary; None if there is no such text.
    """

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    pad: int
    unknown: int | None
    blank_words: frozenset[str]
    """The words cut so far in which nothing can be seen."""

    def split(self, sentences: Sequence[Words]) -> Subwords:
        """Cut sentences into subwords; every word gets at least one."""
        ...

    def identity(self) -> str:
        """What tells it from tokenizers that cut differently; empty if nobody knows."""
        ...


@dataclass(frozen=True, slots=True)
class PairTokenizer:
    """Cuts sentence pairs into subwords for one encoder. It needs no model and can be sent to other processes.

    What occurs twice is cut, and encoded, once: sentences, or whole pairs where an encoder reads the two sentences of a
    pair together (`joint`). Those stand in a row then. Sentences of more than `window` subwords do not fit the encoder.
    Blank words, as lists of tokens have them, are not there for the encoder, but the words after them keep their
    numbers.
    """

    tokenizer: Tokenizer
    joint: bool
    window: int

    def identity(self) -> str:
        """What tells it from others that cut differently; empty if nobody knows."""
        own = self.tokenizer.identity()
        return own and f"{own} {self.joint} {self.window}"

    def __call__(self, lines: Sequence[SentencePair]) -> TokenizedPairs:
        """Cut lines into subwords."""
        filled = [bool(pair.source and pair.target) for pair in lines]
        pairs = lines if all(filled) else [pair for pair in lines if pair.source and pair.target]
        sentences, numbers = _distinct(pairs, joint=self.joint)
        both = np.array(numbers, dtype=np.int64).reshape(-1, 2)
        subwords, blank = self.tokenizer.split(sentences), None
        blank_words = self.tokenizer.blank_words
        if blank_words and not blank_words.isdisjoint(chain.from_iterable(sentences)):  # seldom
            if any(blank_words.issuperset(sentence) for sentence in sentences):
                return self([_emptied(pair, blank_words) for pair in lines])
            subwords = _without_blanks(subwords, sentences, blank_words)
            blank = (subwords.n_words - _n_heads(subwords))[both]
        unknown = unknown_words(subwords, self.tokenizer.unknown)[both]
        stretches = find_stretches(sentences, subwords.words, subwords.starts, both, self.window)
        return TokenizedPairs(subwords, both, np.array(filled, dtype=np.bool_), unknown, stretches, blank)


def _emptied(pair: SentencePair, blank_words: frozenset[str]) -> SentencePair:
    """A pair in which a side of blank words alone has no words."""
    source, target = (() if blank_words.issuperset(side) else side for side in pair)
    return SentencePair(source, target)


def _without_blanks(subwords: Subwords, sentences: Sequence[Words], blank_words: frozenset[str]) -> Subwords:
    """The subwords of all words that are not blank. No sentence may consist of blank words alone."""
    there = [word not in blank_words for word in chain.from_iterable(sentences)]
    first_words = np.cumsum([0, *map(len, sentences)])[:-1]
    kept = np.array(there)[subwords.words + np.repeat(first_words, np.diff(subwords.starts))]
    starts = np.concatenate([[0], np.cumsum(kept)])[subwords.starts]
    return Subwords(subwords.ids[kept], subwords.words[kept], starts)


def _n_heads(subwords: Subwords) -> IntArray:
    """How many words of each sentence have subwords, shape (sentences,)."""
    begins = np.diff(subwords.words, prepend=-1) != 0
    begins[subwords.starts[:-1]] = True
    return np.add.reduceat(begins, subwords.starts[:-1], dtype=np.int64)


def unknown_words(subwords: Subwords, unknown: int | None) -> IntArray:
    """How many words of each sentence hold the subword for unknown text; shape (sentences,)."""
    counts = np.zeros(len(subwords), dtype=np.int64)
    places = np.flatnonzero(subwords.ids == unknown) if unknown is not None else counts[:0]
    if len(places):
        sentences = np.searchsorted(subwords.starts, places, side="right") - 1
        both = np.unique(np.stack([sentences, subwords.words[places]]), axis=1)  # a word counts once
        counts += np.bincount(both[0], minlength=len(counts))
    return counts


def _distinct(pairs: Sequence[SentencePair], *, joint: bool) -> tuple[list[Words], list[tuple[int, int]]]:
    """Every sentence once, and each pair's two sentence numbers."""
    if joint:
        places: dict[SentencePair, int] = {}
        firsts = [places.setdefault(pair, 2 * len(places)) for pair in pairs]
        return list(chain.from_iterable(places)), [(first, first + 1) for first in firsts]
    numbers: dict[Words, int] = {}
    both = [
        (numbers.setdefault(pair.source, len(numbers)), numbers.setdefault(pair.target, len(numbers))) for pair in pairs
    ]
    return list(numbers), both


class _WordTokenizer(ProcessBound):
    """Cuts every word once and remembers it.

    Words are cut one at a time, whatever stands beside them, so a word has the same subwords everywhere; looking it up
    takes a fraction of the time that cutting it takes.
    """

    _bound = ("_numbers", "_ids", "_firsts", "_characters", "_lock", "blank_words")
    most_characters = _MOST_CHARACTERS
    """How many characters all remembered words may have."""

    def __init__(self) -> None:
        self.bind()

    def _bind(self) -> None:
        self._numbers: dict[str, int] = {}
        # What word k was cut into lies in `_ids` from `_firsts[k]` to `_firsts[k + 1]`.
        self._ids, self._firsts = array("q"), array("q", [0])
        self._characters = 0
        # Looked at once, when a word is new: most text has none, and then nobody looks for them again.
        self.blank_words: frozenset[str] = frozenset()
        self._lock = Lock()

    def split(self, sentences: Sequence[Words]) -> Subwords:
        """Cut sentences into subwords; a word that the tokenizer swallows whole becomes the unknown token."""
        words = list(chain.from_iterable(sentences))
        with self._lock:
            numbers = self._looked_up(words)
            firsts, ids = np.array(self._firsts, dtype=np.int64), np.frombuffer(self._ids, dtype=np.int64)
            counts = firsts[numbers + 1] - firsts[numbers]
            ends = np.cumsum(counts)
            within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - counts, counts)
            found = ids[np.repeat(firsts[numbers], counts) + within]
            del ids  # an array that is looked at cannot grow
        sizes = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        borders = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(len(words)) - np.repeat(borders[:-1], sizes)
        starts = np.concatenate([[0], ends])[borders]
        return Subwords(found, np.repeat(places, counts), starts)

    def _looked_up(self, words: list[str]) -> IntArray:
        if not words:
            return np.zeros(0, dtype=np.int64)
        all_of_them = itemgetter(*words)  # gives a tuple, or for a single word its number
        try:
            numbers = all_of_them(self._numbers)
        except KeyError:
            self._learn(words)
            numbers = all_of_them(self._numbers)
        return np.array(numbers, dtype=np.int64).reshape(-1)

    def _learn(self, words: list[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._numbers]
        if len(self._numbers) + len(new) > _MOST_WORDS or self._characters > self.most_characters:
            self._numbers, self._ids, self._firsts = {}, array("q"), array("q", [0])
            self._characters = 0
            new = list(dict.fromkeys(words))
        self._characters += sum(map(len, new))
        self.blank_words |= set(filter(is_blank, new))
        for word, ids in zip(new, self._cut(new), strict=True):
            self._numbers[word] = len(self._numbers)
            self._ids.extend(ids)
            self._firsts.append(len(self._ids))

    def identity(self) -> str:
        """Nobody knows what code does."""
        return ""

    @abstractmethod
    def _cut(self, words: list[str]) -> Iterator[Sequence[int]]:
        """The ids of each word's subwords, at least one."""


class FastTokenizer(_WordTokenizer):
    """A tokenizer of the tokenizers library."""

    def __init__(self, tokenizer: LibraryTokenizer, *, pad: int | None = None) -> None:
        super().__init__()
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self.prefix, self.suffix = self._special_tokens()
        self.pad = self._first_known(("[PAD]", "<pad>")) if pad is None else pad
        self.unknown = self._unknown_id()
        self._swallowed = self._first_known(("[UNK]", "<unk>", "<|endoftext|>"))

    def identity(self) -> str:
        """A checksum of its rules."""
        rules = f"{self._tokenizer.to_str()} {self.pad} {self.unknown}"
        return checksum(rules.encode()).hexdigest()

    def _cut(self, words: list[str]) -> Iterator[Sequence[int]]:
        alone = [[word] for word in words]
        for encoding in self._tokenizer.encode_batch(alone, is_pretokenized=True, add_special_tokens=False):
            yield encoding.ids or (self._swallowed,)

    def _unknown_id(self) -> int | None:
        names = (getattr(self._tokenizer.model, "unk_token", None), "[UNK]", "<unk>")
        known = (self._tokenizer.token_to_id(name) for name in names if isinstance(name, str))
        return next((identifier for identifier in known if identifier is not None), None)

    def _special_tokens(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        try:
            encoding = self._tokenizer.encode(["a"], is_pretokenized=True)
        except BaseException as error:  # the library panics, which is no Exception, where a template names no token
            if type(error).__name__ != "PanicException":
                raise
            raise WeftError(f"the model's tokenizer is damaged: {error}.") from error
        inside = [position for position, word in enumerate(encoding.word_ids) if word is not None]
        if not inside:
            raise WeftError("the model's tokenizer is damaged: it makes no token of the letter a.")
        return tuple(encoding.ids[: inside[0]]), tuple(encoding.ids[inside[-1] + 1 :])

    def _first_known(self, names: Sequence[str]) -> int:
        known = (self._tokenizer.token_to_id(name) for name in names)
        return next((identifier for identifier in known if identifier is not None), 0)


class WordByWordTokenizer(_WordTokenizer):
    """A Hugging Face tokenizer written in Python (XLM, Marian)."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__()
        with_special = tokenizer.build_inputs_with_special_tokens([-1])
        inside = with_special.index(-1)
        self.prefix, self.suffix = tuple(with_special[:inside]), tuple(with_special[inside + 1 :])
        self.pad = tokenizer.pad_token_id or 0
        self._tokenizer = tokenizer
        self.unknown = tokenizer.unk_token_id

    def _cut(self, words: list[str]) -> Iterator[Sequence[int]]:
        library = self._tokenizer
        for word in words:
            yield library.convert_tokens_to_ids(library.tokenize(word)) or (self.unknown or 0,)
