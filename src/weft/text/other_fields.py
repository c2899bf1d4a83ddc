"""What a line says besides its pair: kept in JSONL, but for fields that weft writes itself."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from weft.text.fields import SIDES, Sides
from weft.text.lines import FilePath, display_name
from weft.text.links import links_of_record

logger = logging.getLogger(__name__)

# `weft align` never writes `sure`, but would read it as links.
_LINK_FIELDS = ("links", "sure", "possible")
_RAW_FIELDS = ("source_text", "source_offsets", "target_text", "target_offsets")

UNKNOWN = "unknown"
"""The field that `weft align` writes in some lines."""

WRITTEN = frozenset({*SIDES, *_LINK_FIELDS, "score"})
"""The fields that `weft align` writes in every line."""

SIDED = frozenset({*SIDES, *_LINK_FIELDS, *_RAW_FIELDS})
"""The fields that are wrong where the sides are swapped."""

WRITTEN_RAW = WRITTEN | SIDED
"""Those that it writes in every line of raw text."""

_OWN_FIELDS = WRITTEN_RAW | {UNKNOWN}


class OtherFields:
    """What lines say besides their pairs. What weft replaces is left out; a user's own fields not without a word.

    Args:
        path: the file.
        replaced: the fields that are written in every line, and so replace others of these names.
        sometimes: the fields that are written in some lines.
    """

    def __init__(self, path: FilePath, replaced: Iterable[str], *, sometimes: Iterable[str] = ()) -> None:
        self._path = path
        self._replaced, self._sometimes = frozenset(replaced), frozenset(sometimes)
        self._written = self._replaced | self._sometimes
        self._named: set[str] = set()

    def kept(self, fields: dict[str, Any], sides: Sides | None) -> dict[str, Any]:
        """The fields that weft does not write. All of an earlier run are old, also those that are not written again.

        Args:
            fields: all of a line but its pair.
            sides: the pair.
        """
        if self._written.isdisjoint(fields):
            return fields
        if _is_from_weft(fields, sides):
            return {name: value for name, value in fields.items() if name not in _OWN_FIELDS}
        self._warn([name for name in fields if name in self._written])
        return {name: value for name, value in fields.items() if name not in self._replaced}

    def _warn(self, names: Sequence[str]) -> None:
        if self._named.issuperset(names):
            return
        self._named.update(names)
        shown = [f"{name} (in lines where weft writes one)" if name in self._sometimes else name for name in names]
        logger.warning(
            "%s: weft writes fields with these names itself, so yours are lost: %s. To keep them, rename them first.",
            display_name(self._path),
            ", ".join(shown),
        )


def _is_from_weft(fields: dict[str, Any], sides: Sides | None) -> bool:
    """Whether a record has links as weft writes them, beside words. An empty list is in everybody's form."""
    try:
        links = links_of_record(fields)
    except ValueError:
        return False
    listed = any(name in fields for name in _LINK_FIELDS) and (sides is None or isinstance(sides[0], tuple))
    return bool(links) or listed
