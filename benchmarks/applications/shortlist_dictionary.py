"""Shortlists for Marian against a dictionary: how often is the first translation of a word one that the dictionary has?

    python benchmarks/applications/shortlist_dictionary.py --dictionary PREFIX weft/lex.s2t eflomal/lex.s2t

PREFIX.index and PREFIX.dict.dz are a dictionary in dictd's format, such as Debian's package dict-freedict-deu-eng.
Only words are asked that all shortlists know and for which the dictionary has a translation of one word. Case is
ignored. A shortlist is read as Marian reads it: three columns, the target word, the source word, the probability.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections import defaultdict
from pathlib import Path

_DIGITS = {sign: number for number, sign in enumerate(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
)}  # fmt: skip
_REMARKS = re.compile(r"<[^>]*>|\[[^]]*\]|\([^)]*\)|\{[^}]*\}|/[^/]*/")
_NO_TRANSLATION = re.compile(r"\s*(?:Synonym|Antonym|Note|see|cf\.|Example)s?:|^\s*\"")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dictionary", type=Path, required=True, metavar="PREFIX")
    parser.add_argument("shortlists", type=Path, nargs="+")
    options = parser.parse_args()
    dictionary = read_dictionary(options.dictionary)
    found = {path: first_translations(path) for path in options.shortlists}
    asked = set.intersection(set(dictionary), *map(set, found.values()))
    print(f"{len(dictionary):,} words in the dictionary, {len(asked):,} of them in every shortlist")
    for path, first in found.items():
        right = sum(first[word] in dictionary[word] for word in asked)
        print(f"{path}: {right:,} first translations agree, {100 * right / max(1, len(asked)):.1f} %")


def first_translations(path: Path) -> dict[str, str]:
    """The most probable translation of each source word, in lower case."""
    best: dict[str, tuple[float, str]] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            target, source, probability = line.split()
            word = source.lower()
            best[word] = max(best.get(word, (0.0, "")), (float(probability), target.lower()))
    return {word: target for word, (_, target) in best.items()}


def read_dictionary(prefix: Path) -> dict[str, set[str]]:
    """Words, and those of their translations that are a single word, in lower case."""
    data = gzip.decompress(prefix.with_name(f"{prefix.name}.dict.dz").read_bytes())
    known: defaultdict[str, set[str]] = defaultdict(set)
    for line in prefix.with_name(f"{prefix.name}.index").read_text("utf-8").splitlines():
        word, start, length = line.split("\t")[:3]
        if not word.isalpha():
            continue
        entry = data[_number(start) : _number(start) + _number(length)].decode("utf-8", "replace")
        for text in entry.splitlines()[1:]:
            if _NO_TRANSLATION.match(text):
                continue
            for part in re.split(r"[,;]", _REMARKS.sub("", text)):
                translation = part.strip().lower().removeprefix("to ")
                if translation.isalpha():
                    known[word.lower()].add(translation)
    return dict(known)


def _number(digits: str) -> int:
    value = 0
    for sign in digits:
        value = value * 64 + _DIGITS[sign]
    return value


if __name__ == "__main__":
    main()
