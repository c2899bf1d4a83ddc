"""SVG to PNG, drawn by a Chromium that is on this machine."""

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
    browser = find_browser()
    if browser is None:
        raise WeftError("PNG is drawn by Chromium, and none was found; install it, or write .svg instead.")
    size = _SIZE.search(svg)
    assert size is not None
    width, height = int(size[1]), int(size[2])
    scale = min(scale, _LONGEST / max(width, height), math.sqrt(_LARGEST / (width * height)))
    picture = base64.b64encode(svg.encode()).decode()
    page = _PAGE.format(picture=picture, width=round(width * scale), height=round(height * scale))
    drawn = re.search(r"data:image/png;base64,([\w+/=]+)", _loaded(browser, page))
    if drawn is None:
        raise WeftError(f"{browser} did not draw the picture; write .svg instead.")
    return base64.b64decode(drawn[1])


def _loaded(browser: str, page: str) -> str:
    """A page as it is after its program has run."""
    with TemporaryDirectory(prefix="weft-") as folder:
        path = Path(folder, "pair.html")
        path.write_text(page, encoding="utf-8")
        command = [
            browser, "--headless", *_as_root(), "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={folder}/profile", "--dump-dom", path.as_uri(),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise WeftError(f"{browser} did not draw the picture within {_SECONDS} seconds.") from error
        return done.stdout.decode("utf-8", "replace")
