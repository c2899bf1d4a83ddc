"""One case: a folder of files, a command line, and what must be true of the run besides the common rule.

Commands and options are those that the program itself knows, so that a new option is tried from its first day on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, get_args, get_type_hints

from typer.models import OptionInfo

from fuzz import hostile, listening, workshop

# Never tried: what starts clusters and processes, or changes the shell of whoever runs this.
_LEFT_OUT = {"help", "output", "address", "workers", "install_completion", "show_completion", "host", "engine"}
_WITH_TORCH = ("train", "model export", "model average")
_MISSING = "missing-model"
NUMBERS = ("0", "1", "2", "-1", "3", "7", "1000000", "9" * 20, "-" + "9" * 20, "1.5", "", "nan", "1e3", "٣", "0x1", "x")
FRACTIONS = ("0", "1", "0.5", "-0.5", "1.5", "nan", "inf", "-inf", "1e308", "1e-320", "", "x", "off")
TEXTS = ("", "-", "x", "de", "en", "ja", "th", "zh", "ko", "my", "xx-YY", "source,target", "id,source,target", "source")
NAMES = (
    "pairs",
    "links",
    "missing",
    "folder",
    "empty",
    "/dev/null",
    "model",
    "x" * 5000,
    "a\udcffb",
    "",
    "-",
    "pairs/x",
)
OUTPUTS = ("out", "out.gz", "out.jsonl", "folder", "no/such/place", "", "out.html", "out.xz")


@dataclass
class Case:
    """A command line, the files that lie in its folder, and what it reads from stdin.

    `lines_of` names the input whose number of lines the output must have; `output` is where that goes. `requests` are
    sent to a command that listens.
    """

    arguments: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    stdin: bytes = b""
    output: str = "-"
    lines_of: str | None = None
    json_lines: bool = False
    requests: list[listening.Request] = field(default_factory=list)


class Option(NamedTuple):
    """An option of a command: what it is called, on the command line and in the code, and the values it takes."""

    spelt: str
    name: str
    kind: type


@cache
def commands() -> dict[str, list[Option]]:
    """Every command by its full name, with its options."""
    from weft.cli.main import command_line

    app = command_line()

    groups = [("", app), *((f"{group.name} ", group.typer_instance) for group in app.registered_groups)]
    return {
        f"{prefix}{command.name or command.callback.__name__}": list(_options_of(command.callback))
        for prefix, group in groups
        for command in group.registered_commands
    }


def _options_of(command: Callable[..., None]) -> Iterator[Option]:
    for name, hint in get_type_hints(command, include_extras=True).items():
        described = getattr(hint, "__metadata__", (None,))[0]
        if isinstance(described, OptionInfo) and name not in _LEFT_OUT:
            kinds = [kind for kind in _parts(get_args(hint)[0]) if kind is not type(None)]
            yield Option((described.param_decls or (f"--{name.replace('_', '-')}",))[0], name, kinds[0])


def _parts(hint: Any) -> Iterator[Any]:
    """The types of a union, or of what a list holds."""
    for part in get_args(hint) or (hint,):
        yield from _parts(part) if get_args(part) else (part,)


class Maker:
    """Makes cases from chance; `base` holds the models that all cases share."""

    def __init__(self, base: Path, *, training: bool, command: str | None = None) -> None:
        self._base = base
        known = [name for name in commands() if training or name not in _WITH_TORCH]
        self._names = [name for name in known if command in (None, name)]

    def case(self, seed: int, number: int) -> Case:
        """The same case for the same numbers."""
        random = Random(f"{seed}/{number}")
        # Training takes as long as a hundred others.
        weights = [0.3 if name in _WITH_TORCH else 3.0 if name == "align" else 1.0 for name in self._names]
        name = random.choices(self._names, weights)[0]
        case = _MAKERS.get(name, _plain)(self, random)
        case.arguments[:0] = name.split()
        case.arguments += self._options(random, name)
        if name == "page" or (name in ("serve", "annotate") and not case.requests):
            case.arguments += ["--model", _MISSING]  # it must not begin to listen
        case.files.setdefault("empty", b"")
        return case

    def _options(self, random: Random, name: str) -> Iterator[str]:
        options = commands()[name]
        for option in random.sample(options, min(len(options), random.choice([0, 0, 0, 1, 1, 2]))):
            yield option.spelt
            if option.kind is not bool:
                yield _value(random, option)

    def model(self, random: Random, case: Case) -> str:
        """A model beside the case's files, now and then with one thing changed; or a name that is none."""
        chance = random.random()
        if chance < 0.04:
            return random.choice([_MISSING, "", "folder", "pairs", "weft-mimi", "model.onnx"])
        case.folders["model"] = self._base / "graph"
        if chance < 0.3:
            for file in random.sample(["weft.json", "tokenizer.json", "model.onnx", "config.json"], 1):
                case.files[f"model/{file}"] = self._damaged(random, self._base / "graph" / file)
        return "model"

    def _damaged(self, random: Random, path: Path) -> bytes:
        data = path.read_bytes() if path.exists() else b'{"vocab_size": 5, "hidden_size": 8, "model_type": "bert"}'
        if path.suffix == ".json" and random.random() < 0.8:
            return json.dumps(hostile.with_one_field_changed(random, json.loads(data))).encode()
        return hostile.changed(random, data)


