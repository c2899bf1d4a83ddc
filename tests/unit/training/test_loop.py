from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch
import transformers
from safetensors.torch import load_file

from weft import Aligner
from weft.errors import FormatError, SettingError, WeftError
from weft.training import checkpoints
from weft.training.config import TrainingConfig
from weft.training.loop import train


def config_of(toy, output, **changes):
    record = {
        "output": str(output), "model": str(toy / "base"), "layer": 2, "objectives": ["tlm"], "seed": 3,
        "corpora": [{"path": str(toy / "train.txt")}], "dev": [str(toy / "dev")], "batch_size": 32, "workers": 0,
        "learning_rate": 1e-3, "warmup": 0.1, "eval_every": 63, "save_every": 1000,
    }  # fmt: skip
    return TrainingConfig.from_record({**record, **changes})


def trained(toy, output, **changes):
    """Train and return the dev AERs on the way."""
    aers = []
    train(
        config_of(toy, output, **changes), report=lambda record: aers.append(record["aer"]) if "aer" in record else None
    )
    return aers


@pytest.fixture(scope="module")
def stages(toy, tmp_path_factory):
    """TLM from scratch, then SO + TLM from there, and the same with gold links; dev AERs of each."""
    folder = tmp_path_factory.mktemp("stages")
    links = [{"path": str(toy / "train.txt"), "links": str(toy / "train.links")}]
    first = {"model": str(folder / "tlm"), "learning_rate": 5e-4, "epochs": 2, "objectives": ["tlm", "so"]}
    return folder, {
        "untrained": trained(toy, folder / "untrained", max_steps=1, learning_rate=1e-9),
        "tlm": trained(toy, folder / "tlm", epochs=4),
        "so": trained(toy, folder / "so", **first),
        "gold": trained(toy, folder / "gold", **first, corpora=links),
    }


def test_aer_falls_with_so_and_tlm_and_more_with_gold_links(stages):
    best = {name: min(aers) for name, aers in stages[1].items()}
    assert best["tlm"] < best["untrained"] - 10
    assert best["so"] < best["tlm"] - 2
    assert best["gold"] < best["so"] - 2


def test_the_best_model_is_kept_and_loads_everywhere(stages, toy):
    folder, aers = stages
    aligner = Aligner.from_pretrained(folder / "gold")
    assert aligner.encoder.layer == 2
    assert aligner.align("un house lo dog sesiala .".replace("sesiala", "seesa"[::-1]), "a house sees the dog .").links
    plain = transformers.AutoModel.from_pretrained(folder / "gold")
    assert plain.config.model_type == "bert"
    # Weights can be read by whoever may read the other files.
    assert (folder / "gold" / "model.safetensors").stat().st_mode == (folder / "gold" / "README.md").stat().st_mode
    card = (folder / "gold" / "README.md").read_text()
    assert f"mean dev AER (dev): {min(aers['gold']):.2f}" in card
    assert "train.txt with links" in card
    saved = TrainingConfig.from_record(json.loads((folder / "gold" / "training.json").read_text()))
    assert saved.objectives == ("tlm", "so")


def test_every_objective_together_and_heads_that_come_along(toy, tmp_path):
    config = config_of(
        toy, tmp_path / "all", objectives=["mlm", "tlm", "so", "psi", "co"], max_steps=4, log_every=1, dev=[]
    )
    records = []
    train(config, report=records.append)
    assert len(records) == 4
    assert all({"mlm", "tlm", "so", "psi", "co", "tokens/s", "lr"} <= record.keys() for record in records)
    assert all(-1 <= record["so"] <= 0 and -1 <= record["co"] <= 0 for record in records)
    assert [json.loads(line) for line in (tmp_path / "all" / "metrics.jsonl").read_text().splitlines()] == records
    heads = load_file(tmp_path / "all" / "heads.safetensors")
    again = train(config_of(toy, tmp_path / "next", model=str(tmp_path / "all"), objectives=["psi"], max_steps=1,
                            learning_rate=1e-12, dev=[]))  # fmt: skip
    assert again.step == 1
    for name, value in load_file(tmp_path / "next" / "heads.safetensors").items():
        torch.testing.assert_close(value, heads[name])


