"""Lets system calls fail while commands write: `LD_PRELOAD=shim.so python tests/faults/injection.py --faults 200`.

After each fault every output is the old file or the new one, and running the command again, with --resume where there
is such an option, gives the bytes of a run without faults.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import rule, workshop  # noqa: E402 - the paths come first
from fuzz.cases import Case  # noqa: E402
from fuzz.long_run import import_everything  # noqa: E402

OLD = b"what was there before\n"
KILL = 0
KINDS = {"full disk": errno.ENOSPC, "broken disk": errno.EIO, "interrupted": errno.EINTR, "killed": KILL}
NEVER = -1
_SECONDS = 120.0


def scenarios(base: Path, *, training: bool) -> dict[str, tuple[Case, list[str]]]:
    """What is tried: a command that writes, and the files it writes."""
    pairs = b"".join(b"a b c %d ||| a b c %d\n" % (k, k) for k in range(40))
    links = b"0-0 1-1 2-2\n" * 40
    files = {"pairs": pairs, "links": links}
    model = {"model": base / "graph"}

    def case(line: str, *outputs: str, folders: dict[str, Path] | None = None) -> tuple[Case, list[str]]:
        return Case(line.split(), files | dict.fromkeys(outputs, OLD), folders or {}), list(outputs)

    shards = "--model model --shards 3 --resume --batch-tokens 64"
    found = {
        "align": case("align pairs -o out --model model", "out", folders=model),
        "shards": case(f"align pairs -o out {shards}", "out", folders=model),
        "packed shards": case(f"align pairs -o out.gz {shards} --output-format jsonl", "out.gz", folders=model),
        "convert": case("convert links out --to naacl", "out"),
        "packed convert": case("convert links out.xz --to jsonl", "out.xz"),
        "filter": case("filter pairs --links links --keep 0.5 -o out --report report", "out", "report"),
        "phrases": case("phrases pairs --links links -o out", "out"),
        "lexicon": case("lexicon pairs --links links -o out", "out"),
        "shortlists": case("lexicon pairs --links links --marian lists", "lists/lex.s2t", "lists/lex.t2s"),
        "project": case("project pairs --from markup --links links -o out --report report", "out", "report"),
        "view": case("view pairs links -o out.html", "out.html"),
        "tune": case("tune --dev dev --model model --methods argmax --null off", "model/weft.json", folders=model),
    }
    dev = {f"dev.{end}": text * 30 for end, text in (("src", b"a b\n"), ("tgt", b"a b\n"), ("talp", b"0-0 1-1\n"))}
    tuned, _ = found["tune"]
    tuned.files = dev | {"model/weft.json": (base / "graph" / "weft.json").read_bytes()}
    if training:
        found["train"] = _training(base)
    return found


def _training(base: Path) -> tuple[Case, list[str]]:
    toy = {f"toy.{end}": (base / "torch" / f"toy.{end}").read_bytes() for end in ("txt", "links")}
    settings = (
        'output = "trained"\nmodel = "bert"\nlayer = 1\nmax_steps = 3\nbatch_size = 4\nsave_every = 1\nworkers = 0\n'
        'objectives = ["so"]\nheld_out = 0.2\neval_every = 1\n[[corpus]]\npath = "toy.txt"\nlinks = "toy.links"\n'
    )
    case = Case(["train", "--config", "run.toml", "--resume"], toy | {"run.toml": settings.encode()})
    case.folders["bert"] = base / "torch" / "bert"
    return case, ["trained/model.safetensors"]


class Injector:
    """Runs cases in forked processes in which one system call fails; `folder` is made anew for each.

    `main` is run instead of the command line, if it is given.
    """

    def __init__(self, folder: Path, main: Callable[[], None] | None = None) -> None:
        self._folder = folder
        self._main = main
        self._library = ctypes.CDLL(None)
        if not hasattr(self._library, "fault_arm"):
            raise SystemExit("start this program with LD_PRELOAD=shim.so, built from shim.c beside it.")
        self._counted = folder.with_suffix(".calls")

    def clean(self, case: Case, *, anew: bool) -> tuple[rule.Run, int]:
        """Run without a fault; returns how many calls could have failed."""
        if anew:
            rule.lay_out(case, rule.cleared(self._folder))
        return self._run(case, NEVER, KILL), int(self._counted.read_text())

    def faulty(self, case: Case, call: int, kind: int) -> rule.Run:
        """Run with one fault."""
        rule.lay_out(case, rule.cleared(self._folder))
        return self._run(case, call, kind)

    def _run(self, case: Case, call: int, kind: int) -> rule.Run:
        def arm() -> None:
            os.environ["TMPDIR"] = str(self._folder)  # what is sorted on disk may fail too
            tempfile.tempdir = None
            import weft.applications.sorting as sorting
            import weft.cli.main

            weft.cli.main.main = self._main or weft.cli.main.main
            sorting.sorted_rows.__kwdefaults__["in_memory"] = 50
            self._library.fault_arm(os.fsencode(self._folder), call, kind)

        def count() -> None:
            self._counted.write_text(str(self._library.fault_calls()))

        self._counted.unlink(missing_ok=True)
        return rule.forked(case, self._folder, seconds=_SECONDS, before=arm, after=count)

    def outputs(self, names: list[str]) -> dict[str, bytes | None]:
        """What stands in the files that a case writes."""
        paths = {name: self._folder / name for name in names}
        return {name: path.read_bytes() if path.is_file() else None for name, path in paths.items()}


def breaches(
    injector: Injector, case: Case, names: list[str], expected: dict[str, bytes | None], call: int, kind: int
) -> Iterator[str]:
    """Everything that is wrong after one fault."""
    before = {name: case.files.get(name) for name in names}
    run = injector.faulty(case, call, kind)
    found = injector.outputs(names)
    if kind == KILL:
        if run.code != -9:
            yield f"ended with {run.code} instead of being killed"
    elif run.code not in (0, 1):
        yield f"exit code {run.code}"
    if "Traceback" in run.stderr:
        yield f"a traceback: {run.stderr[-1500:]}"
    if run.code == 1 and not run.stderr.strip():
        yield "failed without a sentence"
    for name in names:
        old_or_new = found[name] in (before[name], expected[name]) or _is_whole_model(name, found[name])
        if not old_or_new or (run.code == 0 and found[name] != expected[name]):
            yield f"{name} is neither the old file nor the new one"
    again, _ = injector.clean(case, anew=False)
    if again.code != 0:
        yield f"cannot be run again: {again.stderr[-1500:]}"
    elif injector.outputs(names) != expected:
        yield "running it again gives other bytes"


def _is_whole_model(name: str, data: bytes | None) -> bool:
    """Training keeps the best weights so far: others than the last ones, but whole."""
    if data is None or not name.endswith(".safetensors"):
        return False
    from safetensors.numpy import load

    return bool(load(data))


def main() -> int:
    """Try as many faults as were asked for, spread over all commands and all their calls."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--training", action="store_true", help="try the checkpoints of `weft train` too")
    parser.add_argument("--only", help="try this command alone")
    parser.add_argument("--desk", type=int, default=0, help="faults while a project of the annotation desk is written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="weft-faults-") as place:
        base = Path(place)
        workshop.make_graph_model(base / "graph")
        if options.training:
            workshop.make_torch_model(base / "torch")
        import_everything(training=options.training)
        known = scenarios(base, training=options.training)
        chosen = {options.only: known[options.only]} if options.only else known
        broken = _try_all(Injector(base / "case"), chosen, options.faults, Random(options.seed))
        if options.desk:
            from faults import desk  # it needs this module

            injector = Injector(base / "case", desk.main)
            broken += desk.try_faults(injector, base / "case", options.desk, Random(options.seed))
        return 1 if broken else 0


def _try_all(injector: Injector, chosen: dict[str, tuple[Case, list[str]]], faults: int, random: Random) -> int:
    tried: Counter[str] = Counter()
    broken = 0
    report: Callable[[str], None] = lambda line: print(line, flush=True)  # noqa: E731 - a name for what follows
    plans = {}
    for name, (case, names) in chosen.items():
        run, calls = injector.clean(case, anew=True)
        assert run.code == 0, f"{name} fails without any fault: {run.stderr}"
        plans[name] = (calls, injector.outputs(names))
    for number in range(faults):
        name = list(chosen)[number % len(chosen)]
        (case, names), (calls, expected) = chosen[name], plans[name]
        kind = list(KINDS)[(number // len(chosen)) % len(KINDS)]
        call = random.randrange(calls)
        tried[f"{name}, {kind}"] += 1
        for breach in breaches(injector, case, names, expected, call, KINDS[kind]):
            broken += 1
            report(f"{name}, {kind} at call {call} of {calls}: {breach}")
    spread = ", ".join(f"{name} {calls}" for name, (calls, _) in plans.items())
    report(f"{faults} faults, {broken} breaches. Calls that could fail: {spread}.")
    return broken


if __name__ == "__main__":
    sys.exit(main())
