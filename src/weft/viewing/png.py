"""SVG to PNG and PDF, drawn by a Chromium that is on this machine."""

from __future__ import annotations

import base64
import math
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
# What a canvas can hold: pixels along a side, and in all.
_LONGEST, _LARGEST = 16_384, 1 << 27
_PAGE = """<!doctype html><meta charset="utf-8"><body><img src="data:image/svg+xml;base64,{picture}"><script>
onload = () => {{
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [{width}, {height}];
  canvas.getContext("2d").drawImage(document.querySelector("img"), 0, 0, {width}, {height});
  document.body.textContent = canvas.toDataURL("image/png");
}};
</script></body>"""
# The picture stays a hair lower than the page, or rounding would push its edge to a second one.
_PRINTED = """<!doctype html><meta charset="utf-8"><style>@page {{ size: {width}px {height}px; margin: 0 }}
body {{ margin: 0 }} img {{ display: block; height: {height}px; max-height: 99.99vh }}</style>
<img src="data:image/svg+xml;base64,{picture}">"""


def find_browser() -> str | None:
    """The first Chromium of this machine, by its usual names."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def _as_root() -> list[str]:
    """Chromium's sandbox refuses to start for root."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def png(svg: str, *, scale: float = 2) -> bytes:
    """Draw an SVG at twice its size, or as large as a browser can draw it.

    The page paints it on a canvas: a window would cut it off where it is smaller or larger than windows may be.
    """
    width, height = _size(svg)
    scale = min(scale, _LONGEST / max(width, height), math.sqrt(_LARGEST / (width * height)))
    page = _PAGE.format(picture=_encoded(svg), width=round(width * scale), height=round(height * scale))
    with TemporaryDirectory(prefix="weft-") as folder:
        browser, output = _loaded(Path(folder), page, "--dump-dom", of="PNG")
        drawn = re.search(r"data:image/png;base64,([\w+/=]+)", output)
    if drawn is None:
        raise WeftError(f"{browser} did not draw the picture; write .svg instead.")
    return base64.b64decode(drawn[1])


def pdf(svg: str) -> bytes:
    """Print an SVG on a page of its size: lines and letters stay what they are."""
    width, height = _size(svg)
    page = _PRINTED.format(picture=_encoded(svg), width=width, height=height)
    with TemporaryDirectory(prefix="weft-") as folder:
        printed = Path(folder, "pair.pdf")
        # Older versions know the second name of the option alone.
        options = (f"--print-to-pdf={printed}", "--no-pdf-header-footer", "--print-to-pdf-no-header")
        browser, _ = _loaded(Path(folder), page, *options, of="PDF")
        if not printed.is_file():
            raise WeftError(f"{browser} did not print the picture; write .svg instead.")
        return printed.read_bytes()


def _size(svg: str) -> tuple[int, int]:
    found = _SIZE.search(svg)
    assert found is not None
    return int(found[1]), int(found[2])


def _encoded(svg: str) -> str:
    return base64.b64encode(svg.encode()).decode()


def _loaded(folder: Path, page: str, *options: str, of: str) -> tuple[str, str]:
    """Which browser loaded a page, and what it said; `of` is what the page becomes."""
    browser = find_browser()
    if browser is None:
        raise WeftError(f"{of} is drawn by Chromium, and none was found; install it, or write .svg instead.")
    path = folder / "pair.html"
    path.write_text(page, encoding="utf-8")
    command = [
        browser, "--headless", *_as_root(), "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={folder}/profile", *options, path.as_uri(),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise WeftError(f"{browser} did not draw the picture within {_SECONDS} seconds.") from error
    return browser, done.stdout.decode("utf-8", "replace")
