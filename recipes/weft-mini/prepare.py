"""Step 1: raw parallel text to words.

Reads `DATA/train/LANG-en.tsv.xz` (foreign, English, corpus) and writes `WORK/words/LANG.tsv`: both sides cut into words
as `weft align --raw` cuts them, one pair a line. Corpora that come cut into words keep their own words. Four languages
have far more software text than other text: only a share of it is kept.

    python prepare.py DATA WORK [LANG ...]
"""

from __future__ import annotations

import lzma
import random
import sys
import time
from multiprocessing import Pool
from pathlib import Path

from forms import UNSPACED

from weft.text.segment import Segmenter, segmenter_for

MOST_WORDS = 100
# Corpora that are cut into words already (the last in part: lines with few blanks are raw).
CUT_CORPORA = {"kftt-30k", "small-parallel-enja", "coursera-subs"}
CHARACTERS_A_BLANK = 6
# Software, of which the largest languages have so much that prose would be drowned.
SOFTWARE = {
    "debian-mo",
    "debian-mo2",
    "libreoffice",
    "mdn-web-docs",
    "python-docs",
    "django-docs",
    "kubernetes-docs",
    "godot",
}
LARGE, SOFTWARE_KEPT = ("ja", "zh", "fr", "de"), 0.3


def words_of(text: str, segmenter: Segmenter, corpus: str, unspaced: bool) -> tuple[str, ...]:
    """The words of one side."""
    if corpus in CUT_CORPORA and (not unspaced or text.count(" ") * CHARACTERS_A_BLANK >= len(text)):
        return tuple(text.split(" "))
    if unspaced:
        text = text.replace(" ", "") if text.isascii() is False and corpus in CUT_CORPORA else text
    return segmenter(text).words


def prepare(task: tuple[Path, Path]) -> str:
    """Cut one language's text into words."""
    source, target = task
    language = source.name.split("-")[0]
    foreign, english = segmenter_for(language), segmenter_for("en")
    unspaced = language in UNSPACED
    began, read, written, generator = time.time(), 0, 0, random.Random(language)
    partial = target.with_suffix(".partial")
    with lzma.open(source, "rt", encoding="utf-8", newline="\n") as lines, partial.open("w", encoding="utf-8") as out:
        for line in lines:
            read += 1
            left, right, corpus = line.rstrip("\n").split("\t")
            if language in LARGE and corpus in SOFTWARE and generator.random() >= SOFTWARE_KEPT:
                continue
            sides = words_of(left, foreign, corpus, unspaced), words_of(right, english, corpus, False)
            if all(0 < len(side) <= MOST_WORDS for side in sides):
                out.write("\t".join(map(" ".join, sides)) + "\n")
                written += 1
    partial.rename(target)
    return f"{language}: {written:,} of {read:,} pairs, {time.time() - began:.0f} s"


def main() -> None:
    """Prepare the languages named, or all, the largest first."""
    data, work, *languages = sys.argv[1:]
    folder = Path(work) / "words"
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted(Path(data, "train").glob("*-en.tsv.xz"), key=lambda path: -path.stat().st_size)
    tasks = [(source, folder / f"{source.name.split('-')[0]}.tsv") for source in sources]
    chosen = [task for task in tasks if not languages or task[1].stem in languages]
    with Pool() as pool:
        for report in pool.imap_unordered(prepare, [task for task in chosen if not task[1].exists()]):
            print(report, flush=True)


if __name__ == "__main__":
    main()
