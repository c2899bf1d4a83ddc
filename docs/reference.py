"""Write docs/api.md from the docstrings of the sources: `python docs/reference.py`, or `make docs`.

The sources are parsed, not imported, so the page is the same with every version of Python and without torch.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "api.md"

# What users call, in the order in which they meet it. Names in `weft.__all__` are imported from `weft` itself.
SECTIONS = {
    "Aligning": {
        "aligner": "Aligner",
        "corpus.align": "align_files AlignedFiles",
        "corpus.documents": "align_documents AlignedPart TextPart",
        "extraction.settings": "ExtractionSettings",
        "extraction.methods": "Method",
        "extraction.scores": "Scores",
    },
    "Values": {"types": "SentencePair Link Alignment GoldAlignment"},
    "Files": {
        "text.pairs": "read_pairs",
        "text.pair_lines": "format_pairs",
        "text.links": "read_links format_links",
        "text.gold": "read_gold",
    },
    "Raw text": {"text.segment": "segment segmenter_for Segmented"},
    "Scoring": {"scoring.corpus": "score CorpusScore ScoreDifference", "scoring.counts": "Rates Counts"},
    "Symmetrisation": {"extraction.symmetrize": "symmetrize Symmetrization"},
    "Applications": {
        "applications.projection": "project_spans Span Projected Gaps",
        "applications.lexicon": "Lexicon Entry",
        "applications.phrases": "PhraseTable PhrasePair",
        "applications.filtering": "pair_score keep_above keep_share",
    },
    "Training and tuning": {
        "training.loop": "train",
        "training.config": "TrainingConfig",
        "training.config_parts": "CorpusConfig GuideConfig",
        "tuning": "tune calibrated DevSet Tuned Trial CalibrationErrors",
        "models.export": "export_model",
        "models.settings": "ModelSettings ExportKind",
    },
    "Web": {"viewing.serve.server": "create_app"},
    "Errors": {"errors": "WeftError FormatError LineCountError MissingExtraError SettingError"},
}
HEAD = """# Python API

`make docs` generates this page from the docstrings, so do not edit it. Read the [quickstart](quickstart.md#python)
first. Everything has type hints. `import weft` is fast, because names are loaded only when they are first used.

A `Sentence` is a string of words separated by spaces, or a list of words. A `Pair` is a `SentencePair` or two
sentences. A `FilePath` is a `str` or a `pathlib.Path`. `DEFAULT_MODEL` is `weft-mini`.
"""

Definition = ast.ClassDef | ast.FunctionDef


def page() -> str:
    """The whole page."""
    contents = (f"- [{title}](#{title.lower().replace(' ', '-')})" for title in SECTIONS)
    parts = [HEAD, "\n".join(contents) + "\n"]
    for title, modules in SECTIONS.items():
        parts.append(f"## {title}\n")
        for module, names in modules.items():
            known = _definitions(module)
            for name in names.split():
                parts += _described(known[name], module)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def _definitions(module: str) -> dict[str, Definition]:
    path = ROOT / "src" / "weft" / (module.replace(".", "/") + ".py")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name: node for node in body if isinstance(node, Definition)}


def public_names() -> list[str]:
    """The names that `weft` itself offers."""
    body = ast.parse((ROOT / "src" / "weft" / "__init__.py").read_text(encoding="utf-8")).body
    [exported] = [node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    return list(ast.literal_eval(exported.value))


def _described(node: Definition, module: str) -> Iterator[str]:
    home = "weft" if node.name in public_names() else f"weft.{module}"
    yield f"### `{node.name}`\n"
    if isinstance(node, ast.FunctionDef):
        yield _code(f"from {home} import {node.name}", "", _signature(node))
        yield _text(node)
        return
    fields = list(_fields(node))
    yield _code(f"from {home} import {node.name}", *([""] if fields else []), *fields)
    yield _text(node)
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
            kind = {ast.unparse(decorator).split(".")[-1] for decorator in method.decorator_list}
            if kind & {"property", "cached_property"}:
                yield f"**`{node.name}.{method.name}`**: `{ast.unparse(method.returns) if method.returns else 'Any'}`\n"
            else:
                yield f"**`{node.name}.{method.name}`**\n"
                yield _code(_signature(method))
            yield _text(method)


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """The fields of a value, or the members of an enumeration, with what is said about them."""
    for place, item in enumerate(node.body):
        if not isinstance(item, ast.AnnAssign | ast.Assign) or ast.unparse(item).startswith("_"):
            continue
        after = node.body[place + 1] if place + 1 < len(node.body) else None
        said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and str(after.value.value)
        if said:
            yield "# " + re.sub(r"\s+", " ", said)
        yield re.sub(r"= field\(default=([^,)]+).*\)$", r"= \1", ast.unparse(item))


def _signature(node: ast.FunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    parts = list(_arguments(node.args))
    line = f"{node.name}({', '.join(parts)}){returns}"
    if len(line) <= 100:
        return line
    return f"{node.name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def _arguments(arguments: ast.arguments) -> Iterator[str]:
    """The arguments as a caller sees them, without `self` and `cls`."""
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + list(arguments.defaults)
    for argument, default in zip(arguments.args, defaults, strict=True):
        if argument.arg not in ("self", "cls"):
            yield _argument(argument, default)
    if arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _argument(argument, default)
    if arguments.kwarg:
        yield f"**{_argument(arguments.kwarg, None)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + (f" = {ast.unparse(default)}" if default else "")


def _code(*lines: str) -> str:
    """A block of code, with the quotes that ruff wants in pages too."""
    quoted = (line if line.startswith("#") else line.replace("'", '"') for line in lines)
    return "\n".join(["```py", *quoted, "```\n"])


def _text(node: Definition) -> str:
    """The docstring, with arguments, attributes and errors as lists."""
    text, *sections = re.split(
        r"^(Args|Attributes|Returns|Raises):\n", ast.get_docstring(node) or "", flags=re.MULTILINE
    )
    parts = [text.strip() + "\n"]
    for title, listed in zip(sections[::2], sections[1::2], strict=True):
        entries = re.sub(r"\n {5,}", " ", listed)
        if title == "Returns":
            parts.append(f"Returns: {' '.join(entries.split())}\n")
            continue
        if title == "Raises":
            parts.append("Raises:\n")
        parts.append("".join(f"- `{name}`: {said}\n" for name, said in re.findall(r" {4}(\w+): (.*)", entries)))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stderr.write(f"{PAGE.relative_to(ROOT)} is written.\n")
