"""Japanese by Sudachi's dictionary, which the extra `ja` installs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from weft.errors import MissingExtraError


def tokenizers() -> Callable[..., Any]:
    """What makes tokenizers with one dictionary. One refuses to serve two threads at a time, and costs nothing to make.

    Raises:
        MissingExtraError: the dictionary is not installed.
    """
    try:
        import_module("sudachidict_core")
        dictionary = import_module("sudachipy").Dictionary()
    except ImportError as error:
        raise MissingExtraError("ja", "Segmenting Japanese") from error
    # Before sudachipy 0.7 it is called `create`.
    made: Callable[..., Any] = getattr(dictionary, "tokenizer", None) or dictionary.create
    return made
