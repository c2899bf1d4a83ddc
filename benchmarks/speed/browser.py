"""The page that `weft page` writes, in Chromium: links against the library's, and how fast it is.

    python benchmarks/speed/browser.py $WEFT_DATA/gold [--model weft-mini] [--every 1]

Serves the page from this machine, opens it in a fresh browser, waits for the first link, then aligns the five test sets
one pair at a time. `--every 10` takes a tenth of the pairs. Needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

from weft import Aligner
from weft.viewing.png import find_browser
from weft.viewing.site import write_site

SETS = ("de-en", "fr-en", "ro-en", "ja-en", "zh-en")
CHUNK = 45
ALIGN = """async (pairs) => {
  const found = [];
  for (const [source, target] of pairs) {
    const start = performance.now();
    const answer = await fetch("api/align", { method: "POST", body: JSON.stringify({ source, target }) });
    const { alignments } = await answer.json();
    found.push([alignments[0].links, performance.now() - start]);
  }
  return found;
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *arguments: object) -> None:
        """Nobody reads it."""


def in_browser(site: Path, pairs: list[list[str]]) -> tuple[float, list[Any]]:
    """Seconds until the first link, and for each pair its links and milliseconds."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found: list[Any] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(0)
        start = time.perf_counter()
        page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        page.locator("#canvas path").first.wait_for(state="attached")
        first = time.perf_counter() - start
        for begin in range(0, len(pairs), CHUNK):
            found += page.evaluate(ALIGN, pairs[begin : begin + CHUNK])
        browser.close()
    server.shutdown()
    return first, found


def read_pairs(gold: Path, every: int) -> dict[str, list[list[str]]]:
    """The pairs of each test set."""
    sets = {}
    for name in SETS:
        sides = [(gold / name / f"test.{side}").read_text(encoding="utf-8").split("\n")[:-1] for side in ("src", "tgt")]
        sets[name] = [list(pair) for pair in zip(*sides, strict=True)][::every]
    return sets


def main() -> None:
    """Measure, and print a line for each set and one for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--model", default="weft-mini")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    sets = read_pairs(options.gold, options.every)
    pairs = [pair for each in sets.values() for pair in each]
    expected = Aligner.from_pretrained(options.model).align_batch([(source, target) for source, target in pairs])
    with TemporaryDirectory() as folder:
        size = write_site(Path(folder, "site"), [options.model])
        first, found = in_browser(Path(folder, "site"), pairs)
    totals, place, apart = [0, 0, 0], 0, 0.0
    for name, each in sets.items():
        counts = [0, 0, 0]
        for alignment, (links, _) in zip(expected[place:], found[place : place + len(each)], strict=False):
            theirs, own = {link.indices for link in alignment.links}, {tuple(link[:2]) for link in links}
            known = {link.indices: link.score for link in alignment.links}
            apart = max([apart, *(abs(known[i, j] - share) for i, j, share in links if (i, j) in known)])
            counts = [count + len(more) for count, more in zip(counts, (theirs & own, theirs, own), strict=True)]
        place += len(each)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        print(
            f"{name}: {len(each)} pairs, links in common {counts[0]}, of Python {counts[1]}, of the browser {counts[2]}"
        )
    usual = [
        time for pair, (_, time) in zip(pairs, found, strict=True) if all(17 <= len(s.split()) <= 23 for s in pair)
    ]
    recall, precision = totals[0] / totals[1], totals[0] / totals[2]
    print(
        f"{recall:.2%} of the library's {totals[1]} links; {precision:.2%} of the browser's {totals[2]} are among them"
    )
    print(f"probabilities of common links differ by at most {apart:.1e}")
    print(f"first link {first:.1f} s, pairs of about 20 words {median(usual):.0f} ms, site {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
