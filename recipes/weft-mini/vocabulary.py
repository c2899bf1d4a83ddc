"""Step 3: a WordPiece vocabulary over all languages.

Reads `WORK/words/*.tsv` and writes `WORK/tokenizer.json`. Large languages give a sample, so that small ones get
pieces of their own; a quarter of the text is lower-cased, and half of the Romanian has no diacritics.

    python vocabulary.py WORK
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from forms import varied
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SIZE, ALPHABET = 48_000, 7_000
PAIRS_A_LANGUAGE = 150_000
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]


def texts(work: Path) -> Iterator[str]:
    """Text of every language."""
    generator = random.Random(1)
    for path in sorted((work / "words").glob("*.tsv")):
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        for line in generator.sample(lines, min(len(lines), PAIRS_A_LANGUAGE)):
            # English is in every file and needs no more than a share of it.
            source, target = line.split("\t")
            sides = varied(source, target, path.stem, generator)
            yield from sides if generator.random() < 0.3 else sides[:1]


def main() -> None:
    """Train the tokenizer."""
    work = Path(sys.argv[1])
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=60))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=SIZE, limit_alphabet=ALPHABET, special_tokens=SPECIAL, show_progress=False
    )
    tokenizer.train_from_iterator(texts(work), trainer)
    ends = [("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] [CLS]:1 $B:1 [SEP]:1", special_tokens=ends
    )
    tokenizer.save(str(work / "tokenizer.json"))
    print(f"{tokenizer.get_vocab_size():,} pieces")


if __name__ == "__main__":
    main()
