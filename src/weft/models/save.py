"""An aligner's encoder and settings back into a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copyfile

from weft.encoding.encoder import Encoder
from weft.errors import SettingError
from weft.extraction.settings import ExtractionSettings
from weft.models.files import set_usual_permissions
from weft.models.settings import ModelSettings
from weft.models.unpack import torch_folder


def save_model(folder: Path, encoder: Encoder, settings: ExtractionSettings) -> None:
    """Write encoder, tokenizer and `weft.json` into a folder: the whole model, with the layers above the one used."""
    if (source := encoder.source) is None:
        raise SettingError(f"a {type(encoder).__name__} has no model that could be saved.")
    folder.mkdir(parents=True, exist_ok=True)
    if not folder.samefile(source):
        for file in (torch_folder(Path(source)) if encoder.runs_in_torch else Path(source)).iterdir():
            if file.is_file():
                copyfile(file, folder / file.name)
    set_usual_permissions(folder)
    layer = encoder.layer
    stored = ModelSettings.read(folder)
    replace(stored, layer=stored.layer if layer is None else layer, extraction=settings).write(folder)
