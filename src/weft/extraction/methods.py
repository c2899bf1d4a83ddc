"""The ways to take links: a method is one entry of `METHODS`, and nothing else in weft knows what methods there are.

Settings, extraction, strips, tuning, the command line and the web API all ask this table. Functions import arrays when
links are taken, so that the command line can name methods without loading an array library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from weft.errors import not_among

if TYPE_CHECKING:
    from weft.arrays import Cells, Marks
    from weft.extraction.settings import ExtractionSettings
    from weft.extraction.similarity import Comparison


class Cost(StrEnum):
    """What optimal transport moves mass along."""

    COSINE = "cosine"
    DOT = "dot"
    EUCLIDEAN = "euclidean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One method of extracting links. It has exactly one of `choose`, `score` and `find`.

    The table `weft.extraction.methods.METHODS` contains all methods by name. A method that you add to it works
    everywhere.

    Attributes:
        name: its name in settings and options.
        elsewhere: its names in other aligners.
        threshold: the default threshold; None for a method without a threshold.
        trial_thresholds: the thresholds that `weft tune` tries.
        options: the fields of `ExtractionSettings` that affect it, apart from threshold, symmetrisation and null.
        shares_null: whether it distributes probability, so that the null gets a share. If not, links below the null are
            dropped.
        choose: a function that marks which subwords each subword chooses along an axis: 2 for source subwords choosing
            target subwords, 1 for target subwords choosing source subwords. Both directions are then combined. Very
            long pairs are computed in strips of complete rows.
        score: a function that rates how well subwords go together, as an array of shape (b, n, m). It gets their
            comparison and the logarithms of the softmax totals: of the rows (b, n, 1) and of the columns (b, 1, m).
            Links are the cells above the threshold. Very long pairs are computed in strips of complete rows, which
            never cut a word.
        find: a function that marks the links directly. It needs the whole matrix, however long the pair is.
    """

    name: str
    elsewhere: tuple[str, ...] = ()
    threshold: float | None = None
    trial_thresholds: tuple[float, ...] = ()
    options: tuple[str, ...] = ()
    shares_null: bool = False
    choose: Callable[[Comparison, int, ExtractionSettings], Marks] | None = None
    score: Callable[[Comparison, Cells, Cells], Cells] | None = None
    find: Callable[[Comparison, ExtractionSettings], Marks] | None = None

    def __post_init__(self) -> None:
        if sum(way is not None for way in (self.choose, self.score, self.find)) != 1:
            raise TypeError(f"the method {self.name} needs one of `choose`, `score` and `find`.")

    @property
    def goes_in_strips(self) -> bool:
        """Whether it works without the whole matrix."""
        return self.find is None

    def uses(self, option: str) -> bool:
        """Whether a field of `ExtractionSettings` affects the links of this method."""
        if option == "threshold":
            return self.threshold is not None
        if option == "symmetrize":
            return self.choose is not None
        return option == "null" or option in self.options


def chosen_links(compared: Comparison, axis: int, settings: ExtractionSettings) -> Marks:
    """The links of one direction: what each subword chooses along an axis, and what of that beats the null."""
    choose = METHODS[settings.method].choose
    if choose is None:
        raise TypeError(f"the method {settings.method} has no directions.")
    return above_null(choose(compared, axis, settings), compared, settings)


def scored_links(compared: Comparison, totals: tuple[Cells, Cells], settings: ExtractionSettings) -> Marks:
    """The links whose score is above the threshold, given the logarithms of the softmax totals of rows and columns."""
    score = METHODS[settings.method].score
    if score is None:
        raise TypeError(f"the method {settings.method} has no scores.")
    return (score(compared, *totals) > settings.effective_threshold) & compared.valid


def above_null(links: Marks, compared: Comparison, settings: ExtractionSettings) -> Marks:
    """The links whose dot product beats the null; all of them where the null took part in sharing out."""
    if settings.null is None or METHODS[settings.method].shares_null:
        return links
    return links & (compared.products > settings.null)


def _large_shares(compared: Comparison, axis: int, settings: ExtractionSettings) -> Marks:
    from weft.extraction.similarity import entmax

    shares = entmax(compared.products, axis=axis, alpha=settings.exponent, null=settings.null)
    return (shares > settings.effective_threshold) & compared.valid


def _mean_of_directions(compared: Comparison, row_totals: Cells, column_totals: Cells) -> Cells:
    """The geometric mean of how likely a subword finds the word of the other, in both directions."""
    there, back = compared.word_shares(row_totals, axis=2), compared.word_shares(column_totals, axis=1)
    mean: Cells = (there * back) ** 0.5
    return mean


def _best(compared: Comparison, axis: int, settings: ExtractionSettings) -> Marks:
    from weft.extraction.matching import best_links

    return best_links(compared.closeness, compared.valid, axis=axis)


def _itermax(compared: Comparison, settings: ExtractionSettings) -> Marks:
    from weft.extraction.matching import itermax_links

    return itermax_links(compared.closeness, compared.valid)


def _match(compared: Comparison, settings: ExtractionSettings) -> Marks:
    from weft.extraction.matching import matching_links

    return matching_links(compared.closeness, compared.valid)


def _transport(compared: Comparison, settings: ExtractionSettings) -> Marks:
    from weft.extraction.similarity import relative_plan, transport

    plan = transport(compared.source, compared.target, compared.valid, cost=settings.cost)
    return (relative_plan(plan, compared.valid) > settings.effective_threshold) & compared.valid


# The thresholds of softmax and entmax are the paper's. That of geometric was chosen on dev sets of weft-mini; that of
# optimal transport is relative to the words' masses (docs/methods.md).
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            name="softmax",
            threshold=0.001,
            trial_thresholds=(1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
            shares_null=True,
            choose=_large_shares,
        ),
        Method(
            name="entmax",
            elsewhere=("entmax15",),
            threshold=0.0,
            trial_thresholds=(0.0, 0.01, 0.05, 0.1, 0.2, 0.3),
            options=("alpha",),
            shares_null=True,
            choose=_large_shares,
        ),
        Method(
            name="geometric",
            threshold=0.15,
            trial_thresholds=(0.02, 0.05, 0.08, 0.1, 0.13, 0.16, 0.2, 0.3),
            shares_null=True,
            score=_mean_of_directions,
        ),
        Method(
            name="ot",
            threshold=0.3,
            trial_thresholds=(0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5),
            options=("cost",),
            find=_transport,
        ),
        Method(name="argmax", elsewhere=("inter", "a"), choose=_best),
        Method(name="itermax", elsewhere=("i",), find=_itermax),
        Method(name="match", elsewhere=("mwmf", "m"), find=_match),
    )
}


def unknown_method(name: object) -> str:
    """What to say of a method that does not exist: what weft calls it, if it has it under another name."""
    same = next((method.name for method in METHODS.values() if name in method.elsewhere), None)
    return not_among("method", METHODS, name) if same is None else f"the method {name} is called {same} here."
