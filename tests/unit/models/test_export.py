from __future__ import annotations

import json
import shutil

import numpy as np
import onnxruntime
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models import CONFIGS, SENTENCES, encode, make_model
from weft import Aligner
from weft.encoding.encoder import encode_pairs
from weft.encoding.onnx import OnnxEncoder
from weft.encoding.torch import TorchEncoder
from weft.errors import SettingError, WeftError
from weft.models.export import export_model
from weft.models.packed_embeddings import eight_bits, four_bits, pack, unpack
from weft.models.settings import ExportKind
from weft.models.unpack import unpack_model
from weft.text.fields import PairFields
from weft.text.pairs import PairReader
from weft.types import SentencePair

WORDS = [tuple(sentence.split()) for sentence in SENTENCES]
PAIRS = list(zip(WORDS[::2], WORDS[1::2], strict=True))


def cosines(ours, theirs):
    return (ours * theirs).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)


def links(aligner):
    return [[(link.source, link.target) for link in item.links] for item in aligner.align_batch(PAIRS)]


def run(folder, **feeds):
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    assert {item.name for item in session.get_inputs()} == set(feeds)
    return session.run(None, feeds)[0]


def operators(folder):
    import onnx

    return {node.op_type for node in onnx.load(folder / "model.onnx").graph.node}


@pytest.fixture(scope="module")
def int8(tmp_path_factory, tiny_bert):
    folder = tmp_path_factory.mktemp("int8") / "model"
    export_model(tiny_bert, folder, layer=2)
    return folder


RARE = {"distilbert", "electra", "mpnet", "xlm", "nllb", "marian"}


@pytest.mark.parametrize(
    "architecture", [pytest.param(name, marks=pytest.mark.exhaustive if name in RARE else ()) for name in CONFIGS]
)
def test_every_architecture_gives_the_states_of_torch(tmp_path, architecture):
    source = make_model(tmp_path / "model", architecture)
    theirs = encode(TorchEncoder(source, layer=2, device="cpu"), WORDS).states.numpy()
    for target in (ExportKind.ONNX, ExportKind.ONNX_INT8):
        export_model(source, tmp_path / target, to=target, layer=2, embedding_bits=8)
        ours = encode(OnnxEncoder(tmp_path / target, max_length=63, batch_tokens=64), WORDS).states
        if target is ExportKind.ONNX:
            np.testing.assert_allclose(ours, theirs, atol=1e-4)
        else:
            assert cosines(ours, theirs).mean() > 0.95


def test_the_exported_folder_aligns_like_the_model(tmp_path, tiny_bert, int8):
    export_model(tiny_bert, tmp_path / "float", to=ExportKind.ONNX, layer=2)
    for method in ("softmax", "entmax", "itermax"):
        theirs = links(Aligner.from_pretrained(tiny_bert, layer=2, method=method))
        assert links(Aligner.from_pretrained(tmp_path / "float", method=method)) == theirs
    assert len(links(Aligner.from_pretrained(int8))) == len(PAIRS)


def test_int8_is_one_attention_a_layer_and_integer_products(int8):
    kinds = operators(int8)
    assert {"QAttention", "MatMulIntegerToFloat", "Sum"} <= kinds
    assert not kinds & {"MatMul", "Softmax", "Attention"}


def test_padding_changes_nothing_but_rounding(int8):
    ids = np.array([[2, 7, 9, 11, 3]])
    types = np.zeros_like(ids)
    alone = run(int8, input_ids=ids, attention_mask=np.ones_like(ids), token_type_ids=types)
    wide = np.pad(ids, ((0, 0), (0, 4)))
    padded = run(int8, input_ids=wide, attention_mask=(wide > 0).astype(np.int64), token_type_ids=np.zeros_like(wide))
    assert cosines(alone[0], padded[0, :5]).min() > 0.98


def test_a_joint_model_takes_positions(tmp_path, tiny_bert):
    source = shutil.copytree(tiny_bert, tmp_path / "model")
    (source / "weft.json").write_text('{"layer": 2, "joint": true}')
    export_model(source, tmp_path / "out", to=ExportKind.ONNX)
    feeds = {
        "input_ids": np.array([[2, 7, 9, 3, 8, 12, 3], [2, 5, 3, 6, 3, 0, 0]]),
        "attention_mask": np.array([[1] * 7, [1] * 5 + [0] * 2]),
        "token_type_ids": np.array([[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1]]),
        "position_ids": np.array([[0, 1, 2, 3, 0, 1, 2], [0, 1, 2, 0, 1, 0, 0]]),
    }
    model = transformers.AutoModel.from_pretrained(source).eval()
    with torch.inference_mode():
        given = {name: torch.from_numpy(value) for name, value in feeds.items()}
        theirs = model(**given, output_hidden_states=True).hidden_states[2].numpy()
    real = feeds["attention_mask"] > 0
    np.testing.assert_allclose(run(tmp_path / "out", **feeds)[real], theirs[real], atol=1e-4)


