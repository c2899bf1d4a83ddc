"""Blank words, as lists of tokens have them: nothing in them can be seen. They keep their places, without links.

And words that are only marks, such as a full stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, chain

from weft.types import Alignment, Words

_NOWHERE = -1
# Besides white space: soft hyphens, joiners, spaces without width, and marks of the direction of writing. Within other
# words it is for the tokenizer of a model to pass over them; joiners tell words apart in Persian and Indian languages.
_SEEN = re.compile(r"[^\s\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")


def is_blank(word: str) -> bool:
    """Whether a word is empty or nothing but white space and characters that cannot be seen."""
    return not _SEEN.search(word)


def marks_in(text: Iterable[Words]) -> frozenset[int]:
    """The numbers of the words of some sentences, counted through, that have no letter or digit."""
    words = chain.from_iterable(text)
    return frozenset(number for number, word in enumerate(words) if not any(map(str.isalnum, word)))


def without_blanks(sentence: Words) -> Words:
    """The words that are not blank; one of them if all are, as no sentence may be empty."""
    return tuple(word for word in sentence if not is_blank(word)) or sentence[:1]


def among_blanks(alignment: Alignment, source: Sequence[Words], target: Sequence[Words]) -> Alignment:
    """Links between the words that `without_blanks` leaves of some sentences as links of all of their words."""
    sources, targets = _places(source), _places(target)
    moved = (link._replace(source=sources[link.source], target=targets[link.target]) for link in alignment.links)
    return replace(alignment, links=tuple(link for link in moved if _NOWHERE not in link[:2]))


def _places(sentences: Sequence[Words]) -> list[int]:
    """Where the words that were left stand among all words."""
    places: list[int] = []
    for first, words in zip(accumulate(map(len, sentences), initial=0), sentences, strict=False):
        places += [first + place for place, word in enumerate(words) if not is_blank(word)] or [_NOWHERE]
    return places
