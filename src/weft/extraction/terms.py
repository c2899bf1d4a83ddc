"""Terms whose translation is known: where both sides have one, its words are linked, and with nothing else."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from weft.errors import FormatError
from weft.text.fields import JsonlParser, NoPairError, PairFields
from weft.text.headings import column_of, name_columns, text_columns
from weft.text.json_objects import is_json_object, parse_json_object, shorten
from weft.text.lines import FilePath, decode, display_name
from weft.text.pairs import PLAIN, split_words
from weft.text.rows import UnitRow, is_csv, is_tsv, read_rows, with_lines
from weft.text.tables import OneCellError, TableParser
from weft.text.translations import Languages, in_words, translations_of
from weft.types import Alignment, Link, SentencePair, Words

logger = logging.getLogger(__name__)

_MOST_NAMED = 3
# An object or a list, on one line or on several.
_BEGINS_JSON = re.compile(r"\s*[\[{]\s*(?:$|[\"\[{])")
_NO_TABLE = "this looks like JSON, but terms are read from tables (TSV or CSV), TMX or XLIFF."

Run = tuple[int, int]
"""Neighbouring words: the first, and the one after the last."""


Split = Callable[[str], Words]


@dataclass(frozen=True, slots=True)
class Term:
    """Some words and their translation."""

    source: Words
    target: Words

    def __str__(self) -> str:
        """The term as messages call it."""
        return f"{' '.join(self.source)} = {' '.join(self.target)}"


@dataclass(frozen=True, slots=True)
class KeptTerms:
    """An alignment in which terms are linked, and the terms of the source that the target does not have."""

    alignment: Alignment
    kept: tuple[Term, ...]
    missing: tuple[Term, ...]


def read_terms(
    path: FilePath, split: tuple[Split, Split] = (split_words, split_words), languages: Languages = (None, None)
) -> list[Term]:
    """Read terms, one a line: a term, a tab and its translation. Blank lines and lines that begin with # are skipped.

    If the file's name ends in .csv, or no line has a tab, the columns are separated by commas or semicolons, and cells
    may be quoted. In TMX and XLIFF files every unit is a term. Rows without a term or without a translation are skipped
    and logged, and so is a first row that names the columns; it also tells which two of several columns are read.

    Args:
        path: the file.
        split: how source and target are split into words, as in the text; at blanks by default.
        languages: the codes of source and target, which choose among the languages of a TMX file or named columns.

    Returns:
        The terms in the order of the file, each once.

    Raises:
        FormatError: A line cannot be read, or none has two columns.
    """
    terms: dict[Term, None] = {}
    skipped = _Skipped(path)
    rows = [
        (number, decode(row, path, number), isinstance(row, UnitRow)) for number, row in with_lines(read_rows(path))
    ]
    rows = [row for row in rows if row[1].strip() and not row[1].startswith("#")]
    read = _TermParser(path, languages, csv=is_csv(path) or _has_cells_of_csv(path, [text for _, text, _ in rows]))
    for number, text, is_unit in rows:
        try:
            source, target = read(number, text, is_unit=is_unit)
        except NoPairError as error:
            skipped.add(number, str(error))
            continue
        except ValueError as error:
            raise FormatError(display_name(path), number, str(error)) from error
        if read.names_columns:
            skipped.headings(number, source, target)
            continue
        term = Term(split[0](source), split[1](target))
        if term.source and term.target:
            terms[term] = None
        elif term.source or term.target:
            missing = "the translation of" if term.source else "the term for"
            skipped.add(number, f"{missing} {shorten(source.strip() or target.strip())} is missing.")
    if read.one_cell is not None and not terms:
        raise FormatError(display_name(path), *read.one_cell)
    skipped.finish()
    return list(terms)


def _has_cells_of_csv(path: FilePath, rows: Sequence[str]) -> bool:
    """Whether a table is CSV though its name does not say so: it has commas or semicolons, and no tab."""
    text = "\n".join(rows)
    return not is_tsv(path) and "\t" not in text and bool(re.search("[,;]", text))


class _TermParser:
    """Parses rows of one file: two columns of a table, the first two or those named for texts, or a unit of XML."""

    def __init__(self, path: FilePath, languages: Languages, *, csv: bool) -> None:
        self._csv = csv
        self._languages = languages
        self._record = JsonlParser(PairFields(languages=languages))
        self._table: TableParser | None = None
        self._columns: tuple[int, int] | None = None
        self.names_columns = False
        """Whether the last row is the first of a table and names its columns."""
        self.one_cell: tuple[int, str] | None = None
        """The first row of a table with a single cell, and what is wrong with it if no row has two."""

    def __call__(self, number: int, text: str, *, is_unit: bool) -> tuple[str, str]:
        """A term and its translation; a ValueError says what is wrong, a NoPairError that the row has only one."""
        self.names_columns = False
        if text.startswith("{") and is_json_object(text):
            self._check_languages(translations_of(parse_json_object(text)))
            try:
                sides = self._record(text).sides
            except NoPairError as error:
                raise error if is_unit else ValueError(_NO_TABLE) from error
        elif _BEGINS_JSON.match(text):
            raise ValueError(_NO_TABLE)
        else:
            # Tables with tabs are called .csv, too. A row with one cell does not say what separates cells.
            table = self._table or TableParser(PLAIN, csv=self._csv and "\t" not in text)
            try:
                table(text)
            except OneCellError as error:
                self.one_cell = self.one_cell or (number, str(error))
                return text, ""
            self._table = table
            return self._cells(table.row)
        source, target = (side if isinstance(side, str) else " ".join(side) for side in sides or ("", ""))
        return source, target

    def _cells(self, row: Sequence[str]) -> tuple[str, str]:
        """The two cells of a row; the first row decides which."""
        if not row:  # a line that says what separates the cells
            return "", ""
        if self._columns is None:
            self.names_columns = name_columns(row)
            self._columns = self._named_columns(row) if self.names_columns else (0, 1)
        source, target = (row[column] if column < len(row) else "" for column in self._columns)
        return source, target

    def _named_columns(self, row: Sequence[str]) -> tuple[int, int]:
        """Those of the languages that were chosen, or else the first two that are named for a text."""
        names = [cell.strip() for cell in row]
        source, target = (code and column_of(code, names) for code in self._languages)
        found = (source, target) if source and target and source != target else text_columns(names)
        return (names.index(found[0]), names.index(found[1])) if found else (0, 1)

    def _check_languages(self, translations: dict[str, Any]) -> None:
        if len(translations) > 2 and None in self._languages:
            raise ValueError(
                f"found text in {in_words(translations)}; choose two of these languages with `raw`, `source_language` "
                "and `target_language`."
            )


class _Skipped:
    """Names the first rows that hold no term with a translation, and counts the others."""

    def __init__(self, path: FilePath) -> None:
        self._path = display_name(path)
        self._rows: list[tuple[int, str]] = []

    def add(self, number: int, reason: str) -> None:
        """Take note of one."""
        self._rows.append((number, reason))

    def headings(self, number: int, source: str, target: str) -> None:
        """Say that the first row names columns."""
        logger.warning(
            "%s:%d: this line of column names is skipped, and terms are read from the columns %s and %s. If it is a "
            "term, move it below another one.",
            self._path,
            number,
            source.strip(),
            target.strip(),
        )

    def finish(self) -> None:
        """The file ends: say it."""
        for number, reason in self._rows[:_MOST_NAMED]:
            logger.warning("%s:%d: %s This row is skipped.", self._path, number, reason)
        if (more := len(self._rows) - _MOST_NAMED) > 0:
            rows = "row without a term or a translation is" if more == 1 else "rows without a term or a translation are"
            logger.warning("%s: %s more %s skipped.", self._path, f"{more:,}", rows)


class TermIndex:
    """Many terms, of which only those are looked at whose first word a sentence has."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._by_first_word: defaultdict[str, list[Term]] = defaultdict(list)
        for term in terms:
            self._by_first_word[term.source[0].lower()].append(term)

    def of(self, sentence: Words) -> list[Term]:
        """The terms that may occur in a sentence."""
        found = {word.lower() for word in sentence} & self._by_first_word.keys()
        return [term for word in sorted(found) for term in self._by_first_word[word]]


