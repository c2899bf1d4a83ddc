"""How `weft score` prints: a table to read, for a page or a paper, or figures to keep."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from weft.scoring.agreement import Agreement
from weft.scoring.corpus import CorpusScore, ScoreDifference
from weft.scoring.errors_report import ErrorReport
from weft.viewing.tables import tex

_COLUMNS = {"aer": "AER", "precision": "precision", "recall": "recall", "f1": "F1"}
_MOST_PAIRS = 10
_SIGNIFICANT = 0.05


def as_text(scores: Sequence[CorpusScore], reports: Sequence[ErrorReport]) -> Iterator[str]:
    """A table with one line a system, intervals in brackets, and p-values against the first system."""
    rows = [["", *_COLUMNS.values()]]
    for score in scores:
        rows.append([score.name, *(_with_interval(score, rate) for rate in _COLUMNS)])
        if score is not scores[0]:
            difference = score.compare(scores[0])
            rows.append(["", *(_against_baseline(difference, rate) for rate in _COLUMNS)])
    yield from _table(rows)
    if len(scores) > 1:
        yield f"\nDifferences and p-values are relative to {scores[0].name} (paired permutation test).\n"
    yield f"\n{scores[0].signature}\n"
    for score, report in zip(scores, reports, strict=False):
        yield from _report_text(score.name, report)


def score_rows(scores: Sequence[CorpusScore]) -> Iterator[list[str]]:
    """Rows for a spreadsheet or a script: each rate with its interval and, after the first system, its p-value."""
    parts = ("", "_low", "_high", "_p")
    yield ["system", *(f"{rate}{part}" for rate in _COLUMNS for part in parts)]
    for score in scores:
        lower, upper = score.interval
        p_values = None if score is scores[0] else score.compare(scores[0]).p_values
        cells = [score.name]
        for rate in _COLUMNS:
            cells += [f"{getattr(rates, rate):.2f}" for rates in (score.rates, lower, upper)]
            cells.append("" if p_values is None else f"{getattr(p_values, rate):.4f}")
        yield cells


def as_markdown(scores: Sequence[CorpusScore], reports: Sequence[ErrorReport]) -> Iterator[str]:
    """A table for a page: the best rates in bold, stars where a system differs from the first one."""
    yield f"| {' | '.join(['', *_COLUMNS.values()])} |\n|{'|'.join(['---', *['---:'] * len(_COLUMNS)])}|\n"
    for score in scores:
        cells = []
        for rate, best, star in _distinctions(score, scores):
            value = f"{getattr(score.rates, rate):.1f}"
            lower, upper = (getattr(end, rate) for end in score.interval)
            marked = (f"**{value}**" if best else value) + (r"\*" if star else "")
            cells.append(f"{marked} [{lower:.1f}, {upper:.1f}]")
        name = re.sub(r"([\\|*_`])", r"\\\1", score.name)
        yield f"| {name} | {' | '.join(cells)} |\n"
    yield f"\n{_note(scores)}\n"


def as_latex(
    scores: Sequence[CorpusScore], reports: Sequence[ErrorReport], *, intervals: bool = False
) -> Iterator[str]:
    """A tabular for a paper, with booktabs: the best rates in bold, stars where a system differs from the first one."""
    yield "\\begin{tabular}{lrrrr}\n\\toprule\n"
    yield " & AER & Precision & Recall & F1 \\\\\n\\midrule\n"
    for score in scores:
        cells = []
        for rate, best, star in _distinctions(score, scores):
            value = f"{getattr(score.rates, rate):.1f}"
            lower, upper = (getattr(end, rate) for end in score.interval)
            marked = f"\\textbf{{{value}}}" if best else value
            # Where an interval follows, the star needs a place of its own.
            star_there = "" if not star else r"$^*$" if intervals else r"\rlap{$^*$}"
            cells.append(marked + star_there + (f" {_small(lower, upper)}" if intervals else ""))
        yield f"{tex(score.name)} & {' & '.join(cells)} \\\\\n"
    yield f"\\bottomrule\n\\end{{tabular}}\n% {_note(scores)}\n"


def _small(lower: float, upper: float, digits: int = 1) -> str:
    """An interval beside a rate, in smaller type."""
    return f"{{\\scriptsize [{lower:.{digits}f}, {upper:.{digits}f}]}}"


def _distinctions(score: CorpusScore, scores: Sequence[CorpusScore]) -> Iterator[tuple[str, bool, bool]]:
    """Each rate, whether a system has the best one in the table, and whether it differs from the first system's."""
    p_values = None if score is scores[0] else score.compare(scores[0]).p_values
    for rate in _COLUMNS:
        values = [round(getattr(other.rates, rate), 1) for other in scores]
        best = min(values) if rate == "aer" else max(values)
        is_best = len(scores) > 1 and round(getattr(score.rates, rate), 1) == best
        yield rate, is_best, p_values is not None and getattr(p_values, rate) < _SIGNIFICANT


