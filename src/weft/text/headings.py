"""Whether the first row of a table names its columns, and which two of them hold a text and its translation.

js/src/page/headings.js has the same words and rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LANGUAGES = _words(
    "afrikaans albanian arabic armenian basque bengali bulgarian catalan chinese croatian czech danish dutch english"
    " estonian finnish french galician georgian german greek hebrew hindi hungarian icelandic indonesian irish italian"
    " japanese korean latin latvian lithuanian malay norwegian persian polish portuguese romanian russian serbian"
    " slovak slovenian spanish swahili swedish tamil thai turkish ukrainian urdu vietnamese welsh"
    " deutsch englisch französisch italienisch spanisch portugiesisch niederländisch polnisch tschechisch russisch"
    " ukrainisch türkisch chinesisch japanisch koreanisch arabisch schwedisch dänisch norwegisch finnisch ungarisch"
    " rumänisch griechisch français anglais allemand espagnol italien portugais néerlandais polonais russe chinois"
    " japonais español inglés alemán francés italiano portugués inglese tedesco francese spagnolo nederlands engels"
    " duits frans português polski angielski niemiecki čeština русский английский немецкий українська türkçe svenska"
    " dansk norsk suomi magyar română 中文 英文 日文 日本語 英語 한국어"
)
CODES = _words(
    "ar bg bn cs da de el en es et fa fi fr he hi hr hu it ja ko lt lv nb nl pl pt ro ru sk sl sr sv th tr uk vi zh"
    " deu eng fra ger ita spa"
)
SIDES = _words(
    "source target src tgt trg original translation text texts sentence segment term ausgangstext zieltext quelltext"
    " übersetzung traduction traducción traduzione vertaling tradução перевод 原文 译文 訳文"
)
OTHERS = _words(
    "id ids index key nr no num number name comment comments note notes context domain subject date score status"
    " category topic type speaker file line language lang locale code definition description example customer kunde"
    " kommentar bemerkung kontext fachgebiet datum sprache"
)
"""Words for columns that hold neither the text nor its translation."""

# What columns are called that hold the languages of these codes.
_NAMES_OF = {
    "de": _words("german deutsch allemand alemán tedesco duits niemiecki немецкий deu"),
    "en": _words("english englisch anglais inglés inglese engels angielski английский 英文 英語 eng"),
    "es": _words("spanish spanisch espagnol español spagnolo spa"),
    "fr": _words("french französisch français francés francese frans fra"),
    "it": _words("italian italienisch italien italiano ita"),
    "nl": _words("dutch niederländisch néerlandais nederlands"),
    "pl": _words("polish polnisch polonais polski"),
    "pt": _words("portuguese portugiesisch portugais português"),
    "ru": _words("russian russisch russe русский"),
}
_KNOWN = LANGUAGES | CODES | SIDES | OTHERS
_OF_LANGUAGES = frozenset({"language", "lang", "locale", "code", "sprache"})
_MOST_WORDS = 3
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"[\w\s/:-]+")
_IN_BRACKETS = re.compile(r"\s*[(\[][^)\]]*[)\]]$")  # "Source (en)"
_LOCALE = re.compile(r"([a-z]{2,3})[-_](?:[a-z]{2}|[a-z]{4}|[0-9]{3})", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[^\W\d_](?:[^\W\d_]|[_-](?=[^\W\d_]))+")
_FEWEST_COLUMNS = 3
_NONE, _OTHER, _TEXT = range(3)


def name_columns(cells: Sequence[str]) -> bool:
    """Whether all that is known of a row is in words that people call columns by."""
    first_two = [_kind(cell) for cell in cells[:2]]
    return (len(cells) > 1 and all(first_two) and _TEXT in first_two) or text_columns(cells) is not None


def text_columns(cells: Sequence[str]) -> tuple[str, str] | None:
    """The names of the first two columns that are called by languages or sides; None if there are no two."""
    names = list(dict.fromkeys(cell.strip() for cell in cells if _kind(cell) == _TEXT))
    sides = [name for name in names if _WORD.findall(name.lower())[0] in ("source", "src", "target", "tgt", "trg")]
    first, second, *_ = [*(sides if len(sides) > 1 else names), "", ""]
    return (first, second) if second else None


def column_of(language: str, names: Sequence[str]) -> str | None:
    """The one of these names of columns that stands for the language with this code; None if none or several do."""
    code = language.lower().replace("_", "-").split("-")[0]
    wanted = {code} | _NAMES_OF.get(code, frozenset())
    found = [name for name in names if _kind(name) == _TEXT and wanted & set(_WORD.findall(name.lower()))]
    return found[0] if len(found) == 1 else None


def may_name_columns(cells: Sequence[str]) -> bool:
    """Whether a row of three or more cells has a single word in each, and no word twice: names, or very short text."""
    distinct = {cell.strip().lower() for cell in cells}
    named = all(_PLAIN_NAME.fullmatch(cell.strip()) for cell in cells)
    return named and len(distinct) == len(cells) >= _FEWEST_COLUMNS


def _kind(cell: str) -> int:
    """What a cell names: a column of text, another one, or nothing that is known."""
    name = _IN_BRACKETS.sub("", cell.strip()).lower()
    locale = _LOCALE.fullmatch(name)
    if locale and locale[1] in CODES:
        return _TEXT
    words = set(_WORD.findall(name))
    if not (words and len(words) <= _MOST_WORDS and words <= _KNOWN and _NAME.fullmatch(name)):
        return _NONE
    if len(words) > 1 and words <= CODES:
        return _NONE
    return _TEXT if words - OTHERS and not words & _OF_LANGUAGES else _OTHER
