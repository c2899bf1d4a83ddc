"""What the tables share: the command line, gold sets, scores, and rows under the paper's rows."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from weft import Aligner, CorpusScore, score
from weft.encoding.encoder import encode_pairs
from weft.extraction.extractor import extract
from weft.extraction.settings import ExtractionSettings
from weft.models.export import export_model
from weft.models.resolve import resolve_model
from weft.models.settings import ExportKind
from weft.tuning import DevSet

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("WEFT_DATA", REPOSITORY.parent / "shared" / "data"))
RESULTS = Path(__file__).parent / "results"
CACHE = Path(os.environ.get("WEFT_PAPER_CACHE", Path.home() / ".cache" / "weft-paper"))
LANGUAGES = ("de", "fr", "ro", "ja", "zh")
DEV_SETS = ("ro-en/dev", "ja-en/dev", "zh-en/dev", "cs-en/dev")
SIGNIFICANT = 0.05

Scores = dict[str, CorpusScore]
"""One row: the score of each column."""


def parser_of(documentation: str | None) -> argparse.ArgumentParser:
    """A command line with the options that every table has."""
    parser = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="weft-mini", help="a Hugging Face folder or hub name")
    parser.add_argument("--layer", type=int, help="the layer that aligns; the stored or a likely one by default")
    parser.add_argument("--label", help="what the encoder is called in tables; its folder's name by default")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where samples of text and trained models are kept")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON files")
    parser.add_argument("--untrained", action="store_true", help="leave out what needs training")
    _add_training(parser)
    return parser


def _add_training(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("training").add_argument
    add("--pairs", type=int, default=400, help="sentence pairs of each language (paper: 200,000; zh 40,000)")
    add("--bilingual-pairs", type=int, help="pairs of a bilingual run (paper: all it has); twice --pairs by default")
    add("--longest", type=int, default=20, help="words of a sentence at most (paper: no limit)")
    add("--learning-rate", type=float, default=5e-5, help="paper: 2e-5")
    add("--batch-size", type=int, default=8, help="paper: 8")
    add("--epochs", type=float, default=1.0, help="paper: 1")
    add("--gold-epochs", type=float, default=2.0, help="epochs over gold links alone")
    add("--precision", default="no", choices=["no", "bf16", "fp16"])
    add("--workers", type=int, default=0, help="processes that prepare batches")
    add("--seed", type=int, default=42)


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options, with a label and with the float weights of an encoder that is an ONNX graph."""
    options = parser.parse_args()
    options.label = options.label or Path(options.encoder).name
    options.cache.mkdir(parents=True, exist_ok=True)
    source = resolve_model(options.encoder)
    if source.is_graph_only:
        options.encoder = str(_float_weights(source.local_folder(), options.cache))
    return options


def _float_weights(folder: Path, cache_folder: Path) -> Path:
    """What `weft model export NAME --to torch` writes, once for each version of the graph."""
    version = (folder / "model.onnx").stat().st_mtime_ns
    output = cache_folder / f"{folder.name}-float-{version}"
    if not output.is_dir():
        export_model(folder, output, to=ExportKind.TORCH)
    return output


@cache
def gold_set(name: str) -> DevSet:
    """A gold set by its place, as `de-en/test`."""
    return DevSet.read(str(DATA / "gold" / name))


def test_set(language: str) -> str:
    """The name of a language's test set."""
    return f"{language}-en/test"


class Model:
    """An encoder whose states are kept, so that links can be taken from them in many ways."""

    def __init__(self, encoder: str | Path, layer: int | None = None) -> None:
        self._aligner = Aligner.from_pretrained(encoder, layer=layer)
        self._states: dict[str, Any] = {}
        self.seconds: dict[str, float] = {}

    @property
    def stored(self) -> ExtractionSettings:
        """The settings that came with the model."""
        return self._aligner.settings

    def encoded(self, name: str) -> Any:
        """The states of a gold set; how long that took is kept in `seconds`."""
        if name not in self._states:
            began = time.perf_counter()
            self._states[name] = encode_pairs(self._aligner.encoder, gold_set(name).pairs)
            self.seconds[name] = time.perf_counter() - began
        return self._states[name]

    def score(self, name: str, **changes: Any) -> CorpusScore:
        """Score a gold set with the settings that came with the model (else the paper's) but for what is given."""
        chosen = self.stored.updated(**changes)
        encoded, numbers = self.encoded(name)
        return score(gold_set(name).gold, extract(encoded, numbers, chosen))

    def row(self, names: Mapping[str, str], **changes: Any) -> Scores:
        """Score several gold sets: columns to names of sets."""
        return {column: self.score(name, **changes) for column, name in names.items()}


