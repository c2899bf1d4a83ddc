"""Check what `make release` built: the contents and size of dist/, and that the wheel works in an empty environment.

    python .github/check_release.py dist

The environment is made in a temporary folder and gets the wheel and what pip finds for it, nothing else.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LARGEST_WHEEL = 30_000_000
LIBRARY = "weft/encoding/native/libencoder.so"  # of encoder.c, in wheels for one system
NEEDED = ("weft/py.typed", "weft/models/weft-mini/model.onnx", "weft/models/weft-mini/weft.json")
PAIR = "das ist gut ||| that is good\n"
PYTHON = "from weft import Aligner; print(Aligner.from_pretrained().align('das ist gut', 'that is good'))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the wheel and the sdist are")
    folder = parser.parse_args().folder
    wheels, (sdist,) = sorted(folder.glob("*.whl")), folder.glob("*.tar.gz")
    demand(sum(wheel.name.endswith("-none-any.whl") for wheel in wheels) == 1, "there is not one wheel for all systems")
    for wheel in wheels:
        check_contents(wheel, sdist)
        with tempfile.TemporaryDirectory(prefix="weft-release-") as empty:
            smoke_test(wheel.resolve(), Path(empty))


def check_contents(wheel: Path, sdist: Path) -> None:
    """Everything that is tracked below src/weft is in both, and the wheel has nothing else but the aligner of js/."""
    tracked = {name.removeprefix("src/") for name in tracked_below("src")}
    scripts = {name.replace("js/src/", "weft/viewing/browser/") for name in tracked_below("js/src")}
    names = zipfile.ZipFile(wheel).namelist()
    packed = {name for name in names if ".dist-info/" not in name and not name.endswith("/")}  # files, no folders
    compiled = set() if wheel.name.endswith("-none-any.whl") else {LIBRARY}
    wanted = tracked | scripts | compiled
    demand(packed == wanted, f"{wheel.name} differs from src: {sorted(packed ^ wanted)}")
    demand(set(NEEDED) <= packed, f"{wheel.name} lacks one of {', '.join(NEEDED)}")
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/")[2].removeprefix("src/") for name in archive.getnames()}
    demand(tracked <= sources, f"{sdist.name} lacks {sorted(tracked - sources)}")
    for path in (wheel, sdist):
        size = path.stat().st_size
        demand(size < LARGEST_WHEEL, f"{path.name} has {size:,} bytes")
        print(f"{path.name}: {size / 1e6:.1f} MB, {len(packed)} files of the package")


def tracked_below(folder: str) -> list[str]:
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def smoke_test(wheel: Path, folder: Path) -> None:
    """Install the wheel as a stranger does, and align, score and draw with it."""
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    before = size_of(folder / "env")
    begun = time.perf_counter()
    run([programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], folder)
    grown = (size_of(folder / "env") - before) / 1e6
    print(f"installed in {time.perf_counter() - begun:.0f} s; the environment grew by {grown:.0f} MB")
    begun = time.perf_counter()
    demand(run([programs / "weft", "align"], folder, PAIR) == "0-0 1-1 2-2\n", "weft align gives other links")
    print(f"first link after {time.perf_counter() - begun:.1f} s")
    demand(run([programs / "python", "-c", PYTHON], folder) == "0-0 1-1 2-2\n", "Aligner gives other links")
    (folder / "gold").write_text("0-0 1-1\n")
    demand("100.0" in run([programs / "weft", "score", "gold", "gold"], folder), "weft score gives other rates")
    run([programs / "weft", "view", "-o", "page.html"], folder, PAIR)
    demand((folder / "page.html").stat().st_size > 10_000, "weft view wrote no page")


def run(command: list[object], folder: Path, text: str = "") -> str:
    """What a command prints, run in an empty folder with nothing of this checkout in reach."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False)
    demand(done.returncode == 0, f"{command[0]} failed:\n{done.stderr}")
    return done.stdout


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def demand(fine: bool, otherwise: str) -> None:
    if not fine:
        sys.exit(f"release: {otherwise}.")


if __name__ == "__main__":
    main()