def test_a_mixture_of_given_and_missing_links_trains(toy, tmp_path):
    lines = (toy / "train.links").read_text().splitlines()
    (tmp_path / "some.links").write_text("".join((line if k % 2 else "") + "\n" for k, line in enumerate(lines)))
    corpora = [{"path": str(toy / "train.txt"), "links": str(tmp_path / "some.links"), "weight": 0.5}]
    aers = trained(toy, tmp_path / "out", objectives=["so", "tlm"], corpora=corpora, epochs=1, guide={"strict": 0.3})
    assert min(aers) < 30


def test_entmax_trains_and_is_stored(toy, tmp_path):
    trained(toy, tmp_path / "out", objectives=["so", "tlm"], method="entmax", max_steps=3)
    assert Aligner.from_pretrained(tmp_path / "out").settings.method == "entmax"


def test_early_stopping(toy, tmp_path):
    config = config_of(toy, tmp_path / "out", learning_rate=1e-12, eval_every=1, max_steps=50, patience=3)
    assert train(config).step == 3


def test_small_pieces_give_the_same_losses(toy, tmp_path, one_thread):
    curves = []
    for name, budget in (("large", 100_000), ("small", 60)):
        records = []
        options = {"batch_tokens": budget, "max_steps": 5, "log_every": 1, "dev": [], "model": str(no_dropout(toy))}
        train(config_of(toy, tmp_path / name, objectives=["tlm", "mlm", "so", "co"], **options), report=records.append)
        curves.append([[record[key] for key in ("tlm", "mlm", "so", "co")] for record in records])
    torch.testing.assert_close(torch.tensor(curves[0]), torch.tensor(curves[1]), rtol=2e-4, atol=2e-5)


def no_dropout(toy):
    folder = toy / "no-dropout"
    if not folder.exists():
        library = transformers.AutoModelForMaskedLM.from_pretrained(toy / "base")
        library.config.hidden_dropout_prob = library.config.attention_probs_dropout_prob = 0.0
        library.save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(toy / "base").save_pretrained(folder)
    return folder


def write_run(toy, output, path, **changes):
    config = config_of(toy, output, max_steps=30, save_every=5, eval_every=10, log_every=1, **changes)
    config.save(path)
    return [sys.executable, "-c", (
        "import json, torch; torch.set_num_threads(1)\n"
        "from weft.training.config import TrainingConfig; from weft.training.loop import train\n"
        f"train(TrainingConfig.from_record(json.load(open({str(path)!r}))))"
    )]  # fmt: skip


def read_run(path):
    return TrainingConfig.from_record(json.loads(path.read_text()))


ALL_KINDS = {"objectives": ["mlm", "tlm", "so", "psi", "co", "teacher", "unrelated"]}
FILLED = {
    "objectives": ["teacher", "unrelated", "masked", "psi"], "step_tokens": 600, "teacher_tokens": 900,
    "matrix_learning_rate": 1e-3, "changes": {"double": 0.1}, "masking": {"until": 0.8, "halved_after": 0.4},
    "start_share": 0.25,
}  # fmt: skip


