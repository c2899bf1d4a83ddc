"""Tiny models with random weights, made on the spot: every architecture, no download."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from weft.encoding.encoder import Encoded

SENTENCES = [
    "das ist ein kleines Haus .", "that is a small house .", "wir gehen nach Hause , oder nicht ?",
    "we are going home , are n't we ?", "la maison est petite", "il n'y a rien à voir ici !", "私 は 学生 です 。",
    "他 明天 去 北京 。", "der Hund schläft seit gestern", "the dog has been sleeping since yesterday",
]  # fmt: skip

_WIDTH = 32
_BERT_LIKE = {"hidden_size": _WIDTH, "num_attention_heads": 2, "intermediate_size": 48}
_TWO_HALVES = {
    "d_model": _WIDTH,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "decoder_layers": 1,
    "decoder_start_token_id": 0,
}
# Each differs from the others in how it keeps layers, norms or positions.
CONFIGS: dict[str, tuple[str, dict[str, object]]] = {
    "bert": ("BertConfig", _BERT_LIKE),
    "distilbert": ("DistilBertConfig", {"dim": _WIDTH, "n_heads": 2, "hidden_dim": 48}),
    "electra": ("ElectraConfig", {"embedding_size": 16, **_BERT_LIKE}),
    "mpnet": ("MPNetConfig", _BERT_LIKE),
    "xlm-roberta": ("XLMRobertaConfig", _BERT_LIKE),
    "xlm": ("XLMConfig", {"emb_dim": _WIDTH, "n_heads": 2, "mask_index": 4, "unk_index": 1}),
    "t5": ("T5Config", {"d_model": _WIDTH, "d_kv": 16, "d_ff": 48, "num_heads": 2, "decoder_start_token_id": 0}),
    "nllb": ("M2M100Config", _TWO_HALVES),
    "marian": ("MarianConfig", _TWO_HALVES),
}
N_LAYERS = 3


def word_piece_tokenizer(vocabulary: int = 200) -> Tokenizer:
    """A cased WordPiece tokenizer like BERT's, trained on a handful of sentences."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(SENTENCES, trainers.WordPieceTrainer(vocab_size=vocabulary, special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def encode(encoder, sentences) -> Encoded:
    """The states of sentences; where an encoder reads pairs, of pairs whose two sentences stand in a row."""
    return encoder.encode(encoder.tokenizer.split(list(sentences)))


def make_model(
    folder: Path, architecture: str = "bert", *, layers: int = N_LAYERS, max_positions: int = 64, seed: int = 0
) -> Path:
    """Write a tiny Hugging Face model and its tokenizer into a folder."""
    torch.manual_seed(seed)
    tokenizer = word_piece_tokenizer()
    class_name, options = CONFIGS[architecture]
    config = getattr(transformers, class_name)(
        vocab_size=tokenizer.get_vocab_size(), pad_token_id=0, bos_token_id=2, eos_token_id=3,
        num_hidden_layers=layers, max_position_embeddings=max_positions, **options,
    )  # fmt: skip
    model = transformers.AutoModel.from_config(config)
    for name, parameter in model.named_parameters():
        # Norms that do nothing and small weights would hide mistakes.
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
        elif "norm" in name.lower():
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    model.save_pretrained(folder)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=max_positions,
    )  # fmt: skip
    fast.save_pretrained(folder)
    return folder


def export_onnx(source: Path, folder: Path, *, layer: int) -> Path:
    """Export a model up to one layer, as weft's light half wants it."""
    folder.mkdir()
    config = transformers.AutoConfig.from_pretrained(source)
    config.num_hidden_layers = layer
    model = transformers.AutoModel.from_pretrained(source, config=config, attn_implementation="eager").eval()

    class States(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask):
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    ids = torch.ones(2, 5, dtype=torch.int64)
    # A mask of ones alone would be left out of the graph.
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    shape = {0: torch.export.Dim("rows"), 1: torch.export.Dim("length")}
    program = torch.onnx.export(
        States().eval(), (ids, mask), input_names=["input_ids", "attention_mask"], output_names=["states"],
        dynamic_shapes={"input_ids": shape, "attention_mask": shape}, dynamo=True, verbose=False,
    )  # fmt: skip
    program.save(folder / "model.onnx")
    (folder / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    (folder / "weft.json").write_text(f'{{"layer": {layer}, "max_length": 64}}')
    return folder


def hub_with(folder: Path, model: Path, *, revision: str = "main", name: str = "some/bert") -> Path:
    """A folder for HF_HOME with a hub's cache that holds a model as the hub's library lays it out: links to blobs."""
    kept = folder / "hub" / f"models--{name.replace('/', '--')}"
    (kept / "blobs").mkdir(parents=True)
    snapshot = kept / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for number, file in enumerate(sorted(model.iterdir())):
        shutil.copy(file, kept / "blobs" / str(number))
        (snapshot / file.name).symlink_to(f"../../blobs/{number}")
    (kept / "refs").mkdir()
    (kept / "refs" / revision).write_text("abc")
    return folder
