"""Compiles the encoder in C while weft is built or installed. Where that cannot be, weft runs with onnxruntime alone.

    python hatch_build.py    # compile it in place, for work in the repository

With `WEFT_PURE=1` in the environment nothing is compiled: that makes the wheel for all other systems.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path("src/weft/encoding/native")
LIBRARY = FOLDER / "libencoder.so"
# No flags for the machine at hand: functions say themselves what they need, and are chosen when they run.
FLAGS = ["-O3", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", "-fPIC", "-shared"]


def _hook() -> Any:
    try:
        from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    except ImportError:  # a script needs none
        return object
    return BuildHookInterface


class NativeHook(_hook()):  # type: ignore[misc]
    """Adds the library to a wheel, which is then one for this system; any Python can load it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of a wheel, or of an editable install, are collected."""
        if self.target_name != "wheel":
            return
        obstacle = compile_library(Path(self.root))
        if obstacle:
            self.app.display_warning(f"weft will run with onnxruntime alone: {obstacle}")
            return
        build_data["artifacts"].append(f"/{LIBRARY.as_posix()}")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_system()}"


def compile_library(root: Path) -> str:
    """Compile the library into its folder.

    Returns:
        Why it could not be done; empty if it was.
    """
    if os.environ.get("WEFT_PURE", "0") != "0":
        return "the encoder in C is not wanted (WEFT_PURE)."
    if os.name != "posix" or platform.machine() not in ("x86_64", "AMD64") or _for_another_machine():
        return "the encoder in C is for x86-64, on Linux and macOS."
    unfinished = root / LIBRARY.with_name(f"{LIBRARY.name}.{os.getpid()}")
    try:
        compiler = shlex.split(os.environ.get("CC", "cc"))
        command = [*compiler, *FLAGS, "-o", str(unfinished), str(root / FOLDER / "encoder.c")]
        # What a compiler says may be in any encoding, and has to be shown in any.
        done = subprocess.run(command, capture_output=True, text=True, errors="backslashreplace", check=False)
        if done.returncode == 0:
            unfinished.replace(root / LIBRARY)
            return ""
        said = next((line for line in done.stderr.splitlines() if "error" in line), f"exit code {done.returncode}")
    except FileNotFoundError:
        said = "there is no C compiler"
    except (OSError, ValueError) as error:  # a folder that cannot be written, a setting that is no command
        said = str(error)
    for file in (unfinished, root / LIBRARY):  # nor may a library of older sources stay behind
        with suppress(OSError):
            file.unlink()
    return f"the encoder in C could not be compiled ({said.strip()})."


def _for_another_machine() -> bool:
    """Whether the wheel is for another processor than this one's, or for a 32-bit Python."""
    return sys.maxsize < 1 << 32 or not sysconfig.get_platform().endswith(("x86_64", "universal2"))


def _system() -> str:
    if sys.platform == "darwin":
        from packaging.tags import platform_tags

        return next(platform_tags())
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


if __name__ == "__main__":
    sys.exit(compile_library(Path(__file__).parent) or 0)
