"""The forms in which text reaches an aligner.

With or without capitals, Romanian with or without diacritics, Chinese and Japanese in longer or shorter words, Arabic
with or without its prefixes cut off.
"""

from __future__ import annotations

import random
import unicodedata
from itertools import chain

UNSPACED = ("ja", "zh")  # their words are cut by a segmenter
LOWER_CASED, PLAIN_ROMANIAN = 0.25, 0.5
FINER, CUT = 0.5, 0.3  # pairs of which some Han words are cut, and how many of these words
# Prefixes that Arabic treebanks write as words of their own: and, so, by, for, as.
CLITICS, CLITICS_CUT = "وفبلك", 0.35


def varied(source: str, target: str, language: str, generator: random.Random) -> tuple[str, str]:
    """One form of a pair, at random; words stay as many as they were."""
    if language == "ro" and generator.random() < PLAIN_ROMANIAN:
        source = without_diacritics(source)
    if generator.random() < LOWER_CASED:
        source, target = source.lower(), target.lower()
    return source, target


def without_diacritics(text: str) -> str:
    """Letters without the marks on them."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def formed(words: list[str], language: str, generator: random.Random) -> list[str]:
    """Words as others might have cut them."""
    if language in UNSPACED:
        return finer(words, generator)
    return with_clitics_cut(words, generator) if language == "ar" else words


def with_clitics_cut(words: list[str], generator: random.Random) -> list[str]:
    """Arabic with some prefixes as words, in half of the sentences: some people's Arabic comes like this."""
    if generator.random() < 0.5:
        return words
    cut = (
        (word[0], word[1:]) if len(word) > 3 and word[0] in CLITICS and generator.random() < CLITICS_CUT else (word,)
        for word in words
    )
    return list(chain.from_iterable(cut))


def finer(words: list[str], generator: random.Random) -> list[str]:
    """Chinese or Japanese words, some of them cut in two.

    People who annotate gold cut words more finely than our segmenters do (Chinese dev set: a sixth more words), and a
    name that is three words of one character each there is a single one in the text.
    """
    if generator.random() >= FINER:
        return words
    return [part for word in words for part in parts_of(word, generator)]


def parts_of(word: str, generator: random.Random) -> list[str]:
    """A Han word as it is or cut in two, and its parts likewise."""
    if len(word) < 2 or not all(is_han(c) for c in word) or generator.random() >= CUT:
        return [word]
    middle = len(word) // 2 if len(word) > 3 else generator.randint(1, len(word) - 1)
    return parts_of(word[:middle], generator) + parts_of(word[middle:], generator)


def is_han(character: str) -> bool:
    """Whether a character is a Chinese one."""
    return "\u4e00" <= character <= "\u9fff"
