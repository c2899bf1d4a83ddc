"""Precision at 1 of a lexicon against a dictionary that it was not counted from.

Corpora of sentences hold entries of a dictionary too: lines of one word and its translation, calls and strings of user
interfaces. Every line with one word of letters and otherwise at most punctuation on each side is held out as the
dictionary; the lexicon is counted over all lines with at least three words of letters on both sides. Of each dictionary
word that the lexicon knows, is the most probable translation one of the dictionary's? Case is ignored. Words that are
spelt alike in both languages are left out.

    python benchmarks/applications/lexicon_precision.py --words WORDS/de.tsv --links de.links
    python benchmarks/applications/lexicon_precision.py --words WORDS/de.tsv --aligner FOLDER:7 --lines 5000

WORDS/LANG.tsv: words split by blanks, foreign, tab, English. The links belong to it line by line. The statistical
aligner that made the links saw the dictionary lines as well; the lexicon does not count them.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from weft import Aligner, Alignment, SentencePair, read_links, read_pairs
from weft.applications.lexicon import Lexicon


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=Path, required=True)
    parser.add_argument("--links", type=Path, help="links of the whole file")
    parser.add_argument("--aligner", help="NAME or FOLDER, with :LAYER if need be, instead of links")
    parser.add_argument("--lines", type=int, help="count over a random sample of so many lines")
    parser.add_argument("--min-count", type=int, default=5, help="how often the first translation is linked at least")
    options = parser.parse_args()
    dictionary = held_out(read_pairs(options.words, format="tsv", on_error=lambda error: None))
    lexicon = Lexicon(lowercase=True)
    for line, (pair, alignment) in enumerate(aligned(options), start=1):
        lexicon.add(pair, alignment, line)
    known = {entry.source: entry for entry in lexicon.entries(min_count=options.min_count, best=1)}
    asked = [word for word in dictionary if word in known]
    right = sum(known[word].target in dictionary[word] for word in asked)
    print(
        f"{options.words.name}: dictionary {len(dictionary):,} words, in the lexicon {len(asked):,}, "
        f"precision at 1 {100 * right / max(1, len(asked)):.1f} %"
    )


def held_out(pairs: Iterable[SentencePair]) -> dict[str, set[str]]:
    """Source words with all their translations in lines of one word a side."""
    dictionary: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        source, target = _spelt(pair.source), _spelt(pair.target)
        if len(source) == len(target) == 1 and source != target and source[0].isalpha() and target[0].isalpha():
            dictionary[source[0]].add(target[0])
    return dict(dictionary)


def _spelt(words: Sequence[str]) -> list[str]:
    """The words that hold letters or digits, in lower case."""
    return [word.lower() for word in words if any(character.isalnum() for character in word)]


def _long(pair: SentencePair) -> bool:
    return min(len(_spelt(pair.source)), len(_spelt(pair.target))) >= 3


def aligned(options: argparse.Namespace) -> Iterator[tuple[SentencePair, Alignment]]:
    pairs = list(read_pairs(options.words, format="tsv", on_error=lambda error: None))
    lines = [number for number, pair in enumerate(pairs) if _long(pair)]
    if options.lines is not None:
        lines = sorted(random.Random(1).sample(lines, min(options.lines, len(lines))))
    if options.links is None:
        folder, _, layer = options.aligner.partition(":")
        aligner = Aligner.from_pretrained(folder, layer=int(layer) if layer else None)
        chosen = [pairs[number] for number in lines]
        yield from zip(chosen, aligner.stream(chosen, scores="none"), strict=True)
        return
    wanted = set(lines)
    for number, alignment in enumerate(read_links(options.links)):
        if number in wanted:
            yield pairs[number], alignment


if __name__ == "__main__":
    main()
