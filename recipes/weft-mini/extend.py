"""Step 3 of a next generation: more pieces for a tokenizer that is there already.

Reads `WORK/lines` and `WORK/words`, learns pieces from the languages that the tokenizer does not serve, adds Chinese
characters that it has never seen, and writes `WORK/tokenizer.json`. The old pieces keep their numbers, so that weights
trained with them can be gone on from.

    python extend.py WORK TOKENIZER.json
    python extend.py WORK TOKENIZER.json --characters

The second adds nothing but single characters, so that no word of the text is unknown for want of one.
"""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from forms import is_han
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

SIZE = 64_000  # numbers of pieces fit into 16 bits
LEARNED = 30_000  # of these many are known already or would not do
MOST_OLD = 0.1  # uses of a new piece in old languages, as a share of those in new ones
LINES_A_LANGUAGE = 20_000
FEW, MOST_CHARACTERS = 10, 1_400  # likewise where nothing but characters is added
RARE = 2  # a character that occurs less often gets no piece


def text_of(work: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, list[str]]]:
    """Languages that are wanted, and their lines in each corpus."""
    for path in sorted((work / "lines").glob("*/*.txt")):
        if is_wanted(path.stem):
            yield path.stem, [line for line in path.read_text(encoding="utf-8").split("\n") if line]


def new_lines(work: Path, known: set[str]) -> Iterator[str]:
    """Text of the languages that are new, small ones twice; a quarter in lower case."""
    generator = random.Random(1)
    by_language: dict[str, list[str]] = {}
    for language, lines in text_of(work, lambda language: language not in known):
        by_language.setdefault(language, []).extend(lines)
    for _, lines in sorted(by_language.items()):
        few = lines * 2 if len(lines) < LINES_A_LANGUAGE // 2 else lines
        for line in generator.sample(few, min(len(few), LINES_A_LANGUAGE)):
            yield line.lower() if generator.random() < 0.25 else line


def harmless(work: Path, settings: dict[str, Any], added: list[str], known: set[str]) -> list[str]:
    """Pieces that serve the new languages far more than they cut words of the old ones in another way.

    The teacher knows old words by their old pieces only.
    """
    vocabulary = dict(settings["model"]["vocab"])
    vocabulary |= {piece: len(vocabulary) + k for k, piece in enumerate(added)}
    trial = Tokenizer.from_str(json.dumps({**settings, "model": {**settings["model"], "vocab": vocabulary}}))
    first, generator = len(vocabulary) - len(added), random.Random(2)
    uses: dict[str, Counter[int]] = {}
    old: list[str] = []
    for _, lines in text_of(work, lambda language: language in known):
        old += generator.sample(lines, min(len(lines), 600))
    for name, lines in (("old", old), ("new", list(new_lines(work, known)))):
        counts: Counter[int] = Counter()
        words = Counter(word for line in generator.sample(lines, min(len(lines), 250_000)) for word in line.split(" "))
        cut = trial.encode_batch([[word] for word in words], is_pretokenized=True, add_special_tokens=False)
        for encoding, count in zip(cut, words.values(), strict=True):
            counts.update(dict.fromkeys((k for k in encoding.ids if k >= first), count))
        uses[name] = counts
        print(f"{name}: {sum(counts.values()):,} of {sum(words.values()):,} words have new pieces")
    return [
        piece for k, piece in enumerate(added, first)
        if is_han(piece[-1]) or (uses["new"][k] > 5 and uses["old"][k] < MOST_OLD * uses["new"][k])
    ]  # fmt: skip


def han_characters(work: Path) -> Counter[str]:
    """How often each Chinese character occurs."""
    counts: Counter[str] = Counter()
    for path in (work / "words" / "zh.tsv", work / "words" / "ja.tsv", *(work / "lines").glob("*/zh.txt")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                counts.update(filter(is_han, line.split("\t")[0]))
    return counts


def missing_characters(work: Path, settings: dict[str, Any]) -> list[str]:
    """Pieces for characters that make words unknown, at the beginning of a word or inside, the most frequent first."""
    counts: Counter[str] = Counter()
    for path in (*(work / "words").glob("*.tsv"), *(work / "lines").glob("*/*.txt")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                counts.update(line)
    tokenizer = Tokenizer.from_str(json.dumps(settings))
    unknown, pieces = tokenizer.token_to_id("[UNK]"), []
    for character, count in counts.most_common():
        if count < FEW or character.isspace() or len(unicodedata.normalize("NFKC", character)) != 1:
            continue
        begins = not unicodedata.category(character).startswith("M")  # no word begins with a mark
        tried = {f"##{character}": f"a{character}"} | ({character: character} if begins else {})
        for piece, word in tried.items():
            if unknown in tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False).ids:
                pieces.append(unicodedata.normalize("NFKC", piece))
    return list(dict.fromkeys(pieces))


def learned_pieces(work: Path, settings: dict[str, Any]) -> list[str]:
    """Pieces for new languages and for Chinese characters."""
    vocabulary = settings["model"]["vocab"]
    learner = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=60))
    learner.normalizer, learner.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(vocab_size=LEARNED, limit_alphabet=3000, show_progress=False)
    new = {path.stem for path in (work / "new").glob("*.tsv")}
    known = {path.stem for path in (work / "lines").glob("*/*.txt")} - new
    learner.train_from_iterator(new_lines(work, known), trainer)
    learned = sorted(learner.get_vocab().items(), key=lambda item: item[1])
    unseen = [c for c, count in han_characters(work).most_common() if count >= RARE]
    wanted = [piece for c in unseen for piece in (c, f"##{c}")] + [piece for piece, _ in learned]
    added = [piece for piece in dict.fromkeys(wanted) if piece not in vocabulary]
    added = harmless(work, settings, added, known)
    han = sum(is_han(piece[-1]) for piece in added)
    print(f"{len(added):,} pieces are new, {han:,} of them for Chinese characters")
    return added[: SIZE - len(vocabulary)]


def main() -> None:
    """Extend the tokenizer."""
    work, old = map(Path, sys.argv[1:3])
    settings = json.loads(old.read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = settings["model"]["vocab"]
    added = (
        missing_characters(work, settings)[:MOST_CHARACTERS]
        if "--characters" in sys.argv
        else learned_pieces(work, settings)
    )
    for piece in added:
        vocabulary[piece] = len(vocabulary)
    (work / "tokenizer.json").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")
    print(f"{len(vocabulary):,} pieces")


if __name__ == "__main__":
    main()
