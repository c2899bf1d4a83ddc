"""Which way text runs, and which way a translated document and its paragraphs have to run."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from weft.text.languages import primary_code

_LEFTWARD = frozenset({"R", "AL"})
_LETTERS = _LEFTWARD | {"L"}
_CODES = frozenset(
    "ar ara arb arc arz ary aeb apc acm ars azb bal bgn ckb dv div fa fas per pes prs glk he heb iw jpr khw ks kas lad "  # noqa: SIM905
    "lrc mzn nqo pnb prd ps pus pbt sd snd skr syc syr ug uig ur urd yi yid ydd ji".split()
)
_SCRIPTS = frozenset({"adlm", "arab", "aran", "hebr", "mand", "nkoo", "rohg", "samr", "syrc", "thaa"})


def leftward_language(language: str | None) -> bool:
    """Whether a language is written from right to left; a script in its code, as in `ku-Arab`, decides."""
    scripts = [part for part in re.split("[-_]", (language or "").lower())[1:] if len(part) == 4 and part.isalpha()]
    return bool(_SCRIPTS.intersection(scripts)) if scripts else primary_code(language) in _CODES


def right_to_left(text: str) -> bool:
    """Whether most words of a text are written from right to left: a long address is one word among others."""
    words = Counter(_direction(word) in _LEFTWARD for word in text.split() if _direction(word))
    return words[True] > words[False]


def has_leftward(text: str) -> bool:
    """Whether any letter of a text is written from right to left."""
    return any(unicodedata.bidirectional(character) in _LEFTWARD for character in text)


def without_direction(text: str) -> bool:
    """Whether there is neither a letter nor a digit in a text: signs run the way the text around them does."""
    return not any(map(str.isalnum, text))


def document_is_leftward(texts: Iterable[str], language: str | None) -> bool:
    """Whether a document as a whole runs from right to left, by its language if that is known, or by its text."""
    return leftward_language(language) or right_to_left(" ".join(texts))


def paragraph_is_leftward(text: str, document: bool) -> bool:
    """Whether a paragraph has to run from right to left, in a document that does so or does not."""
    return has_leftward(text) if document else right_to_left(text)


def set_page_direction(root: Any, texts: Sequence[tuple[Any, str]], language: str | None, *, whole: bool) -> None:
    """Let a page of HTML say which way its text runs, where that is not the usual way or was not.

    Args:
        root: the element around everything.
        texts: the translated texts, each with the element that it stands in.
        language: the code of their language, if it is known.
        whole: whether it is a page; a part of one has no element around it that will be written.
    """
    leftward = document_is_leftward((text for _, text in texts), language)
    around: dict[bool, dict[Any, None]] = {True: {}, False: {}}  # elements around text that runs so, or the other way
    for parent, text in texts:
        nodes = (parent, *parent.iterancestors())
        around[paragraph_is_leftward(text, leftward)].update(dict.fromkeys(nodes))
    for node in around[leftward]:
        outermost = node is root if whole else node.getparent() is not None and node.getparent().getparent() is root
        said = node.get("dir", "").lower()
        if leftward and (outermost or said == "ltr"):
            node.set("dir", "rtl")
        elif not leftward and said == "rtl" and (outermost or node not in around[True]):
            del node.attrib["dir"]


def _direction(word: str) -> str:
    """The direction of the first letter of a word; nothing for one without letters."""
    kinds = map(unicodedata.bidirectional, word)
    return next((kind for kind in kinds if kind in _LETTERS), "")
