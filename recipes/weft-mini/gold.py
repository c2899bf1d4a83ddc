"""Step 1, third part: gold links in weft's own files.

Writes the verses of `DATA/gold-joined` as `WORK/gold/PAIR.src`, `.tgt` and `.talp`, those for choosing as
`WORK/dev/PAIR`. Punctuation says nothing in them, so that links between such words are possible ones. Dev sets of
`DATA/gold` are in such files already.

    python gold.py DATA WORK
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path


def with_free_marks(source: list[str], target: list[str], links: list[str]) -> list[str]:
    """The links of a verse, with possible ones between all of its punctuation."""
    marks = [[k for k, word in enumerate(side) if not any(map(str.isalnum, word))] for side in (source, target)]
    known = {link.replace("p", "-") for link in links}
    return links + [f"{i}p{j}" for i in marks[0] for j in marks[1] if f"{i}-{j}" not in known]


def write(path: Path, out: Path) -> int:
    """Write one set; returns how many verses it has."""
    files = [out.with_name(f"{out.name}.{ending}").open("w", encoding="utf-8") for ending in ("src", "tgt", "talp")]
    count = 0
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            _, left, right, text = line.rstrip("\n").split("\t")
            links = with_free_marks(left.split(" "), right.split(" "), text.split())
            for file, value in zip(files, (left, right, " ".join(links)), strict=True):
                file.write(f"{value}\n")
            count += 1
    for file in files:
        file.close()
    return count


def main() -> None:
    """Write all sets."""
    data, work = map(Path, sys.argv[1:])
    for path in sorted(data.glob("gold-joined/*.tsv.xz")):
        pair, *kind = path.name.removesuffix(".tsv.xz").split(".")
        folder = work / ("dev" if kind == ["dev"] else "gold")
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{folder.name}/{pair}: {write(path, folder / pair):,} verses", flush=True)


if __name__ == "__main__":
    main()