def keep_terms(pair: SentencePair, alignment: Alignment, terms: Iterable[Term], *, lowercase: bool = True) -> KeptTerms:
    """Link the words of terms that both sides have, and drop links that lead from them to other words.

    Links within a term stay. Words of it without a link are linked with all such words of its other side; if one side
    is a single word, it is linked with all words of the other. Longer terms come first, and a word belongs to one term
    only. If a term occurs several times, those occurrences are linked that the alignment links most already, then the
    earlier ones.

    Args:
        pair: the words.
        alignment: the links found without terms.
        terms: terms and their translations; several translations of a term are several terms.
        lowercase: whether case makes no difference.
    """
    source, target = ([word.lower() for word in side] if lowercase else list(side) for side in pair)
    taken: tuple[set[int], set[int]] = (set(), set())
    links = alignment
    kept: list[Term] = []
    wanted: dict[Words, Term] = {}
    for term in sorted(terms, key=lambda term: (-len(term.source), -len(term.target))):
        sides = [[word.lower() for word in side] if lowercase else list(side) for side in (term.source, term.target)]
        theirs, ours = (list(_occurrences(words, side)) for words, side in zip(sides, (source, target), strict=True))
        if any(taken[0].isdisjoint(range(*run)) for run in theirs):
            wanted.setdefault(tuple(sides[0]), term)
        for left, right in _matched(theirs, ours, links, taken):
            links = _linked(links, left, right)
            taken[0].update(range(*left))
            taken[1].update(range(*right))
            kept.append(term)
    fulfilled = {tuple(word.lower() for word in term.source) if lowercase else term.source for term in kept}
    missing = tuple(term for words, term in wanted.items() if words not in fulfilled)
    return KeptTerms(links, tuple(kept), missing)