def _note(scores: Sequence[CorpusScore]) -> str:
    """What a reader of the table must know; a star is explained where there is one."""
    starred = any(star for score in scores for _, _, star in _distinctions(score, scores))
    first, test = scores[0].name, f"(paired permutation test, p < {_SIGNIFICANT})"
    if starred:
        return f"A star marks a difference from {first} {test}. {scores[0].signature}"
    return (
        f"No difference from {first} is significant {test}. {scores[0].signature}"
        if scores[1:]
        else scores[0].signature
    )


def _with_interval(score: CorpusScore, rate: str) -> str:
    lower, upper = (getattr(end, rate) for end in score.interval)
    return f"{getattr(score.rates, rate):.1f} [{lower:.1f}, {upper:.1f}]"


def _against_baseline(difference: ScoreDifference, rate: str) -> str:
    return f"{getattr(difference.rates, rate):+.1f} (p = {getattr(difference.p_values, rate):.3f})"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"


def _report_text(name: str, report: ErrorReport) -> Iterator[str]:
    yield f"\n{name}\n"
    for title, pairs in (("wrong", report.wrong), ("missing", report.missing)):
        yield f"  most often {title}\n"
        for (source, target), count in _most_common(pairs):
            yield f"    {count:5}  {source} - {target}\n"
    yield "  sentences with the most errors\n"
    for number, errors in report.worst_sentences:
        yield f"    line {number}: {len(errors.wrong)} wrong, {len(errors.missing)} missing\n"
        yield f"      {' '.join(errors.sentence.source)}\n"
        yield f"      {' '.join(errors.sentence.target)}\n"


def _most_common(pairs: Counter[tuple[str, str]]) -> list[tuple[tuple[str, str], int]]:
    """The most frequent pairs; equals in alphabetical order, so that the report is the same every time."""
    return sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:_MOST_PAIRS]


def as_json(scores: Sequence[CorpusScore], reports: Sequence[ErrorReport]) -> Iterator[str]:
    """One JSON object; rates are in percent."""
    systems = [_score_json(score, scores[0]) for score in scores]
    for system, report in zip(systems, reports, strict=False):
        system["errors"] = _report_json(report)
    record = {"signature": scores[0].signature, "sentences": len(scores[0].counts), "systems": systems}
    yield json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _score_json(score: CorpusScore, baseline: CorpusScore) -> dict[str, object]:
    lower, upper = score.interval
    record: dict[str, object] = {"name": score.name, **asdict(score.rates)}
    record["interval"] = {rate: [getattr(lower, rate), getattr(upper, rate)] for rate in _COLUMNS}
    record["counts"] = score.total._asdict()
    if score is not baseline:
        record["baseline"] = baseline.name
        record["p_values"] = asdict(score.compare(baseline).p_values)
    return record


def _report_json(report: ErrorReport) -> dict[str, object]:
    return {
        "wrong": [[*words, count] for words, count in _most_common(report.wrong)],
        "missing": [[*words, count] for words, count in _most_common(report.missing)],
        "worst_sentences": [
            {"line": number, "wrong": errors.wrong, "missing": errors.missing}
            for number, errors in report.worst_sentences
        ],
    }


_MOST_DISAGREEMENTS = 10
_MEASURES = {"aer": ("AER", 1), "f1": ("F1", 1), "kappa": ("kappa", 3)}  # with the digits that each is worth
_Measured = tuple[str, str, float, float, float, int]


