"""Sentence pairs written as a translation memory: TMX 1.4, one unit after another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from weft.errors import SettingError
from weft.text.fields import SIDES, TextPair
from weft.text.layout import in_one_line
from weft.text.translations import Languages
from weft.types import Words
from weft.version import __version__

_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
_LINE_ENDS = re.compile(r"[\r\n]+")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in any XML


class Unit(NamedTuple):
    """A sentence and its translation as text, and their id, which may be empty."""

    source: str
    target: str
    id: str = ""


def unit_of(pair: TextPair) -> Unit | None:
    """The unit of a line of a file; None for a line that holds no pair.

    Of records that hold words beside the text that they were split from, as `weft align` writes them, it is the text;
    blanks that stand for times and tags of subtitles become one.
    """
    if pair.sides is None:
        return None
    source, target = (_text(side, pair.extra.get(f"{name}_text")) for name, side in zip(SIDES, pair.sides, strict=True))
    id = pair.extra.get("id")
    return Unit(source, target, str(id) if isinstance(id, str | int) else "")


def _text(side: str | Words, before: object) -> str:
    if isinstance(side, tuple):
        return in_one_line(before) if isinstance(before, str) else " ".join(side)
    return _LINE_ENDS.sub(" ", side)


class MemoryWriter:
    """Writes units as TMX. XML forbids most control characters: they are left out, and `changed` units are counted.

    Args:
        languages: the codes of the source and the target language.

    Raises:
        SettingError: a code is missing, is none, or both are the same.
    """

    def __init__(self, languages: Languages) -> None:
        for name, code in zip(SIDES, languages, strict=True):
            if code is None:
                raise SettingError(
                    "TMX names the languages of its sentences; give `source_language` and `target_language`, such as "
                    "de and en."
                )
            if not _CODE.fullmatch(code):
                raise SettingError(f"`{name}_language` must be a language code, such as de or pt-BR, got {code!r}.")
        self._languages = [str(code).replace("_", "-") for code in languages]
        if len({code.lower() for code in self._languages}) == 1:
            raise SettingError("`source_language` and `target_language` must differ.")
        self.changed = 0

    def lines(self, units: Iterable[Unit]) -> Iterator[str]:
        """The file, line by line."""
        source = quoteattr(self._languages[0])
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
        yield (
            f'<header creationtool="weft" creationtoolversion="{__version__}" segtype="sentence" o-tmf="weft" '
            f'adminlang="en" srclang={source} datatype="plaintext"/>\n<body>\n'
        )
        for unit in units:
            allowed = Unit(*(_FORBIDDEN.sub("", part) for part in unit))
            self.changed += allowed != unit
            if not (allowed.source.strip() and allowed.target.strip()):
                continue  # nothing else was in it
            named = f" tuid={quoteattr(allowed.id)}" if allowed.id else ""
            sides = zip(self._languages, allowed[:2], strict=True)
            variants = (f"<tuv xml:lang={quoteattr(code)}><seg>{escape(text)}</seg></tuv>" for code, text in sides)
            yield f"<tu{named}>{''.join(variants)}</tu>\n"
        yield "</body>\n</tmx>\n"
