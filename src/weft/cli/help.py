"""What `--help` prints: an example first, then usage, and options under the headings they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand, TyperGroup

from weft.cli.output import speak_of
from weft.cli.values import refuse_plainly, refuse_short_models
from weft.errors import SettingError
from weft.text.files import refuse_overwriting

_OUTPUTS = ("output", "target_output", "report")
_MODELS = ("model", "name", "teacher")  # parameters that take a model
_BASES = {"from_base", "links_base", "system_base"}
_SIDES = {"input", "target"}
_TOO_MANY_FILES = (
    ". This command reads one file of sentence pairs, or a text and its translation. To use the pairs of several "
    "files, join them first: cat FILES > all.pairs"
)
# Typer does not export it, and has click's or its own.
_UsageError: Any = BadParameter.__base__
_EXAMPLE = "Example: "
_LARGEST = 1_000_000_000_000
_WIDEST_NAME = 30  # longer names have a line of their own, as everywhere in click
_IN_WORDS = re.compile(r"(?<=default: )\((.*)\)(?=[;\]])")  # click puts defaults that are described into parentheses
# Ranges as typer writes them; the names of values, such as N or 0|1, say enough.
_COUNTED = re.compile(r"; (?:\d+<=)?x[<>]=\d+(?=\])|\s*\[x>=\d+\]")


class _Explained:
    """The parts that commands and groups of commands share. The last paragraph of their help is the example."""

    def format_help(self, context: Any, formatter: Any) -> None:
        """Write the example, unwrapped so that it can be copied, then all the rest."""
        formatter.write(f"{_EXAMPLE}{self._parts()[1]}\n\n")
        super().format_help(context, formatter)  # type: ignore[misc]

    def format_help_text(self, context: Any, formatter: Any) -> None:
        """Write what the command does."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(self._parts()[0])

    def _parts(self) -> tuple[str, str]:
        text, _, example = (self.help or "").partition(_EXAMPLE)  # type: ignore[attr-defined]
        return text.strip(), example.strip()

    def collect_usage_pieces(self, context: Any) -> list[str]:
        """Name arguments as people write them: `GOLD SYSTEM...`, and `[TARGET]` for one that may be left out."""
        names = (
            (_name(parameter), parameter.required)
            for parameter in self.get_params(context)  # type: ignore[attr-defined]
            if parameter.param_type_name == "argument"
        )
        return ["[OPTIONS]", *(name if required else f"[{name}]" for name, required in names)]


class Command(_Explained, TyperCommand):
    """A command whose options stand under their headings (`rich_help_panel`), also without rich."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Read the arguments; what is said of a wrong value does not begin with the name of a Python class."""
        try:
            return super().make_context(*args, **options)
        except BadParameter as error:
            refuse_plainly(error)
            error.message = error.message.removeprefix("Value error, ")
            raise
        except _UsageError as error:
            if "extra argument" in error.message and {parameter.name for parameter in self.params} >= _SIDES:
                error.message += _TOO_MANY_FILES
            raise

    def invoke(self, context: Any) -> Any:
        """Run the command; numbers that no machine can count to are refused before they reach any code."""
        longest = {parameter.name: max(parameter.opts, key=len) for parameter in self.params}
        options = {name: option for name, option in longest.items() if option.startswith("--")}
        speak_of(options)
        # Readers of links call it `base`, whatever the option of a command is called.
        for name in _BASES & options.keys():
            speak_of({"base": options[name]})
        for name, value in context.params.items():
            if isinstance(value, int) and abs(value) > _LARGEST:
                raise SettingError(f"`{name}` must be at most {_LARGEST:,}, got {value}.")
        _refuse_overwriting(context.params)
        refuse_short_models([name for option in _MODELS for name in _listed(context.params.get(option))])
        return super().invoke(context)

    def format_options(self, context: Any, formatter: Any) -> None:
        """Write arguments and options, with one width of names for all of them."""
        _write_sections(formatter, _sections(self.get_params(context), context))


def _listed(value: Any) -> list[Any]:
    """What was given for an option, be it once, several times or not at all."""
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _refuse_overwriting(given: dict[str, Any]) -> None:
    """No command may write over a file that it reads, whichever options name the two."""
    inputs = [
        path
        for name, value in given.items()
        if name not in _OUTPUTS
        for path in _listed(value)
        if isinstance(path, str | Path)
    ]
    for output in (given[name] for name in _OUTPUTS if isinstance(given.get(name), str | Path)):
        refuse_overwriting(output, inputs)


class Group(_Explained, TyperGroup):
    """Commands under one name, explained alike."""

    def collect_usage_pieces(self, context: Any) -> list[str]:
        """A group has commands, and those have arguments."""
        return ["[OPTIONS]", "COMMAND [ARGS]..."]


def _sections(parameters: list[Any], context: Any) -> dict[str, list[tuple[str, str]]]:
    """The lines of each heading. Headings come in the order of their first option; what has none, at the end."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    rest = []
    for parameter in parameters:
        name, text = parameter.get_help_record(context)
        text = _COUNTED.sub("", _IN_WORDS.sub(r"\1", text)).replace("[0<=x<=1]", "[0 to 1]")
        if parameter.param_type_name == "argument":
            sections["Arguments"].append((_name(parameter), text))
        elif panel := getattr(parameter, "rich_help_panel", None):
            sections.setdefault(panel, []).append((name, text))
        else:
            rest.append((name, text))
    return {**sections, "Other options" if len(sections) > 1 else "Options": rest}


def _write_sections(formatter: Any, sections: dict[str, list[tuple[str, str]]]) -> None:
    widest = max(len(name) for name, _ in chain.from_iterable(sections.values()))
    for heading, lines in sections.items():
        if lines:
            with formatter.section(heading):
                formatter.write_dl(list(_padded(lines, min(widest, _WIDEST_NAME))))


def _padded(lines: list[tuple[str, str]], width: int) -> Iterator[tuple[str, str]]:
    return ((name.ljust(width), text) for name, text in lines)


def _name(argument: Any) -> str:
    """An argument's name in capitals; dots say that there may be several."""
    name = argument.metavar or argument.name.upper()
    return f"{name}..." if argument.nargs != 1 else name
