from __future__ import annotations

import pytest
import torch

from toy import make_base, write_corpus


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """A folder with a toy corpus `train`, a dev set `dev`, and a tiny untrained encoder `base`."""
    folder = tmp_path_factory.mktemp("toy")
    write_corpus(folder, "dev", 80, seed=2)
    make_base(folder / "base", write_corpus(folder, "train", 2000, seed=1))
    return folder


@pytest.fixture
def one_thread():
    """Sums in one order, so that results can be compared bit by bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
