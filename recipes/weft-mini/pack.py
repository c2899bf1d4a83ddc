"""Step 4: words and silver links to shards.

Symmetrises `WORK/silver`, checks that no sentence of a test set is in the text, cuts words into pieces and writes
`WORK/packed/PART/LANG.xz`; each part holds its share of every language. Gold dev sets become `WORK/packed/gold/LANG.xz`
(three of four sentences) and `held/LANG.xz` (the fourth, to choose on; as text `WORK/held/LANG.{src,tgt,talp}`).

    python pack.py DATA WORK [LANG ...]
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from multiprocessing import Pool
from pathlib import Path

from forms import UNSPACED, Links, finer, varied
from packed import write_shard
from tokenizers import Tokenizer

from weft.encoding.subwords import FastTokenizer
from weft.extraction.symmetrize import symmetrize
from weft.text.gold import read_sentences
from weft.text.links import read_links
from weft.training.corpus import letters_of

PARTS = 4
MOST_PIECES = 126  # a side with its two special tokens has 128
SYMMETRIZATION = "grow-diag"
GOLD = ("ja", "ro", "zh", "cs", "en")

Row = tuple[tuple[str, ...], tuple[str, ...], Links]


def read_directed(path: Path) -> Iterator[set[tuple[int, int]]]:
    """Links as eflomal writes them."""
    with path.open(encoding="ascii") as lines:
        for line in lines:
            yield {(int(i), int(j)) for i, _, j in (link.partition("-") for link in line.split())}


def test_sentences(data: Path) -> set[str]:
    """Every side of every test set, as `weft train` compares them."""
    prefixes = [path.with_suffix("") for kind in ("test", "trial") for path in data.glob(f"gold/*/{kind}.src")]
    pairs = chain.from_iterable(read_sentences(Path(f"{prefix}.src"), Path(f"{prefix}.tgt")) for prefix in prefixes)
    return {letters_of(side) for pair in pairs for side in (pair.source, pair.target)} - {""}


def silver_rows(language: str, work: Path, generator: random.Random) -> Iterator[Row]:
    """The language's pairs in one of their forms, with symmetrised links."""
    files = [read_directed(work / "silver" / f"{language}.{way}") for way in ("fwd", "rev")]
    with (work / "words" / f"{language}.tsv").open(encoding="utf-8", newline="\n") as lines:
        for line, forward, backward in zip(lines, *files, strict=True):
            left, right = line.rstrip("\n").split("\t")
            source, target = varied(left, right, language, generator)
            words, links = source.split(" "), sorted(symmetrize(forward, backward, SYMMETRIZATION))
            if language in UNSPACED:
                words, links = finer(words, links, generator)
            yield tuple(words), tuple(target.split(" ")), links


def pack_rows(
    path: Path, rows: Sequence[Row], tokenizer: FastTokenizer, possible: Sequence[Set[tuple[int, int]]] = ()
) -> int:
    """Cut words into pieces and write those pairs that are neither too long nor without links.

    `possible` are those links of each row that annotators were not sure of.
    """
    pieces = tokenizer.split([side for source, target, _ in rows for side in (source, target)])
    ids, words, links = [], [], []
    doubtful: list[Set[tuple[int, int]]] = []
    for k, (_, _, between) in enumerate(rows):
        sides = pieces[2 * k], pieces[2 * k + 1]
        if between and max(len(side.ids) for side in sides) <= MOST_PIECES:
            ids += [list(side.ids) for side in sides]
            words += [list(side.words) for side in sides]
            links.append(between)
            doubtful += possible[k : k + 1]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_shard(path, ids, words, links, doubtful)
    return len(links)


def pack(task: tuple[str, Path, Path]) -> str:
    """Pack one language."""
    language, data, work = task
    began = time.time()
    tokenizer = FastTokenizer(Tokenizer.from_file(str(work / "tokenizer.json")))
    forbidden, generator = test_sentences(data), random.Random(language)
    rows = list(silver_rows(language, work, generator))
    clean = [row for row in rows if not forbidden & {letters_of(row[0]), letters_of(row[1])}]
    generator.shuffle(clean)
    kept = sum(
        pack_rows(work / "packed" / str(part) / f"{language}.xz", clean[part::PARTS], tokenizer)
        for part in range(PARTS)
    )
    overlap = len(rows) - len(clean)
    return f"{language}: {kept:,} of {len(rows):,} pairs; {overlap} shared a sentence with a test set; " \
        f"{time.time() - began:.0f} s"  # fmt: skip


def pack_gold(language: str, data: Path, work: Path) -> str:
    """Pack a dev set without what it shares with test sets: every fourth sentence is held out."""
    tokenizer = FastTokenizer(Tokenizer.from_file(str(work / "tokenizer.json")))
    prefix = data / "gold" / f"{language}-en" / "dev"
    pairs = read_sentences(Path(f"{prefix}.src"), Path(f"{prefix}.tgt"))
    lines = Path(f"{prefix}.talp").read_text(encoding="ascii").split("\n")[:-1]
    forbidden = test_sentences(data)
    rows: dict[int, Row] = {}
    possible: dict[int, set[tuple[int, int]]] = {}
    for number, (pair, gold) in enumerate(zip(pairs, read_links(f"{prefix}.talp"), strict=True)):
        if not forbidden & {letters_of(pair.source), letters_of(pair.target)}:
            rows[number] = (pair.source, pair.target, [(link.source, link.target) for link in gold.links])
            possible[number] = {(link.source, link.target) for link in gold.links if not link.sure}
    held_out = [number for number in rows if number % 4 == 3]
    write_dev(work / "held" / language, [rows[k] for k in held_out], [lines[k] for k in held_out])
    packed = {}
    for part, wanted in (("held", held_out), ("gold", [number for number in rows if number % 4 != 3])):
        path = work / "packed" / part / f"{language}.xz"
        chosen, doubtful = [rows[k] for k in wanted], [possible[k] for k in wanted]
        packed[part] = pack_rows(path, chosen, tokenizer, doubtful)
    overlap = len(lines) - len(rows)
    counts = f"{packed['gold']} and {packed['held']} held out"
    return f"{language} gold: {counts}; {overlap} shared a sentence with a test set"


def write_dev(prefix: Path, rows: Sequence[Row], links: Sequence[str]) -> None:
    """The held-out sentences as a dev set for `weft tune`."""
    prefix.parent.mkdir(parents=True, exist_ok=True)
    sides = ([" ".join(row[0]) for row in rows], [" ".join(row[1]) for row in rows], links)
    for name, side in zip(("src", "tgt", "talp"), sides, strict=True):
        Path(f"{prefix}.{name}").write_text("\n".join(side) + "\n", encoding="utf-8")


def main() -> None:
    """Pack the languages named, or all that have silver links."""
    data, work, *languages = sys.argv[1:]
    chosen = languages or sorted(path.stem for path in Path(work, "silver").glob("??.rev"))
    for language in GOLD:
        print(pack_gold(language, Path(data), Path(work)))
    with Pool() as pool:
        for report in pool.imap_unordered(pack, [(language, Path(data), Path(work)) for language in chosen]):
            print(report, flush=True)


if __name__ == "__main__":
    main()
