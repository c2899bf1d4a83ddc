"""Score a million lines of 20 links each: seconds and peak memory of `weft score`.

    python benchmarks/scoring/million_lines.py [--lines N]

The budget is 30 s and 400 MB.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINKS = 20
SENTENCE_LENGTH = 25


def write_links(path: Path, lines: int, *, noise: float, seed: int) -> None:
    """Mostly the diagonal, so that systems and gold agree in part, as real ones do."""
    generator = random.Random(seed)
    with path.open("w") as file:
        for _ in range(lines):
            shift = [0 if generator.random() > noise else generator.randrange(-3, 4) for _ in range(LINKS)]
            file.write(" ".join(f"{i}-{min(max(i + s, 0), SENTENCE_LENGTH)}" for i, s in enumerate(shift)) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    lines = parser.parse_args().lines
    with tempfile.TemporaryDirectory() as folder:
        gold, system = Path(folder, "gold.talp"), Path(folder, "system.links")
        write_links(gold, lines, noise=0.0, seed=1)
        write_links(system, lines, noise=0.2, seed=2)
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "weft", "score", gold, system], check=True)
        seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{lines:,} lines x {LINKS} links: {seconds:.1f} s, {megabytes:.0f} MB")


if __name__ == "__main__":
    main()
