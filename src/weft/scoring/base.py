"""Does a gold file count words from 0 or from 1? Read the wrong way it costs 50 points of AER and looks plausible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat

from weft.errors import FormatError
from weft.text.lines import Path, display_name
from weft.text.links import LinkFormat, read_numbered_links, recognise
from weft.types import Link, SentencePair


@dataclass(frozen=True, slots=True)
class Base:
    """The number of the first word, and the reason where there was something to decide."""

    number: int
    reason: str = ""


def detect_base(gold: Path, sentences: Iterable[SentencePair] | None = None) -> Base:
    """Look for an index 0 and, where the sentences are given, for an index equal to a sentence's length.

    Raises FormatError if both are there: no base can make sense of such a file.
    """
    if recognise(gold) in (LinkFormat.NAACL, LinkFormat.JSONL):
        return Base(0)  # these formats fix their base, and their readers already count from 0
    evidence = _gather(gold, sentences)
    if evidence.zero and evidence.length:
        line, index = evidence.length
        message = (
            f"the index {index} equals the sentence's length, so words are counted from 1, but line {evidence.zero} "
            "has an index 0. Check that gold, source and target belong together, or set --gold-base yourself."
        )
        raise FormatError(display_name(gold), line, message)
    if evidence.zero or not evidence.links:
        return Base(0)
    if evidence.length:
        line, index = evidence.length
        return Base(1, f"there is no index 0, and on line {line} the index {index} equals the sentence's length")
    if sentences is None:
        return Base(1, f"there is no index 0 in {evidence.links:,} link{'' if evidence.links == 1 else 's'}")
    return Base(0, "there is no index 0, but no index reaches a sentence's length either")


@dataclass(slots=True)
class _Evidence:
    """How many links were seen, the line of the first index 0, line and index of the first that equals a length."""

    links: int = 0
    zero: int | None = None
    length: tuple[int, int] | None = None

    def add(self, line: int, links: list[Link], sentence: SentencePair | None) -> None:
        self.links += len(links)
        for link in links:
            if self.zero is None and 0 in link.words:
                self.zero = line
            if sentence and sentence.source and self.length is None:
                lengths = (len(sentence.source), len(sentence.target))
                equal = [index for index, length in zip(link.words, lengths, strict=True) if index == length]
                self.length = (line, equal[0]) if equal else None


def _gather(gold: Path, sentences: Iterable[SentencePair] | None) -> _Evidence:
    evidence = _Evidence()
    rows = zip(read_numbered_links(gold), repeat(None) if sentences is None else sentences, strict=False)
    for (line, links, _), sentence in rows:
        evidence.add(line, links, sentence)
        if evidence.zero and (evidence.length or sentences is None):
            break
    return evidence