def _occurrences(words: Sequence[str], sentence: Sequence[str]) -> Iterator[Run]:
    for start in range(len(sentence) - len(words) + 1):
        if sentence[start : start + len(words)] == words:
            yield (start, start + len(words))


def _matched(
    theirs: Sequence[Run], ours: Sequence[Run], alignment: Alignment, taken: tuple[set[int], set[int]]
) -> Iterator[tuple[Run, Run]]:
    """Occurrences of both sides that belong together, each once."""

    def links_between(left: Run, right: Run) -> int:
        return sum(link.source in range(*left) and link.target in range(*right) for link in alignment.links)

    ranked = sorted(product(theirs, ours), key=lambda both: (-links_between(*both), both))
    used: tuple[set[int], set[int]] = (set(), set())
    for left, right in ranked:
        if not any(
            set(range(*run)) & (side | more) for run, side, more in zip((left, right), taken, used, strict=True)
        ):
            used[0].update(range(*left))
            used[1].update(range(*right))
            yield left, right


def _linked(alignment: Alignment, left: Run, right: Run) -> Alignment:
    """Link two runs of words with each other and with nothing else."""
    sources, targets = set(range(*left)), set(range(*right))
    inner = [link for link in alignment.links if link.source in sources and link.target in targets]
    outer = [link for link in alignment.links if link.source not in sources and link.target not in targets]
    score = None if all(link.score is None for link in alignment.links) else 1.0
    new = [Link(source, target, score) for source, target in product(*_to_link(sources, targets, inner))]
    return replace(Alignment.of([*inner, *outer, *new], alignment.score), unknown=alignment.unknown)


def _to_link(sources: set[int], targets: set[int], inner: Sequence[Link]) -> tuple[list[int], list[int]]:
    """The words of both sides of a term that are still to be linked with each other.

    An article has often no counterpart. So a word without a link is not linked with words that have one already, unless
    the other side is a single word, the only one that it can belong to.
    """
    left = sources - {link.source for link in inner}
    right = targets - {link.target for link in inner}
    if len(sources) == 1 and right:
        left = sources
    if len(targets) == 1 and left:
        right = targets
    return sorted(left), sorted(right)