TESTS = {language: test_set(language) for language in LANGUAGES}
"""The five columns of most tables."""


def columns(values: Sequence[float], languages: Sequence[str]) -> list[float]:
    """Those of the paper's five numbers that belong to some languages."""
    return [values[LANGUAGES.index(language)] for language in languages]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: the paper's numbers, and ours with what they are compared with."""

    name: str
    paper: Sequence[float | str | None] = ()
    ours: Mapping[str, CorpusScore | float | str] = field(default_factory=dict)
    baseline: Mapping[str, CorpusScore] = field(default_factory=dict)


@dataclass
class Table:
    """Rows as markdown, each under the paper's, and as JSON."""

    name: str
    columns: Sequence[str]
    options: argparse.Namespace
    paper_encoder: str = "mBERT"
    rates: Sequence[str] = ("aer",)
    notes: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Print a row under the paper's and save it; a star marks p < 0.05 against the row's baseline."""
        if not self.rows:
            print("\n".join(head_lines(self.name, self.columns, self.rates)), flush=True)
        self.rows.append(_record(row))
        for line in row_lines(self.rows[-1], self.columns, self.rates, self.paper_encoder, [self.options.label]):
            print(line, flush=True)
        self.save()

    def save(self) -> None:
        """Write everything so far, with intervals, as JSON."""
        label = re.sub(r"[^a-z0-9]+", "-", self.options.label.lower()).strip("-")
        record = {
            "table": self.name,
            "encoder": self.options.label,
            "layer": self.options.layer,
            "date": datetime.date.today().isoformat(),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}",
            **self.notes,
            "paper_encoder": self.paper_encoder,
            "columns": list(self.columns),
            "rates": list(self.rates),
        }
        self.options.results.mkdir(parents=True, exist_ok=True)
        path = self.options.results / f"{re.sub(r'[^a-z0-9]+', '-', self.name.lower())}-{label}.json"
        head = json.dumps(record, ensure_ascii=False, indent=1).removesuffix("\n}")
        rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in self.rows)
        path.write_text(f'{head},\n "rows": [\n{rows}\n ]\n}}\n', encoding="utf-8")


def head_lines(name: str, columns: Sequence[str], rates: Sequence[str]) -> list[str]:
    """The first two lines of a table in markdown."""
    wide = [f"{column} {rate}" if len(rates) > 1 else column for column in columns for rate in rates]
    return [f"| {name} | | {' | '.join(wide)} |", f"|---|---|{'---|' * len(wide)}"]


def row_lines(
    record: Mapping[str, Any], columns: Sequence[str], rates: Sequence[str], paper: str, labels: Sequence[str]
) -> list[str]:
    """A row in markdown: the paper's numbers, and under them ours, one line for each encoder.

    `record` holds `name`, `paper`, and what each encoder has under its label; for a single one, under `ours`.
    """
    lines = []
    if record["paper"]:
        lines.append((f"paper, {paper}".rstrip(", "), [_plain(value) for value in record["paper"]]))
    for label in labels:
        ours = record.get(label, record.get("ours")) or {}
        if ours:
            lines.append((label, [cell for column in columns for cell in _cells(ours.get(column), rates)]))
    names = [record["name"], *[""] * len(lines)]
    return [f"| {name} | {who} | {' | '.join(cells)} |" for name, (who, cells) in zip(names, lines, strict=False)]


def _cells(value: Any, rates: Sequence[str]) -> list[str]:
    if not isinstance(value, dict):
        return [_plain(value)] * (len(rates) if value is None else 1)
    star = "*" if value.get("p", 1.0) < SIGNIFICANT else ""
    return [f"{value[rate]:.1f}{star}" for rate in rates]


def _plain(value: float | str | None) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value:.1f}"


def _record(row: Row) -> dict[str, Any]:
    ours = {column: _score_record(value) for column, value in row.ours.items()}
    for column, baseline in row.baseline.items():
        value = row.ours.get(column)
        if isinstance(value, CorpusScore):
            ours[column]["p"] = round(value.compare(baseline).p_values.aer, 4)
    return {"name": row.name, "paper": list(row.paper), "ours": ours}


def _score_record(value: CorpusScore | float | str) -> Any:
    if not isinstance(value, CorpusScore):
        return value
    rates, (low, high) = value.rates, value.interval
    numbers = {name: round(getattr(rates, name), 6) for name in ("aer", "precision", "recall", "f1")}
    return {**numbers, "aer_interval": [round(low.aer, 2), round(high.aer, 2)]}
