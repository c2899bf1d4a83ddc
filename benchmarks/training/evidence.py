"""What `weft train` gains: on text, on gold, and on a language that the model cannot read. AER before and after.

    python benchmarks/training/evidence.py pack ARCHIVE --data DATA [--lines 20000]    where there are git and the data
    python3 benchmarks/training/evidence.py run ARCHIVE RESULTS [--parts speed,text]   on the machine with the GPU
    python3 benchmarks/training/evidence.py table RESULTS...                           the tables once more

The machine with the GPU needs this repository, and torch, transformers, tokenizers, safetensors, accelerate,
onnxruntime and numpy. The archive has everything else: text cut into words, gold sets, the fourth weft-mini, and the
other packages that weft needs. That is less than 35 MB.

Parts:

- text: Estonian, Slovene, Hungarian, Latvian, Korean, Arabic, Russian and Finnish, each with English and by itself,
  with the defaults; and with other settings, to compare.
- language: seven Indian languages of which the fourth weft-mini can read none or half, with and without gold verses;
  beside them the links of the statistical aligner, which aligns the dev verses along with the text.
- gold: 50 to 500 gold sentences on top of a model that has seen none such (Finnish and Arabic verses, the fourth
  weft-mini), and of one that has seen these very sentences (Japanese, the present one).
- speed: runs that have the GPU to themselves.

`run` keeps several runs of `weft train` going side by side. RESULTS/results.json grows with each one that ends, so that
a call that is cut off still gives a table; a later call on the same machine does what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from evidence_data import pack
from evidence_runs import PARTS, Place, Run, runs
from evidence_tables import print_tables

Result = dict[str, Any]

SCRIPT = Path(__file__).resolve()
CODE = SCRIPT.parents[2] / "src"
RESULTS = "results.json"


class Board:
    """Results as they come, in a file that is always complete."""

    def __init__(self, *paths: Path) -> None:
        self._paths, self._lock = paths, threading.Lock()
        self.results: dict[str, Result] = json.loads(paths[0].read_text()) if paths[0].exists() else {}

    def add(self, name: str, result: Result) -> None:
        """Put down what came of a run."""
        with self._lock:
            self.results[name] = result
            for path in self._paths:
                path.write_text(json.dumps(self.results, indent=1))


def run(options: argparse.Namespace) -> None:
    """Do all runs of some parts, several at a time, until the time is up."""
    end = time.monotonic() + options.until
    work: Path = options.work
    if not (work / "gold.tsv").exists():
        work.mkdir(parents=True, exist_ok=True)
        with tarfile.open(options.archive) as archive:
            archive.extractall(work, filter="data")
    options.results.mkdir(parents=True, exist_ok=True)
    board = Board(work / RESULTS, options.results / RESULTS)
    place = Place(work, options.lines, json.loads(options.extra))
    planned = [task for part in options.parts.split(",") for task in runs(part, place)]
    wanted = [task for task in planned if any(fnmatch(task.name, pattern) for pattern in options.only)]
    todo = [task for task in wanted if "scores" not in board.results.get(task.name, {})]

    def one(task: Run) -> None:
        left = end - time.monotonic()
        if left < options.least:
            return
        try:
            result = measured(task, work, options, min(left, options.limit))
        except Exception as error:  # one run that fails says so, and the others go on
            result = {"error": f"{type(error).__name__}: {error}"}
        board.add(task.name, result)
        print(f"{task.name}: {result.get('error') or summary(result)}", flush=True)

    for task in todo:
        if task.alone:
            one(task)
    with ThreadPoolExecutor(options.at_once) as pool, ThreadPoolExecutor(options.statistical_at_once) as processors:
        for task in todo:
            if not task.alone:
                (processors if task.statistical else pool).submit(one, task)
    print_tables(board.results)


def measured(task: Run, work: Path, options: argparse.Namespace, limit: float) -> Result:
    """Train and score one model, in processes of their own."""
    end = time.monotonic() + limit
    home = work / "runs" / task.name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    result: Result = {"stages": []}
    model = str(work / task.base) if (work / task.base).is_dir() else task.base
    for number, settings in enumerate(task.stages):
        output = home / f"stage{number}"
        file = home / f"stage{number}.toml"
        file.write_text(as_toml(settings | {"model": model, "output": str(output)}))
        said = watched(["-m", "weft", "train", "--config", str(file)], work, end, options)
        result["stages"].append({**said, **training_figures(output)})
        shutil.rmtree(output / "checkpoints", ignore_errors=True)
        model = str(output)
    if task.sets:
        asked = ["--sets", *task.sets, "--limit-dev", str(options.limit_dev), "--device", options.device]
        given = ["--text", str(place_of(task, work, options))] if task.statistical else ["--model", model]
        scores = home / "scores.json"
        said = watched(
            [str(SCRIPT.with_name("evidence_scores.py")), str(work), str(scores), *given, *asked], work, end, options
        )
        result |= {"scoring seconds": said["seconds"], "scores": json.loads(scores.read_text())}
    else:
        result["scores"] = {}
    if not options.keep:
        shutil.rmtree(home)
    return result


def place_of(task: Run, work: Path, options: argparse.Namespace) -> Path:
    return Path(Place(work, options.lines).corpus(task.statistical)["path"])


def watched(command: list[str], work: Path, end: float, options: argparse.Namespace) -> Result:
    """Run Python, and note what it says and when; what goes on too long is stopped."""
    paths = os.pathsep.join(map(str, (CODE, SCRIPT.parent, SCRIPT.parents[1] / "accuracy", work / "packages")))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": str(options.threads), "PYTHONUNBUFFERED": "1"}
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that its helpers end with it
    )
    stopper = threading.Timer(max(1.0, end - begun), lambda: os.killpg(process.pid, signal.SIGKILL))
    stopper.start()
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append((round(time.monotonic() - begun, 1), line.rstrip()))
    stopper.cancel()
    if process.wait():
        ended = "stopped" if time.monotonic() >= end else f"ended with {process.returncode}"
        raise RuntimeError(
            f"{ended} after {time.monotonic() - begun:.0f} s: {' / '.join(line for _, line in said[-12:])}"
        )
    return {"seconds": round(time.monotonic() - begun, 1), "said": said}


def training_figures(output: Path) -> Result:
    """Steps, tokens a second without the first records, and evaluations of one training."""
    records = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    rates = [record["tokens/s"] for record in records if "tokens/s" in record]
    steady = rates[2:] or rates
    return {
        "steps": max((int(record["step"]) for record in records), default=0),
        "tokens/s": len(steady) / sum(1 / rate for rate in steady) if steady else None,
        "evaluations": [record for record in records if "tokens/s" not in record],
    }


def summary(result: Result) -> str:
    """One line on a run."""
    times = ", ".join(f"{stage['seconds']:.0f} s, {stage['tokens/s'] or 0:,.0f} tokens/s" for stage in result["stages"])
    scores = " ".join(f"{name} {score['aer']:.1f}" for name, score in list(result["scores"].items())[:6])
    return f"{times}; {scores}"


def as_toml(settings: dict[str, Any]) -> str:
    """A settings file of `weft train`; JSON's strings, numbers and lists are TOML's too."""
    plain = {name: value for name, value in settings.items() if name != "corpora" and not isinstance(value, dict)}
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in plain.items()]
    tables = [(f"[{name}]", value) for name, value in settings.items() if isinstance(value, dict)]
    tables += [("[[corpus]]", corpus) for corpus in settings["corpora"]]
    for title, values in tables:
        lines += ["", title, *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def tables(options: argparse.Namespace) -> None:
    """Print what earlier calls found."""
    found: dict[str, Result] = {}
    for folder in options.results:
        found |= json.loads((folder / RESULTS).read_text())
    print_tables(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    packing = commands.add_parser("pack", help="collect what the machine with the GPU needs")
    packing.add_argument("archive", type=Path)
    packing.add_argument("--data", type=Path, required=True)
    packing.add_argument("--lines", type=int, default=20_000, help="lines of text a language")
    packing.add_argument("--python", default="3.12", help="the version of Python on the machine with the GPU")
    packing.set_defaults(
        do=lambda options: pack(options.data, options.archive, lines=options.lines, python=options.python)
    )
    running = commands.add_parser("run", help="train and measure")
    running.add_argument("archive", type=Path)
    running.add_argument("results", type=Path)
    running.add_argument("--parts", default=",".join(PARTS))
    running.add_argument("--only", nargs="+", default=["*"], help="patterns of the runs to do, as 'text/hu/*'")
    running.add_argument("--work", type=Path, default=Path("/tmp/weft-evidence"), help="for models and text")
    running.add_argument("--at-once", type=int, default=7, help="runs side by side")
    running.add_argument("--statistical-at-once", type=int, default=2)
    running.add_argument("--threads", type=int, default=2, help="processor threads of a run")
    running.add_argument("--until", type=float, default=560, help="seconds for everything")
    running.add_argument("--limit", type=float, default=280, help="seconds for one run")
    running.add_argument("--least", type=float, default=30, help="no run begins with fewer seconds left")
    running.add_argument("--lines", type=int, help="only the first lines of every text")
    running.add_argument("--limit-dev", type=int, default=0, help="only the first sentences of every gold set")
    running.add_argument("--device", default="auto")
    running.add_argument("--extra", default="{}", help='settings for every run, as {"max_steps": 3}')
    running.add_argument("--keep", action="store_true", help="do not delete the models")
    running.set_defaults(do=run)
    showing = commands.add_parser("table", help="print the tables of earlier results")
    showing.add_argument("results", type=Path, nargs="+")
    showing.set_defaults(do=tables)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
