"""Texts by language, as translation memories and Hugging Face datasets have them, and which two of them are a pair."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from weft.errors import SettingError
from weft.text.languages import listed_code

TRANSLATION = "translation"
# Two letters, and perhaps a country: what other people put in place of codes (german, deu) cannot be compared with de.
_CODE = re.compile(r"[a-z]{2}(?:-\w+)*")

Languages = tuple[str | None, str | None]


class NoTextError(ValueError):
    """A record is in order, but it lacks a sentence or its translation."""


def translations_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The sentences of a record by language; none if it holds them in another way."""
    found = record.get(TRANSLATION)
    return found if isinstance(found, dict) else {}


def matching_language(name: str, languages: Collection[str]) -> str | None:
    """The one of these languages that a name means: `it` is `it-IT` too; None if it means none of them.

    Raises:
        ValueError: it may mean several.
    """
    if name in languages:
        return name
    codes = {code: _plain(code) for code in languages}
    wanted = _plain(name)
    found = [code for code, plain in codes.items() if plain == wanted]
    found = found or [code for code, plain in codes.items() if plain.split("-")[0] == wanted]
    found = found or [code for code, plain in codes.items() if plain == wanted.split("-")[0]]
    if "-" not in wanted:  # eng, English and en name the same language
        found = found or [code for code, plain in codes.items() if listed_code(plain) == listed_code(wanted)]
    if len(found) > 1:
        raise ValueError(_several(name, found))
    return found[0] if found else None


def chosen_pair(translations: Mapping[str, Any], languages: Languages) -> tuple[str, str]:
    """Which text is the source and which the target.

    Args:
        translations: the texts by language.
        languages: the codes of source and target as far as they are known. Without them, the first language of two is
            the source.

    Raises:
        NoTextError: a language is missing.
        SettingError: there are more than two, and the codes do not choose.
    """
    found = [_chosen(code, translations) if code else None for code in languages]
    source, target = found
    rest = [code for code in translations if code not in found]
    if source is None and target is None and len(rest) == 2:
        return rest[0], rest[1]
    if source is not None and target is not None:
        return source, target
    if len(rest) == 1 and (source or target):
        return source or rest[0], target or rest[0]
    if len(translations) == 1:
        raise NoTextError(f"found text in {next(iter(translations))} only, and no translation of it.")
    raise SettingError(
        f"the file has text in {in_words(translations)}. Choose two of these languages with `source_language` and "
        "`target_language` or, without `raw`, with `source_field` and `target_field`."
    )


class LanguageOrder:
    """Which text of each record of a file is the source: where nobody names both languages, as in the first record."""

    def __init__(self, languages: Languages) -> None:
        self._languages = languages
        self._first: tuple[str, str] | None = None

    def __call__(self, translations: Mapping[str, Any]) -> tuple[str, str]:
        """The languages of source and target; a ValueError says what is missing."""
        if self._first is None or len(translations) == 1 or None not in self._languages:
            pair = chosen_pair(translations, self._languages)
            self._first = self._first or pair
            return pair
        # Countries make no difference (en-GB, en-US), unless they are all that tells the two apart.
        name = _plain if len(set(map(_without_country, self._first))) == 1 else _without_country
        found = [self._like(code, translations, name) for code in self._first]
        return found[0], found[1]

    def _like(self, code: str, translations: Mapping[str, Any], name: Callable[[str], str]) -> str:
        """The language of a record that is this one of the first record."""
        found = [code] if code in translations else [other for other in translations if name(other) == name(code)]
        if not found:
            raise NoTextError(f"{no_text_in(code, translations)} The file begins with {in_words(self._first or ())}.")
        if len(found) > 1:
            raise ValueError(_several(code, found))
        return found[0]


def _chosen(code: str, translations: Mapping[str, Any]) -> str | None:
    """The language with this code; None if the texts are not known by codes that can be compared with it."""
    found = matching_language(code, translations)
    if found is None and all(_CODE.fullmatch(_plain(name)) for name in (code, *translations)):
        raise NoTextError(no_text_in(code, translations))
    return found


def no_text_in(language: str, translations: Iterable[str]) -> str:
    """What to say of a record that lacks a language."""
    return f"there is no text in {language} here, only in {in_words(translations)}."


def in_words(names: Iterable[str]) -> str:
    """Names as a sentence lists them: a, b and c."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _several(language: str, codes: Iterable[str]) -> str:
    return f"{language} may be {' or '.join(codes)}; use one of these codes."


def _plain(code: str) -> str:
    return code.strip().lower().replace("_", "-")


def _without_country(code: str) -> str:
    return _plain(code).split("-")[0]
