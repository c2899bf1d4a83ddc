"""Samples of parallel text to train on: corpora that are near the paper's, cut into words, the same ones every time."""

from __future__ import annotations

import lzma
import random
import unicodedata
from pathlib import Path

from common import DATA

from weft.text.segment import Segmenter, segmenter_for

# The paper trains on Europarl (de, ro), Hansards (fr), the Kyoto corpus (ja) and news (zh).
CORPORA = {
    "de": {"europarl-uds"},
    "fr": {"europarl-uds"},
    "ro": {"ro-sts", "ntrex128", "tatoeba-challenge", "bible"},
    "ja": {"kftt-30k"},
    "zh": {"ntrex128", "3am-multimodal", "tatoeba-challenge", "coursera-subs"},
}
# Their text comes cut into words; Chinese and Japanese lines with few blanks do not.
CUT_CORPORA = {"kftt-30k", "coursera-subs"}
CHARACTERS_A_BLANK = 6
FEWEST_WORDS = 4
SEED = 1


def sampled(language: str, pairs: int, longest: int, cache: Path) -> Path:
    """A file of `pairs` sentence pairs (foreign, tab, English), each side of at most `longest` words."""
    path = cache / "text" / f"{language}-{pairs}-{longest}.tsv"
    if path.exists():
        return path
    foreign, english = segmenter_for(language), segmenter_for("en")
    path.parent.mkdir(parents=True, exist_ok=True)
    kept: list[str] = []
    for line in _shuffled(language, longest):
        left, right, corpus = line.split("\t")
        sides = words_of(left, foreign, corpus), words_of(right, english, corpus)
        if all(FEWEST_WORDS <= len(side) <= longest for side in sides):
            kept.append("\t".join(map(" ".join, sides)))
        if len(kept) == pairs:
            break
    text = "".join(f"{line}\n" for line in kept)
    # The Romanian gold is written without diacritics.
    path.write_text(without_marks(text) if language == "ro" else text, encoding="utf-8")
    return path


def _shuffled(language: str, longest: int) -> list[str]:
    """The lines of a language's corpora whose English side is not too long, in a random order that never changes."""
    with lzma.open(DATA / "train" / f"{language}-en.tsv.xz", "rt", encoding="utf-8", newline="\n") as lines:
        found = [line.rstrip("\n") for line in lines if line.rstrip("\n").rpartition("\t")[2] in CORPORA[language]]
    found = [line for line in found if FEWEST_WORDS - 1 <= line.split("\t")[1].count(" ") + 1 <= longest]
    random.Random(SEED).shuffle(found)
    return found


def words_of(text: str, segmenter: Segmenter, corpus: str) -> tuple[str, ...]:
    """The words of one side; text that comes cut into words keeps them."""
    if corpus in CUT_CORPORA and (text.isascii() or text.count(" ") * CHARACTERS_A_BLANK >= len(text)):
        return tuple(text.split(" "))
    return segmenter(text).words


def without_marks(text: str) -> str:
    """Text without diacritics."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(filter(lambda one: not unicodedata.combining(one), decomposed)))