@pytest.mark.parametrize("changes", [ALL_KINDS, FILLED], ids=["epochs", "filled"])
def test_a_killed_run_goes_on_bit_for_bit(toy, tmp_path, one_thread, changes):
    write_run(toy, tmp_path / "whole", tmp_path / "whole.json", **changes)
    train(read_run(tmp_path / "whole.json"))
    command = write_run(toy, tmp_path / "killed", tmp_path / "killed.json", **changes)
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    checkpoints = tmp_path / "killed" / "checkpoints"
    deadline = time.monotonic() + 400
    while not list(checkpoints.glob("step-*10")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert not (checkpoints / "step-000000030").exists()
    train(read_run(tmp_path / "killed.json"), resume=True)
    for name in ("model.safetensors", "heads.safetensors"):
        first, second = (load_file(tmp_path / run / name) for run in ("whole", "killed"))
        assert first.keys() == second.keys()
        assert all(torch.equal(first[key], second[key]) for key in first)
    metrics = []
    for run in ("whole", "killed"):
        records = [json.loads(line) for line in (tmp_path / run / "metrics.jsonl").read_text().splitlines()]
        metrics.append(
            [
                {name: value for name, value in record.items() if name not in ("tokens/s", "seconds left")}
                for record in records
            ]
        )
    assert metrics[0] == metrics[1]
    config = read_run(tmp_path / "killed.json")
    with pytest.raises(SettingError, match=r"had other settings: batch_size, seed\."):
        train(dataclasses.replace(config, seed=9, batch_size=5), resume=True)


def test_what_is_read_before_the_clock_starts_changes_nothing(toy, tmp_path, one_thread):
    """Encoders are compiled on a step that is then forgotten."""
    for name, compiled in (("plain", False), ("compiled", True)):
        options = {**FILLED, "compile": compiled, "max_steps": 3, "dev": [], "held_out": 0.0}
        train(config_of(toy, tmp_path / name, **options))
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("plain", "compiled"))
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_a_share_of_the_starting_weights_is_kept_and_scored(toy, tmp_path, one_thread):
    scores = {}
    for name, share in (("none", 0.0), ("half", 0.5)):
        options = {"max_steps": 20, "eval_every": 10, "objectives": ["so"], "start_share": share, "dev": []}
        train(config_of(toy, tmp_path / name, **options))
        options |= {"dev": [str(toy / "dev")], "output": str(tmp_path / f"{name}-judged")}
        scores[name] = trained(toy, **options)
    trained_weights, kept = (load_file(tmp_path / name / "model.safetensors") for name in ("none", "half"))
    start = load_file(toy / "base" / "model.safetensors")
    assert any(not torch.equal(kept[name], trained_weights[name]) for name in kept)
    for name, weight in kept.items():
        torch.testing.assert_close(weight, (trained_weights[name] + start[name]) / 2)
    assert scores["half"][0] == scores["none"][0]
    assert scores["half"][1:] != scores["none"][1:]


def test_two_processes_learn_what_one_does(toy, tmp_path, one_thread):
    curves = []
    names = ["mlm", "tlm", "so", "co", "teacher", "unrelated", "masked"]
    for processes in (1, 2):
        output = tmp_path / f"of{processes}"
        command = write_run(toy, output, tmp_path / "run.json", model=str(no_dropout(toy)), objectives=names)
        if processes == 1:
            train(read_run(tmp_path / "run.json"))
        else:
            (tmp_path / "run.py").write_text(command[2])
            launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
            on_cpu = {**os.environ, "ACCELERATE_USE_CPU": "true"}
            done = subprocess.run(
                [*launch, tmp_path / "run.py"], capture_output=True, text=True, check=False, env=on_cpu
            )
            assert done.returncode == 0, done.stderr[-2000:]
        records = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
        curves.append([[record[name] for name in names] for record in records if "tlm" in record])
    assert len(curves[0]) == 30
    torch.testing.assert_close(torch.tensor(curves[0]), torch.tensor(curves[1]), rtol=1e-3, atol=1e-4)


def test_a_complete_run_keeps_no_checkpoints_and_is_not_trained_again(toy, tmp_path):
    config = config_of(toy, tmp_path / "out", max_steps=4, save_every=2, eval_every=2)
    progress = train(config)
    assert [path.name for path in (tmp_path / "out" / "checkpoints").iterdir()] == ["finished.json"]
    weights = (tmp_path / "out" / "model.safetensors").stat()
    said = []
    again = train(config, resume=True, report=lambda record: pytest.fail("it trains"), say=said.append)
    assert again == progress
    assert said == [f"the run in {tmp_path / 'out'} is already complete; nothing is left to resume."]
    assert (tmp_path / "out" / "model.safetensors").stat() == weights
    with pytest.raises(SettingError, match=r"had other settings: max_steps\. Use the same ones, or `overwrite` it"):
        train(dataclasses.replace(config, max_steps=6), resume=True)
    assert train(dataclasses.replace(config, max_steps=6), overwrite=True).step == 6
    (tmp_path / "out" / "model.safetensors").unlink()  # then there is nothing that could be called complete
    assert train(dataclasses.replace(config, max_steps=6), resume=True).step == 6
    assert (tmp_path / "out" / "model.safetensors").is_file()


def test_a_run_that_stops_early_is_complete_too(toy, tmp_path):
    config = config_of(toy, tmp_path / "out", max_steps=50, save_every=1, eval_every=1, patience=1, learning_rate=0.3)
    progress = train(config)
    assert progress.step < 50
    assert train(config, resume=True, report=lambda record: pytest.fail("it trains")) == progress


