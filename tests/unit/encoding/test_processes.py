"""An aligner in everyday Python processes: forked after it was used, sent to another one, pickled."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

from weft import Aligner
from weft.encoding.bert import BertEncoder, read_bert

PAIRS = [("das ist gut", "that is good"), ("wir gehen nach Hause", "we are going home")] * 300

aligner: Aligner


def align_globally(pair):
    """What `datasets.map(num_proc=2)` does: the aligner is a global that was forked."""
    return aligner.align(*pair)


def test_an_aligner_that_was_used_works_in_forked_processes():
    global aligner
    aligner = Aligner.from_pretrained()
    expected = aligner.align_batch(PAIRS)[:2]  # several batches, so that all its threads have begun
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        found = [pool.submit(align_globally, pair) for pair in PAIRS[:4]]
        assert [str(alignment.result(timeout=400)) for alignment in found] == [*map(str, expected)] * 2
    assert str(aligner.align(*PAIRS[0])) == str(expected[0])


def test_an_aligner_travels_to_a_spawned_process():
    sent = Aligner.from_pretrained(threshold=0.2)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = pool.submit(sent.align, *PAIRS[0]).result(timeout=400)
    assert found == sent.align(*PAIRS[0])


def test_a_pickled_aligner_finds_the_same_links(tiny_bert):
    for encoder in (Aligner.from_pretrained().encoder, BertEncoder(read_bert(tiny_bert), layer=2, device="cpu")):
        before = Aligner(encoder, Aligner.from_pretrained().settings)
        after = pickle.loads(pickle.dumps(before))
        assert after.settings == before.settings
        assert after.align_batch(PAIRS[:2]) == before.align_batch(PAIRS[:2])


def test_a_model_whose_files_are_gone_is_a_sentence(tmp_path):
    from shutil import copytree, rmtree

    folder = copytree(Aligner.from_pretrained().encoder.source, tmp_path / "model")
    packed = pickle.dumps(Aligner.from_pretrained(folder))
    rmtree(folder)
    with pytest.raises(Exception, match="cannot load the model in"):
        pickle.loads(packed).align(*PAIRS[0])
