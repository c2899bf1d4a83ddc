"""A new language: a script that the base cannot read, links from the text alone, new pieces, training, resuming."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

from models import make_model
from toy import write_corpus
from weft import Aligner
from weft.errors import WeftError
from weft.training import checkpoints
from weft.training.config import TrainingConfig
from weft.training.loop import train

pytest.importorskip("thot")

# Georgian letters for Latin ones.
UNKNOWN = {ord("a") + k: chr(0x10D0 + k) for k in range(26)}


@pytest.fixture(scope="module")
def new_language(tmp_path_factory):
    """A joint base, a corpus in letters that it has no pieces for, and a corpus that it can read."""
    folder = tmp_path_factory.mktemp("new")
    make_model(folder / "base", "bert")
    (folder / "base" / "weft.json").write_text(json.dumps({"layer": 2, "joint": True}))
    write_corpus(folder, "text", 200, seed=1)
    sides = [(folder / f"text.{ending}").read_text().splitlines() for ending in ("src", "tgt")]
    sides[0] = [line.translate(UNKNOWN) for line in sides[0]]
    (folder / "text.src").write_text("".join(f"{line}\n" for line in sides[0]))
    (folder / "text.txt").write_text("".join(f"{x} ||| {y}\n" for x, y in zip(*sides, strict=True)))
    (folder / "plain.txt").write_text("the house ||| the dog\nthe dog sleeps ||| the house\n" * 3)
    return folder


def config_of(folder, output, **changes):
    record = {
        "output": str(output), "model": str(folder / "base"), "extend_vocabulary": 60, "workers": 0, "batch_size": 16,
        "corpora": [{"path": str(folder / "text.txt")}], "learning_rate": 3e-3, "max_steps": 8, "save_every": 4,
        "null": 0.0,
    }  # fmt: skip
    return TrainingConfig.from_record({**record, **changes})


def test_a_language_that_cannot_be_read_is_learned_from_text_alone(new_language, tmp_path):
    said = []
    # This base knows nothing at all: punished for links that are missing, it would learn to make none.
    lenient = {"gold": {"silver_stray": 0.0}, "max_steps": 40, "held_out": 0.1}
    progress = train(config_of(new_language, tmp_path / "out", **lenient), say=said.append)
    assert "statistical aligner" in said[0]
    assert "new pieces" in said[1]
    assert progress.best < progress.before
    assert len(list((tmp_path / "out").glob("guide-*.links"))) == 1
    aligner = Aligner.from_pretrained(tmp_path / "out", device="cpu")
    first = (new_language / "text.src").read_text().splitlines()[0].split()
    pieces = aligner.encoder.tokenizer.split([(word,) for word in first])
    unknown = json.loads((new_language / "base" / "tokenizer.json").read_text())["model"]["vocab"]["[UNK]"]
    assert len(pieces) == len(first)
    assert all(unknown not in piece.ids for piece in pieces)


def test_links_for_another_share_of_the_text_are_made_anew(new_language, tmp_path):
    for share in (0.5, 0.25):
        guide = {"share": share}
        train(config_of(new_language, tmp_path / "out", guide=guide, max_steps=1, held_out=0.0), overwrite=True)
    files = [path.read_text().splitlines() for path in (tmp_path / "out").glob("guide-*.links")]
    assert sorted(sum(map(bool, lines)) / len(lines) for lines in files) == pytest.approx([0.25, 0.5], abs=0.05)


def test_a_language_in_a_known_script_is_learned_too(new_language, tmp_path):
    """As Marathi is beside Hindi: hardly a word has a letter that the base lacks."""
    known = ["the dog", "the house", "the dog sleeps", "the house sleeps", "the", "dog", "house", "sleeps"]
    pairs = [f"{x} {y} ||| {z}" for x in known for y in known for z in known]
    pairs[3] = f"\u10d0 {pairs[3]}"
    pairs[300:302] = [f"\u10d0 {pair}" for pair in pairs[300:302]]
    gold, nearly = pairs[:250], pairs[250:]  # one or two words in a thousand
    (tmp_path / "gold.txt").write_text("".join(f"{pair}\n" for pair in gold))
    (tmp_path / "gold.links").write_text("0-0\n" * len(gold))
    (tmp_path / "nearly.txt").write_text("".join(f"{pair}\n" for pair in nearly))
    (tmp_path / "known.txt").write_text("".join(f"{x} ||| {x} {x}\n" for x in known))
    corpora = [
        {"path": str(tmp_path / "gold.txt"), "links": str(tmp_path / "gold.links")},
        {"path": str(tmp_path / "nearly.txt")},
        {"path": str(tmp_path / "known.txt")},
    ]
    said = []
    train(config_of(new_language, tmp_path / "out", corpora=corpora, max_steps=1), say=said.append)
    assert said[1].endswith(f"In the new language, without gold: {tmp_path / 'nearly.txt'}.")
    assert len(list((tmp_path / "out").glob("guide-*.links"))) == 1


def test_a_run_with_new_pieces_and_a_teacher_goes_on_bit_for_bit(new_language, tmp_path, one_thread):
    corpora = [{"path": str(new_language / name)} for name in ("text.txt", "plain.txt")]
    config = config_of(new_language, tmp_path / "out", corpora=corpora, held_out=0.0, keep_checkpoints=True)
    said = []
    train(config, say=said.append)
    assert "gold, teacher" in said[0]
    whole = load_file(tmp_path / "out" / "model.safetensors")
    # What a kill after step 4 would have left.
    shutil.rmtree(tmp_path / "out" / "checkpoints" / "step-000000008")
    assert checkpoints.latest(tmp_path / "out" / "checkpoints").name == "step-000000004"
    (tmp_path / "out" / "model.safetensors").unlink()
    assert train(config, resume=True).step == 8
    again = load_file(tmp_path / "out" / "model.safetensors")
    assert all(torch.equal(again[name], whole[name]) for name in whole)


def test_text_without_unknown_words_is_a_sentence(new_language, tmp_path):
    corpora = [{"path": str(new_language / "plain.txt")}]
    with pytest.raises(WeftError, match=r"can read every word of the text.*`links` = `eflomal`"):
        train(config_of(new_language, tmp_path / "out", corpora=corpora))
    assert not list((tmp_path / "out").glob("guide-*"))
