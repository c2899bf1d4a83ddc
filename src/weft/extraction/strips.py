"""Links of one very long sentence pair in bounded memory: the matrix is computed strip by strip and never whole.

A method that chooses looks along rows for one direction and along columns for the other, so each direction needs only
strips of complete rows or columns, and what is chosen is little. A method that scores needs the totals of rows and
columns first. A method that finds links at once needs the whole matrix, and gets it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from weft.arrays import FloatArray, IntArray, LinkColumn, Marks, States, array_namespace, to_device
from weft.encoding.encoder import Encoded
from weft.encoding.transfer import on_device_of
from weft.extraction.methods import METHODS, chosen_links, scored_links
from weft.extraction.settings import ExtractionSettings
from weft.extraction.similarity import Comparison, WordEdges, log_totals
from weft.extraction.symmetrize import Symmetrization, symmetrize
from weft.extraction.words import WordLinks, harmonic_mean, scores_against_null, word_edges, word_links

_STRIP_CELLS = 1 << 20
_GATHERED_LINKS = 1 << 15


def extract_pair(
    encoded: Encoded, pair: tuple[int, int], settings: ExtractionSettings, *, with_scores: bool
) -> WordLinks:
    """The word links of one pair of encoded sentences."""
    source, target = (encoded.states[encoded.starts[k] : encoded.starts[k + 1]] for k in pair)
    words = [encoded.words[encoded.starts[k] : encoded.starts[k + 1]] for k in pair]
    null, takes_by_score = settings.null, METHODS[settings.method].score is not None
    needs_totals = takes_by_score or (with_scores and null is not None)
    totals = (_totals(source, target, null=null), _totals(target, source, null=null)) if needs_totals else None
    if takes_by_score and totals:
        rows, columns = _scored_links(source, target, (words[0], words[1]), totals, settings)
    else:
        rows, columns = _chosen_links(source, target, settings)
    scores = _scores(source, target, rows, columns, null) if with_scores else None
    support = None
    if scores is not None and null is not None and totals:
        support = _support(totals, null)
        scores *= support**0.5
    return word_links(np.zeros_like(rows), words[0][rows], words[1][columns], scores)._replace(support=support)


def _support(totals: tuple[LinkColumn, LinkColumn], null: float) -> FloatArray:
    """The pair's support (words.pair_support), shape (1,)."""
    xp = array_namespace(totals[0])
    shares = (xp.mean(1 - xp.exp(null - side)) for side in totals)
    return np.array([sum(float(share) for share in shares) / 2])


