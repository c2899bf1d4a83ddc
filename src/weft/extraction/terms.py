"""Terms whose translation is known: where both sides have one, its words are linked, and with nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from weft.errors import FormatError
from weft.text.fields import TableParser
from weft.text.lines import FilePath, decode, display_name
from weft.text.pairs import PLAIN, split_words
from weft.text.rows import is_csv, read_rows
from weft.text.watches import warn_of_headings
from weft.types import Alignment, Link, SentencePair, Words

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


def read_terms(path: FilePath, split: tuple[Split, Split] = (split_words, split_words)) -> list[Term]:
    """Read terms, one a line: a term, a tab and its translation. Blank lines and lines that begin with # are skipped.

    If the file's name ends in .csv, the columns are separated by commas or semicolons, and cells may be quoted.

    Args:
        path: the file.
        split: how source and target are split into words, as in the text; at blanks by default.

    Returns:
        The terms in the order of the file, each once.

    Raises:
        FormatError: A line has no two columns with words in them.
    """
    terms: dict[Term, None] = {}
    parse: TableParser | None = None
    for number, line in enumerate(read_rows(path), start=1):
        text = decode(line, path, number)
        if not text.strip() or text.startswith("#"):
            continue
        # Tables with tabs are called .csv, too.
        parse = parse or TableParser(PLAIN, csv=is_csv(path) and "\t" not in text)
        source, target = columns = _columns(parse, text, path, number)
        term = Term(split[0](source), split[1](target))
        if not term.source or not term.target:
            raise FormatError(display_name(path), number, "expected a term and its translation, found an empty column.")
        if number == 1:
            warn_of_headings(path, columns, "a term", "remove it: tail -n +2 skips the first line")
        terms[term] = None
    return list(terms)


def _columns(parse: TableParser, text: str, path: FilePath, number: int) -> tuple[str, str]:
    """The first two columns of a row."""
    try:
        sides = parse(text).sides
    except ValueError as error:
        raise FormatError(display_name(path), number, str(error)) from error
    assert sides is not None, "no column is chosen by its name, so no row holds names"
    return str(sides[0]), str(sides[1])


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

    Links within a term stay. A word of it that has none is linked with every word of the other side of the term. Longer
    terms come first, and a word belongs to one term only. If a term occurs several times, those occurrences are
    linked that the alignment links most already, then the earlier ones.

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
    alone = (sources - {link.source for link in inner}, targets - {link.target for link in inner})
    new = [
        Link(source, target, None if all(link.score is None for link in alignment.links) else 1.0)
        for source, target in product(sorted(sources), sorted(targets))
        if source in alone[0] or target in alone[1]
    ]
    return replace(Alignment.of([*inner, *outer, *new], alignment.score), unknown=alignment.unknown)
