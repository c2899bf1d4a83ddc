"""What the commands that work on aligned text share: where pairs and links come from, and lines that hold no pair."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from os import stat
from os.path import isfile
from shlex import quote
from typing import Annotated, Any, NamedTuple

import typer

from weft.cli.badlines import BadLines
from weft.cli.groups import AligningOptions, TextOptions
from weft.cli.options import LINKS
from weft.cli.output import only_one_stdin, say
from weft.errors import SettingError
from weft.text.json_objects import parse_json_object
from weft.text.lines import FilePath, display_name, first_lines, rereadable
from weft.text.pair_formats import PairFormat
from weft.text.rows import as_csv
from weft.text.translations import TRANSLATION
from weft.types import Alignment, SentencePair

_BETWEEN_TEXTS = (re.compile(rb"[^\s] *\t *[^\s]"), re.compile(rb" \|\|\| "))

InputArgument = Annotated[str, typer.Argument(metavar="INPUT", help="Sentence pairs, or the source side; - is stdin.")]
TargetArgument = Annotated[str | None, typer.Argument(metavar="TARGET", help="The target side, one sentence per line.")]
LinksOption = Annotated[
    str | None,
    typer.Option(
        "--links",
        metavar="FILE",
        help="Links for the pairs. If the input is JSONL that contains the links, name the same file here.",
        show_default="a model finds them",
        rich_help_panel=LINKS,
    ),
]
LinksBaseOption = Annotated[
    int,
    typer.Option(
        min=0, max=1, metavar="0|1", help="Whether words in the links are numbered from 0 or 1.", rich_help_panel=LINKS
    ),
]


def doubt_subtitles(*paths: str | None, advice: str = "Pair the sentences first, with weft align --documents") -> None:
    """Subtitles are read as any other lines, but not in silence.

    Args:
        paths: files of text.
        advice: what to do instead.
    """
    for path in paths:
        if path is not None and path.lower().endswith((".srt", ".vtt")):
            say(f"{path} looks like subtitles, but its numbers and times are read as text. {advice}.")
            return


def refuse_two_tables(input: str, target: str | None, *, then: str = "> all.pairs") -> None:
    """Two files whose first lines are all pairs, or all JSON, are no two sides of a text; together they give nonsense.

    Args:
        input: the first file that was named.
        target: the second, if there is one.
        then: where both go together in a command line.
    """
    if target is None or not all(map(isfile, (input, target))):
        return
    names, records = f"{input} and {target}", [_first_records(path) for path in (input, target)]
    together = f"To use the pairs of both: cat {quote(input)} {quote(target)} {then}"
    if all(records):
        raise SettingError(
            f"{names} both contain JSON, so they are not the two sides of one text, which have a sentence on each "
            f"line. {together if all(map(_is_pair, records)) else _as_sentences(input, records[0])}"
        )
    if all(map(_begins_with_pairs, (input, target))):
        raise SettingError(
            f"{names} both contain sentence pairs, so they are not the two sides of one text. {together}"
        )


def _first_records(path: str) -> list[dict[str, Any]]:
    """The first lines of a file if all of them are JSON objects."""
    try:
        return [parse_json_object(line.decode("utf-8")) for line in first_lines(path)]
    except ValueError:
        return []


def _is_pair(records: list[dict[str, Any]]) -> bool:
    return {"source", "target"} <= records[0].keys() or TRANSLATION in records[0]


def _as_sentences(path: str, records: list[dict[str, Any]]) -> str:
    """How to write the sentences of a file of JSON as lines; the longest text of its first record is one."""
    texts = {name: value for name, value in records[0].items() if isinstance(value, str)}
    name = max(texts, key=lambda name: len(texts[name]), default="text")
    program = quote(f".[{json.dumps(name, ensure_ascii=False)}]")
    return f"To write one field of such a file as lines: jq -r {program} {quote(path)} > sentences.txt"


def _begins_with_pairs(path: str) -> bool:
    """Whether all of the first lines have a tab or bars between two texts. A tab in some sentences is only a tab."""
    lines = first_lines(path)
    return len(lines) > 1 and any(all(map(sign.search, lines)) for sign in _BETWEEN_TEXTS)


@contextmanager
def opened(
    input: str, target: str | None, links: str | None, *, twice: bool = False
) -> Iterator[tuple[FilePath, FilePath | None, FilePath | None]]:
    """The three paths, ready to be read; stdin is copied to disk where it has to be read twice.

    Args:
        input: the sentence pairs.
        target: the target side, if pairs are in two files.
        links: the links; the same name as `input` means that its records hold both.
        twice: whether the caller reads the sentences more than once.
    """
    same = links == input
    only_one_stdin(input, target, None if same else links)
    for path in (input, target, links):
        if path not in (None, "-"):
            stat(path)  # a missing file should be known before a model is loaded
    with ExitStack() as stack:
        sentences: FilePath = stack.enter_context(rereadable(input)) if same or twice else input
        others: FilePath | None = stack.enter_context(rereadable(target)) if twice and target is not None else target
        yield sentences, others, sentences if same else links


class LinkedInput(NamedTuple):
    """What a command works on: the files, ready to be read again, and each pair with its links, line by line."""

    sentences: FilePath
    others: FilePath | None
    pairs: Iterator[tuple[SentencePair, Alignment]]


@contextmanager
def linked_input(
    input: str,
    target: str | None,
    links: str | None,
    *,
    base: int,
    aligning: AligningOptions,
    text: TextOptions,
    bad_lines: BadLines,
    twice: bool = False,
    calibrated: bool = False,
) -> Iterator[LinkedInput]:
    """The pairs of the input with their links.

    Args:
        input: the sentence pairs.
        target: the target side, if pairs are in two files.
        links: the links; the same name as `input` means that its records hold both.
        base: the number of the first word in the links.
        aligning: which model finds links, and how, where there is no file of them.
        text: how the text is read.
        bad_lines: told of each line that holds no pair.
        twice: whether the caller reads the sentences more than once.
        calibrated: ask an aligner for probabilities too.
    """
    from weft.applications.linked import link_source, with_links
    from weft.extraction.scores import Scores

    doubt_subtitles(input, target)
    refuse_two_tables(input, target)
    reader = text.reader(watch=links is None)  # links that are there tell what the words are
    with opened(input, target, links, twice=twice) as (sentences, others, link_file):
        source = link_source(link_file, base=base, languages=text.languages, **aligning.as_settings())
        if others is None and text.input_format is PairFormat.CSV:
            sentences = as_csv(sentences)  # who reads it again must find the same rows
        name = display_name(sentences)
        pairs = bad_lines.watching(reader.pairs(sentences, others, on_error=bad_lines), name, lambda pair: pair)
        scores = Scores.CALIBRATED if calibrated else Scores.NONE
        joined = with_links(pairs, lambda pair: pair, source, name=name, scores=scores)
        yield LinkedInput(sentences, others, joined)
