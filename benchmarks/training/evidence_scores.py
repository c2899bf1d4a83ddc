"""AER of one model, or of the statistical aligner, on the gold sets of `evidence.py`; a process of its own.

    python evidence_scores.py FOLDER SCORES.json (--model MODEL | --text FILE) --sets PATTERN...

Sets of PUD link content words only: there a link counts only if both of its words carry a gold link. In verses,
punctuation that gold leaves unlinked does not count.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from content_words import parsed_gold, without_free_punctuation

from weft import Aligner, GoldAlignment, SentencePair
from weft.scoring.corpus import score
from weft.types import Alignment, Link, WordPair

GoldSet = list[tuple[SentencePair, GoldAlignment]]


def read_sets(path: Path, patterns: Sequence[str], limit: int) -> dict[str, GoldSet]:
    """Gold sets by name."""
    found: dict[str, GoldSet] = {}
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        name, source, target, links = line.split("\t")
        if any(fnmatch(name, pattern) for pattern in patterns) and source.strip() and target.strip():
            rows = found.setdefault(name, [])
            if not limit or len(rows) < limit:
                rows.append((SentencePair(tuple(source.split()), tuple(target.split())), parsed_gold(links)))
    return found


def counted(name: str, pair: SentencePair, gold: GoldAlignment, links: frozenset[WordPair]) -> frozenset[WordPair]:
    """The links that the gold of a set can judge."""
    if name.startswith("verses/"):
        return without_free_punctuation(pair, gold, links)
    if name.startswith("pud/"):
        rows, columns = ({link[side] for link in gold.possible} for side in (0, 1))
        return frozenset((i, j) for i, j in links if i in rows and j in columns)
    return links


def model_links(model: str, device: str, sets: dict[str, GoldSet]) -> Iterator[list[frozenset[WordPair]]]:
    """A model's links of one set after the other."""
    aligner = Aligner.from_pretrained(model, device=device)
    for rows in sets.values():
        yield [found.pairs for found in aligner.align_batch([pair for pair, _ in rows], scores="none")]


def statistical_links(text: Path, sets: dict[str, GoldSet]) -> Iterator[list[frozenset[WordPair]]]:
    """The statistical aligner's links of each set, which it aligns together with the text."""
    from weft.training.statistical import statistical_links as align

    lines = text.read_text(encoding="utf-8").split("\n")[:-1]
    pairs = [SentencePair(*(tuple(side.split()) for side in line.split(" ||| "))) for line in lines]
    for rows in sets.values():
        links = list(align([*pairs, *(pair for pair, _ in rows)]))
        yield [frozenset(found.grown) for found in links[len(pairs) :]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--text", type=Path)
    parser.add_argument("--sets", nargs="+", required=True)
    parser.add_argument("--limit-dev", type=int, default=0)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    sets = read_sets(options.folder / "gold.tsv", options.sets, options.limit_dev)
    found = statistical_links(options.text, sets) if options.text else model_links(options.model, options.device, sets)
    scores = {}
    for (name, rows), links in zip(sets.items(), found, strict=True):
        kept = [counted(name, pair, gold, some) for (pair, gold), some in zip(rows, links, strict=True)]
        hypotheses = [Alignment(tuple(Link(i, j) for i, j in sorted(some))) for some in kept]
        rates = score([gold for _, gold in rows], hypotheses).rates
        scores[name] = {"aer": rates.aer, "precision": rates.precision, "recall": rates.recall, "pairs": len(rows)}
        options.scores.write_text(json.dumps(scores))


if __name__ == "__main__":
    main()
