"""Step 1, second half: multi-parallel text to words.

Reads `DATA/multi/CORPUS/LANG.txt.xz` and writes `WORK/lines/CORPUS/LANG.txt`: every line cut into words as `weft align
--raw` cuts them. Lines keep their numbers, so that any two languages of a corpus join; a line that is missing or too
long is empty. Korean comes twice: cut into morphemes (`ko`) and at blanks alone (`ko-whole`), as treebanks have it.
Languages that `DATA/train` lacks are also written with their English as `WORK/new/words/LANG.tsv`, for step 2.

    python lines.py DATA WORK
"""

from __future__ import annotations

import lzma
import sys
import time
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path

from store import WHOLE_KOREAN

from weft.text.segment import segmenter_for

MOST_WORDS = 100


def prepare(task: tuple[Path, Path]) -> str:
    """Cut one file into words."""
    source, target = task
    whole = target.stem == WHOLE_KOREAN
    segmenter, began, filled = segmenter_for("und-Hang" if whole else target.stem), time.time(), 0
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    with lzma.open(source, "rt", encoding="utf-8", newline="\n") as lines, partial.open("w", encoding="utf-8") as out:
        for line in lines:
            words = segmenter(line.rstrip("\n")).words
            out.write((" ".join(words) if len(words) <= MOST_WORDS else "") + "\n")
            filled += bool(words)
    partial.rename(target)
    return f"{target.parent.name}/{target.stem}: {filled:,} lines, {time.time() - began:.0f} s"


def joined(work: Path, language: str) -> Iterator[tuple[str, int, str, str]]:
    """Lines of a language with their English: corpus, line number, words of both; corpora in alphabetical order."""
    for path in sorted((work / "lines").glob(f"*/{language}.txt")):
        sides = [file.read_text(encoding="utf-8").split("\n")[:-1] for file in (path, path.with_name("en.txt"))]
        for number, (foreign, english) in enumerate(zip(*sides, strict=True)):
            if foreign and english:
                yield path.parent.name, number, foreign, english


def write_new(data: Path, work: Path) -> None:
    """Write the pairs of languages that have no training text but this."""
    (work / "new" / "words").mkdir(parents=True, exist_ok=True)
    old = {path.name.split("-")[0] for path in data.glob("train/*.xz")} | {"en", WHOLE_KOREAN}
    for language in sorted({path.stem for path in (work / "lines").glob("*/*.txt")} - old):
        with (work / "new" / "words" / f"{language}.tsv").open("w", encoding="utf-8") as out:
            out.writelines(f"{foreign}\t{english}\n" for _, _, foreign, english in joined(work, language))


def main() -> None:
    """Prepare all files, the largest first."""
    data, work = map(Path, sys.argv[1:])
    sources = sorted(data.glob("multi/*/*.txt.xz"), key=lambda path: -path.stat().st_size)
    tasks = [(path, work / "lines" / path.parent.name / f"{path.name.split('.')[0]}.txt") for path in sources]
    tasks += [(path, target.with_stem(WHOLE_KOREAN)) for path, target in tasks if target.stem == "ko"]
    with Pool() as pool:
        for report in pool.imap_unordered(prepare, [task for task in tasks if not task[1].exists()]):
            print(report, flush=True)
    write_new(data, work)


if __name__ == "__main__":
    main()