def test_settings_and_card_go_along(tmp_path, tiny_bert):
    source = shutil.copytree(tiny_bert, tmp_path / "model")
    curve = {"scores": [0.0, 1.0], "probabilities": [0.1, 0.9]}
    stored = {"layer": 2, "method": "itermax", "languages": ["de", "en"], "calibration": curve}
    (source / "weft.json").write_text(json.dumps(stored))
    (source / "README.md").write_text("# card\n")
    export_model(source, tmp_path / "same")
    same = json.loads((tmp_path / "same" / "weft.json").read_text())
    assert stored.items() <= same.items()
    assert (same["max_length"], same["export"]) == (64, "onnx-int8")
    assert (tmp_path / "same" / "README.md").read_text() == "# card\n"
    export_model(source, tmp_path / "other", layer=1)
    other = json.loads((tmp_path / "other" / "weft.json").read_text())
    assert other["layer"] == 1
    assert "calibration" not in other
    files = {"model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json", "weft.json", "README.md"}
    assert {file.name for file in (tmp_path / "other").iterdir()} == files


@pytest.mark.exhaustive
def test_four_bits_are_a_sixth_of_a_table_of_more_than_65536_words(tmp_path):
    source = make_model(tmp_path / "model")
    model = transformers.AutoModel.from_pretrained(source)
    model.resize_token_embeddings(70_000)
    model.save_pretrained(source)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    tokenizer.add_tokens([f"word{number}" for number in range(70_000 - len(tokenizer))])
    tokenizer.save_pretrained(source)
    sizes = {}
    for bits in (4, 8):
        export_model(source, tmp_path / str(bits), layer=1, embedding_bits=bits)
        sizes[bits] = (tmp_path / str(bits) / "model.onnx").stat().st_size
    table = 70_000 * 32
    assert sizes[8] - sizes[4] == pytest.approx(table / 2, rel=0.02)
    assert sizes[4] < table * (0.5 + 2 / 32) + 60_000
    unpack_model(tmp_path / "8", tmp_path / "back")
    rows = [
        transformers.AutoModel.from_pretrained(folder).get_input_embeddings().weight
        for folder in (source, tmp_path / "back")
    ]
    torch.testing.assert_close(rows[1], rows[0], atol=0.01, rtol=0.01)
    ids = np.array([[2, 69_999, 65_536, 7, 3]])
    given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    for bits, least in ((8, 0.99), (4, 0.9)):
        with torch.inference_mode():
            feeds = {name: torch.from_numpy(value) for name, value in given.items()}
            theirs = model.eval()(**feeds, output_hidden_states=True).hidden_states[1][0].numpy()
        assert cosines(run(tmp_path / str(bits), **given)[0], theirs).min() > least


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({}, {"layer": 9}, SettingError, "there is no layer 9"),
        ({}, {"embedding_bits": 3}, SettingError, "must be 4 or 8, got 3"),
        ({"tokenizer.json": None}, {}, WeftError, "has no tokenizer.json"),
        ({"config.json": None}, {}, WeftError, "contains no Hugging Face model"),
        ({"weft.json": "{"}, {}, WeftError, "expected a JSON object"),
        ({"model.safetensors": "damaged"}, {"layer": 1}, WeftError, "cannot load the weights"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(tmp_path, tiny_bert, change, options, error, message):
    source = shutil.copytree(tiny_bert, tmp_path / "model")
    for name, text in change.items():
        (source / name).unlink(missing_ok=True)
        if text is not None:
            (source / name).write_text(text)
    with pytest.raises(error, match=message):
        export_model(source, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


tables = st.tuples(st.integers(1, 6), st.sampled_from([2, 16, 32, 96])).flatmap(
    lambda shape: arrays(np.float32, shape, elements=st.floats(-4, 4, width=32))
)


@given(tables)
def test_packing_loses_nothing(table):
    codes = (np.abs(table * 100).astype(np.int64) % 16).astype(np.uint8)
    assert pack(codes).nbytes * 2 == codes.nbytes
    assert (unpack(pack(codes)) == codes).all()


@settings(deadline=None)
@given(tables)
def test_restored_tables_are_near(table):
    # Scales are float16, whose smallest step is 6e-8: 127 times half of that cannot be told apart.
    finest = 127 * float(np.finfo(np.float16).smallest_subnormal) / 2
    for quantised, share in ((four_bits(table), 0.5), (eight_bits(table), 0.01)):
        blocks = table.reshape(*quantised.scales.shape, -1)
        off = np.sqrt(((quantised.table().reshape(blocks.shape) - blocks) ** 2).mean(axis=2))
        assert (off <= share * np.abs(blocks).max(axis=2) + finest).all()


def test_searched_scales_beat_the_largest_value():
    table = np.random.default_rng(0).normal(size=(500, 96)).astype(np.float32)
    scale = np.abs(table.reshape(500, 3, 32)).max(axis=2, keepdims=True) / 7
    plain = (np.round(table.reshape(500, 3, 32) / scale) * scale).reshape(500, 96)
    assert ((four_bits(table).table() - table) ** 2).mean() < 0.7 * ((plain - table) ** 2).mean()


def test_zeros_stay_zeros():
    assert (four_bits(np.zeros((3, 32), dtype=np.float32)).table() == 0).all()


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "pairs.txt"
    path.write_text("\n".join(f"{' '.join(source)} ||| {' '.join(target)}" for source, target in PAIRS))
    return path


@pytest.fixture(scope="module")
def joint_bert(tmp_path_factory):
    folder = make_model(tmp_path_factory.mktemp("joint") / "bert")
    (folder / "weft.json").write_text(json.dumps({"layer": 2, "joint": True}))
    return folder


@pytest.fixture(scope="module", params=["tiny_bert", "joint_bert"])
def with_text(request, tmp_path_factory, text):
    """A model, and the graph of it whose ranges were found on text."""
    source = request.getfixturevalue(request.param)
    folder = tmp_path_factory.mktemp("with-text") / "int8"
    export_model(source, folder, layer=2, text=text, embedding_bits=8)
    return source, folder


def test_with_text_to_go_by_a_pair_does_not_depend_on_those_beside_it(with_text):
    _, folder = with_text
    assert "DynamicQuantizeLinear" not in operators(folder)
    aligner = Aligner.from_pretrained(folder)
    together = encode_pairs(aligner.encoder, [SentencePair(*pair) for pair in PAIRS])
    for pair, numbers in zip(PAIRS, together[1], strict=True):
        alone, [own] = encode_pairs(aligner.encoder, [SentencePair(*pair)])
        for number, mine in zip(numbers, own, strict=True):
            found = [
                encoded.states[encoded.starts[k] : encoded.starts[k + 1]]
                for encoded, k in ((together[0], number), (alone, mine))
            ]
            np.testing.assert_allclose(*found, atol=1e-4)


def test_fixed_ranges_keep_the_states(with_text):
    source, folder = with_text
    pairs = [SentencePair(*pair) for pair in PAIRS]
    theirs = encode_pairs(Aligner.from_pretrained(source, layer=2, device="cpu").encoder, pairs)[0].states.numpy()
    ours = encode_pairs(Aligner.from_pretrained(folder).encoder, pairs)[0].states
    assert cosines(ours, theirs).mean() > 0.95


def test_text_is_read_as_the_reader_says(tmp_path, tiny_bert, text):
    rows = [line.split(" ||| ") for line in text.read_text().splitlines()]
    table = tmp_path / "table.tsv"
    table.write_text("".join(f"{number}\t{source}\t{target}\n" for number, (source, target) in enumerate(rows)))
    by_name = PairReader(fields=PairFields.of(columns="id,source,target"))
    for name, path, reader in (("bars", text, None), ("columns", table, by_name), ("ids", table, None)):
        export_model(tiny_bert, tmp_path / name, layer=2, text=path, reader=reader)
    bars, columns, ids = ((tmp_path / name / "model.onnx").read_bytes() for name in ("bars", "columns", "ids"))
    assert columns == bars != ids


def test_text_without_pairs_is_refused(tmp_path, tiny_bert):
    (tmp_path / "empty.txt").write_text("no separator here\n")
    with pytest.raises(WeftError, match="contains no sentence pairs"):
        export_model(tiny_bert, tmp_path / "int8", layer=2, text=tmp_path / "empty.txt")
