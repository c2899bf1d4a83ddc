"""What the commands that work on aligned text share: where pairs and links come from, and lines that hold no pair."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from os import stat
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli.badlines import BadLines
from weft.cli.options import LINKS, MODEL
from weft.cli.output import only_one_stdin
from weft.errors import SettingError
from weft.text.lines import FilePath, display_name, rereadable
from weft.text.pairs import PairFormat, read_pairs
from weft.types import Alignment, SentencePair

if TYPE_CHECKING:
    from weft.aligner import Aligner
    from weft.applications.linked import LinkFile

InputArgument = Annotated[str, typer.Argument(metavar="INPUT", help="Pairs, or the source side; - is stdin.")]
TargetArgument = Annotated[str | None, typer.Argument(metavar="TARGET", help="The target side, line by line.")]
LinksOption = Annotated[
    str | None,
    typer.Option(
        "--links",
        metavar="FILE",
        help="Links of the pairs, or INPUT again if it is JSONL with links.",
        show_default="a model aligns",
        rich_help_panel=LINKS,
    ),
]
LinksBaseOption = Annotated[
    int,
    typer.Option(min=0, max=1, metavar="0|1", help="Number of the first word in the links.", rich_help_panel=LINKS),
]
AlignModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Without --links: the model that aligns.",
        show_default="weft-mini",
        rich_help_panel=MODEL,
    ),
]


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


def link_source(
    links: FilePath | None, base: int, *, model: str | None, layer: int | None, device: str
) -> LinkFile | Aligner:
    """The file that holds the links, or an aligner that finds them.

    Args:
        links: the file, if there is one.
        base: the number of the first word in it.
        model: the model that aligns, where there is no file.
        layer: its layer.
        device: where it runs.
    """
    from weft.applications.linked import LinkFile

    if links is not None:
        if model is not None or layer is not None:
            raise SettingError("--links says where the links are; leave --model and --layer out, or --links.")
        return LinkFile(links, base=base)
    from weft.aligner import Aligner
    from weft.models.known import DEFAULT_MODEL

    return Aligner.from_pretrained(DEFAULT_MODEL if model is None else model, layer=layer, device=device)


def linked_pairs(
    sentences: FilePath,
    others: FilePath | None,
    source: LinkFile | Aligner,
    *,
    format: PairFormat,
    on_error: BadLines,
    calibrated: bool = False,
) -> Iterator[tuple[SentencePair, Alignment]]:
    """Each pair of the input with its links, line by line.

    Args:
        sentences: the pairs, or the source side.
        others: the target side, if it is in a file of its own.
        source: where the links come from.
        format: how a line holds its pair.
        on_error: told of each line that holds no pair.
        calibrated: ask an aligner for probabilities too.
    """
    from weft.applications.linked import with_links
    from weft.extraction.scores import Scores

    name = display_name(sentences)
    pairs = on_error.watching(read_pairs(sentences, others, format=format, on_error=on_error), name)
    scores = Scores.CALIBRATED if calibrated else Scores.NONE
    return with_links(pairs, lambda pair: pair, source, name=name, scores=scores)
