"""Groups of options that several commands take: declared once, and handed to the command as one value.

A command has one parameter for a group, `text: TextOptions`; `expanded` gives it the group's options instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer

from weft.cli.options import (
    MODEL,
    ColumnsOption,
    DeviceOption,
    InputFormatOption,
    LayerOption,
    MethodOption,
    RawOption,
    SourceFieldOption,
    SourceLanguageOption,
    TargetFieldOption,
    TargetLanguageOption,
    ThresholdOption,
)
from weft.text.fields import PairFields
from weft.text.pair_formats import PairFormat
from weft.text.pairs import PairReader

AlignModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model that finds the links, if --links is not given.",
        show_default="weft-mini",
        rich_help_panel=MODEL,
    ),
]


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How the text is read."""

    input_format: InputFormatOption = PairFormat.AUTO
    source_field: SourceFieldOption = None
    target_field: TargetFieldOption = None
    columns: ColumnsOption = None
    raw: RawOption = False
    source_language: SourceLanguageOption = None
    target_language: TargetLanguageOption = None

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """The codes that were given."""
        return self.source_language, self.target_language

    def reader(self, *, watch: bool = True) -> PairReader:
        """What reads pairs so; without `watch` it has no doubts about words, which were raised already."""
        if not self.raw and not any(self.languages):
            return PairReader(self.input_format, self._fields(), watch=watch)
        from weft.text.segment import word_splitters

        return PairReader(self.input_format, self._fields(), word_splitters(self.raw, *self.languages))

    def _fields(self) -> PairFields:
        return PairFields.of(self.source_field, self.target_field, self.columns, self.languages)


@dataclass(frozen=True, slots=True)
class AligningOptions:
    """Which model finds links, and how, where no file has them."""

    model: AlignModelOption = None
    layer: LayerOption = None
    device: DeviceOption = "auto"
    method: MethodOption = None
    threshold: ThresholdOption = None

    def as_settings(self) -> dict[str, Any]:
        """As the library takes them."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose groups of options are spelt out, one parameter for each option."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        if parameter.name in groups:
            options = get_type_hints(groups[parameter.name], include_extras=True)
            defaults = {item.name: item.default for item in fields(groups[parameter.name])}
            parameters += [
                Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=options[name])
                for name in defaults
            ]
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[parameter.name]))

    @wraps(command)
    def run(**given: Any) -> None:
        built = {
            name: kind(**{item.name: given.pop(item.name) for item in fields(kind)}) for name, kind in groups.items()
        }
        command(**given, **built)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
