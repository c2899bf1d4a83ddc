"""How long a user waits: `weft --help`, `import weft`, and the first link of one sentence.

    python benchmarks/start_up.py [--model FOLDER]

The best of ten runs is printed, since a busy machine only ever makes them slower.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

ROUNDS = 10


def best_of(command: list[str], given: bytes = b"") -> float:
    """The shortest of several runs in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run(command, input=given, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="weft-mini")
    model = parser.parse_args().model
    weft = [sys.executable, "-m", "weft"]
    print(f"python -c pass     {best_of([sys.executable, '-c', 'pass']):.2f} s")
    print(f"import weft        {best_of([sys.executable, '-c', 'import weft']):.2f} s")
    print(f"weft --help        {best_of([*weft, '--help']):.2f} s")
    print(f"first link         {best_of([*weft, 'align', '--model', model], b'das ist gut ||| that is good'):.2f} s")


if __name__ == "__main__":
    main()