def _value(random: Random, option: Option) -> str:
    if issubclass(option.kind, StrEnum):
        return random.choice([*map(str, option.kind), *map(str, option.kind), "x", ""])
    if option.kind is int:
        return random.choice(NUMBERS)
    if option.kind is float or option.name in ("null", "thresholds"):
        return random.choice(FRACTIONS)
    if option.name == "method":
        return random.choice(["softmax", "entmax", "argmax", "itermax", "match", "ot", "x"])
    if option.name in ("report", "target_output", "marian"):
        return random.choice(OUTPUTS)
    if option.name in ("links", "gold", "target", "source", "terms", "text", "model", "dev", "config", "teacher"):
        return random.choice(NAMES)
    return random.choice(TEXTS + NAMES[:6])


def _pairs(random: Random, format: str | None = None) -> bytes:
    format = format or random.choice(["bars", "bars", "tsv", "jsonl"])
    lines = [hostile.pair_line(random, format) for _ in range(random.choice([0, 1, 3, 12]))]
    return hostile.spoiled(random, lines)


def _links(random: Random, count: int, format: str | None = None) -> bytes:
    format = format or random.choice(["pharaoh", "talp", "naacl", "jsonl", "pharaoh-scores"])
    lines = [hostile.links_line(random, format, k + 1) for k in range(count)]
    # One bad line among links ends a run, so most files of links are good ones.
    return hostile.spoiled(random, lines) if random.random() < 0.3 else b"".join(line + b"\n" for line in lines)


def _with_output(random: Random, case: Case, names: tuple[str, ...] = OUTPUTS) -> list[str]:
    """Where the output goes: stdout, a new file, or one that is there already."""
    if random.random() < 0.4:
        return []
    case.output = random.choice(names)
    if random.random() < 0.6 and case.output not in ("folder", "", "no/such/place"):
        case.files[case.output] = b"what was there before\n"
    return ["-o", case.output]


def _input(random: Random, case: Case, data: bytes, name: str = "pairs") -> str:
    """A file by its name, or stdin."""
    if random.random() < 0.2:
        case.stdin = data
        return "-"
    case.files[name] = data
    return name


def _plain(maker: Maker, random: Random) -> Case:
    """A command without arguments that somebody would have to think about."""
    case = Case([])
    case.arguments += _with_output(random, case, ("folder/new", "folder", "out"))
    return case


def _align(maker: Maker, random: Random) -> Case:
    case = Case([], lines_of="pairs")
    if random.random() < 0.2:
        case.files["pairs"], case.files["target"] = (
            hostile.spoiled(random, [hostile.sentence(random).encode() for _ in range(3)]) for _ in range(2)
        )
        case.arguments = ["pairs", "target"]
    else:
        case.arguments = [_input(random, case, _pairs(random))]
    case.arguments += _with_output(random, case)
    case.arguments += ["--model", maker.model(random, case)]
    format = random.choice(["pharaoh", "jsonl", "words", "naacl"])
    case.arguments += ["--output-format", format]
    case.json_lines = format == "jsonl"
    if format == "naacl":
        case.lines_of = None
    if random.random() < 0.15:
        case.arguments += ["--shards", random.choice(["1", "2", "5", "0"])]
    return case


