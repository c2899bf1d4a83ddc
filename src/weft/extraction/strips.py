"""Links of one very long sentence pair in bounded memory: the matrix is computed strip by strip and never whole.

Softmax, entmax and argmax look along rows for one direction and along columns for the other, so each direction needs
only strips of complete rows or columns, and what passes the threshold is little. Itermax, matching and transport need
the whole matrix, and get it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, to_device

from weft.encoding.encoder import Encoded
from weft.extraction.choices import Method
from weft.extraction.settings import ExtractionSettings
from weft.extraction.similarity import cosines, dot_products, entmax
from weft.extraction.symmetrize import Symmetrization, symmetrize
from weft.extraction.words import WordLinks, harmonic_mean, scores_against_null, word_links

IntArray = npt.NDArray[np.int64]

_BY_STRIPS = (Method.SOFTMAX, Method.ENTMAX, Method.ARGMAX)
_STRIP_CELLS = 1 << 20
_GATHERED_LINKS = 1 << 15


def suits(shape: tuple[int, int], method: Method, *, limit: int) -> bool:
    """Whether a pair of this shape (subwords) is better taken in strips."""
    return shape[0] * shape[1] > limit and method in _BY_STRIPS


def extract_pair(
    encoded: Encoded, pair: tuple[int, int], settings: ExtractionSettings, *, with_scores: bool
) -> WordLinks:
    """The word links of one pair of encoded sentences."""
    source, target = (encoded.states[encoded.starts[k] : encoded.starts[k + 1]] for k in pair)
    n_target = target.shape[0]
    there = _links(source, target, settings)
    back = _links(target, source, settings)
    forward, backward = there[0] * n_target + there[1], back[1] * n_target + back[0]
    rows, columns = np.divmod(_combined(forward, backward, n_target, settings.symmetrize), n_target)
    scores = _scores(source, target, rows, columns, settings.null) if with_scores else None
    words = [encoded.words[encoded.starts[k] : encoded.starts[k + 1]] for k in pair]
    return word_links(np.zeros_like(rows), words[0][rows], words[1][columns], scores)


def _strips(rows: Any, columns: Any, similarity: Callable[[Any, Any], Any]) -> Iterator[tuple[int, Any]]:
    """Strips of the similarity matrix with the number of their first row; each of shape (1, height, columns)."""
    height = max(1, _STRIP_CELLS // columns.shape[0])
    for first in range(0, rows.shape[0], height):
        yield first, similarity(rows[None, first : first + height], columns[None])


def _links(rows: Any, columns: Any, settings: ExtractionSettings) -> tuple[IntArray, IntArray]:
    """The links of one direction, from rows to columns, on the host."""
    argmax = settings.method is Method.ARGMAX
    # Two growing buffers: small arrays kept from each strip would lie between the large ones and pin their memory.
    found = array("q"), array("q")
    for first, strip in _strips(rows, columns, cosines if argmax else dot_products):
        xp = array_namespace(strip)
        if argmax:
            best = xp.argmax(strip, axis=2)[0]
            chosen = (xp.arange(best.shape[0], device=getattr(best, "device", None)), best)
            if settings.null is not None:
                above = xp.sum(rows[first + chosen[0]] * columns[best], axis=-1) > settings.null
                chosen = (chosen[0][above], best[above])
        else:
            shares = entmax(strip, axis=2, alpha=settings.exponent, null=settings.null)
            chosen = xp.nonzero(shares[0] > settings.effective_threshold)
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


def _scores(source: Any, target: Any, rows: IntArray, columns: IntArray, null: float | None) -> npt.NDArray[np.float64]:
    """The raw scores (words.raw_scores, or words.scores_against_null) of the given subword links only."""
    xp, device = array_namespace(source), getattr(source, "device", "cpu")
    n, m = source.shape[0], target.shape[0]
    if null is None:
        row_totals, column_totals = _log_totals(source, target, m**0.5), _log_totals(target, source, n**0.5)
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


def _log_totals(rows: Any, columns: Any, temperature: float) -> Any:
    """The logarithm of each row's softmax denominator, shape (rows,)."""
    xp = array_namespace(rows)
    totals = []
    for _, strip in _strips(rows, columns, dot_products):
        scaled = strip[0] / temperature
        peak = xp.max(scaled, axis=1, keepdims=True)
        totals.append(peak[:, 0] + xp.log(xp.sum(xp.exp(scaled - peak), axis=1)))
    return xp.concat(totals)
