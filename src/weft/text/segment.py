"""Raw text to words with character offsets: a rule for spaced scripts, dictionaries for ja, zh, ko and th.

First stage of the pipeline for text that nobody has split yet; its words go on to the subword tokenizer.
A dictionary only says where a run of its own script may be cut. The rule draws all other boundaries, so numbers,
addresses, emoji and foreign words come out alike in every language, and the words tile the text by construction.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from typing import Any, Protocol

from weft.errors import MissingExtraError, SettingError
from weft.text.japanese import tokenizers
from weft.text.languages import LONGEST_CODE, checked_code
from weft.text.pairs import split_words

logger = logging.getLogger(__name__)

Offsets = tuple[int, int]

_CHINESE = frozenset({"zh", "zho", "chi", "cmn", "yue", "wuu", "nan", "hak", "gan", "hsn", "lzh", "cdo", "cjy", "mnp"})
_ELIDING = frozenset({"fr", "fra", "fre", "it", "ita", "ca", "cat", "oc", "oci", "co", "fur", "ga", "scn", "vec"})

# Character classes, to be put into square brackets.
_HAN = r"\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff6f\uff71-\uff9d"
_THAI = r"\u0e01-\u0e3a\u0e40-\u0e4e"
_MYANMAR = r"\u1000-\u102a\u103f-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070\u1075-\u1081\u108e\uaa60-\uaa7a"
_KHMER = r"\u1780-\u17b3\u17d7\u17dc\u17e0-\u17e9"
_LAO = r"\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0ed0-\u0edf"
_TIBETAN = r"\u0f00\u0f0b\u0f0c\u0f20-\u0f33\u0f40-\u0f6c\u0f88-\u0f8c"
_HANGUL = r"\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uffa1-\uffdc"
# Of Tai Le, New Tai Lue, Tai Tham, Balinese, Javanese, Cham, Tai Viet: no blanks, but the rule cannot cut them.
_UNCUT = r"\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\ua980-\ua9df\uaa00-\uaa5f\uaa80-\uaadf"
# Sound marks belong to kana, but alone (a drawn-out "ー") they do not make a sentence Japanese.
_CUT_BY_SYLLABLE = f"{_MYANMAR}{_KHMER}{_LAO}{_TIBETAN}"
_CUT_BY_DICTIONARY = rf"{_HAN}{_KANA}\u30fc\uff70\uff9e\uff9f{_THAI}{_HANGUL}{_CUT_BY_SYLLABLE}"
_HAS_KANA, _HAS_HAN, _HAS_THAI = (re.compile(f"[{script}]") for script in (_KANA, _HAN, _THAI))
_HAS_SYLLABLES = re.compile(f"[{_CUT_BY_SYLLABLE}]")
# Where a syllable begins, as far as letters tell. Burmese: at a consonant that is neither killed (asat) nor stacked.
# Khmer and Lao: at a consonant with a vowel of its own, or one that cannot close the syllable before it; in Lao also at
# a vowel that is written first. Tibetan: after a tsheg.
_SYLLABLE = re.compile(
    r"(?<!\u1039)[\u1000-\u102a\u103f\u1040-\u1055](?!\u1037?[\u1039\u103a])"
    r"|(?<!\u17d2)[\u1780-\u17b3](?=[\u17b4-\u17d3])|(?<![\u17b4-\u17d3])[\u1780-\u17b3\u17e0-\u17e9]"
    r"|[\u0ec0-\u0ec4]|(?<![\u0ec0-\u0ec4])[\u0e81-\u0eae\u0edc-\u0edf](?=[\u0eb0-\u0ebd\u0ec8-\u0ecd])"
    r"|(?<![\u0eb0-\u0ebd\u0ec0-\u0ecd])[\u0e81-\u0eae\u0edc-\u0edf]"
    r"|(?<=[\u0f0b\u0f0c])[\u0f00-\u0f6c]"
)

# What is a word where there is no dictionary: katakana in a row, a Thai letter with what is written around it.
_CHARACTER = re.compile(r"[\u30a1-\u30fa\u30fc-\u30ff]+|[\u0e40-\u0e44]?[\u0e01-\u0e2e][\u0e2f-\u0e3a\u0e45-\u0e4e]*|.")

_NEVER = r"(?!)"
_LETTER = rf"[^\W_{_CUT_BY_DICTIONARY}]"
_APOSTROPHE = r"['\u2018\u2019\uff07]"
_HYPHEN = r"[-\u2010\u2011\uff0d]"
# Gold alignments write "it 's" far more often than "it's", but "don't" as often as "do n't".
_CLITIC = rf"{_APOSTROPHE}(?i:s|m|d|re|ve|ll)(?![^\W_])"
# "Penmarc'h" is one word, as c'h is a letter of Breton; but Italian writes "c'ho".
_C_H_IN_WORD = rf"(?<=[^\W_][cC]){_APOSTROPHE}[hH]"
_ELIDED = rf"(?!(?i:aujourd){_APOSTROPHE})RUN(?:{_HYPHEN}RUN)*(?<!\d)(?!{_C_H_IN_WORD}){_APOSTROPHE}(?={_LETTER})"
# In unknown languages only before a vowel and only words known to elide: "l'homme", but "п'ять", "o'zbek", "c'mon",
# and Breton "c'hazh": no French word elides to c' before h.
_ELIDED_SURELY = (
    rf"(?i:c(?!{_APOSTROPHE}h)|[djlmnst]|[a-z]{{0,5}}qu|un|(?:a|co|da|de|ne|que|su)ll){_APOSTROPHE}"
    r"(?=(?i:[aeiouyhàáâæèéêëìíîïòóôœùúûü]))"
)
# Lengths are bounded here and in the rule so that no text makes the search quadratic. Only single characters are
# repeated possessively: with groups, the first releases of Python 3.11 never come to an end.
_URL = (
    rf"(?i:[a-z]{{2,10}}://|www\.)[^\s<>\"\u201c\u201d«»\u3000-\u303f\uff00-\uffef{_CUT_BY_DICTIONARY}]+"
    r"(?<![][.,;:!?'\u2019…(){}*_~|])"
)
_EMAIL = r"(?i:[a-z0-9._%+-]{1,64}+@[a-z0-9-]++(?:\.[a-z0-9-]++)+)"

# Long text goes to a dictionary in pieces, each with a margin of context on both sides. Sudachi takes at most 65,535
# bytes after NFKC, and NFKC makes up to 33 bytes of one character (U+FDFA).
_PIECE, _MARGIN = 1500, 100


@dataclass(frozen=True, slots=True)
class Segmented:
    """The words of a text and their positions.

    For every word, `text[start:end]` is the word. Words contain no white space, and every other character of the text
    is in exactly one word.

    Attributes:
        words: The words, in the order of the text.
        offsets: `(start, end)` of each word, in code points of the text.
    """

    words: tuple[str, ...]
    offsets: tuple[Offsets, ...]


class Segmenter(Protocol):
    """Splits a text, as a rule one sentence, into words."""

    def __call__(self, text: str, /) -> Segmented:
        """Split one text."""


def segmenter_for(language: str | None) -> Segmenter:
    """Choose how text in a language is split into words. A dictionary is loaded once and kept.

    Args:
        language: A code such as "de", "ja-JP" or "zh_Hant", of which only the first part counts, or a name such as
            "Japanese". None means that the script of each sentence decides: kana means Japanese, Han without kana means
            Chinese, Thai script means Thai, and all other text is split by rules.

    Returns:
        A function that splits a text into words. With None, if the script of a sentence needs a library that is not
        installed, the sentence is split into characters, and a warning is logged once.

    Raises:
        MissingExtraError: The language needs a library that is not installed.
        SettingError: The code is that of a country, or the name of a language that weft knows by its code alone.
    """
    primary = checked_code(language)
    if not primary or len(primary) > LONGEST_CODE:  # a word that is not the code of any language
        return _segment_by_script
    if primary in _DICTIONARIES:
        return _DICTIONARIES[primary]()
    elided = _ELIDED if primary in _ELIDING else _NEVER
    clitic = _CLITIC if primary in ("en", "eng") else _NEVER
    return partial(_segment, rule=_rule(elided, clitic))


def segment(text: str, language: str | None = None) -> Segmented:
    """Split one text into words with their positions. For languages, and for many texts, see `segmenter_for`."""
    return segmenter_for(language)(text)


def word_splitters(
    raw: bool, source_language: str | None, target_language: str | None
) -> tuple[Callable[[str], tuple[str, ...]], Callable[[str], tuple[str, ...]]]:
    """What splits the source and the target sentences into words.

    Args:
        raw: whether the text is not split yet; otherwise words are separated by blanks.
        source_language: the code of the source language; None goes by the script of each sentence.
        target_language: the code of the target language.

    Raises:
        SettingError: a language is named though the text is split already.
        MissingExtraError: a language needs a library that is not installed.
    """
    if raw:
        cutters = (segmenter_for(source_language), segmenter_for(target_language))
        return (lambda text: cutters[0](text).words), (lambda text: cutters[1](text).words)
    if source_language or target_language:
        raise SettingError("`source_language` and `target_language` need `raw`: they control how text is split.")
    return split_words, split_words


def _segment_by_script(text: str) -> Segmented:
    if not text.isascii():
        scripts = (
            (_HAS_KANA, _japanese), (_HAS_HAN, _chinese), (_HAS_THAI, _thai), (_HAS_SYLLABLES, _syllables)
        )  # fmt: skip
        for script, segmenter in scripts:
            if script.search(text):
                try:
                    return segmenter()(text)
                except MissingExtraError as error:
                    # Nobody asked for this language: one foreign name must not end a run over a whole corpus.
                    _warn_once(str(error))
                    return _by_dictionary(_characters)(text)
    return _segment(text, _rule(_ELIDED_SURELY, _CLITIC))


def _characters(text: str) -> Iterable[Offsets]:
    """Without a dictionary every character is a word, but for runs of katakana and for what belongs to a Thai letter.

    A whole sentence as one word could only be linked to everything or nothing.
    """
    return ((found.start(), found.end()) for found in _CHARACTER.finditer(text))


@cache
def _warn_once(message: str) -> None:
    logger.warning("%s Until then, such sentences are split into characters.", message)


def _segment(text: str, rule: re.Pattern[str], cuts: Set[int] = frozenset()) -> Segmented:
    """Take the boundaries of the rule, and those of `cuts` beside a character of a script it cannot split."""
    offsets: list[Offsets] = []
    previous_script, previous_end = None, -1
    for token in rule.finditer(text):
        start, end = token.span()
        script = token.lastgroup if token.lastgroup != "symbol" else None
        letters_end = token.end(script) if script else -1
        inner = [cut for cut in range(start + 1, letters_end) if cut in cuts] if script == "unspaced" else []
        # "T" and "シャツ" are one word unless the dictionary cuts between them.
        if script and script != previous_script and start == previous_end and start not in cuts:
            start = offsets.pop()[0]
        offsets.extend(pairwise((start, *inner, end)))
        previous_script, previous_end = script, letters_end
    return Segmented(tuple([text[start:end] for start, end in offsets]), tuple(offsets))


@cache
def _rule(elided: str, clitic: str) -> re.Pattern[str]:
    """Compile the rule: each match is a word or a run that `_segment` joins or cuts; between them lies whitespace."""
    attached = _attached_character()
    run = rf"{_LETTER}++(?:{attached}{_LETTER}*+)*"
    joint = rf"(?!{clitic})(?:{_HYPHEN}|{_APOSTROPHE}|[_·\u05f3\u05f4]|(?<=[א-ת])\"(?=[א-ת]))(?={_LETTER})"
    digit_joint = r"(?<=\d)[.,:/\u066b\u066c\uff0c\uff0e\uff0f\uff1a](?=\d)"
    break_inside = rf"(?<![{_UNCUT}])\u200b++(?={_LETTER})(?![{_UNCUT}])"
    initials = r"(?:[^\W\d_]\.){2,8}(?![^\W_])"
    spaced = rf"(?P<spaced>{run}(?:(?:{joint}|{digit_joint}|{break_inside}){run})*)"
    unspaced = rf"(?P<unspaced>[{_CUT_BY_DICTIONARY}]++(?:{attached}[{_CUT_BY_DICTIONARY}]*+)*)"
    flag = r"[\U0001f1e6-\U0001f1ff]{2}"
    symbols = r"(?P<symbol>\S)(?P=symbol)*"
    enclitic = rf"(?<=[^\W_]|{attached}){clitic}"
    elision = elided.replace("RUN", run)
    word = "|".join((_URL, _EMAIL, initials, enclitic, elision, spaced, unspaced, flag, symbols))
    # A zero-width space ends a word (in Khmer, Lao, Burmese) and yet has to belong to one; others break lines there.
    trailing = rf"(?:\u200b|{attached})*"
    joined_emoji = rf"(?:(?<=\u200d)[\u2190-\u2bff\U0001f000-\U0001faff]{trailing})*"
    return re.compile(rf"(?:\u200b|{attached})*(?:{word}){trailing}{joined_emoji}")


@cache
def _attached_character() -> str:
    r"""What stays with the character before it: a mark, which `\w` lacks, joiner, format character or skin tone."""
    common = "".join(filter(_is_attached, map(chr, range(0x10000)))).replace("\u200b", "")
    rare = "".join(filter(_is_attached, map(chr, (*range(0x10000, 0x20000), *range(0xE0000, 0xE0200)))))
    # `re` has a bitmap for the first plane only and tries others one by one; without the lookahead it halves the speed.
    return rf"(?:[{common}]|(?=[\U00010000-\U0010ffff])[{rare}\U0001f3fb-\U0001f3ff])"


def _is_attached(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")


@cache
def _japanese() -> Segmenter:
    new_tokenizer = tokenizers()

    def tokens(text: str) -> Iterator[Offsets]:
        # The shortest words.
        for morpheme in new_tokenizer(mode="A").tokenize(text):
            yield morpheme.begin(), morpheme.end()

    return _by_dictionary(tokens)


@cache
def _chinese() -> Segmenter:
    rjieba = _import("rjieba", "zh", "Segmenting Chinese")
    return _by_dictionary(lambda text: _located(text, rjieba.cut(text)))


@cache
def _korean() -> Segmenter:
    kiwipiepy = _import("kiwipiepy", "ko", "Segmenting Korean")
    # Names of several words would only hide the boundaries between their morphemes.
    kiwi = kiwipiepy.Kiwi(load_multi_dict=False)
    return _by_dictionary(lambda text: [(token.start, token.start + token.len) for token in kiwi.tokenize(text)])


@cache
def _thai() -> Segmenter:
    tokenize = _import("pythainlp.tokenize", "th", "Segmenting Thai")
    return _by_dictionary(lambda text: _located(text, tokenize.word_tokenize(text, engine="newmm")))


@cache
def _syllables() -> Segmenter:
    """Cut Burmese, Khmer, Lao and Tibetan by syllable: without blanks a whole line would be one word."""

    def tokens(text: str) -> Iterable[Offsets]:
        if "\u200b" in text:  # somebody has marked the words
            return [(0, len(text))]
        return pairwise((0, *(begin.start() for begin in _SYLLABLE.finditer(text)), len(text)))

    return _by_dictionary(tokens)


_DICTIONARIES: dict[str, Callable[[], Segmenter]] = {
    **dict.fromkeys(("ja", "jpn"), _japanese),
    **dict.fromkeys(_CHINESE, _chinese),
    **dict.fromkeys(("ko", "kor"), _korean),
    **dict.fromkeys(("th", "tha"), _thai),
    **dict.fromkeys(("my", "mya", "bur", "km", "khm", "lo", "lao", "bo", "bod", "tib", "dz", "dzo"), _syllables),
}


def _import(module: str, extra: str, what: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(extra, what) from error


def _located(text: str, tokens: Iterable[str]) -> Iterator[Offsets]:
    """Find tokens that come without offsets; one that the library has rewritten is passed over."""
    position = 0
    for token in tokens:
        if (start := text.find(token, position)) >= 0:
            position = start + len(token)
            yield start, position


def _by_dictionary(tokens_of: Callable[[str], Iterable[Offsets]]) -> Segmenter:
    def segment(text: str) -> Segmented:
        cuts: set[int] = set()
        for start in range(0, len(text), _PIECE):
            left, end = max(0, start - _MARGIN), min(start + _PIECE, len(text))
            found = (left + cut for cut in _boundaries(list(tokens_of(text[left : end + _MARGIN]))))
            cuts.update(cut for cut in found if start <= cut < end and not _is_attached(text[cut]))
        return _segment(text, _rule(_ELIDED_SURELY, _CLITIC), cuts)

    return segment


def _boundaries(tokens: list[Offsets]) -> set[int]:
    """Where tokens begin or end, unless another one spans the place: contracted morphemes (간다: 가 + ㄴ다) overlap."""
    spanned = {position for start, end in tokens for position in range(start + 1, end)}
    return {position for token in tokens for position in token} - spanned
