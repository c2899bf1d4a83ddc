"""Step 1, second half: multi-parallel text to words.

Reads `DATA/multi/CORPUS/LANG.txt.xz` and writes `WORK/lines/CORPUS/LANG.txt`: every line cut into words as `weft align
--raw` cuts them, in one of the forms of `forms.py`; a quarter of the lines is in lower case, in all languages. Lines
keep their numbers, so that any two languages of a corpus join; a line that is missing or too long is empty. Korean
comes twice: cut into morphemes (`ko`) and at blanks alone (`ko-whole`), as treebanks have it. Languages that
`DATA/train` lacks are also written with their English as `WORK/new/LANG.tsv`, for links of a statistical aligner.

    python lines.py DATA WORK
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from forms import LOWER_CASED, formed
from prepare import MOST_WORDS, in_parallel, rewritten

from weft.text.segment import segmenter_for

WHOLE_KOREAN = "ko-whole"  # Korean cut at blanks alone


def cut(task: tuple[Path, Path]) -> str:
    """Cut one file into words."""
    source, target = task
    segmenter = segmenter_for("und-Hang" if target.stem == WHOLE_KOREAN else target.stem)
    # The same lines of a corpus are in lower case in every language.
    lower, generator = random.Random(target.parent.name), random.Random(target.stem)

    def of_line(line: str) -> str:
        words = segmenter(line).words
        text = " ".join(formed(list(words), target.stem, generator)) if len(words) <= MOST_WORDS else ""
        return text.lower() if lower.random() < LOWER_CASED else text

    return rewritten(source, target, of_line)


def write_new(data: Path, work: Path) -> None:
    """Write the pairs of languages that have no training text but this."""
    (work / "new").mkdir(parents=True, exist_ok=True)
    old = {path.name.split("-")[0] for path in data.glob("train/*.xz")} | {"en", WHOLE_KOREAN}
    for language in sorted({path.stem for path in (work / "lines").glob("*/*.txt")} - old):
        with (work / "new" / f"{language}.tsv").open("w", encoding="utf-8") as out:
            for path in sorted((work / "lines").glob(f"*/{language}.txt")):
                sides = [file.read_text(encoding="utf-8").split("\n")[:-1] for file in (path, path.with_name("en.txt"))]
                out.writelines(f"{foreign}\t{english}\n" for foreign, english in zip(*sides, strict=True)
                               if foreign and english)  # fmt: skip


def main() -> None:
    """Prepare all files, the largest first."""
    data, work = map(Path, sys.argv[1:])
    sources = sorted(data.glob("multi/*/*.txt.xz"), key=lambda path: -path.stat().st_size)
    tasks = [(path, work / "lines" / path.parent.name / f"{path.name.split('.')[0]}.txt") for path in sources]
    tasks += [(path, target.with_stem(WHOLE_KOREAN)) for path, target in tasks if target.stem == "ko"]
    in_parallel(cut, tasks)
    write_new(data, work)


if __name__ == "__main__":
    main()
