"""The tables of all results, encoders under one another, on stdout or in the README.

    python benchmarks/paper/report.py [--update]

With `--update` every table in README.md that stands between `<!-- table NAME -->` and `<!-- end -->` is written anew.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from common import RESULTS, head_lines, row_lines

README = Path(__file__).parent / "README.md"
END = "<!-- end -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the tables into the README")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(options.results.glob("*.json"))]
    tables = {name: rendered(records, name) for name in dict.fromkeys(record["table"] for record in records)}
    if not options.update:
        print("\n\n".join(tables.values()))
        return
    text = README.read_text(encoding="utf-8")
    for name, table in tables.items():
        begin = f"<!-- table {name} -->\n"
        before, found, after = text.partition(begin)
        if found:
            text = f"{before}{begin}\n{table}\n\n{END}{after.partition(END)[2]}"
    README.write_text(text, encoding="utf-8")


def rendered(records: list[dict[str, Any]], name: str) -> str:
    """One table in markdown, with the rows of every encoder that was measured."""
    own = [record for record in records if record["table"] == name]
    first = own[0]
    rates = first.get("rates", ["aer"])
    rows: dict[str, dict[str, Any]] = {}
    for record in own:
        for row in record["rows"]:
            merged = rows.setdefault(row["name"], {"name": row["name"], "paper": row["paper"]})
            merged[record["encoder"]] = row["ours"]
    lines = head_lines(name, first["columns"], rates)
    labels = [record["encoder"] for record in own]
    for row in rows.values():
        lines += row_lines(row, first["columns"], rates, first.get("paper_encoder", "mBERT"), labels)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
