"""How well content words are linked, directly and through English; and AER on verses linked by hand.

    python benchmarks/accuracy/content_words.py --model FOLDER [--null 15]

Two tables:

- F1 over `$WEFT_DATA/gold/pud`, 21 pairs. Its gold links content words only, so a link counts only if both of its words
  carry a gold link. For the 15 pairs without English also F1 on the way through English: x-en links composed with en-y
  links of the same sentences.
- AER over `$WEFT_DATA/gold-joined/*.dev.tsv.xz`, 26 pairs. Possible links are free, as always in AER. Punctuation that
  gold leaves unlinked was not annotated: its links are left out.
"""

from __future__ import annotations

import lzma
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from aligners import DATA, aligner_options, chosen_aligner

from weft import Aligner, GoldAlignment, Link, SentencePair
from weft.scoring.counts import Counts, Rates, count_sentence
from weft.tuning import DevSet
from weft.types import WordPair, Words

Links = Sequence[frozenset[WordPair]]


def main() -> None:
    aligner = chosen_aligner(aligner_options(__doc__).parse_args())
    pud = {path.stem: DevSet.read(str(path.with_suffix(""))) for path in sorted((DATA / "gold" / "pud").glob("*.talp"))}
    if not pud:
        sys.exit(f"There is no {DATA / 'gold' / 'pud'}; set WEFT_DATA to the folder that holds gold/.")
    print_content_words(aligner, pud)
    print_joined(aligner)


def print_content_words(aligner: Aligner, pud: dict[str, DevSet]) -> None:
    """One line for each pair, and means over those with and without English."""
    print("pair    F1 on content words   through English")
    to_english: dict[tuple[str, Words], tuple[Words, frozenset[WordPair]]] = {}
    direct: dict[str, float] = {}
    through: dict[str, float] = {}
    for pair in sorted(pud, key=lambda pair: (not pair.endswith("-en"), pair)):
        source, target = pair.split("-")
        dev = pud[pair]
        found = links(aligner, dev.pairs)
        direct[pair] = content_f1(dev, found)
        if target == "en":
            for sentences, alignment in zip(dev.pairs, found, strict=True):
                to_english[source, sentences.source] = sentences.target, alignment
            print(f"{pair}   {direct[pair]:5.1f}", flush=True)
            continue
        composed = [by_way_of_english(sentences, source, target, to_english) for sentences in dev.pairs]
        known = [number for number, alignment in enumerate(composed) if alignment is not None]
        both = DevSet(pair, tuple(dev.pairs[k] for k in known), tuple(dev.gold[k] for k in known))
        through[pair] = content_f1(both, [alignment for alignment in composed if alignment is not None])
        note = "" if len(known) == len(dev.pairs) else f"   ({len(known)} of {len(dev.pairs)} sentences)"
        print(f"{pair}   {direct[pair]:5.1f}                 {through[pair]:5.1f}{note}", flush=True)
    with_english = mean(f1 for pair, f1 in direct.items() if pair.endswith("-en"))
    print(f"mean with English     {with_english:.1f}")
    without = mean(direct[pair] for pair in through)
    print(f"mean without English  {without:.1f}, through English {mean(through.values()):.1f}")


def links(aligner: Aligner, pairs: Sequence[SentencePair]) -> list[frozenset[WordPair]]:
    return [alignment.pairs for alignment in aligner.align_batch(pairs, scores="none")]


def by_way_of_english(
    sentences: SentencePair,
    source: str,
    target: str,
    to_english: dict[tuple[str, Words], tuple[Words, frozenset[WordPair]]],
) -> frozenset[WordPair] | None:
    """Source and target words with an English word in common; None if either sentence has no English one."""
    first = to_english.get((source, sentences.source))
    second = to_english.get((target, sentences.target))
    if first is None or second is None or first[0] != second[0]:
        return None
    return frozenset((i, j) for i, english in first[1] for j, same in second[1] if english == same)


def content_f1(dev: DevSet, found: Links) -> float:
    """F1 in percent over the links between words that both carry a gold link."""
    hits = given = wanted = 0
    for gold, alignment in zip(dev.gold, found, strict=True):
        rows, columns = ({link[side] for link in gold.possible} for side in (0, 1))
        counted = {(i, j) for i, j in alignment if i in rows and j in columns}
        hits += len(counted & gold.possible)
        given += len(counted)
        wanted += len(gold.possible)
    return 100 * 2 * hits / (given + wanted) if given + wanted else 0.0


def print_joined(aligner: Aligner) -> None:
    """One line for each pair of joined verses, and means over those with and without English."""
    print("\npair    AER   precision  recall  verses")
    aers: dict[str, float] = {}
    for path in sorted((DATA / "gold-joined").glob("*.dev.tsv.xz")):
        pair = path.name.split(".")[0]
        pairs, golds = zip(*read_joined(path), strict=True)
        total = [0] * len(Counts._fields)
        for sentences, gold, alignment in zip(pairs, golds, links(aligner, pairs), strict=True):
            counts = count_sentence(gold, without_free_punctuation(sentences, gold, alignment))
            total = [before + more for before, more in zip(total, counts, strict=True)]
        rates = Rates.of(Counts(*total))
        aers[pair] = rates.aer
        print(f"{pair}  {rates.aer:5.1f}   {rates.precision:5.1f}     {rates.recall:5.1f}    {len(pairs)}", flush=True)
    for name, english in (("with English", True), ("without English", False)):
        chosen = [aer for pair, aer in aers.items() if pair.endswith("-en") == english]
        if chosen:
            print(f"mean {name}  {mean(chosen):.1f}")


def read_joined(path: Path) -> Iterator[tuple[SentencePair, GoldAlignment]]:
    """Sentences and gold of a file with the columns id, source, target, links."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            _, source, target, gold = line.rstrip("\n").split("\t")
            yield SentencePair(tuple(source.split(" ")), tuple(target.split(" "))), parsed_gold(gold)


def parsed_gold(links: str) -> GoldAlignment:
    """Links as 0-0 (sure) or 1p2 (possible), separated by spaces."""
    found = re.findall(r"(\d+)([-p])(\d+)", links)
    return GoldAlignment.of([Link(int(i), int(j), sure=kind == "-") for i, kind, j in found])


def without_free_punctuation(
    sentences: SentencePair, gold: GoldAlignment, alignment: frozenset[WordPair]
) -> frozenset[WordPair]:
    """The links without those of punctuation that gold does not link."""
    free = [
        {number for number, word in enumerate(words) if is_punctuation(word)} - {link[side] for link in gold.possible}
        for side, words in enumerate(sentences)
    ]
    return frozenset((i, j) for i, j in alignment if i not in free[0] and j not in free[1])


def is_punctuation(word: str) -> bool:
    return all(unicodedata.category(character)[0] in "PS" for character in word)


if __name__ == "__main__":
    main()
