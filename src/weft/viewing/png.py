"""SVG to PNG, drawn by a Chromium that is on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from weft.errors import WeftError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
_SECONDS = 60


def find_browser() -> str | None:
    """The first Chromium of this machine, by its usual names."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def _as_root() -> list[str]:
    """Chromium's sandbox refuses to start for root."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def png(svg: str, *, scale: int = 2) -> bytes:
    """Draw an SVG at twice its size."""
    browser = find_browser()
    if browser is None:
        raise WeftError("PNG is drawn by Chromium, and none was found; install it, or write .svg instead.")
    size = _SIZE.search(svg)
    assert size is not None
    with TemporaryDirectory(prefix="weft-") as folder:
        page, picture = Path(folder, "pair.html"), Path(folder, "pair.png")
        page.write_text(f"<!doctype html><meta charset=utf-8><style>body{{margin:0}}</style>{svg}", encoding="utf-8")
        command = [
            browser, "--headless", *_as_root(), "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
            f"--user-data-dir={folder}/profile", f"--force-device-scale-factor={scale}",
            f"--window-size={size[1]},{size[2]}", f"--screenshot={picture}", page.as_uri(),
        ]  # fmt: skip
        try:
            subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise WeftError(f"{browser} did not draw the picture within {_SECONDS} seconds.") from error
        if not picture.is_file():
            raise WeftError(f"{browser} did not draw the picture; write .svg instead.")
        return picture.read_bytes()
