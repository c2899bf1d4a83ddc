"""The web app as a folder of files for any static host: the model runs in the reader's browser, offline too."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from shutil import copyfile

from weft.encoding.native.encoder import fitting_weights
from weft.errors import WeftError
from weft.extraction.methods import METHODS
from weft.models.files import ONNX_FILE, SETTINGS_FILE, TOKENIZER_FILE
from weft.models.load import USUAL_MAX_LENGTH
from weft.models.resolve import ModelSource, resolve_model
from weft.models.settings import ExportKind
from weft.text.files import blocks, checksum, whole_folder

RUNTIME_FILES = ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
_RUNTIME = "onnxruntime-web"
_HERE = Path(__file__).parent
# Nothing but the page's own files may be loaded, asked or run.
_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' '{notice}'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self' data: blob:; base-uri 'none'; form-action 'none'"
)
# The server has more pages; they speak of itself.
_PAGES = ("index.html", "read.html")
_METHODS_IN_BROWSER = ("softmax", "entmax", "geometric")
# Sentences may be as long as the visitor's machine has patience for.
_LIMITS = {"pairs": 100}


def write_site(folder: Path, models: Sequence[str | Path], runtime: Path | None = None) -> int:
    """Write the web app with one or more models into a folder, which must not exist yet or be such a folder.

    Args:
        folder: where to write it.
        models: built-in models or folders with an int8 graph, the default first.
        runtime: a folder with `onnxruntime-web`, for graphs that weft's own encoder cannot run; what
            `npm install onnxruntime-web` made nearby by default.

    Returns:
        How many bytes it has.

    Raises:
        WeftError: for a folder with other files, a model that browsers cannot run, or one that needs onnxruntime-web
            where that is not there.
    """
    if folder.exists() and not (folder / "page.json").is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise WeftError(f"{folder} contains other files; name a new folder.")
    sources = [resolve_model(model).fetched() for model in models]
    names = [source.local_folder().name for source in sources]
    for source in sources:
        _check(source)
    others = [source.name for source in sources if not _runs_in_c(source)]
    found = runtime_files(runtime, others[0]) if others else []
    with whole_folder(folder) as site:
        for file in found:
            _copy(file, site / "runtime" / file.name)
        for name, source in zip(names, sources, strict=True):
            for part in (ONNX_FILE, TOKENIZER_FILE, SETTINGS_FILE):
                _copy(source.local_folder() / part, site / "models" / name / part)
        _write_app(site)
        _write(site / "page.json", json.dumps(_offer(names, sources), ensure_ascii=False))
        _write_offline(site)
        return sum(file.stat().st_size for file in site.rglob("*") if file.is_file())


def runtime_files(runtime: Path | None, model: str) -> list[Path]:
    """The files of onnxruntime-web that a model needs, from a folder that was named or from a `node_modules` nearby."""
    modules = Path("node_modules", _RUNTIME)
    places = [runtime] if runtime else [modules, _source_folder() / "js" / modules]
    for place in places:
        for folder in (place, place / "dist", place / modules / "dist"):
            if all((folder / name).is_file() for name in RUNTIME_FILES):
                return [folder / name for name in RUNTIME_FILES]
    if runtime:
        raise WeftError(f"{runtime} does not contain {_RUNTIME}: {', '.join(RUNTIME_FILES)}.")
    raise WeftError(
        f"{model} has a graph that browsers run with {_RUNTIME}, which does not come with weft. "
        f"Run 'npm install {_RUNTIME}' here, or name its folder with --runtime. docs/viewing.md says how to do it "
        "without npm."
    )


def _source_folder() -> Path:
    return _HERE.parents[2]


def _check(source: ModelSource) -> None:
    if not source.has_graph or source.settings.export is not ExportKind.ONNX_INT8:
        raise WeftError(f"{source.name} has no int8 graph; 'weft model export' creates one.")
    method = source.settings.extraction.method
    if method not in _METHODS_IN_BROWSER:
        there = ", ".join(_METHODS_IN_BROWSER)
        raise WeftError(f"{source.name} takes links with the method {method}; a browser can do {there}.")


def _runs_in_c(source: ModelSource) -> bool:
    """Whether the encoder in C can run a model, which is part of the page as WebAssembly."""
    max_length = source.settings.max_length or USUAL_MAX_LENGTH
    return fitting_weights(source.local_folder(), max_length) is not None


def _offer(names: Sequence[str], sources: Sequence[ModelSource]) -> dict[str, object]:
    """What `/api/models` of the server says."""
    models = []
    for name, source in zip(names, sources, strict=True):
        settings = source.settings.extraction
        models.append(
            {
                "name": name,
                "method": settings.method,
                "threshold": settings.effective_threshold,
                "calibrated": settings.calibration is not None,
            }
        )
    thresholds = {name: METHODS[name].threshold for name in _METHODS_IN_BROWSER}
    return {
        "models": models,
        "methods": _METHODS_IN_BROWSER,
        "thresholds": thresholds,
        "limits": _LIMITS,
        "server": False,
    }


def _write_app(site: Path) -> None:
    """The app as the server gives it out, and before it the program that takes the server's place."""
    with as_file(files("weft.viewing") / "browser") as packed:
        scripts = packed if packed.is_dir() else _source_folder() / "js" / "src"
        for script in sorted(scripts.rglob("*.js")):
            _copy(script, site / "aligner" / script.relative_to(scripts))
    notice = (site / "aligner" / "page" / "opened.js").read_text(encoding="utf-8")
    for file in (files("weft.viewing") / "static").iterdir():
        if file.name in _PAGES:
            _write(site / file.name, _standing_alone(file.read_text(encoding="utf-8"), notice))
        elif file.name.endswith((".js", ".css")):
            _write(site / "static" / file.name, file.read_text(encoding="utf-8"))


def _standing_alone(page: str, notice: str) -> str:
    """A page of the server with a policy of its own, a notice for those who open it as a file, and the aligner first.

    The notice is part of the page, because browsers load no modules for a file; the policy allows it by its checksum.
    """
    digest = b64encode(sha256(notice.encode()).digest()).decode()
    policy = _POLICY.format(notice=f"sha256-{digest}")
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}" />',
        f"<script>{notice}</script>",
        '<script type="module" src="aligner/page/server.js"></script>',
    )
    before, script, after = page.partition("<script")
    return "\n    ".join((f"{before}{head[0]}", *head[1:], f"{script}{after}"))


def _write_offline(site: Path) -> None:
    """The service worker, which stands at the top and knows every file; its version is their checksum."""
    program = (site / "aligner" / "page" / "offline.js").read_text(encoding="utf-8")
    names = sorted(file.relative_to(site).as_posix() for file in site.rglob("*") if file.is_file())
    total = checksum(program.encode())
    for name in names:
        total.update(name.encode())
        for block in blocks(site / name):
            total.update(block)
    kept = ["./", *names]
    constants = f"const VERSION = {json.dumps(f'weft-{total.hexdigest()}')};\nconst FILES = {json.dumps(kept)};\n"
    _write(site / "offline.js", constants + program)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _copy(file: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    copyfile(file, path)
