"""What cases are made of: a model of a few kilobytes, documents, and a configuration of training."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

EXAMPLES = Path(__file__).parents[2] / "examples"
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *map(chr, range(33, 127)),
    *(f"##{chr(k)}" for k in range(33, 127)),
]
WIDTH = 8


def make_graph_model(folder: Path) -> Path:
    """An ONNX model that looks characters up in a table, with a tokenizer of ASCII characters."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True)
    table = np.random.default_rng(0).normal(size=(len(PIECES), WIDTH)).astype(np.float32) * 3
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["rows", "length", WIDTH])
    node = helper.make_node("Gather", ["table", "input_ids"], ["states"])
    graph = helper.make_graph([node], "lookup", inputs, [output], [numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    _tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "weft.json").write_text(
        '{"layer": 2, "max_length": 32, "languages": ["de", "en"], "method": "softmax", "threshold": 0.1,'
        ' "calibration": {"scores": [0.1, 0.5], "probabilities": [0.2, 0.9]}}'
    )
    return folder


def _tokenizer() -> Tokenizer:
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def make_torch_model(folder: Path) -> Path:
    """A BERT of two tiny layers, and a corpus of twenty lines beside it."""
    from toy import make_base, write_corpus

    folder.mkdir(parents=True)
    corpus = write_corpus(folder, "toy", 20, seed=0)
    make_base(folder / "bert", corpus, layers=2, width=16)
    return folder / "bert"


def documents() -> list[Path]:
    """The example documents."""
    return sorted(path for path in (EXAMPLES / "documents").iterdir() if path.suffix != ".txt")


def copy_folder(source: Path, target: Path) -> None:
    """The files of a model, without the time that metadata takes."""
    shutil.copytree(source, target, copy_function=shutil.copyfile)


CONFIGURATION: dict[str, object] = {
    "output": "trained",
    "model": "bert",
    "corpus": [{"path": "toy.txt", "links": "toy.links", "weight": 1.0, "limit": 10}],
    "objectives": ["so", "tlm"],
    "weights": {"so": 1.0},
    "layer": 1,
    "max_steps": 1,
    "epochs": 1.0,
    "batch_size": 4,
    "batch_tokens": 512,
    "max_subwords": 32,
    "learning_rate": 1e-4,
    "warmup": 0.1,
    "weight_decay": 0.0,
    "dropout": 0.1,
    "clip": 1.0,
    "method": "softmax",
    "alpha": 1.5,
    "beta": 1.0,
    "temperature": 1.0,
    "null": 0.5,
    "seed": 1,
    "workers": 0,
    "precision": "no",
    "dev": ["toy"],
    "exclude": [],
    "overlap": "error",
    "held_out": 0.1,
    "log_every": 1,
    "eval_every": 1,
    "save_every": 1,
    "patience": 2,
    "use_possible": True,
    "tensorboard": False,
    "extend_vocabulary": 0,
    "guide": {"threshold": 0.1, "strict": 0.0, "denoise_after": 0.5, "denoise_keep": 0.05, "denoise_add": 0.5},
    "gold": {"cross": 0.5, "stray": 2.0},
}
PROJECT = {
    "project.json": b'{"kind": "weft project", "name": "work"}',
    "pairs.jsonl": b'{"source": ["das", "Haus"], "target": ["the", "house"]}\n'
    b'{"source": ["ja", "."], "target": ["yes", "."]}\n',
}
