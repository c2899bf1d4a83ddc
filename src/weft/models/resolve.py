"""Where a model comes from: decided here, once, for everybody who loads, describes or trains one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.errors import SettingError, WeftError
from weft.models.files import check_folder, folder_checksum, has_graph, has_weights
from weft.models.hub import HubOptions, cached_folder, download
from weft.models.known import built_in_models, encoder_called, nearest_name
from weft.models.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model comes from.

    Attributes:
        name: the model as the user calls it.
        folder: where its files are; None for a model on the hub that was not fetched yet.
        built_in: whether it came with weft, so that its folder is nobody's to write to.
        settings: its `weft.json`; the defaults until the folder is known.
        hub_name: its name on the hub, if it comes from there.
        hub: how it is asked for there.
    """

    name: str
    folder: Path | None
    built_in: bool = False
    settings: ModelSettings = field(default_factory=ModelSettings)
    hub_name: str | None = None
    hub: HubOptions = field(default_factory=HubOptions)

    @property
    def has_graph(self) -> bool:
        """Whether its folder holds an ONNX graph."""
        return self.folder is not None and has_graph(self.folder)

    @property
    def is_graph_only(self) -> bool:
        """Whether its folder holds an ONNX graph and no weights that torch could load."""
        return self.folder is not None and has_graph(self.folder) and not has_weights(self.folder)

    def runs_as_graph(self, device: str) -> bool:
        """Whether onnxruntime runs it when this device is asked for; it runs graphs on the CPU, without torch."""
        return self.has_graph and device in ("auto", "cpu")

    def may_use_gpu(self, device: str) -> bool:
        """Whether it would run on a GPU if there is one."""
        return device.startswith("cuda") or (device == "auto" and not self.runs_as_graph(device))

    def fetched(self) -> ModelSource:
        """The same model with its files on this machine; downloads what is not here yet.

        Raises:
            WeftError: if the hub does not have it, or what it has may not be read.
        """
        if self.folder is not None:
            return self
        assert self.hub_name is not None
        return self._in(download(self.hub_name, self.hub))

    def cached(self) -> ModelSource | None:
        """The same model with its files, if they are on this machine already; nobody is asked for them.

        Raises:
            WeftError: if what is here may not be read.
        """
        if self.folder is not None:
            return self
        folder = cached_folder(self.hub_name or self.name, self.hub.revision)
        return None if folder is None else self._in(folder)

    def _in(self, folder: Path) -> ModelSource:
        check_folder(folder)
        return replace(self, folder=folder, settings=ModelSettings.read(folder))

    def local_folder(self) -> Path:
        """The folder with the model's files, after fetching them if need be."""
        folder = self.fetched().folder
        assert folder is not None
        return folder

    def identity(self) -> str:
        """The model's name, and a checksum of its files: a folder may hold another model tomorrow."""
        folder = self.folder or cached_folder(self.hub_name or self.name, self.hub.revision)
        return self.name if folder is None else f"{Path(self.name).name} ({folder_checksum(folder)})"


def resolve_model(
    model: str | Path,
    *,
    revision: str | None = None,
    token: str | None = None,
    local_files_only: bool = False,
) -> ModelSource:
    """Find out where a model comes from; nothing is downloaded.

    Args:
        model: a built-in model, a folder, a known encoder as `weft model list` prints it, or a name on the hub.
        revision: of a model on the hub, the branch, tag or commit.
        token: of a model on the hub, who asks for it.
        local_files_only: of a model on the hub, whether to ask nobody for a newer version.

    Returns:
        The model's source, with its folder and settings unless it is on the hub.

    Raises:
        SettingError: if no model is named.
        WeftError: if there is no such folder, the name is a misspelt one, or the folder's files may not be read.
    """
    name = str(model)
    if not name.strip():
        raise SettingError("`model` must be a name or a folder, got nothing.")
    if (folder := built_in_models().get(name)) is not None:
        return ModelSource(name, folder, built_in=True, settings=ModelSettings.read(folder))
    path = Path(model)
    if _is_folder(path):
        check_folder(path)
        return ModelSource(name, path, settings=ModelSettings.read(path))
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\0" in name:
        raise WeftError(f"there is no folder {name!r}." if "\0" in name else f"there is no folder {name}.")
    known = encoder_called(name)
    if known is None and (near := nearest_name(name)) is not None:
        raise WeftError(f"there is no model {name}; did you mean {near}?")
    hub_name = known.hub_name if known else name
    return ModelSource(name, None, hub_name=hub_name, hub=HubOptions(revision, token, local_files_only))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False