def _linked(maker: Maker, random: Random) -> Case:
    """lexicon, phrases and filter: pairs with links of a file or of a model."""
    case = Case([])
    data = _pairs(random)
    case.arguments = [_input(random, case, data)]
    if random.random() < 0.7:
        case.files["links"] = _links(random, data.count(b"\n") + random.choice([0, 0, 0, 1]))
        case.arguments += ["--links", "links"]
    else:
        case.arguments += ["--model", maker.model(random, case)]
    case.arguments += _with_output(random, case)
    return case


def _filter(maker: Maker, random: Random) -> Case:
    case = _linked(maker, random)
    case.arguments += random.choice([["--keep", "0.5"], ["--min-score", "0.1"], ["--keep", "2"], []])
    return case


def _project(maker: Maker, random: Random) -> Case:
    case = Case([])
    kind = random.choice(["conll", "jsonl", "markup", "document"])
    count = random.choice([1, 3, 8])
    if kind == "document":
        path = random.choice(workshop.documents())
        data = path.read_bytes()
        case.files[path.name] = hostile.changed(random, data) if random.random() < 0.6 else data
        case.files["other"] = hostile.spoiled(random, [hostile.sentence(random).encode() for _ in range(count)])
        case.arguments = [path.name, *random.choice([["other"], []]), "--model", maker.model(random, case)]
        case.arguments += _with_output(random, case, ("out", f"out{path.suffix}"))
        return case
    make: Callable[[Random], bytes] = {
        "conll": hostile.columns_line,
        "jsonl": hostile.spans_line,
        "markup": hostile.markup_line,
    }[kind]
    case.files["pairs"] = hostile.spoiled(random, [make(random) for _ in range(count)])
    case.arguments = ["pairs", "--from", kind]
    if kind == "conll" or random.random() < 0.1:
        case.files["other"] = hostile.spoiled(random, [hostile.sentence(random).encode() for _ in range(count)])
        case.arguments.insert(1, "other")
    if random.random() < 0.5:
        case.files["links"] = _links(random, count)
        case.arguments += ["--links", "links"]
    else:
        case.arguments += ["--model", maker.model(random, case)]
    case.arguments += _with_output(random, case)
    case.lines_of = None if kind == "conll" else "pairs"
    return case


def _convert(maker: Maker, random: Random) -> Case:
    case = Case([])
    formats = ["pharaoh", "pharaoh-scores", "talp", "naacl", "jsonl"]
    if random.random() < 0.6:
        begin, end = random.choice(formats), random.choice(formats)
        data = _links(random, random.choice([0, 2, 9]), begin)
    else:
        begin, end = random.choice(["bars", "tsv", "jsonl"]), random.choice(["bars", "tsv", "jsonl"])
        data = _pairs(random, begin)
    case.output = random.choice(["-", *OUTPUTS])
    case.arguments = [_input(random, case, data), case.output, "--from", random.choice([begin, "auto"]), "--to", end]
    if case.output in ("out", "out.gz"):
        case.files[case.output] = b"what was there before\n"
    case.lines_of = "pairs" if "naacl" not in (begin, end) else None
    case.json_lines = end == "jsonl"
    return case


def _symmetrize(maker: Maker, random: Random) -> Case:
    count = random.choice([0, 1, 5])
    case = Case(["pairs", "links"], {name: _links(random, count, "pharaoh") for name in ("pairs", "links")})
    case.arguments += _with_output(random, case)
    case.lines_of = "pairs"
    return case


def _score(maker: Maker, random: Random) -> Case:
    count = random.choice([0, 1, 5])
    names = ["gold", "first", "second"][: random.randint(2, 3)]
    case = Case(names, {name: _links(random, count) for name in names})
    case.arguments = [*names, *_with_output(random, case)]
    return case