def _strips(rows: States, columns: States) -> Iterator[tuple[int, Comparison]]:
    """Strips of the comparison of two sentences, (n, d) and (m, d), with the number of their first row."""
    height = max(1, _STRIP_CELLS // columns.shape[0])
    for first in range(0, rows.shape[0], height):
        yield first, _strip(rows[first : first + height], columns)


def _strip(rows: States, columns: States, edges: tuple[WordEdges, WordEdges] | None = None) -> Comparison:
    xp = array_namespace(rows)
    valid = xp.ones((1, rows.shape[0], columns.shape[0]), dtype=xp.bool, device=getattr(rows, "device", None))
    return Comparison(rows[None], columns[None], valid, edges)


def _chosen_links(source: States, target: States, settings: ExtractionSettings) -> tuple[IntArray, IntArray]:
    """The links of a method that chooses in both directions."""
    n_target = target.shape[0]
    there, back = (
        _gathered((first, chosen_links(strip, 2, settings)) for first, strip in _strips(*sides))
        for sides in ((source, target), (target, source))
    )
    forward, backward = there[0] * n_target + there[1], back[1] * n_target + back[0]
    return np.divmod(_combined(forward, backward, n_target, settings.symmetrize), n_target)


def _scored_links(
    source: States,
    target: States,
    words: tuple[IntArray, IntArray],
    totals: tuple[LinkColumn, LinkColumn],
    settings: ExtractionSettings,
) -> tuple[IntArray, IntArray]:
    """The links of a method that scores by the totals of rows and columns."""
    rows, columns = totals
    cuts = _between_words(words[0], max(1, _STRIP_CELLS // target.shape[0]))
    target_edges = _edges(words[1], target)

    def marked() -> Iterator[tuple[int, Marks]]:
        for first, last in pairwise(cuts):
            edges = _edges(words[0][first:last], source), target_edges
            strip = _strip(source[first:last], target, edges)
            yield first, scored_links(strip, (rows[None, first:last, None], columns[None, None, :]), settings)

    return _gathered(marked())


def _between_words(words: IntArray, height: int) -> list[int]:
    """Where to cut a sentence into strips of about so many subwords and of whole words."""
    begins = np.flatnonzero(np.diff(words, prepend=-1))
    cuts = begins[np.searchsorted(begins, np.arange(0, len(words), height)).clip(max=len(begins) - 1)]
    return [*dict.fromkeys(cuts.tolist()), len(words)]


def _edges(words: IntArray, states: States) -> WordEdges:
    """The edges of one sentence's words, shape (1, n)."""
    return WordEdges(*(on_device_of(states, edge)[None] for edge in word_edges(words, np.array([0, len(words)]))))


def _gathered(strips: Iterable[tuple[int, Marks]]) -> tuple[IntArray, IntArray]:
    """Rows and columns of the links of all strips, on the host."""
    # Two growing buffers: small arrays kept from each strip would lie between the large ones and pin their memory.
    found = array("q"), array("q")
    for first, links in strips:
        chosen = array_namespace(links).nonzero(links[0])
        row, column = (np.asarray(to_device(index, "cpu"), dtype=np.int64) for index in chosen)
        found[0].frombytes((row + first).tobytes())
        found[1].frombytes(column.tobytes())
    return np.frombuffer(found[0], dtype=np.int64), np.frombuffer(found[1], dtype=np.int64)


def _combined(forward: IntArray, backward: IntArray, width: int, method: Symmetrization) -> IntArray:
    """Combine links that are written as row * width + column."""
    if method is Symmetrization.INTERSECTION:
        return np.intersect1d(forward, backward)
    if method is Symmetrization.UNION:
        return np.union1d(forward, backward)
    sets = [{divmod(key, width) for key in keys.tolist()} for keys in (forward, backward)]
    kept = sorted(row * width + column for row, column in symmetrize(sets[0], sets[1], method))
    return np.asarray(kept, dtype=np.int64)


def _scores(source: States, target: States, rows: IntArray, columns: IntArray, null: float | None) -> FloatArray:
    """The raw scores (words.raw_scores, or words.scores_against_null) of the given subword links only."""
    xp, device = array_namespace(source), getattr(source, "device", "cpu")
    n, m = source.shape[0], target.shape[0]
    if null is None:
        row_totals = _totals(source, target, temperature=m**0.5)
        column_totals = _totals(target, source, temperature=n**0.5)
    scores = np.empty(len(rows))
    for first in range(0, len(rows), _GATHERED_LINKS):
        part = slice(first, first + _GATHERED_LINKS)
        i, j = (to_device(xp.asarray(index[part]), device) for index in (rows, columns))
        products = xp.sum(source[i] * target[j], axis=-1)
        if null is None:
            there = xp.exp(products / m**0.5 - row_totals[i])
            back = xp.exp(products / n**0.5 - column_totals[j])
            found = harmonic_mean(there, back)
        else:
            found = scores_against_null(products, null)
        scores[part] = np.asarray(to_device(found, "cpu"))
    return scores


def _totals(rows: States, columns: States, *, temperature: float = 1.0, null: float | None = None) -> LinkColumn:
    """The logarithm of each row's softmax denominator, shape (rows,)."""
    strips = (strip for _, strip in _strips(rows, columns))
    return array_namespace(rows).concat(
        [log_totals(strip.products / temperature, axis=2, null=null)[0, :, 0] for strip in strips]
    )
