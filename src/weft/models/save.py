"""An aligner's encoder and settings back into a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copyfile

from weft.encoding.encoder import Encoder
from weft.errors import SettingError
from weft.extraction.settings import ExtractionSettings
from weft.models.files import ONNX_FILE, set_usual_permissions
from weft.models.settings import ModelSettings
from weft.models.unpack import torch_folder
from weft.text.files import files_moved_in, writes_explained


def save_model(folder: Path, encoder: Encoder, settings: ExtractionSettings) -> None:
    """Write encoder, tokenizer and `weft.json` into a folder: the whole model, with the layers above the one used.

    Args:
        folder: where to write; it may be the folder that the model was loaded from.
        encoder: its weights are written as they are in memory.
        settings: how links are taken.

    Raises:
        SettingError: if the encoder has no files, or the folder cannot be written to.
    """
    if encoder.source is None:
        raise SettingError(f"a {type(encoder).__name__} has no model that could be saved.")
    if folder.exists() and not folder.is_dir():
        raise SettingError(f"{folder} is not a writable folder.")
    source = Path(encoder.source)
    with writes_explained(folder), files_moved_in(folder) as partial:
        in_place = folder.samefile(source) and not encoder.runs_in_torch
        if not in_place:
            for file in (torch_folder(source) if encoder.runs_in_torch else source).iterdir():
                if file.is_file():
                    copyfile(file, partial / file.name)
        changed = encoder.save_changes(partial)
        if changed:  # a graph was made from other weights, and would be loaded before them
            (partial / ONNX_FILE).unlink(missing_ok=True)
        stored = ModelSettings.read(folder if in_place else partial)
        layer = stored.layer if encoder.layer is None else encoder.layer
        replace(stored, layer=layer, joint=encoder.joint, extraction=settings).write(partial)
        set_usual_permissions(partial)
    if changed:
        (folder / ONNX_FILE).unlink(missing_ok=True)
