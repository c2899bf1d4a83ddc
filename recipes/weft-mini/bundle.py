"""Step 4 of a next generation: words to shards for `teach.py`.

Checks that no sentence of a test set or of `gold/pud` is in the text, cuts words into pieces and writes

    WORK/bundle/taught/LANG.xz    pairs with English whose links the teacher knows
    WORK/bundle/lines/CORPUS.xz   multi-parallel text
    WORK/bundle/silver/LANG.xz    links of a statistical aligner for languages the teacher does not know
    WORK/bundle/gold/NAME.xz      dev sets and `gold-joined`;  WORK/bundle/dev/NAME.xz  what is only looked at

    python bundle.py DATA WORK
"""

from __future__ import annotations

import json
import lzma
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, islice
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from forms import UNSPACED, finer, varied
from lines import joined
from store import Array, Shard, packed_links, packed_sentences, write
from tokenizers import Tokenizer

from weft.encoding.subwords import FastTokenizer
from weft.extraction.symmetrize import symmetrize
from weft.text.gold import read_sentences
from weft.text.links import read_links
from weft.training.corpus import letters_of

SYMMETRIZATION = "grow-diag"
DEV_SETS = ("ja", "ro", "zh", "cs", "en")
# Prefixes that Arabic treebanks write as words of their own: and, so, by, for, as.
_CLITICS, _CLITICS_CUT = "وفبلك", 0.35

Gold = tuple[Sequence[str], Sequence[str], list[tuple[int, int]], set[tuple[int, int]]]


@cache
def forbidden(data: Path) -> frozenset[str]:
    """The letters of every sentence that must not be trained on."""
    paths = [path for kind in ("test", "trial") for path in data.glob(f"gold/*/{kind}.src")]
    paths += data.glob("gold/pud/*.src")
    pairs = chain.from_iterable(read_sentences(path, path.with_suffix(".tgt")) for path in paths)
    return frozenset(letters_of(side) for pair in pairs for side in (pair.source, pair.target)) - {""}


@cache
def tokenizer_of(work: Path) -> FastTokenizer:
    """The tokenizer of this generation."""
    return FastTokenizer(Tokenizer.from_file(str(work / "tokenizer.json")))


def pieces_of(work: Path, sentences: Iterable[Sequence[str]], at_once: int = 20_000) -> Iterator[tuple[Array, Array]]:
    """Ids and words of the pieces of sentences."""
    rest = iter(sentences)
    while chunk := list(islice(rest, at_once)):
        for piece in tokenizer_of(work).split([tuple(words) for words in chunk]):
            yield piece.ids.astype(np.int32), piece.words.astype(np.int32)


def with_clitics_cut(words: list[str], generator: random.Random) -> list[str]:
    """Arabic with some prefixes as words, in half of the sentences: some people's Arabic comes like this."""
    if generator.random() < 0.5:
        return words
    cut = (
        (word[0], word[1:]) if len(word) > 3 and word[0] in _CLITICS and generator.random() < _CLITICS_CUT else (word,)
        for word in words
    )
    return list(chain.from_iterable(cut))


def formed(words: list[str], language: str, generator: random.Random) -> list[str]:
    """Words as others might have cut them."""
    if language in UNSPACED:
        return finer(words, generator)
    return with_clitics_cut(words, generator) if language == "ar" else words


def pack_pairs(language: str, data: Path, work: Path) -> str:
    """Pack the bilingual text of a language."""
    generator, dropped = random.Random(language), 0
    sides: list[list[str]] = []
    with (work / "words" / f"{language}.tsv").open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            left, right = line.rstrip("\n").split("\t")
            source, target = varied(left, right, language, generator)
            words = formed(source.split(" "), language, generator), target.split(" ")
            if forbidden(data) & {letters_of(side) for side in words}:
                dropped += 1
            else:
                sides += words
    write(work / "bundle" / "taught" / f"{language}.xz", packed_sentences(pieces_of(work, sides)))
    return f"{len(sides) // 2:,} pairs; {dropped} shared a sentence with a test set"


def pack_lines(corpus: str, data: Path, work: Path) -> str:
    """Pack one corpus of multi-parallel text: languages one after the other, each with as many lines."""
    paths = sorted((work / "lines" / corpus).glob("*.txt"))
    dropped, sides = 0, []
    lower = random.Random(corpus)
    lowered = [lower.random() < 0.25 for _ in paths[0].open(encoding="utf-8")]
    for path in paths:
        generator = random.Random(path.stem)
        for line, low in zip(path.read_text(encoding="utf-8").split("\n")[:-1], lowered, strict=True):
            words = formed(line.split(" "), path.stem, generator) if line else []
            if letters_of(words) in forbidden(data):
                dropped, words = dropped + 1, []
            sides.append([word.lower() for word in words] if low else words)
    arrays = packed_sentences(pieces_of(work, sides))
    languages = np.array(json.dumps([path.stem for path in paths]))
    write(work / "bundle" / "lines" / f"{corpus}.xz", {**arrays, "languages": languages})
    return f"{len(paths)} languages, {len(lowered):,} lines; {dropped} sentences of a test set dropped"


