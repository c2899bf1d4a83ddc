"""Sentences joined with their links: from a file that belongs to them line by line, or from an aligner."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from weft.errors import SettingError
from weft.extraction.scores import Scores
from weft.models.languages import unknown_languages, unknown_words_remark
from weft.text.gold import check_range
from weft.text.lines import FilePath, display_name, read_two_together
from weft.text.links import LinkFormat, read_numbered_links
from weft.text.pairs import NOTHING
from weft.text.watches import no_links_remark
from weft.types import Alignment, SentencePair

if TYPE_CHECKING:
    from weft.aligner import Aligner

logger = logging.getLogger(__name__)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class LinkFile:
    """A file whose line n holds the links of sentence pair n."""

    path: FilePath
    format: LinkFormat | str = LinkFormat.AUTO
    base: int = 0


def link_source(
    links: FilePath | None,
    *,
    base: int,
    languages: tuple[str | None, str | None] = (None, None),
    model: str | None = None,
    device: str = "auto",
    **settings: Any,
) -> LinkFile | Aligner:
    """The file that holds the links, or an aligner that finds them.

    Args:
        links: the file, if there is one.
        base: the number of the first word in it.
        languages: codes of the two languages, where they are known; one that the model lacks is logged.
        model: the model that aligns if there is no file; None for the built-in one.
        device: where it runs.
        settings: what `Aligner.from_pretrained` takes besides: `layer`, `method`, `threshold`.
    """
    if links is not None:
        given = [f"`{name}`" for name, value in {"model": model, **settings}.items() if value is not None]
        if given:
            raise SettingError(f"`links` already names a file with links; leave out {' and '.join(given)}, or `links`.")
        return LinkFile(links, base=base)
    from weft.aligner import Aligner
    from weft.models.known import DEFAULT_MODEL

    aligner = Aligner.from_pretrained(DEFAULT_MODEL if model is None else model, device=device, **settings)
    for remark in unknown_languages(aligner.languages, *languages):
        logger.warning("%s", remark)
    return aligner


def with_links(
    records: Iterator[R],
    pair_of: Callable[[R], SentencePair],
    links: LinkFile | Aligner,
    *,
    name: str,
    scores: Scores = Scores.NONE,
) -> Iterator[tuple[R, Alignment]]:
    """Each record with its alignment, one for one and in order.

    A record without words has no links, whatever the file says for its line: links to words that could not be read
    mean nothing. A link past the end of a sentence raises a FormatError, because then the files do not belong
    together. `name` is how messages call the records.
    """
    if isinstance(links, LinkFile):
        return _from_file(records, pair_of, links, name)
    return _from_aligner(records, pair_of, links, scores)


def _from_file(
    records: Iterator[R], pair_of: Callable[[R], SentencePair], links: LinkFile, name: str
) -> Iterator[tuple[R, Alignment]]:
    rows = read_numbered_links(links.path, format=links.format, base=links.base)
    whole = linked = 0
    for record, row in read_two_together((name, display_name(links.path)), records, rows):
        pair = pair_of(record)
        if pair == NOTHING:
            yield record, Alignment()
        else:
            check_range(links.path, row.line, row.links, pair, base=links.base)
            whole += 1
            linked += bool(row.links)
            yield record, Alignment.of(row.links, row.score)
    if whole and not linked:
        logger.warning("%s contains no links.", display_name(links.path))


def _from_aligner(
    records: Iterator[R], pair_of: Callable[[R], SentencePair], aligner: Aligner, scores: Scores
) -> Iterator[tuple[R, Alignment]]:
    waiting: deque[R] = deque()

    def pairs() -> Iterator[SentencePair]:
        for record in records:
            waiting.append(record)
            yield pair_of(record)

    unknown = whole = linked = 0
    for alignment in aligner.stream(pairs(), scores=scores):
        record = waiting.popleft()
        unknown += alignment.unknown > 0
        whole += pair_of(record) != NOTHING
        linked += bool(alignment.links)
        yield record, alignment
    if remark := no_links_remark(whole, linked):
        logger.warning("%s", remark)
    if unknown:
        logger.warning("%s", unknown_words_remark(unknown, aligner.languages))
