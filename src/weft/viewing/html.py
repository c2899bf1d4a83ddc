"""A page that stands alone: data, style and program in one file that asks the network for nothing."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import asdict
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import NamedTuple

from weft.scoring.corpus import CorpusScore
from weft.types import Alignment, GoldAlignment
from weft.viewing.comparison import Comparison, ViewedPair

_IMPORT = re.compile(r'^import \{([\w,\s]+)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)


def static_text(name: str) -> str:
    """One of the files in `static/`."""
    return (files("weft.viewing") / "static" / name).read_text(encoding="utf-8")


def page(comparison: Comparison, *, title: str = "Word alignments") -> str:
    """The whole page. Only this page's own program and style may run in it, by their hashes."""
    style = "".join(static_text(name) for name in ("page.css", "picture.css", "view.css"))
    program = bundle("view.js")
    policy = (
        f"default-src 'none'; script-src {_hash(program)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<script type="application/json" id="data">{_embedded(page_data(comparison, title))}</script>\n'
        f'<script type="module">{program}</script>\n</body>\n</html>\n'
    )


class EmbeddedPage(NamedTuple):
    """A page for frames of other sites, and the hashes of all that may run in it."""

    text: str
    script_hash: str
    style_hash: str


def embedded_page() -> EmbeddedPage:
    """One pair without anything round it; which one stands in the address behind `#pair=`."""
    style = "".join(static_text(name) for name in ("page.css", "picture.css", "embed.css"))
    program = bundle("embed.js")
    text = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n'
        f"<title>Word alignment</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<script type="module">{program}</script>\n</body>\n</html>\n'
    )
    return EmbeddedPage(text, _hash(program), _hash(style))


def page_data(comparison: Comparison, title: str) -> dict[str, object]:
    """What the page's program reads: names, totals, and the pairs."""
    scores = list(comparison.scores()) if comparison.gold else []
    systems = [
        {"name": name, **(_totals(scores[number]) if scores else {})} for number, name in enumerate(comparison.systems)
    ]
    return {
        "title": title,
        "subtitle": _subtitle(comparison),
        "systems": systems,
        "gold": comparison.gold,
        "models": comparison.models,
        "pairs": [_pair(viewed) for viewed in comparison.pairs],
    }


def _subtitle(comparison: Comparison) -> str:
    count = len(comparison.pairs)
    what = f"gold {comparison.gold}" if comparison.gold else " and ".join(comparison.systems or comparison.models)
    return f"{count:,} pair{'' if count == 1 else 's'} · {what}"


def _totals(score: CorpusScore) -> dict[str, object]:
    low, high = (asdict(end) for end in score.interval)
    return {"rates": asdict(score.rates), "intervals": {name: [low[name], high[name]] for name in low}}


def _pair(viewed: ViewedPair) -> dict[str, object]:
    record: dict[str, object] = {
        "number": viewed.number,
        "source": viewed.pair.source,
        "target": viewed.pair.target,
        "systems": [_system(alignment) for alignment in viewed.systems],
        "gold": _gold(viewed.gold) if viewed.gold else None,
    }
    if viewed.similarities:
        record["similarities"] = [[[round(x, 2) for x in row] for row in each.tolist()] for each in viewed.similarities]
    return record


def _system(alignment: Alignment) -> dict[str, object]:
    links = [[link.source, link.target, link.score, link.sure] for link in alignment.links]
    return {"links": links, "score": alignment.score}


def _gold(gold: GoldAlignment) -> dict[str, object]:
    return {"sure": sorted(gold.sure), "possible": sorted(gold.possible - gold.sure)}


def _embedded(data: object) -> str:
    """JSON inside a script element: no `<` is left that could end it, whatever the words are."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def bundle(entry: str) -> str:
    """A module and all it imports as one program: pages on a disk may not load modules from files."""
    written: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        text = static_text(name)
        for match in _IMPORT.finditer(text):
            visit(match[2])
        written.append(_as_room(name, text))

    visit(entry)
    return "".join(written)


def _as_room(name: str, text: str) -> str:
    """A module as a function of its own, so that its inner names stay inside."""
    names = _EXPORT.findall(text)
    inner = _IMPORT.sub(lambda match: f"const {{{match[1]}}} = {_room(match[2])};\n", text)
    inner = re.sub(r"^export ", "", inner, flags=re.MULTILINE)
    return f"const {_room(name)} = (() => {{\n{inner}return {{ {', '.join(names)} }};\n}})();\n"


def _room(name: str) -> str:
    return f"${name.removesuffix('.js')}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"
