"""The encoder in C against onnxruntime, on every kernel that can be run here; and what it leaves to onnxruntime."""

from __future__ import annotations

import importlib.util
import multiprocessing
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

import models
from fuzz.workshop import make_graph_model
from models import encode
from unfit_graphs import NANO, UNFIT, changed, filled, set_constant
from weft import Aligner, SettingError, WeftError
from weft.encoding.batches import RowSpans
from weft.encoding.native import encoder as native
from weft.encoding.native import library as c
from weft.encoding.native.graph import UnfitError, read_graph
from weft.encoding.native.weights import read_weights
from weft.encoding.onnx import OnnxEncoder
from weft.encoding.subwords import Subwords
from weft.models.packed_embeddings import unpack
from weft.scoring.corpus import score
from weft.types import GoldAlignment

ROOT = Path(__file__).parents[3]
MODELS = ROOT / "src" / "weft" / "models"
TEXTS = [
    "das ist ein kleines Haus . ||| that is a small house .",
    "Привет , мир ! Как дела ? ||| Hello , world ! How are you ?",
    "私 は 学生 です 。 ||| I am a student .",
    "他 明天 去 北京 ， 然后 回来 。 ||| He goes to Beijing tomorrow , then returns .",
    "أهلا وسهلا بكم في بيتنا ||| Welcome to our house",
    "यह एक छोटा घर है । ||| This is a small house .",
    "a ||| b",
    "Donaudampfschifffahrtsgesellschaftskapitänsmütze ||| 🙂 🙂 !?!?",
]
PAIRS = [tuple(tuple(side.split()) for side in text.split(" ||| ")) for text in TEXTS]
# Pairs of all lengths up to what fits into one row, and two that are read in windows.
LONG = tuple(word for source, target in PAIRS for word in (*source, *target)) * 8
MANY = [*PAIRS, *((LONG[k : k + n], LONG[-n // 2 - 1 :]) for k, n in enumerate(range(1, 90, 3)))]
MANY += [(LONG[:200], LONG[:9]), (LONG[:3], LONG[:300])]


@pytest.fixture(scope="module")
def build():
    found = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def compiled(build, tmp_path_factory):
    """The library of the sources as they are; and one whose AVX-512 is plain C."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux") or "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("needs a C compiler and a processor with AVX2")
    folder = tmp_path_factory.mktemp("library")
    emulated = f'-DEMULATED="{ROOT / "tests" / "emulated_avx512.h"}"'
    for name, flags in (("plain", ["-Wall", "-Wextra", "-Werror"]), ("emulated", ["-Wno-psabi", emulated])):
        source = ROOT / build.FOLDER / "encoder.c"
        subprocess.run([compiler, *build.FLAGS, *flags, "-o", folder / f"{name}.so", source], check=True)
    return {name: c.load_library(folder / f"{name}.so") for name in ("plain", "emulated")}


@pytest.fixture
def library(compiled, monkeypatch):
    """Whoever loads a model gets the library of the sources as they are."""
    monkeypatch.delenv(c.CHOICE, raising=False)
    monkeypatch.setattr(native, "load_library", lambda: compiled["plain"])
    return compiled["plain"]


def loaded(folder: Path = NANO, **options) -> native.NativeEncoder:
    settings = {"max_length": 128, "batch_tokens": None, "joint": True, **options}
    encoder = native.native_encoder(folder, **settings)
    assert encoder is not None
    return encoder


def states_of(encoder, pairs=MANY) -> np.ndarray:
    return encode(encoder, chain.from_iterable(pairs)).states


def cosines(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    return (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)


def assert_like(ours: np.ndarray, theirs: np.ndarray, *, equal: float = 0.0) -> None:
    """Equal but for rounding.

    Integer sums are equal. The last bit of a float is not, so that now and then an activation is rounded to the next of
    its 256 values; later layers carry that on to every word of the row. Where it never happened, states are equal to
    the last digits. How often it happens depends on the processor, so `equal`, the share of words, is a low bound.
    """
    assert ours.shape == theirs.shape
    found = cosines(ours, theirs)
    assert found.mean() > 0.9995
    assert found.min() > 0.99
    assert (np.abs(ours - theirs).max(axis=1) < 1e-4).mean() >= equal


@pytest.fixture(scope="module")
def theirs():
    folders = {name: MODELS / name for name in ("weft-nano", "weft-mini")}
    return {name: states_of(OnnxEncoder(folder, max_length=128, joint=True)) for name, folder in folders.items()}


@pytest.mark.parametrize("name", ["weft-nano", "weft-mini"])
@pytest.mark.parametrize("kind", ["plain", "emulated"])
def test_every_kernel_gives_the_states_of_onnxruntime(compiled, theirs, monkeypatch, name, kind):
    monkeypatch.setattr(native, "load_library", lambda: compiled[kind])
    kernels = c.kernels(compiled[kind])
    assert "avx2" in kernels
    assert kind == "plain" or "avx512vnni" in kernels
    found = []
    for kernel in kernels:
        monkeypatch.setenv(c.CHOICE, kernel)
        found.append(states_of(loaded(MODELS / name)))
    assert_like(found[0], theirs[name], equal=0.5 if name == "weft-nano" else 0.05)
    for others in found[1:]:  # not one bit depends on the processor
        assert np.array_equal(found[0], others)


def test_a_sentence_by_itself_has_the_states_of_onnxruntime(library):
    alone, theirs = loaded(joint=False), OnnxEncoder(NANO, max_length=128)
    assert_like(states_of(alone), states_of(theirs), equal=0.5)
    assert alone.long_sentences == theirs.long_sentences == 2


@pytest.mark.parametrize("batch_tokens", [1, 17, 300, 100_000])
def test_states_have_the_same_bytes_in_every_batch(library, batch_tokens):
    encoder = loaded()
    whole = states_of(encoder)
    assert np.array_equal(states_of(loaded(batch_tokens=batch_tokens)), whole)
    for k in (0, 6, 20):
        start = len(encoder.tokenizer.split(list(chain.from_iterable(MANY[:k]))).ids)
        alone = states_of(encoder, [MANY[k]])
        assert np.array_equal(alone, whole[start : start + len(alone)])


@pytest.mark.parametrize("kernel", ["avx512vnni", "avx2"])
def test_leaving_idle_neurons_out_changes_nothing(compiled, kernel):
    weights, library = native.read_model(NANO), compiled["emulated"]
    found = []
    for sparse in (0.0, 1.1):
        model = c.NativeModel(library, c.kernels(library)[kernel], weights, sparse=sparse)
        encoder = native.NativeEncoder(
            NANO, native.load_tokenizer(NANO), model, max_length=128, batch_tokens=None, joint=True
        )
        found.append(states_of(encoder))
    assert np.array_equal(*found)


def test_threads_do_not_disturb_each_other(library):
    encoder = loaded(batch_tokens=64)
    expected = states_of(encoder)
    with ThreadPoolExecutor(8) as pool:
        for states in pool.map(lambda _: states_of(encoder), range(16)):
            assert np.array_equal(states, expected)


sent: native.NativeEncoder


def in_a_fork(_: object) -> np.ndarray:
    return states_of(sent)


def test_it_goes_on_in_a_forked_process(library):
    global sent
    sent = loaded(batch_tokens=64)
    expected = states_of(sent)
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        for states in pool.map(in_a_fork, range(2), timeout=400):
            assert np.array_equal(states, expected)
    assert np.array_equal(states_of(sent), expected)


def test_it_can_be_pickled(library, monkeypatch):
    encoder = loaded()
    packed = pickle.dumps(encoder)
    assert len(packed) < 10_000_000  # the tokenizer; no weights
    assert np.array_equal(states_of(pickle.loads(packed)), states_of(encoder))
    monkeypatch.setenv(c.CHOICE, "0")
    with pytest.raises(WeftError, match="which this process does not have"):
        states_of(pickle.loads(packed))


@pytest.mark.parametrize("sign", ["plus", "random"])
def test_the_largest_weights_do_not_overflow(library, tmp_path, sign):
    positive = {"plus": 1.0, "random": 0.5}[sign]
    numbers = np.random.default_rng(1)

    def extreme(old):
        return np.where(numbers.random(old.shape) < positive, 63, -63).astype(np.int8)

    def change(graph):
        for product in [node for node in graph.node if node.op_type == "MatMulIntegerToFloat"]:
            set_constant(graph, product.input[1], extreme)

    folder = changed(tmp_path / "model", change)
    # Every number is rounded at the ends of its range here, and what is left of the states has hardly a direction.
    ours, theirs = states_of(loaded(folder)), states_of(OnnxEncoder(folder, max_length=128, joint=True))
    assert np.median(cosines(ours, theirs)) > 0.999


def test_embeddings_in_eight_bits(library, tmp_path):
    def change(graph):
        levels = numpy_helper.to_array(next(item for item in graph.initializer if item.name == "words.levels"))
        set_constant(graph, "words.rows", unpack)
        set_constant(graph, "words.levels", lambda _: np.resize(levels[:16, :1], (256, 1)))

    folder = changed(tmp_path / "model", change)
    assert np.array_equal(states_of(loaded(folder)), states_of(loaded()))


def test_a_model_that_was_just_exported(library, tmp_path, monkeypatch):
    from weft.models.export import export_model

    shape = {"hidden_size": 64, "num_attention_heads": 2, "intermediate_size": 192, "hidden_act": "relu"}
    monkeypatch.setitem(models.CONFIGS, "bert", ("BertConfig", shape))
    source, folder, text = models.make_model(tmp_path / "bert"), tmp_path / "int8", tmp_path / "pairs.txt"
    (source / "weft.json").write_text('{"layer": 3, "joint": true}')
    text.write_text("".join(f"{source} ||| {target}\n" for source, target in batched(models.SENTENCES)))
    export_model(source, folder, text=text)
    pairs = [tuple(tuple(side.split()) for side in pair) for pair in batched(models.SENTENCES)]
    ours = states_of(loaded(folder, max_length=64), pairs)
    assert_like(ours, states_of(OnnxEncoder(folder, max_length=64, joint=True), pairs), equal=0.5)


def batched(sentences):
    return list(zip(sentences[::2], sentences[1::2], strict=True))


@pytest.mark.parametrize("name", UNFIT)
def test_other_graphs_are_left_to_onnxruntime(library, tmp_path, name):
    folder = changed(tmp_path / "model", UNFIT[name])
    with pytest.raises(UnfitError):
        native.read_model(folder)
    assert native.native_encoder(folder, max_length=128, batch_tokens=None, joint=True) is None


def test_graphs_of_others_run_as_before(library, tmp_path):
    aligner = Aligner.from_pretrained(make_graph_model(tmp_path / "graph"))
    assert type(aligner.encoder) is OnnxEncoder
    assert aligner.align("das ist gut", "das ist gut").pairs


def test_rows_longer_than_its_positions_are_left_to_onnxruntime(library):
    assert native.native_encoder(NANO, max_length=129, batch_tokens=None, joint=True) is None


GRAPH = (NANO / "model.onnx").read_bytes()
STRUCTURE = 12_000  # bytes at the beginning of the graph that say more than weights do


@given(st.data())
def test_a_damaged_file_is_never_more_than_unfit(data):
    file = bytearray(GRAPH)
    for _ in range(data.draw(st.integers(0, 3))):
        file[data.draw(st.integers(0, STRUCTURE) | st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.just(len(file)) | st.integers(0, len(file)))
    with suppress(UnfitError):
        read_weights(read_graph(memoryview(file)[:end]))


@pytest.mark.timeout(30)
@pytest.mark.parametrize("file", [bytes(1 << 24), GRAPH * 2, GRAPH + b"\xca\x01\x02\x0a\x00"])
def test_what_is_no_single_graph_is_soon_unfit(file):
    with pytest.raises(UnfitError):
        read_graph(memoryview(file))


@pytest.mark.parametrize("content", [b"", b"\xff" * 100, GRAPH[:100_000]])
def test_a_damaged_file_is_told_in_the_words_of_before(library, tmp_path, content):
    folder = shutil.copytree(NANO, tmp_path / "model")
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(WeftError, match="cannot load the model in"):
        Aligner.from_pretrained(folder)


@pytest.mark.parametrize("number", [1e25, np.inf, np.nan])
def test_numbers_that_cannot_be_compared_are_a_sentence(library, tmp_path, number):
    folder = changed(tmp_path / "model", filled("model.encoder.layer.2.output.LayerNorm.weight", number))
    with pytest.raises(WeftError, match="is damaged: its numbers are too large to be compared"):
        Aligner.from_pretrained(folder).align("das ist gut", "that is good")


def test_subwords_that_the_graph_does_not_have_are_a_sentence(library, tmp_path):
    def change(graph):
        for name in ("words.rows", "words.scales"):
            set_constant(graph, name, lambda old: old[:200])

    folder = changed(tmp_path / "model", change)
    with pytest.raises(WeftError, match="its tokenizer has more subwords than its graph"):
        states_of(loaded(folder))

    below_zero = Subwords(np.array([5, -1]), np.array([0, 0]), np.array([0, 1, 2]))
    with pytest.raises(WeftError, match="its tokenizer has more subwords than its graph"):
        loaded().encode(below_zero)


OUTSIDE = {
    "before the chunk": (-1, 2, 0, 2),
    "after the chunk": (8, 11, 8, 9),
    "backwards": (5, 4, 5, 4),
    "kept from before": (3, 5, 2, 5),
    "kept to behind": (3, 5, 3, 6),
    "longer than the positions": (0, 127, 0, 0),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_rows_outside_the_chunk_never_reach_the_c_code(library, name):
    model, tokenizer = loaded()._loaded(), loaded().tokenizer
    ids = np.zeros(200 if name.startswith("longer") else 10, dtype=np.int64)
    rows = RowSpans(*(np.array([[number]]) for number in OUTSIDE[name]))
    with pytest.raises(IndexError, match="rows that the chunk or the model does not have"):
        model.run(rows, ids, tokenizer, np.empty((len(ids) + 1, model.width), dtype=np.float32))


def test_a_file_that_was_replaced_is_not_what_was_sent(library, tmp_path):
    folder = shutil.copytree(NANO, tmp_path / "model")
    packed = pickle.dumps(loaded(folder))
    shutil.copy(MODELS / "weft-mini" / "model.onnx", folder)
    with pytest.raises(WeftError, match="it is not the one that was there before"):
        states_of(pickle.loads(packed))


def test_without_the_memory_for_it_onnxruntime_runs_a_model(library, monkeypatch):
    encoder = pickle.loads(pickle.dumps(loaded()))
    monkeypatch.setattr(library, "weft_load", lambda *_: None)
    assert native.native_encoder(NANO, max_length=128, batch_tokens=None, joint=True) is None
    with pytest.raises(WeftError, match=r"cannot load the model in .*MemoryError"):
        states_of(encoder)


def test_the_environment_chooses(library, monkeypatch):
    assert type(Aligner.from_pretrained("weft-nano").encoder) is native.NativeEncoder
    monkeypatch.setenv(c.CHOICE, "avx2")
    assert type(Aligner.from_pretrained("weft-nano").encoder) is native.NativeEncoder
    monkeypatch.setenv(c.CHOICE, "0")
    assert type(Aligner.from_pretrained("weft-nano").encoder) is OnnxEncoder
    monkeypatch.setenv(c.CHOICE, "mmx")
    with pytest.raises(SettingError, match=r"WEFT_NATIVE cannot be 'mmx' here. It can be: 0 \(use onnxr.*avx2"):
        Aligner.from_pretrained("weft-nano")


def test_without_the_library_onnxruntime_runs_everything(monkeypatch, tmp_path):
    monkeypatch.delenv(c.CHOICE, raising=False)
    assert c.load_library(tmp_path / "nothing.so") is None
    (tmp_path / "damaged.so").write_bytes(b"\x7fELF of sorts")
    assert c.load_library(tmp_path / "damaged.so") is None
    monkeypatch.setattr(native, "load_library", lambda: None)
    assert type(Aligner.from_pretrained("weft-nano").encoder) is OnnxEncoder
    monkeypatch.setenv(c.CHOICE, "avx2")
    with pytest.raises(SettingError, match=r"It can be: 0 \(use onnxruntime\)\."):
        Aligner.from_pretrained("weft-nano")


def test_a_library_of_another_version_is_not_used(compiled, monkeypatch):
    monkeypatch.setattr(c, "_INTERFACE", -1)
    assert c.load_library.__wrapped__(Path(compiled["plain"]._name)) is None


@pytest.mark.skipif(c.load_library() is None, reason="weft is installed without the encoder in C")
def test_onnxruntime_is_not_loaded_if_it_is_not_needed(loaded_by):
    pair = "das ist gut ||| that is good\n"
    assert loaded_by({"onnxruntime", "numpy"}, "align", input=pair) == ({"numpy"}, "0-0 1-1 2-2")


def test_a_compiler_that_fails_leaves_no_library(build, tmp_path, monkeypatch):
    folder = tmp_path / build.FOLDER
    folder.mkdir(parents=True)
    (tmp_path / build.LIBRARY).write_bytes(b"old")
    monkeypatch.setenv("WEFT_PURE", "1")
    assert "not wanted" in build.compile_library(tmp_path)
    assert (tmp_path / build.LIBRARY).exists()
    monkeypatch.setenv("WEFT_PURE", "0")
    failures = {
        "false": "exit code 1",
        "no-such-compiler": "there is no C compiler",
        "true": "could not be compiled",
        str(folder): "Permission denied",
        "cc 'without an end": "No closing quotation",
        r"""sh -c 'printf "\377error" >&2; exit 1'""": r"\xfferror)",
    }
    for compiler, said in failures.items():
        monkeypatch.setenv("CC", compiler)
        assert said in build.compile_library(tmp_path)
        assert list(folder.iterdir()) == []
    (tmp_path / build.LIBRARY).mkdir()  # it cannot be replaced and not be deleted
    monkeypatch.setenv("CC", "cc")
    assert "could not be compiled" in build.compile_library(tmp_path)


OTHER_MACHINES = {
    "platform.machine": lambda: "aarch64",
    "sysconfig.get_platform": lambda: "linux-aarch64",  # where a wheel is built for another machine
    "sys.maxsize": (1 << 31) - 1,
}


@pytest.mark.parametrize("name", OTHER_MACHINES)
def test_nothing_is_compiled_for_other_machines(build, tmp_path, monkeypatch, name):
    with monkeypatch.context() as patch:
        patch.setattr(name, OTHER_MACHINES[name])
        obstacle = build.compile_library(tmp_path)
    assert "is for x86-64" in obstacle


@pytest.mark.parametrize("name", ["weft-nano", "weft-mini"])
def test_links_of_the_dev_sets_are_those_of_onnxruntime(library, monkeypatch, data, name):
    ours = Aligner.from_pretrained(name)
    monkeypatch.setenv(c.CHOICE, "0")
    theirs = Aligner.from_pretrained(name)
    assert (type(ours.encoder), type(theirs.encoder)) == (native.NativeEncoder, OnnxEncoder)
    sets = sorted((data / "gold").glob("*/dev.src"))
    assert sets
    pairs = []
    for path in sets:
        sides = [path.with_suffix(end).read_text("utf-8").splitlines()[:60] for end in (".src", ".tgt")]
        pairs += list(zip(*sides, strict=True))
    links = [aligner.align_batch(pairs, scores="none") for aligner in (ours, theirs)]
    gold = [GoldAlignment(frozenset(alignment.pairs), frozenset(alignment.pairs)) for alignment in links[1]]
    assert score(gold, links[0]).rates.f1 > 99.5
