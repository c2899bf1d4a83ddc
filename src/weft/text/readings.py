"""How words sound, in Latin letters: Japanese by its readings, other text as far as it is written in Latin letters.

What is written in different ways for the same sound is made alike: long vowels and double letters become short ones,
accents go, and so do differences that Japanese does not make (l and r, v and b).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from weft.errors import MissingExtraError
from weft.text.japanese import tokenizers
from weft.types import Words

_ROWS = {
    "": "アイウエオ", "k": "カキクケコ", "s": "サシスセソ", "t": "タチツテト", "n": "ナニヌネノ", "h": "ハヒフヘホ",
    "m": "マミムメモ", "r": "ラリルレロ", "g": "ガギグゲゴ", "z": "ザジズゼゾ", "d": "ダヂヅデド", "b": "バビブベボ",
    "p": "パピプペポ",
}  # fmt: skip
_SYLLABLES = {kana: first + vowel for first, row in _ROWS.items() for kana, vowel in zip(row, "aiueo", strict=True)}
_SYLLABLES |= {
    "シ": "shi", "チ": "chi", "ツ": "tsu", "フ": "fu", "ジ": "ji", "ヂ": "ji", "ヅ": "zu", "ヤ": "ya", "ユ": "yu",
    "ヨ": "yo", "ワ": "wa", "ヰ": "i", "ヱ": "e", "ヲ": "o", "ン": "n", "ヴ": "bu",
}  # fmt: skip
# These take the place of the vowel before them. Long vowels and double consonants are made short anyway.
_SMALL = dict(zip("ァィゥェォャュョヮ", ["a", "i", "u", "e", "o", "ya", "yu", "yo", "wa"], strict=True))
_LENGTHS = "ッー"

_HIRAGANA = re.compile("[ぁ-ゖ]")
_KANA = re.compile("[ぁ-ゖァ-ヺ]")
_JAPANESE = re.compile("[ぁ-ゖァ-ヺ々〆一-鿿㐀-䶿]")
_BETWEEN_SPACED = re.compile(r"(?<![\x00-\x7f]) | (?![\x00-\x7f])")
_DIGIT_GROUPS = re.compile(r"(?<=\d),(?=\d{3})")
_HEARD = re.compile(r"[a-z]+|\d+")
# A text is Japanese if at least so many of its sentences have kana; an English one may mention a word.
_JAPANESE_SHARE = 0.1
# Sudachi refuses very long text.
_PIECE = 1500


def is_japanese(text: Sequence[Words]) -> bool:
    """Whether the sentences are Japanese rather than words in Latin letters."""
    with_kana = sum(any(map(_KANA.search, words)) for words in text)
    return with_kana > _JAPANESE_SHARE * len(text)


def sounds_of(words: Words) -> list[str]:
    """How each word that is written in Latin letters sounds, and the numbers among them."""
    return [sound for word in words for sound in _heard(word.replace("-", "").replace("'", ""))]


def japanese_sounds_of(words: Words) -> list[str]:
    """How a Japanese sentence sounds; without the extra `ja`, its kana alone. Words in a row are one."""
    # Words may be cut more finely than the dictionary's, which then lacks their readings.
    text = _BETWEEN_SPACED.sub("", unicodedata.normalize("NFKC", " ".join(words)))
    read = _reader()
    return _heard("".join(read(text[start : start + _PIECE]) for start in range(0, len(text), _PIECE)))


@cache
def _reader() -> Callable[[str], str]:
    try:
        new_tokenizer = tokenizers()
    except MissingExtraError:
        return lambda text: "".join(map(_without_dictionary, text))

    def read(text: str) -> str:
        return "".join(
            romaji(token.reading_form()) if _JAPANESE.search(token.surface()) else token.surface()
            for token in new_tokenizer().tokenize(text)
        )

    return read


def _without_dictionary(character: str) -> str:
    # A character of unknown sound keeps those before and behind it apart.
    return romaji(character) if _KANA.match(character) or not _JAPANESE.match(character) else " "


def romaji(kana: str) -> str:
    """Kana in Latin letters, by Hepburn's system; other characters stay."""
    letters = ""
    for character in _HIRAGANA.sub(lambda found: chr(ord(found[0]) + 0x60), kana):
        if character in _SMALL:
            letters = _contracted(letters, _SMALL[character])
        elif character not in _LENGTHS:
            letters += _SYLLABLES.get(character, character)
    return letters


def _contracted(letters: str, small: str) -> str:
    """A syllable whose vowel a small kana replaces: ki and ya are kya, shi and ya are sha, fu and a are fa."""
    before = letters[:-1] if letters.endswith(tuple("aiueo")) else letters
    return before + (small[-1] if before.endswith(("sh", "ch", "j")) else small)


def _heard(text: str) -> list[str]:
    """The runs of letters and of digits, with what sounds alike made alike."""
    plain = unicodedata.normalize("NFKD", _DIGIT_GROUPS.sub("", text)).casefold()
    return list(_alike("".join(filter(lambda character: not unicodedata.combining(character), plain))))


def _alike(text: str) -> Iterator[str]:
    for found in _HEARD.findall(text):
        if found.isdigit():
            yield found.lstrip("0") or "0"
        else:
            short = found.replace("ou", "o").replace("l", "r").replace("v", "b").replace("ph", "f")
            # Before b, m and p, n is often written m.
            yield re.sub(r"(.)\1+", r"\1", re.sub("m(?=[bmp])", "n", short))
