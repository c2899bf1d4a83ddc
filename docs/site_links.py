"""For `make site`: pages of docs/ link to files outside of it, which a site does not have. They go into its `project/`.

mkdocs calls these functions by their names (its "hooks").
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
HOME = "project"
PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "src/weft/models/weft-mini/README.md",
    "recipes/weft-mini/README.md",
    "benchmarks/README.md",
)
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages themselves, and every file that they or the pages of docs/ link to."""
    texts = {f"docs/{path.name}": path for path in (ROOT / "docs").glob("*.md")} | {name: ROOT / name for name in PAGES}
    linked = {target for name, path in texts.items() for target in _targets(name, path.read_text(encoding="utf-8"))}
    for name in sorted(linked | set(PAGES)):
        if not name.startswith("docs/"):
            files.append(File.generated(config, f"{HOME}/{name}", abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links point to where files are on the site."""
    here = page.file.src_uri
    name = here.removeprefix(f"{HOME}/") if here.startswith(f"{HOME}/") else f"docs/{here}"

    def moved(link: re.Match[str]) -> str:
        target = _in_repository(name, link[1])
        if target is None:
            return link[0]
        place = target.removeprefix("docs/") if target.startswith("docs/") else f"{HOME}/{target}"
        return f"]({posixpath.relpath(place, posixpath.dirname(here) or '.')}{link[2] or ''})"

    return _LINK.sub(moved, markdown)


def _targets(name: str, text: str) -> set[str]:
    found = (_in_repository(name, link[1]) for link in _LINK.finditer(text))
    return {target for target in found if target is not None}


def _in_repository(page: str, link: str) -> str | None:
    """The file that a page links to, from the root of the repository; None if there is no such file."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    return path if (ROOT / path).is_file() else None
