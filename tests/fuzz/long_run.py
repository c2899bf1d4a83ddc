"""Tries the command line on thousands of made-up cases: `python tests/fuzz/long_run.py --cases 20000 --seed 1`.

Each breach of the rule is printed with the command that repeats it; the exit code is 1 if there was any.
"""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import typer

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM"):
    os.environ.setdefault(variable, "1" if variable != "TOKENIZERS_PARALLELISM" else "false")
sys.path.insert(0, str(Path(__file__).parents[1]))

import forking  # noqa: E402 - the paths come first
from fuzz import rule, workshop  # noqa: E402
from fuzz.cases import Maker  # noqa: E402
from weft.cli.main import command_line  # noqa: E402


def main() -> int:
    """Run the cases that were asked for."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="weft-fuzz-") as place:
        base = Path(place)
        workshop.make_graph_model(base / "graph")
        if options.training:
            workshop.make_torch_model(base / "torch")
        import_everything(training=options.training)
        maker = Maker(base, training=options.training, command=options.command)
        return _run(options, maker, base / "case")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long, whatever is left")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this case alone, and leave its files in ./fuzz-case")
    parser.add_argument("--seconds", type=float, default=60.0, help="time of a processor that one case may take")
    parser.add_argument("--command", help="leave out all others, for example serve")
    parser.add_argument("--no-training", dest="training", action="store_false", help="leave out what needs torch")
    return parser.parse_args()


def import_everything(*, training: bool) -> None:
    """Import and prepare once what all cases need."""
    forking.import_light_half()
    if training:
        forking.import_torch_half()
    command = typer.main.get_command(command_line())
    typer.main.get_command = lambda app: command  # it is the same for all cases
    gc.freeze()


def _run(options: argparse.Namespace, maker: Maker, folder: Path) -> int:
    end = time.monotonic() + 60 * options.minutes
    codes: Counter[str] = Counter()
    broken = done = 0
    numbers = range(options.cases) if options.only is None else [options.only]
    for number in numbers:
        if time.monotonic() > end:
            break
        case = maker.case(options.seed, number)
        place = rule.cleared(folder if options.only is None else Path("fuzz-case").absolute())
        began = time.monotonic()
        run, breaches = rule.try_case(case, place, seconds=options.seconds)
        done += 1
        codes[f"{case.arguments[0]} {run.code}"] += 1
        if breaches or options.only is not None:
            broken += bool(breaches)
            _tell(options.seed, number, case.arguments, run, breaches, time.monotonic() - began)
    listed = ", ".join(f"{name}: {count}" for name, count in sorted(codes.items()))
    print(f"{done} cases of seed {options.seed}, {broken} broke the rule. Command and exit code: {listed}.")
    return 1 if broken else 0


def _tell(seed: int, number: int, arguments: list[str], run: rule.Run, breaches: list[str], seconds: float) -> None:
    shown = " ".join(shlex.quote(part if len(part) < 200 else part[:20] + "…") for part in arguments)
    print(f"--- case {number} of seed {seed} ({seconds:.1f} s): {'; '.join(breaches) or 'fine'}")
    print(f"weft {shown}".encode("utf-8", "backslashreplace").decode())
    print(f"exit {run.code}\n{run.stderr[-3000:]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