def pack_silver(language: str, work: Path) -> str:
    """Pack the links of a new language, with the corpus and line that each pair has."""
    folder, places, links = work / "new" / "silver", [], []
    corpora = sorted(path.name for path in (work / "lines").iterdir())
    ways = [(folder / f"{language}.{way}").open(encoding="ascii") for way in ("fwd", "rev")]
    for (corpus, number, _, _), *lines in zip(joined(work, language), *ways, strict=True):
        forward, backward = ({tuple(map(int, link.split("-"))) for link in line.split()} for line in lines)
        places.append((corpora.index(corpus), number))
        links.append(sorted(symmetrize(forward, backward, SYMMETRIZATION)))  # type: ignore[arg-type]
    where = np.array(places, dtype=np.int32)
    arrays: Shard = {"corpus": where[:, 0].astype(np.uint8), "line": where[:, 1], **packed_links(links)}
    write(work / "bundle" / "silver" / f"{language}.xz", arrays)
    return f"{len(links):,} pairs"


def dev_set(prefix: Path) -> Iterator[Gold]:
    """Sentences and links of a dev set: words of both sides, all links, those that are only possible."""
    pairs = read_sentences(prefix.with_suffix(".src"), prefix.with_suffix(".tgt"))
    for pair, gold in zip(pairs, read_links(str(prefix.with_suffix(".talp"))), strict=True):
        links = sorted((link.source, link.target) for link in gold.links)
        yield pair.source, pair.target, links, {(link.source, link.target) for link in gold.links if not link.sure}


def joined_gold(path: Path) -> Iterator[Gold]:
    """Verses of `gold-joined`; punctuation says nothing there, so that links between such words are free."""
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            _, left, right, text = line.rstrip("\n").split("\t")
            source, target = left.split(" "), right.split(" ")
            links: dict[tuple[int, int], bool] = {}
            for link in text.split():
                i, j = map(int, link.replace("p", "-").split("-"))
                links[i, j] = "p" in link
            marks = [[k for k, word in enumerate(side) if not any(map(str.isalnum, word))] for side in (source, target)]
            for i in marks[0]:
                for j in marks[1]:
                    links.setdefault((i, j), True)
            possible = {link for link, doubtful in links.items() if doubtful}
            yield source, target, sorted(links), possible


def pack_gold(part: str, name: str, rows: Iterable[Gold], data: Path, work: Path) -> str:
    """Pack gold without what it shares with a test set."""
    everything = list(rows)
    kept = [row for row in everything if part == "dev" or not forbidden(data) & set(map(letters_of, row[:2]))]
    arrays = packed_sentences(pieces_of(work, chain.from_iterable(row[:2] for row in kept)))
    sure = np.array([link not in row[3] for row in kept for link in row[2]])
    write(work / "bundle" / part / f"{name}.xz", {**arrays, **packed_links([row[2] for row in kept]), "sure": sure})
    return f"{len(kept):,} pairs; {len(everything) - len(kept)} shared a sentence with a test set"


def timed(task: tuple[str, Callable[[], str]]) -> str:
    """Do one thing and say how long it took."""
    name, act = task
    began = time.time()
    return f"{name}: {act()}; {time.time() - began:.0f} s"


def main() -> None:
    """Pack whatever is not there yet."""
    data, work = map(Path, sys.argv[1:])
    out, tasks = work / "bundle", {}
    for path in sorted((work / "words").glob("*.tsv"), key=lambda path: -path.stat().st_size):
        tasks[f"taught/{path.stem}"] = partial(pack_pairs, path.stem, data, work)
    for path in sorted((work / "lines").iterdir()):
        tasks[f"lines/{path.name}"] = partial(pack_lines, path.name, data, work)
    for path in sorted((work / "new" / "silver").glob("*.rev")):
        tasks[f"silver/{path.stem}"] = partial(pack_silver, path.stem, work)
    gold = {name: dev_set(data / "gold" / f"{name}-en" / "dev") for name in DEV_SETS}
    joined_paths = [path for path in sorted(data.glob("gold-joined/*.tsv.xz")) if ".dev." not in path.name]
    gold |= {f"joined-{path.name.split('.')[0]}": joined_gold(path) for path in joined_paths}
    looked_at = {f"pud-{path.stem}": dev_set(path.with_suffix("")) for path in sorted(data.glob("gold/pud/*.src"))}
    looked_at |= {f"joined-{path.name.split('.')[0]}": joined_gold(path)
                  for path in sorted(data.glob("gold-joined/*.dev.tsv.xz"))}  # fmt: skip
    for part, sets in (("gold", gold), ("dev", looked_at)):
        for name, rows in sets.items():
            if not (out / part / f"{name}.xz").exists():
                print(f"{part}/{name}: {pack_gold(part, name, rows, data, work)}", flush=True)
    with Pool() as pool:
        waiting = [task for task in tasks.items() if not (out / f"{task[0]}.xz").exists()]
        for report in pool.imap_unordered(timed, waiting):
            print(report, flush=True)


if __name__ == "__main__":
    main()