@pytest.mark.parametrize(("pairs", "remarks"), [(1, ["only 1 pair has"]), (19, ["only 19 pairs have"]), (20, [])])
def test_hardly_any_gold_is_remarked_on(toy, tmp_path, pairs, remarks):
    for end in ("txt", "links"):
        lines = (toy / f"train.{end}").read_text().splitlines(keepends=True)
        (tmp_path / f"few.{end}").write_text("".join(lines[:pairs]))
    few = {"path": str(tmp_path / "few.txt"), "links": str(tmp_path / "few.links")}
    said = []
    changes = {"objectives": ["so"], "max_steps": 1, "dev": [], "batch_size": 4}
    train(config_of(toy, tmp_path / "out", corpora=[few], **changes), say=said.append)
    assert [line.split(" gold links")[0] for line in said if "gold links" in line] == remarks
    said.clear()
    silver = [{**few, "silver": True}]
    train(config_of(toy, tmp_path / "silver", corpora=silver, **changes), say=said.append)
    assert not [line for line in said if "gold links" in line]


def test_an_output_folder_with_a_model_is_not_overwritten_by_accident(toy, stages):
    with pytest.raises(SettingError, match=r"already contains a model\. Use `resume` to continue or `overwrite`"):
        train(config_of(toy, stages[0] / "tlm"))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"layer": 9}, SettingError, "there is no layer 9: the model has layers 0"),
        ({"dev": ["nowhere"]}, FileNotFoundError, "nowhere"),
        ({"architecture": {"model_type": "nonsense"}}, SettingError, "`architecture` does not describe a model"),
        ({"exclude": ["DEV"]}, FormatError, "this sentence is in the test set"),
    ],
)
def test_mistakes_are_named(toy, tmp_path, changes, error, message):
    if "exclude" in changes:
        changes = {"exclude": [str(toy / "train")]}
    with pytest.raises(error, match=message):
        train(config_of(toy, tmp_path / "out", **changes))


@pytest.mark.parametrize("model_type", ["bert", "xlm-roberta", "distilbert", "electra", "mpnet", "xlm"])
def test_encoders_with_a_head_of_their_own_train(toy, tmp_path, model_type):
    from models import make_model

    base = make_model(tmp_path / "base", model_type)
    config = config_of(toy, tmp_path / "out", model=str(base), objectives=["mlm", "so"], max_steps=2, dev=[], layer=2)
    assert train(config).step == 2
    assert Aligner.from_pretrained(tmp_path / "out").align("the dog", "the dog").links


@pytest.mark.parametrize("model_type", ["t5", "nllb"])
def test_encoders_without_a_head_get_one(toy, tmp_path, model_type):
    from models import make_model

    base = make_model(tmp_path / "base", model_type)
    config = config_of(toy, tmp_path / "out", model=str(base), objectives=["tlm", "so"], max_steps=2, dev=[], layer=2)
    assert train(config).step == 2
    assert any(name.startswith("own_head") for name in load_file(tmp_path / "out" / "heads.safetensors"))
    assert Aligner.from_pretrained(tmp_path / "out").align("the dog", "the dog").links


def test_from_scratch(toy, tmp_path):
    architecture = {"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2,
                    "intermediate_size": 64, "max_position_embeddings": 64}  # fmt: skip
    config = config_of(toy, tmp_path / "out", architecture=architecture, layer=None, max_steps=3, dev=[])
    train(config)
    assert Aligner.from_pretrained(tmp_path / "out").encoder.layer == 2


def joint_base(toy, folder, **settings):
    """The toy encoder, made to read both sentences of a pair together."""
    shutil.copytree(toy / "base", folder)
    (folder / "weft.json").write_text(json.dumps({"layer": 2, "joint": True, **settings}))
    return folder


def test_a_joint_base_learns_from_itself_and_what_is_worse_is_not_kept(toy, tmp_path):
    base = joint_base(toy, tmp_path / "base")
    said, records = [], []
    changes = {"model": str(base), "teacher": str(base), "objectives": None, "dev": [], "layer": None, "max_steps": 3,
               "log_every": 1}  # fmt: skip
    good = config_of(toy, tmp_path / "good", **changes, learning_rate=3e-4)
    progress = train(good, report=records.append, say=said.append)
    assert said[0].startswith("objectives teacher, unrelated")
    assert said[1] == "1,957 pairs, 39 of them held out (left out: 43 duplicates); 3 steps of 32 pairs."
    assert records[0]["step"] == 0
    assert {"teacher", "unrelated", "lr", "seconds left"} <= records[1].keys()
    assert progress.best < progress.before == records[0]["held out"]
    assert (progress.best_step, Aligner.from_pretrained(tmp_path / "good").settings.null) == (3, 15.0)
    worse = train(config_of(toy, tmp_path / "worse", **changes, learning_rate=3.0))
    assert worse.best_step == 0
    assert worse.last > worse.before == worse.best
    kept, start = (load_file(folder / "model.safetensors") for folder in (tmp_path / "worse", base))
    assert all(torch.equal(kept[name], start[name]) for name in start)


