"""Step 1: raw parallel text to words.

Reads `DATA/train/LANG-en.tsv.xz` (foreign, English, corpus) and writes `WORK/words/LANG.tsv`: both sides cut into words
as `weft align --raw` cuts them, one pair a line, in one of the forms of `forms.py`. Corpora that come cut into words
keep their own words. Four languages have far more software text than other text: only a share of it is kept.

    python prepare.py DATA WORK
"""

from __future__ import annotations

import lzma
import random
import sys
import time
from collections.abc import Callable, Iterable
from multiprocessing import Pool
from pathlib import Path

from forms import UNSPACED, formed, varied

from weft.text.files import whole_file
from weft.text.segment import Segmenter, segmenter_for

MOST_WORDS = 100
# Corpora that are cut into words already (the last in part: lines with few blanks are raw).
CUT_CORPORA = {"kftt-30k", "small-parallel-enja", "coursera-subs"}
CHARACTERS_A_BLANK = 6
# Software, of which the largest languages have so much that prose would be drowned.
SOFTWARE = {
    "debian-mo", "debian-mo2", "libreoffice", "mdn-web-docs", "python-docs", "django-docs", "kubernetes-docs", "godot",
}  # fmt: skip
LARGE, SOFTWARE_KEPT = ("ja", "zh", "fr", "de"), 0.3


def words_of(text: str, segmenter: Segmenter, corpus: str, unspaced: bool) -> tuple[str, ...]:
    """The words of one side."""
    if corpus in CUT_CORPORA and (not unspaced or text.count(" ") * CHARACTERS_A_BLANK >= len(text)):
        return tuple(text.split(" "))
    if unspaced and corpus in CUT_CORPORA and not text.isascii():
        text = text.replace(" ", "")
    return segmenter(text).words


def rewritten(source: Path, target: Path, change: Callable[[str], str | None]) -> str:
    """Write what becomes of each line of a file, if anything does."""
    began, read, written = time.time(), 0, 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(source, "rt", encoding="utf-8", newline="\n") as lines, whole_file(target) as out:
        for line in lines:
            read += 1
            changed = change(line.rstrip("\n"))
            if changed is not None:
                out.write(f"{changed}\n".encode())
                written += 1
    return f"{target.parent.name}/{target.stem}: {written:,} of {read:,} lines, {time.time() - began:.0f} s"


def in_parallel(prepare: Callable[[tuple[Path, Path]], str], tasks: Iterable[tuple[Path, Path]]) -> None:
    """Make each target of its source, if it is not there yet."""
    with Pool() as pool:
        for report in pool.imap_unordered(prepare, [task for task in tasks if not task[1].exists()]):
            print(report, flush=True)


def prepare(task: tuple[Path, Path]) -> str:
    """Cut one language's text into words."""
    source, target = task
    language, generator = target.stem, random.Random(target.stem)
    foreign, english = segmenter_for(language), segmenter_for("en")

    def cut(line: str) -> str | None:
        left, right, corpus = line.split("\t")
        if language in LARGE and corpus in SOFTWARE and generator.random() >= SOFTWARE_KEPT:
            return None
        sides = words_of(left, foreign, corpus, language in UNSPACED), words_of(right, english, corpus, False)
        if not all(0 < len(side) <= MOST_WORDS for side in sides):
            return None
        source, target = varied(" ".join(sides[0]), " ".join(sides[1]), language, generator)
        return f"{' '.join(formed(source.split(' '), language, generator))}\t{target}"

    return rewritten(source, target, cut)


def main() -> None:
    """Prepare all languages, the largest first."""
    data, work = map(Path, sys.argv[1:])
    sources = sorted(data.glob("train/*-en.tsv.xz"), key=lambda path: -path.stat().st_size)
    in_parallel(prepare, [(path, work / "words" / f"{path.name.split('-')[0]}.tsv") for path in sources])


if __name__ == "__main__":
    main()
