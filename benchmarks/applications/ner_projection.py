"""Named entities through links: precision, recall and F1 of projected labels, for several aligners.

The Spanish and German slices have labels but no translations, so labels cannot be projected onto them and compared.
Two things can be measured soundly:

gold-links   A tagger trained on the German slice labels the German gold set. Its labels go to English through the
             annotators' links (the reference) and through an aligner's links (the system). Only links differ.
transfer     A tagger trained on the slice of one language labels that side of Spanish-German sentence pairs (those that
             share their English translation). The labels go to the other side through links, and a second tagger
             learns from the sentences that have any, alone or together with the first tagger's lessons. It is scored
             on the real labels of the other language's slice, which nothing has seen. Beside it: the first tagger
             applied as it is, and one trained on half of the real labels, scored on the other half.

    python benchmarks/applications/ner_projection.py gold-links --aligner weft-mini --aligner FOLDER:7
    python benchmarks/applications/ner_projection.py transfer --words WORDS --silver SILVER --aligner FOLDER:7

WORDS holds LANG.tsv with words split by blanks (foreign, tab, English), SILVER holds LANG.fwd and LANG.rev, links of a
statistical aligner for the same lines; the recipe of weft-mini makes both. The statistical aligner never saw
Spanish-German pairs: its links are those with English, one after the other. Reads `$WEFT_DATA/extras` and `gold`.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from tagger import Sentence, Tagger

from weft import Aligner, Alignment, Link, SentencePair, Symmetrization, read_links
from weft.applications.columns import column_of, read_columns, spans_of
from weft.applications.projection import Gaps, Span, project_spans
from weft.extraction.symmetrize import symmetrize_alignments
from weft.tuning import DevSet

DATA = Path(os.environ.get("WEFT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
POOL = 8_000
Rates = tuple[float, float, float]
KINDS = {"PER", "LOC", "ORG"}
SLICES = {
    "es": {"conll2002-es": "conll2002-es/testb.conll.xz", "wikiann-es": "wikiann/es.tsv.xz"},
    "de": {"wikiann-de": "wikiann/de.tsv.xz"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["gold-links", "transfer"])
    parser.add_argument("--aligner", action="append", default=[], help="NAME or FOLDER, with :LAYER if need be")
    parser.add_argument("--words", type=Path)
    parser.add_argument("--silver", type=Path)
    parser.add_argument("--pairs", type=int, default=2000, help="sentence pairs for the transfer")
    options = parser.parse_args()
    aligners = {name: _aligner(name) for name in options.aligner or ["weft-mini"]}
    if options.what == "gold-links":
        gold_links(aligners)
    else:
        transfer(aligners, options.words, options.silver, options.pairs)


def _aligner(name: str) -> Aligner:
    folder, _, layer = name.partition(":")
    return Aligner.from_pretrained(folder, layer=int(layer) if layer else None)


def labelled(path: str) -> list[Sentence]:
    """The sentences of a slice; labels of other kinds than person, place and organisation are taken off."""
    return [
        (sentence.words, column_of([span for span in sentence.spans if span.label in KINDS], len(sentence.words)))
        for sentence in read_columns(DATA / "extras" / path)
    ]


def gold_links(aligners: dict[str, Aligner]) -> dict[tuple[str, str], Rates]:
    """Print and return the rates of each aligner under each rule for gaps."""
    gold = DevSet.read(str(DATA / "gold" / "de-en" / "test"))
    tagger = Tagger(labelled(SLICES["de"]["wikiann-de"]))
    spans = [tagger.spans(pair.source) for pair in gold.pairs]
    print(f"{len(gold.pairs)} sentences, {sum(map(len, spans))} labels on the German side")
    truth = [Alignment.of(Link(*words) for words in links.possible) for links in gold.gold]
    rates = {}
    for name, aligner in aligners.items():
        found = aligner.align_batch(gold.pairs)
        for gaps in Gaps:
            labels = projected(spans, truth, gaps), projected(spans, found, gaps)
            rates[name, str(gaps)] = report(f"{name}, {gaps}", *labels)
    return rates


def projected(spans: Iterable[Sequence[Span]], links: Iterable[Alignment], gaps: Gaps) -> list[set[Span]]:
    """The labels of each sentence on the other side."""
    sentences = []
    for labels, alignment in zip(spans, links, strict=True):
        places = project_spans(labels, alignment, gaps=gaps)
        moved = zip(labels, places, strict=True)
        sentences.append({Span(*run, span.label) for span, place in moved for run in place.runs})
    return sentences


def report(name: str, truth: Sequence[set[Span]], found: Sequence[set[Span]]) -> Rates:
    """Print and return precision, recall and F1 of whole labels: the right words and the right kind."""
    right = sum(len(one & other) for one, other in zip(truth, found, strict=True))
    precision = 100 * right / max(1, sum(map(len, found)))
    recall = 100 * right / max(1, sum(map(len, truth)))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    print(f"{name:60}  P {precision:5.1f}  R {recall:5.1f}  F1 {f1:5.1f}", flush=True)
    return precision, recall, f1


def transfer(aligners: dict[str, Aligner], words: Path, silver: Path, wanted: int) -> None:
    pool, composed = through_english(words, silver, POOL)
    for source, target in (("es", "de"), ("de", "es")):
        own = [sentence for path in SLICES[source].values() for sentence in labelled(path)]
        tagger = Tagger(own)
        sides = [(pair.source, pair.target) if source == "es" else (pair.target, pair.source) for pair in pool]
        spans = [tagger.spans(side[0]) for side in sides]
        # Sentences without names are most of any corpus, and teach a student to find none.
        chosen = [number for number, labels in enumerate(spans) if labels][:wanted]
        print(f"\n{source} -> {target}: {len(chosen)} pairs, {sum(len(spans[k]) for k in chosen)} labels", flush=True)
        pairs = [pool[number] for number in chosen]
        links = {"statistical, through English": [composed[number] for number in chosen]}
        links |= {name: aligner.align_batch(pairs) for name, aligner in aligners.items()}
        students = {"no projection": tagger}
        for name, alignments in links.items():
            turned = alignments if source == "es" else [alignment.swapped() for alignment in alignments]
            taught = list(lessons([spans[k] for k in chosen], turned, [sides[k][1] for k in chosen]))
            print(f"{name}: {len(taught)} sentences with every label in its place", flush=True)
            students[name] = Tagger(taught)
            students[f"{name}, with {source}"] = Tagger([*own, *taught])
        for test, path in SLICES[target].items():
            grade(test, labelled(path), students)


def grade(test: str, sentences: Sequence[Sentence], students: dict[str, Tagger]) -> None:
    """Score taggers on real labels, beside one that learnt from half of them and is scored on the other half."""
    truth = [set(spans_of(labels)) for _, labels in sentences]
    for name, student in students.items():
        report(f"{test}: {name}", truth, [set(student.spans(words)) for words, _ in sentences])
    half = len(sentences) // 2
    student = Tagger(sentences[:half])
    report(f"{test}: real labels", truth[half:], [set(student.spans(words)) for words, _ in sentences[half:]])


def lessons(
    spans: Sequence[Sequence[Span]], links: Sequence[Alignment], targets: Sequence[Sequence[str]]
) -> Iterable[Sentence]:
    """Sentences to learn from: those where every label found a place, since a lost label teaches the opposite."""
    for labels, alignment, words in zip(spans, links, targets, strict=True):
        places = project_spans(labels, alignment, gaps=Gaps.FILL)
        if all(place.runs for place in places):
            moved = [Span(*run, span.label) for span, place in zip(labels, places, strict=True) for run in place.runs]
            yield words, column_of(moved, len(words))


def through_english(words: Path, silver: Path, wanted: int) -> tuple[list[SentencePair], list[Alignment]]:
    """Spanish-German pairs that share an English sentence, with links composed of those with English."""
    spanish = {english: (number, text) for number, text, english in _lines(words / "es.tsv")}
    shared = {}
    for number, text, english in _lines(words / "de.tsv"):
        if english in spanish and english.count(" ") >= 5:
            shared[english] = (*spanish[english], number, text)
    chosen = random.Random(1).sample(sorted(shared.values()), min(wanted, len(shared)))
    of_es = _chosen_links(silver, "es", {row[0] for row in chosen})
    of_de = _chosen_links(silver, "de", {row[2] for row in chosen})
    pairs = [SentencePair(tuple(row[1].split(" ")), tuple(row[3].split(" "))) for row in chosen]
    return pairs, [_composed(of_es[row[0]], of_de[row[2]]) for row in chosen]


def _lines(path: Path) -> Iterable[tuple[int, str, str]]:
    with open(path, encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines):
            foreign, english = line.rstrip("\n").split("\t")[:2]
            yield number, foreign, english


def _chosen_links(silver: Path, language: str, wanted: set[int]) -> dict[int, Alignment]:
    both = zip(read_links(silver / f"{language}.fwd"), read_links(silver / f"{language}.rev"), strict=True)
    return {
        number: symmetrize_alignments(forward, backward, Symmetrization.GROW_DIAG_FINAL_AND)
        for number, (forward, backward) in enumerate(islice(both, max(wanted) + 1))
        if number in wanted
    }


def _composed(first: Alignment, second: Alignment) -> Alignment:
    """Foreign words that are linked with the same English word."""
    by_english = defaultdict(list)
    for link in second.links:
        by_english[link.target].append(link.source)
    return Alignment.of(Link(link.source, other) for link in first.links for other in by_english[link.target])


if __name__ == "__main__":
    main()
