"""Kill a run again and again: the result must be the one of a run that nobody disturbed.

    python benchmarks/scale/kill.py [--lines 200000] [--kills 10] [--shards 64] [--workers 1] [--model weft-mini]
    python benchmarks/scale/kill.py --engine ray [--workers 2]

Locally the whole run is killed (-9) at random moments and resumed each time. With Ray one worker is killed in
mid-run, once, and the run goes on by itself.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from soak import corpus


def write_corpus(path: Path, lines: int) -> None:
    with path.open("wb") as file:
        for line, _ in corpus(lines):
            file.write(line + b"\n")


def run(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def kill_and_resume(command: list[str], folder: Path, kills: int, seconds: float) -> None:
    """Each try lives for a random part of what the whole run takes, so that together they get through most of it."""
    generator = random.Random(time.time_ns())
    for number in range(1, kills + 1):
        running = subprocess.Popen([*command, "--resume"], cwd=folder, stderr=subprocess.DEVNULL)
        life = generator.uniform(0.2, 2 * seconds / kills + 2)
        try:
            running.wait(life)
            print(f"try {number}: ended by itself before {life:.1f} s")
            return
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.wait()
        finished = len(list(folder.glob("links.shards/*[0-9]")))
        print(f"try {number}: killed after {life:.1f} s with {finished} shards", flush=True)
    run([*command, "--resume"], folder)


def kill_one_ray_worker(command: list[str], folder: Path) -> None:
    running = subprocess.Popen([*command, "--engine", "ray"], cwd=folder, stderr=subprocess.DEVNULL)
    start = time.perf_counter()
    while running.poll() is None:
        working = [process for process in psutil.Process(running.pid).children(recursive=True) if is_aligning(process)]
        if working and (folder / "links").parent.exists():
            time.sleep(5)
            working[0].kill()
            print(f"killed process {working[0].pid} after {time.perf_counter() - start:.1f} s", flush=True)
            break
        time.sleep(0.1)
    if running.wait():
        raise SystemExit(f"the run failed with {running.returncode}")


def is_aligning(process: psutil.Process) -> bool:
    """Ray names an actor's process after what it does."""
    try:
        return bool(re.search(r"MapWorker\(.*\)\.(?!__init__)", " ".join(process.cmdline())))
    except psutil.Error:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--shards", type=int, default=64)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    options = parser.parse_args()
    align = [sys.executable, "-m", "weft", "align", "pairs", "--model", options.model]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "pairs", options.lines)
        seconds = run([*align, "-o", "plain"], folder)
        print(f"undisturbed: {options.lines:,} lines in {seconds:.1f} s", flush=True)
        command = [*align, "-o", "links", "--workers", str(options.workers or 1 + (options.engine == "ray"))]
        if options.engine == "ray":
            kill_one_ray_worker(command, folder)
        else:
            kill_and_resume([*command, "--shards", str(options.shards)], folder, options.kills, seconds)
        same = (folder / "links").read_bytes() == (folder / "plain").read_bytes()
        left = [path.name for path in folder.iterdir() if path.name not in ("pairs", "plain", "links")]
        print("identical" if same else "DIFFERENT", "nothing left behind" if not left else f"left behind: {left}")
    raise SystemExit(not same)


if __name__ == "__main__":
    main()
