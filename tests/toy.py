"""A toy language pair: a made-up language that shares its nouns with English and puts the verb at the end."""

from __future__ import annotations

import random
from pathlib import Path

NOUNS = ["house", "dog", "cat", "tree", "river", "stone", "bird", "child", "king", "road", "field", "horse"]
VERBS = ["sees", "likes", "finds", "takes", "leaves", "keeps", "meets", "hears"]
ADJECTIVES = ["old", "small", "red", "quick", "happy", "tall"]
FOREIGN = (
    {word: word[::-1] + "a" for word in (*VERBS, *ADJECTIVES)}
    | {noun: noun for noun in NOUNS}
    | {"the": "lo", "a": "un", ".": "."}
)


def sentence(generator: random.Random) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """Foreign words, English words, and the links between them (foreign first)."""

    def phrase() -> list[str]:
        words = [generator.choice(["the", "a"])]
        words += [generator.choice(ADJECTIVES)] * (generator.random() < 0.5)
        return [*words, generator.choice(NOUNS)]

    subject, verb, thing = phrase(), generator.choice(VERBS), phrase()
    english = [*subject, verb, *thing, "."]
    place = len(subject)
    order = [*range(place), *range(place + 1, len(english) - 1), place, len(english) - 1]
    return [FOREIGN[english[k]] for k in order], english, [(i, k) for i, k in enumerate(order)]


def write_corpus(folder: Path, name: str, count: int, *, seed: int) -> Path:
    """NAME.txt with pairs, NAME.links with their links, and NAME.src, .tgt, .talp for use as a dev set."""
    generator = random.Random(seed)
    rows = [sentence(generator) for _ in range(count)]
    text = {
        "txt": [f"{' '.join(foreign)} ||| {' '.join(english)}" for foreign, english, _ in rows],
        "src": [" ".join(foreign) for foreign, _, _ in rows],
        "tgt": [" ".join(english) for _, english, _ in rows],
        "talp": [" ".join(f"{i}-{j}" for i, j in sorted(links)) for _, _, links in rows],
    }
    text["links"] = text["talp"]
    for ending, lines in text.items():
        (folder / f"{name}.{ending}").write_text("".join(line + "\n" for line in lines))
    return folder / name


def make_base(folder: Path, corpus: Path, *, layers: int = 2, width: int = 48) -> Path:
    """A tiny untrained BERT whose vocabulary is the corpus's words, as the start of a training run."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = sorted(set(corpus.with_suffix(".src").read_text().split() + corpus.with_suffix(".tgt").read_text().split()))
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=2 * width, max_position_embeddings=64, hidden_dropout_prob=0.1, pad_token_id=0,
    )  # fmt: skip
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=64,
    ).save_pretrained(folder)  # fmt: skip
    return folder