def _measured(agreement: Agreement) -> Iterator[_Measured]:
    """What was measured: the key, the title, the value, both ends of its interval, and how many digits to print."""
    low, high = agreement.interval
    for key, (title, digits) in _MEASURES.items():
        value = getattr(agreement.rates, key)
        if value is not None:  # there is no kappa without the sentences
            yield key, title, value, getattr(low, key), getattr(high, key), digits


def _agreement_counts(agreement: Agreement) -> str:
    differing = agreement.disagreements
    unsure = sum(map(agreement.differs_in_sureness, differing))
    if len(agreement.counts) == 1:
        found = f"1 sentence; the annotators {'disagree' if differing else 'agree'} on it"
    else:
        found = f"{len(agreement.counts):,} sentences; the annotators disagree on {len(differing):,} of them"
    if unsure:
        where = "only" if unsure == len(differing) else f"in {unsure:,} only"
        found += f", {where} about which links are sure and which are possible"
    return found


def agreement_text(agreement: Agreement, lines: Sequence[int]) -> Iterator[str]:
    """The agreement of two annotators as a table, and the lines they differ most on."""
    rows = [
        [title, f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"]
        for _, title, value, low, high, digits in _measured(agreement)
    ]
    yield from _table(rows)
    yield f"\n{_agreement_counts(agreement)}\n"
    for place in agreement.disagreements[:_MOST_DISAGREEMENTS]:
        rates = agreement.by_sentence[place]
        only = ", sure or possible" if agreement.differs_in_sureness(place) else ""
        yield f"  line {lines[place]}: AER {rates.aer:.1f}, F1 {rates.f1:.1f}{only}\n"
    if agreement.rates.kappa is None:
        yield "\nFor kappa, add --source and --target.\n"


def agreement_rows(agreement: Agreement) -> Iterator[list[str]]:
    """Rows for a spreadsheet or a script: each measure with its interval, and how many sentences there are."""
    measured = list(_measured(agreement))
    names = [f"{key}{part}" for key, *_ in measured for part in ("", "_low", "_high")]
    yield [*names, "sentences", "disagreements"]
    cells = [f"{number:.{digits + 1}f}" for _, _, *numbers, digits in measured for number in numbers]
    yield [*cells, str(len(agreement.counts)), str(len(agreement.disagreements))]


def agreement_markdown(agreement: Agreement, lines: Sequence[int]) -> Iterator[str]:
    """A table for a page."""
    measured = list(_measured(agreement))
    yield f"| {' | '.join(title for _, title, *_ in measured)} |\n|{'|'.join(['---:'] * len(measured))}|\n"
    cells = [f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]" for *_, value, low, high, digits in measured]
    yield f"| {' | '.join(cells)} |\n\n{_agreement_counts(agreement)}.\n"


def agreement_latex(agreement: Agreement, lines: Sequence[int]) -> Iterator[str]:
    """A tabular for a paper, with booktabs."""
    measured = list(_measured(agreement))
    yield f"\\begin{{tabular}}{{{'r' * len(measured)}}}\n\\toprule\n"
    titles = [r"$\kappa$" if key == "kappa" else title for key, title, *_ in measured]
    cells = [f"{value:.{digits}f} {_small(low, high, digits)}" for *_, value, low, high, digits in measured]
    yield f"{' & '.join(titles)} \\\\\n\\midrule\n{' & '.join(cells)} \\\\\n"
    yield f"\\bottomrule\n\\end{{tabular}}\n% {_agreement_counts(agreement)}; 95\\% intervals\n"


def agreement_json(agreement: Agreement, lines: Sequence[int]) -> Iterator[str]:
    """The agreement of two annotators as one JSON object; AER and F1 are in percent."""
    low, high = (asdict(end) for end in agreement.interval)
    record = {
        **asdict(agreement.rates),
        "interval": {name: [low[name], high[name]] for name in low},
        "sentences": len(agreement.counts),
        "disagreements": [
            {"line": lines[place], **asdict(agreement.by_sentence[place])} for place in agreement.disagreements
        ],
    }
    yield json.dumps(record, ensure_ascii=False, indent=2) + "\n"
