"""Where sentences end: in raw text, and in text that is split into words already."""

from __future__ import annotations

import re

from weft.errors import MissingExtraError
from weft.types import Words

# Unicode's sentence terminals of living scripts, and the mark of an omission.
_MARKS = (
    ".!?\u2026\u2025\u3002\uff61\uff0e\uff01\uff1f\u061f\u06d4\u0964\u0965\u0f0d\u0f0e\u0589\u1362\u1367\u1368"
    "\u17d4\u17d5\u104b\u0700\u0701\u0702\u07f9\u1803\u1809\ua4ff\u2e2e\u037e\u1b5e\u1b5f\ua9c8\ua9c9\uaa5d\uaa5e"
)
_CLOSING = "\"')]}\u201c\u201d\u2018\u2019\u00bb\u203a\u300d\u300f\uff09\u3011\u300b\u3009"
_BEHIND_MARKS = f"{_CLOSING} \t\r\u00a0\u202f"  # French has a space within its quotation marks
_OPENING = "\"'([{\u00ab\u2018\u201a\u201c\u201e\u2039\u00bf\u00a1"
# A full stop behind these, or behind a single letter or a number of one or two digits, seldom ends a sentence.
_ABBREVIATIONS = frozenset({
    "mr", "mrs", "ms", "dr", "prof", "st", "no", "nos", "vs", "etc", "cf", "e.g", "i.e", "eg", "ie", "jr", "sr",
    "gen", "col", "lt", "sen", "rep", "gov", "hon", "rev", "fig", "vol", "pp", "ed", "eds", "inc", "ltd", "co",
    "corp", "dept", "approx", "art", "abs", "bzw", "ca", "d.h", "evtl", "ggf", "hr", "fr", "nr", "str", "u.a",
    "usw", "vgl", "z.b", "bd", "sog", "mm", "mme", "mlle", "av", "sra", "sres", "ing", "lic", "dott", "sig",
    "avv", "tel", "tzv", "resp", "nap", "mgr", "ul", "tj", "tzn", "jan", "feb", "mar", "apr", "jun", "jul",
    "aug", "sep", "sept", "oct", "nov", "dec",
})  # fmt: skip

# These stand before names; `av.` before J.-C.
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "mme", "mlle", "sra", "sr", "sig", "dott", "avv", "ing", "av"})


def split_sentences(text: str, language: str | None = None) -> list[tuple[int, int]]:
    """Split raw text into sentences, by Wikimedia's rules for some 300 languages; a line ends a sentence too.

    Args:
        text: the text.
        language: a code such as "de" or "zh-Hant"; without one, the rules that most languages share.

    Returns:
        Where each sentence begins and ends, in code points of the text, without the whitespace around it.

    Raises:
        MissingExtraError: the library is not installed.
    """
    try:
        from sentencex import get_sentence_boundaries
    except ImportError as error:
        raise MissingExtraError("documents", "Splitting text into sentences") from error
    spans: list[tuple[int, int]] = []
    begin = 0
    for line in text.split("\n"):
        first = len(spans)
        for found in get_sentence_boundaries((language or "en").replace("_", "-").split("-")[0].lower(), line):
            sentence = line[found["start_index"] : found["end_index"]]
            start = begin + found["start_index"] + len(sentence) - len(sentence.lstrip())
            if len(spans) > first and _goes_on(text[slice(*spans[-1])], sentence.strip()):
                start, _ = spans.pop()
            end = begin + found["end_index"] - len(sentence) + len(sentence.rstrip())
            if end > start:
                spans.append((start, end))
        begin += len(line) + 1
    return spans


def _goes_on(before: str, after: str) -> bool:
    """Whether a full stop ends a title, an initial or an abbreviation that the library's rules do not know."""
    if not before.endswith("."):
        return False
    word = before.split()[-1].lstrip(_OPENING)[:-1]
    letters = re.split(r"[.-]+", word)
    is_short = all(len(each) == 1 or (len(each) == 2 and each.isupper()) for each in letters)
    if after[:1].islower() or after[:1].isdigit():
        return is_short or word.lower() in _ABBREVIATIONS
    is_name = is_short and all(len(each) == 1 and each.isupper() for each in letters) and word != "I"
    # EE. UU. are the United States in Spanish; J.-C. may be cut in two.
    is_doubled = is_short and bool(re.match(r"[^\W\d_]{2}\.", after)) and after[:2].isupper()
    return is_name or is_doubled or after.startswith("-") or word.lower() in _TITLES


def ends_with_mark(line: str) -> bool:
    """Whether a line ends with a mark such as a full stop, or with quotation marks and brackets behind one."""
    return line.rstrip(_BEHIND_MARKS).endswith(tuple(_MARKS))


def sentence_starts(words: Words) -> list[int]:
    """The indices of the words at which sentences begin; the first is 0.

    A sentence ends with a word that ends with a mark such as a full stop, and with the quotation marks and brackets
    behind it. Full stops of abbreviations, initials and ordinal numbers do not count.
    """
    starts = [0]
    for index in range(1, len(words)):
        if not _closes(words[index]) and _ends_sentence(words, index - 1):
            starts.append(index)
    return starts


def _ends_sentence(words: Words, index: int) -> bool:
    while index and _closes(words[index]):
        index -= 1
    word = words[index].rstrip(_CLOSING)
    if not word or word[-1] not in _MARKS:
        return False
    rest = word.rstrip(_MARKS)
    if word[len(rest) :] != ".":
        return True
    before = (rest or words[max(0, index - 1)]).lower()
    letters = before.split(".")
    is_initial = all(len(letter) == 1 and letter.isalpha() for letter in letters)
    is_ordinal = len(before) < 3 and before.isdigit()
    return not (is_initial or is_ordinal or before in _ABBREVIATIONS)


def _closes(word: str) -> bool:
    """Whether a word is nothing but brackets and quotation marks that close."""
    return not word.strip(_CLOSING)
