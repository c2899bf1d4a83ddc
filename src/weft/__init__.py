"""weft: which words of a sentence and its translation correspond.

Names are resolved on first use, so that `import weft` stays light; `dir(weft)` lists them.
"""

from __future__ import annotations

from importlib import import_module

from weft.version import __version__

TYPE_CHECKING = False  # what `typing` would say; importing that takes longer than all the rest
if TYPE_CHECKING:
    from weft.aligner import Aligner
    from weft.corpus.align import align_files
    from weft.corpus.documents import align_documents
    from weft.errors import FormatError, LineCountError, MissingExtraError, SettingError, WeftError
    from weft.extraction.methods import Method
    from weft.extraction.settings import ExtractionSettings
    from weft.extraction.symmetrize import Symmetrization, symmetrize
    from weft.scoring.corpus import CorpusScore, score
    from weft.text.gold import read_gold
    from weft.text.links import format_links, read_links
    from weft.text.pair_lines import format_pairs
    from weft.text.pairs import read_pairs
    from weft.text.segment import segment
    from weft.training.config import TrainingConfig
    from weft.training.loop import train
    from weft.tuning import DevSet, tune
    from weft.types import Alignment, GoldAlignment, Link, SentencePair

_HOMES = {
    "Aligner": "weft.aligner",
    "Alignment": "weft.types",
    "CorpusScore": "weft.scoring.corpus",
    "DevSet": "weft.tuning",
    "ExtractionSettings": "weft.extraction.settings",
    "FormatError": "weft.errors",
    "GoldAlignment": "weft.types",
    "LineCountError": "weft.errors",
    "Link": "weft.types",
    "Method": "weft.extraction.methods",
    "MissingExtraError": "weft.errors",
    "SentencePair": "weft.types",
    "SettingError": "weft.errors",
    "Symmetrization": "weft.extraction.symmetrize",
    "TrainingConfig": "weft.training.config",
    "WeftError": "weft.errors",
    "align_documents": "weft.corpus.documents",
    "align_files": "weft.corpus.align",
    "format_links": "weft.text.links",
    "format_pairs": "weft.text.pair_lines",
    "read_gold": "weft.text.gold",
    "read_links": "weft.text.links",
    "read_pairs": "weft.text.pairs",
    "score": "weft.scoring.corpus",
    "segment": "weft.text.segment",
    "symmetrize": "weft.extraction.symmetrize",
    "train": "weft.training.loop",
    "tune": "weft.tuning",
}

__all__ = [
    "Aligner",
    "Alignment",
    "CorpusScore",
    "DevSet",
    "ExtractionSettings",
    "FormatError",
    "GoldAlignment",
    "LineCountError",
    "Link",
    "Method",
    "MissingExtraError",
    "SentencePair",
    "SettingError",
    "Symmetrization",
    "TrainingConfig",
    "WeftError",
    "__version__",
    "align_documents",
    "align_files",
    "format_links",
    "format_pairs",
    "read_gold",
    "read_links",
    "read_pairs",
    "score",
    "segment",
    "symmetrize",
    "train",
    "tune",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if name != "train" or error.name not in ("torch", "transformers", "accelerate"):
            raise
        from weft.errors import MissingExtraError

        raise MissingExtraError("torch", "Training") from error


def __dir__() -> list[str]:
    return sorted(__all__)


def _drawn(alignment: Alignment) -> str:
    """An alignment as a picture; `Alignment` finds this here, because pictures are made in a layer above its own."""
    from weft.viewing.comparison import ViewedPair
    from weft.viewing.svg import lines_svg

    assert alignment.pair is not None
    return lines_svg(ViewedPair(1, alignment.pair, (alignment,)))