def _view(maker: Maker, random: Random) -> Case:
    data = _pairs(random)
    case = Case([])
    case.arguments = [_input(random, case, data)]
    if random.random() < 0.5:
        case.files["links"] = _links(random, data.count(b"\n"))
        case.arguments.append("links")
    else:
        case.arguments += ["--model", maker.model(random, case)]
    if random.random() < 0.3:
        case.files["gold"] = _links(random, data.count(b"\n"))
        case.arguments += ["--gold", "gold"]
    case.arguments += _with_output(random, case, ("out.html", "out.svg", "out.tex", "out.csv", "out.pdf", "out.png"))
    return case


def _tune(maker: Maker, random: Random) -> Case:
    case = Case(
        [], {"dev.src": b"a b c\nb c\n" * 30, "dev.tgt": b"a b c\nb c\n" * 30, "dev.talp": b"0-0 1-1 2p2\n1-1\n" * 30}
    )
    if random.random() < 0.5:
        name = random.choice(["dev.src", "dev.tgt", "dev.talp"])
        case.files[name] = hostile.changed(random, case.files[name])
    case.arguments = [
        "--dev",
        "dev",
        "--model",
        maker.model(random, case),
        "--methods",
        random.choice(["softmax", "argmax"]),
    ]
    case.arguments += random.choice([["-o", "tuned"], []])
    return case


def _train(maker: Maker, random: Random) -> Case:
    record = workshop.CONFIGURATION
    if random.random() < 0.9:
        record = hostile.with_one_field_changed(random, record)  # type: ignore[assignment]
    toy = {
        f"toy.{end}": (maker._base / "torch" / f"toy.{end}").read_bytes()
        for end in ("txt", "links", "src", "tgt", "talp")
    }
    case = Case(["--config", "run.toml"], {**toy, "run.toml": hostile.as_toml(record).encode("utf-8", "replace")})
    case.folders["bert"] = maker._base / "torch" / "bert"
    if random.random() < 0.3:
        file = random.choice(["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"])
        case.files[f"bert/{file}"] = maker._damaged(random, maker._base / "torch" / "bert" / file)
    return case


def _model(maker: Maker, random: Random) -> Case:
    """info, export and average, of folders that are models or not."""
    case = Case([])
    case.arguments = [maker.model(random, case)]
    return case


def _export(maker: Maker, random: Random) -> Case:
    case = _model(maker, random)
    case.arguments += ["--to", random.choice(["onnx", "torch", "x"]), "-o", "exported"]
    return case


def _average(maker: Maker, random: Random) -> Case:
    case = _model(maker, random)
    case.arguments += [random.choice(["model", "folder"]), "-o", "mean"]
    return case


def _listening(maker: Maker, random: Random) -> Case:
    """serve and annotate: half of them answer requests, over a project with two pairs."""
    case = Case([])
    if random.random() < 0.5:
        return _plain(maker, random)
    case.folders["model"] = maker._base / "graph"
    case.files |= {f"projects/work/{name}": data for name, data in workshop.PROJECT.items()}
    case.requests = [listening.request(random) for _ in range(40)]
    return case


def _serve(maker: Maker, random: Random) -> Case:
    case = _listening(maker, random)
    if case.requests:
        case.arguments = ["--port", "0", "--model", "model", "--project", "projects"]
    return case


def _annotate(maker: Maker, random: Random) -> Case:
    case = _listening(maker, random)
    if case.requests:
        case.arguments = ["projects", "--port", "0", "--model", "model"]
        return case
    case = Case(["made"])
    case.arguments += ["--pairs", _input(random, case, _pairs(random))]
    if random.random() < 0.5:
        case.files["links"] = _links(random, random.choice([1, 3, 12]))
        case.arguments += ["--links", "links"]
    case.arguments += ["--only-create"] * (random.random() < 0.8)
    return case


_MAKERS: dict[str, Callable[[Maker, Random], Case]] = {
    "align": _align,
    "lexicon": _linked,
    "phrases": _linked,
    "filter": _filter,
    "project": _project,
    "convert": _convert,
    "symmetrize": _symmetrize,
    "score": _score,
    "view": _view,
    "tune": _tune,
    "train": _train,
    "model info": _model,
    "model export": _export,
    "model average": _average,
    "serve": _serve,
    "annotate": _annotate,
}
