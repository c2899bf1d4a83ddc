"""What corpora hold, line by line, and which of it may be trained on: every pair once, and nothing of a test set."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from weft.errors import FormatError, number_of
from weft.text.fields import PairFields
from weft.text.files import blocks, checksum
from weft.text.gold import GoldFile, read_sentences
from weft.text.lines import OnError, decode, read_lines, read_two_together
from weft.text.pairs import NOTHING, PairReader
from weft.text.segment import word_splitters
from weft.training.config import CorpusConfig
from weft.types import Alignment, SentencePair, Words

_NOUNS = ("pairs", "bad lines", "duplicates")  # of what is counted


class Line(NamedTuple):
    """A line of a corpus: its number, its pair (or nothing), links if there are any, and a third sentence if any."""

    number: int
    pair: SentencePair
    links: Alignment | None
    through: Words


def corpus_lines(corpus: CorpusConfig, use_possible: bool, on_error: OnError = lambda error: None) -> Iterator[Line]:
    """A corpus line by line.

    Args:
        corpus: where it is, and how it is read.
        use_possible: whether possible links count as links.
        on_error: told of each bad line. Lines that name columns, and sentences without a counterpart, are none.
    """
    linked = _linked_pairs(corpus, use_possible, on_error)
    if corpus.through is None:
        for number, (pair, links) in enumerate(linked, start=1):
            yield Line(number, pair, links, ())
        return
    split, _ = word_splitters(corpus.raw, corpus.through_language if corpus.raw else None, None)
    path = corpus.through
    third = (split(decode(line, path, number)) for number, line in enumerate(read_lines(path), start=1))
    both = read_two_together((corpus.path, path), linked, third)
    for number, ((pair, links), words) in enumerate(both, start=1):
        yield Line(number, pair, links, words)


def _linked_pairs(
    corpus: CorpusConfig, use_possible: bool, on_error: OnError
) -> Iterator[tuple[SentencePair, Alignment | None]]:
    pairs = corpus_pairs(corpus, on_error=on_error)
    if corpus.links is None:
        yield from ((pair, None) for pair in pairs)
        return
    for row in GoldFile(corpus.links, pairs, pairs_name=corpus.path, skip_unread=True):
        kept = [link for link in row.links if link.sure or use_possible]
        # An empty line means that no links are given.
        yield row.pair or NOTHING, Alignment.of(kept) if kept else None


def corpus_pairs(
    corpus: CorpusConfig, *, watch: bool = False, on_error: OnError = lambda error: None
) -> Iterator[SentencePair]:
    """The sentence pairs of a corpus; a line that holds none is nothing. Those who `watch` are told of unsplit text."""
    languages = (corpus.source_language, corpus.target_language)
    fields = PairFields.of(corpus.source_field, corpus.target_field, corpus.columns, languages)
    split = word_splitters(True, *languages) if corpus.raw else None
    reader = PairReader(corpus.input_format, fields, split, watch)
    return reader.pairs(corpus.path, corpus.target, on_error=on_error)


def language_files(folder: Path) -> dict[str, Path]:
    """The files of multi-parallel text by language: LANG.txt, or LANG.txt.xz and the like."""
    return {path.name.split(".")[0]: path for path in sorted(folder.glob("*.txt*")) if path.is_file()}


def language_lines(corpus: CorpusConfig, language: str, path: Path) -> Iterator[Words]:
    """One language of multi-parallel text, line by line; a blank line is no sentence."""
    split, _ = word_splitters(corpus.raw, language if corpus.raw else None, None)
    for number, line in enumerate(read_lines(str(path)), start=1):
        yield split(decode(line, str(path), number))


def corpus_key(corpus: CorpusConfig) -> str:
    """Sixteen digits that change with what a corpus's files hold, and with how they are cut into words."""
    reading = [corpus.input_format, corpus.source_field, corpus.target_field, corpus.columns]
    settings: list[object] = [
        corpus.raw,
        corpus.source_language,
        corpus.target_language,
        corpus.through_language,
        reading,
    ]
    settings += [corpus.hub, corpus.others, corpus.languages] if corpus.hub else []
    digest = checksum(json.dumps(settings).encode("utf-8", "surrogatepass"), size=8)
    for path in (corpus.path, corpus.target, corpus.links, corpus.through):
        digest.update(b"-" if path is None else content_key(Path(path)))
    return digest.hexdigest()


def content_key(path: Path) -> bytes:
    """What tells the content of a file, or of all files in a folder, from any other."""
    if path.is_dir():
        return b"".join(name.encode() + content_key(file) for name, file in sorted(language_files(path).items()))
    if path.exists() and not path.is_file():  # a pipe can be read only once
        return str(path).encode()
    digest = checksum(size=8)
    for block in blocks(path):
        digest.update(block)
    return digest.digest()


class Guard:
    """Lets each pair in once, and none that holds a sentence of a test set."""

    def __init__(self, exclude: Sequence[str], *, drop: bool) -> None:
        self._seen: set[int] = set()
        self._drop = drop
        self._test = {
            letters: prefix
            for prefix in exclude
            for pair in read_sentences(f"{prefix}.src", f"{prefix}.tgt")
            for letters in map(letters_of, (pair.source, pair.target))
            if letters
        }

    def admits(self, pair: SentencePair, path: str, line: int, counts: dict[str, int]) -> bool:
        """Whether a pair may be trained on; counts those that may not."""
        key = _fingerprint(pair)
        if key in self._seen:
            counts["duplicates"] += 1
            return False
        self._seen.add(key)
        return not any(self.is_tested(side, path, line, counts) for side in (pair.source, pair.target))

    def is_tested(self, words: Words, path: str, line: int, counts: dict[str, int]) -> bool:
        """Whether a sentence is one of a test set; counts it, or stops."""
        prefix = self._test.get(letters_of(words)) if self._test else None
        if prefix and not self._drop:
            message = (
                f"this sentence is in the test set {prefix}. Remove it, or leave out all such "
                'pairs: overlap = "drop" in the file for --config.'
            )
            raise FormatError(path, line, message)
        counts["in test sets"] += bool(prefix)
        return bool(prefix)


def in_words(counts: Mapping[str, int]) -> list[str]:
    """What lines came to, as people say it: 2 pairs, 1 bad line; what did not occur is left out."""
    return [
        number_of(count, name.removesuffix("s")) if name in _NOUNS else f"{count:,} {name}"
        for name, count in counts.items()
        if count
    ]


def _fingerprint(pair: SentencePair) -> int:
    text = "\0".join((" ".join(pair.source), " ".join(pair.target)))
    return int.from_bytes(checksum(text.encode("utf-8", "surrogatepass"), size=8).digest(), "little")


def letters_of(words: Sequence[str]) -> str:
    """A sentence's letters alone, in lower case and without accents: how copies are recognised."""
    decomposed = unicodedata.normalize("NFKD", "".join(words).casefold())
    return "".join(filter(str.isalpha, decomposed))
