"""Step 2: silver links of a statistical aligner, in both directions.

Runs eflomal (from PyPI, in an environment of its own: `--eflomal VENV/bin/eflomal-align`) on `WORK/words/LANG.tsv` and
writes `WORK/silver/LANG.fwd` and `LANG.rev`. The dev set of a language, where there is one, is aligned with it, so that
`WORK/silver/LANG.dev.*` says how good the links are.

    python silver.py DATA WORK --eflomal PROGRAM
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

# Below this many pairs words are cut to a prefix: inflected forms are too rare to be learned one by one.
FEW_PAIRS, PREFIX = 100_000, 5


def normalised(text: str, language: str) -> str:
    """Lower case; Romanian without diacritics, which half of its text lacks."""
    text = text.lower()
    if language == "ro":
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return text


def pairs(language: str, work: Path, gold: Path) -> Iterator[tuple[str, str]]:
    """The language's pairs, then those of its dev set."""
    for line in (work / "words" / f"{language}.tsv").open(encoding="utf-8", newline="\n"):
        left, right = line.rstrip("\n").split("\t")
        yield left, right
    if (gold / "dev.src").is_file():
        sides = [(gold / f"dev.{side}").read_text(encoding="utf-8").split("\n")[:-1] for side in ("src", "tgt")]
        yield from zip(*sides, strict=True)


def align(language: str, data: Path, work: Path, program: str) -> str:
    """Align one language."""
    began, count = time.time(), 0
    out = work / "silver"
    gold = data / "gold" / f"{language}-en"
    with tempfile.TemporaryDirectory(dir=work) as scratch:
        source, target = Path(scratch, "source"), Path(scratch, "target")
        with source.open("w", encoding="utf-8") as first, target.open("w", encoding="utf-8") as second:
            for left, right in pairs(language, work, gold):
                count += 1
                first.write(normalised(left, language) + "\n")
                second.write(normalised(right, "en") + "\n")
        # One sampler and half of the iterations are enough for links that are checked later on.
        quick = ["--n-samplers", "1", "--length", "0.5"]
        stems = ["--source-prefix", str(PREFIX), "--target-prefix", str(PREFIX)] if count < FEW_PAIRS else []
        files = [Path(scratch, name) for name in ("fwd", "rev")]
        command = [program, "-s", source, "-t", target, "-f", files[0], "-r", files[1], *stems, *quick, "--overwrite"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        n_train = sum(1 for _ in (work / "words" / f"{language}.tsv").open("rb"))
        for file in files:
            lines = file.read_text(encoding="ascii").split("\n")[:-1]
            assert len(lines) == count, (language, len(lines), count)
            if count > n_train:
                (out / f"{language}.dev.{file.name}").write_text("\n".join(lines[n_train:]) + "\n")
            (out / f"{language}.{file.name}").write_text("\n".join(lines[:n_train]) + "\n")
    return f"{language}: {count:,} pairs, {time.time() - began:.0f} s"


def main() -> None:
    """Align all languages that are prepared, the largest first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--eflomal", default="eflomal-align")
    options = parser.parse_args()
    (options.work / "silver").mkdir(exist_ok=True)
    prepared = sorted((options.work / "words").glob("*.tsv"), key=lambda path: -path.stat().st_size)
    for language in (path.stem for path in prepared):
        if not (options.work / "silver" / f"{language}.rev").exists():
            print(align(language, options.data, options.work, options.eflomal), flush=True)


if __name__ == "__main__":
    main()
