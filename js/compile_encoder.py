"""Compiles the encoder in C to WebAssembly, and writes it as a module: src/native/compiled.js.

    pip install ziglang==0.17.0
    python js/compile_encoder.py

The module is kept in the repository, so that nobody else needs the compiler. It names the checksum of what it was made
from: a test compares it with the sources. The program is text in a module, and not a file of its own, so that every
browser, bundler and node loads it without being told how.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from base64 import b64encode
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src" / "weft" / "encoding" / "native"
SOURCES = ("encoder.c", "kernels.h", "wasm.h")
MODULE = ROOT / "js" / "src" / "native" / "compiled.js"
COMPILER = "0.17.0"  # of ziglang
FUNCTIONS = ("weft_load", "weft_scratch", "weft_run", "malloc", "free")
FLAGS = (
    *("-target", "wasm32-wasi", "-mcpu=generic+simd128+bulk_memory", "-mexec-model=reactor"),
    *("-O3", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", "-Wl,--strip-all"),
    *(f"-Wl,--export={name}" for name in FUNCTIONS),
)


def checksum() -> str:
    """Of all that the module is made from."""
    total = sha256("\n".join((COMPILER, *FLAGS)).encode())
    for name in SOURCES:
        total.update((FOLDER / name).read_bytes())
    return total.hexdigest()


def compiled() -> bytes:
    """The program."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "encoder.wasm")
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, "-o", str(program), str(FOLDER / "encoder.c")]
        subprocess.run(command, check=True)
        return program.read_bytes()


def main() -> None:
    """Write the module."""
    if version("ziglang") != COMPILER:
        sys.exit(f"another version of the compiler would write other bytes: pip install ziglang=={COMPILER}")
    lines = (
        "// The encoder of src/weft/encoding/native as WebAssembly, by `make wasm`, from sources with this checksum.",
        f'export const SOURCES = "{checksum()}";',
        f'export const COMPILED =\n  "{b64encode(compiled()).decode()}";',
    )
    MODULE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
