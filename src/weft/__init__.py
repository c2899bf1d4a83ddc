"""weft: which words of a sentence and its translation correspond.

Names are resolved on first use, so that `import weft` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from weft.version import __version__

if TYPE_CHECKING:
    from weft.aligner import Aligner
    from weft.errors import FormatError, MissingExtraError, WeftError
    from weft.extraction.symmetrize import Symmetrization, symmetrize
    from weft.scoring.corpus import CorpusScore, score
    from weft.text.links import format_links, read_links
    from weft.text.pairs import format_pairs, read_pairs
    from weft.types import Alignment, GoldAlignment, Link, SentencePair

_HOMES = {
    "Aligner": "weft.aligner",
    "Alignment": "weft.types",
    "CorpusScore": "weft.scoring.corpus",
    "FormatError": "weft.errors",
    "GoldAlignment": "weft.types",
    "Link": "weft.types",
    "MissingExtraError": "weft.errors",
    "SentencePair": "weft.types",
    "Symmetrization": "weft.extraction.symmetrize",
    "WeftError": "weft.errors",
    "format_links": "weft.text.links",
    "format_pairs": "weft.text.pairs",
    "read_links": "weft.text.links",
    "read_pairs": "weft.text.pairs",
    "score": "weft.scoring.corpus",
    "symmetrize": "weft.extraction.symmetrize",
}

__all__ = [
    "Aligner",
    "Alignment",
    "CorpusScore",
    "FormatError",
    "GoldAlignment",
    "Link",
    "MissingExtraError",
    "SentencePair",
    "Symmetrization",
    "WeftError",
    "__version__",
    "format_links",
    "format_pairs",
    "read_links",
    "read_pairs",
    "score",
    "symmetrize",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