def test_half_of_a_text_has_links_of_a_statistical_aligner(toy, tmp_path):
    pytest.importorskip("thot")
    base = joint_base(toy, tmp_path / "base")
    said, records = [], []
    changes = {"model": str(base), "objectives": None, "dev": [], "layer": None, "max_steps": 3, "log_every": 1}
    train(config_of(toy, tmp_path / "out", **changes), report=records.append, say=said.append)
    assert said[0].startswith("objectives gold, teacher, unrelated")
    assert all(record[name] > 0 for record in records[1:4] for name in ("gold", "teacher", "unrelated"))
    assert {"held out gold", "held out teacher", "held out unrelated"} <= records[0].keys()
    (guide,) = (tmp_path / "out").glob("guide-*.links")
    lines = guide.read_text().split("\n")[:-1]
    assert sum(map(bool, lines)) == len(lines) // 2 == 1000


def test_gold_is_learned_and_a_teacher_holds_the_rest(toy, tmp_path):
    base = joint_base(toy, tmp_path / "base")
    corpora = [{"path": str(toy / "train.txt"), "links": str(toy / "train.links"), "limit": 300},
               {"path": str(toy / "dev.txt")}]  # fmt: skip
    config = config_of(toy, tmp_path / "out", model=str(base), objectives=None, corpora=corpora, null=3.0, max_steps=80)
    said, aers = [], []
    train(config, say=said.append, report=lambda record: aers.append(record["aer"]) if "aer" in record else None)
    assert "gold, teacher, unrelated" in said[0]
    assert said[1].startswith("80 of 80 dev pairs have a source or target sentence that is also in the text")
    assert said[3].startswith("step 3 of 80, about ")
    assert aers[-1] < aers[0] - 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"teacher": "OTHER"}, "`teacher` must split words as the base does"),
        ({"architecture": {"model_type": "bert"}}, "`teacher` must name a model: one that starts from scratch"),
        ({"extend_vocabulary": 10, "objectives": ["so"]}, "only a WordPiece vocabulary"),
    ],
)
def test_a_teacher_that_cannot_teach_is_a_sentence(toy, tmp_path, changes, message):
    from models import make_model

    if "teacher" in changes:
        changes = {"teacher": str(make_model(tmp_path / "other", "bert"))}
    with pytest.raises(WeftError, match=message):
        train(config_of(toy, tmp_path / "out", **{"objectives": ["teacher"], **changes}))


def test_a_loss_that_is_no_number_ends_the_run_before_anything_is_saved(toy, tmp_path):
    config = config_of(toy, tmp_path / "out", dev=[], learning_rate=1e30, clip=1e30, max_steps=20, save_every=20)
    with pytest.raises(WeftError, match=r"the loss of tlm is not a number at step 20: lower learning_rate"):
        train(config)
    assert not list((tmp_path / "out" / "checkpoints").glob("step-*"))


def test_a_run_by_the_clock(toy, tmp_path):
    records = []
    config = config_of(toy, tmp_path / "out", dev=[], minutes=0.05, log_every=1, keep_checkpoints=True)
    progress = train(config, report=records.append)
    assert progress.step == len(records) > 0
    rates = [record["lr"] for record in records]
    assert max(rates) <= 1e-3
    assert rates[-1] < max(rates)
    assert checkpoints.latest(tmp_path / "out" / "checkpoints").name == f"step-{progress.step:09d}"


def test_two_runs_in_one_process_may_have_different_precision(toy, tmp_path):
    for precision in ("no", "bf16", "no"):
        config = config_of(toy, tmp_path / "out", dev=[], precision=precision, max_steps=2)
        assert train(config, overwrite=True).step == 2
