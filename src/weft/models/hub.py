"""Models on the Hugging Face hub: what is taken from there, and where it lies on this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from weft.errors import MissingExtraError, WeftError, first_line
from weft.models.files import CONFIG_FILE, ONNX_FILE

# No pickles, no other frameworks' weights, and nothing of a repository's subfolders.
_TAKEN = ("*.json", "*.txt", "*.model", "*.spm", "*.safetensors", "model.onnx")
_ADVICE = "Give a folder or a model's name; weft comes with {}."


@dataclass(frozen=True, slots=True)
class HubOptions:
    """How a model on the Hugging Face hub is asked for.

    Attributes:
        revision: a branch, a tag or a commit; None for the main branch.
        token: who asks; None for the token that the hub's own tools have stored.
        local_files_only: whether to take what is in the hub's cache and ask nobody.
    """

    revision: str | None = None
    token: str | None = field(default=None, repr=False)
    local_files_only: bool = False


def download(name: str, options: HubOptions) -> Path:
    """The folder of a model in the hub's cache on this machine, in its newest version if the hub can be asked.

    Raises:
        WeftError: if the hub does not have it or does not give it, and it was never loaded before.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        with _no_bar_in_files():
            found = snapshot_download(
                name,
                revision=options.revision,
                token=options.token,
                local_files_only=options.local_files_only,
                allow_patterns=list(_TAKEN),
                ignore_patterns=["*/*"],
            )
    except LocalEntryNotFoundError as error:
        cached = cached_folder(name, options.revision)
        if cached is not None:
            return cached
        if find_spec("torch") is None:  # most models on the hub need it, and nobody can look at this one
            raise MissingExtraError("torch", _unknown(name)) from error
        reason = "it is not on this machine, and it could not be fetched from the Hugging Face Hub."
        raise WeftError(f"cannot load the model {name}: {reason} {_advice()}") from error
    except (OSError, ValueError) as error:  # the hub's own errors are of these kinds
        raise WeftError(f"cannot load the model {name}: {first_line(error)} {_advice()}") from error
    return Path(found)


def _unknown(name: str) -> str:
    """What needs torch: the model, or if its name is more likely a slip, any model from the hub."""
    from weft.models.known import ALIKE_IF_UNKNOWN, may_be_on_hub, nearest_name

    if may_be_on_hub(name):
        return f"The model {name}"
    near = nearest_name(name, alike=ALIKE_IF_UNKNOWN)
    meant = f"; did you mean {near}?" if near else "."
    return f"there is no built-in model or folder {name}{meant} A model from the Hugging Face Hub"


def _advice() -> str:
    from weft.models.known import built_in_models

    return _ADVICE.format(" and ".join(built_in_models()))


def cached_folder(name: str, revision: str | None = None) -> Path | None:
    """Where the hub's cache keeps a model that was loaded before."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        # A graph needs no configuration.
        found = [try_to_load_from_cache(name, file, revision=revision) for file in (CONFIG_FILE, ONNX_FILE)]
    except HFValidationError:  # not a name that a model could have
        return None
    return next((Path(file).parent for file in found if isinstance(file, str)), None)


@contextmanager
def _no_bar_in_files() -> Iterator[None]:
    """Show how far a download is on a terminal alone."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    if sys.stderr.isatty() or are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
