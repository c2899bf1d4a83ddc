"""What `/api/align` computes: a request to words, to subwords that are counted, and piece by piece to links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.aligner import Aligner
from weft.errors import SettingError
from weft.extraction.methods import METHODS
from weft.extraction.scores import Scores
from weft.extraction.settings import ExtractionSettings
from weft.extraction.terms import Term, TermIndex, keep_terms
from weft.text.pairs import words_of
from weft.text.segment import Segmented, segmenter_for
from weft.types import Alignment, SentencePair
from weft.viewing.serve.effort import seconds_for
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.queue import Steps
from weft.viewing.serve.requests import AlignedPair, AlignRequest, AlignResponse

# Long enough that batches are filled, short enough for others to wait.
_STEP_SECONDS = 0.25
_SECONDS_A_CHARACTER = 1e-6
# What entmax computes without torch.
_ALPHAS = (1.0, 1.5)
# Characters that are split into words in one step.
_STEP_CHARACTERS = 20_000


class PairError(SettingError):
    """Something is wrong with one of the pairs of a request."""

    def __init__(self, request: AlignRequest, number: int, side: str, sentence: str) -> None:
        self.pair = number if request.pairs is not None else None
        place = "" if self.pair is None else f"pairs.{number}"
        if side:
            super().__init__(f"{place}{'.' if place else ''}{side} {sentence}")
        else:
            super().__init__(f"{place}{': ' if place else ''}{sentence}")


@dataclass(frozen=True, slots=True)
class _Cut:
    """A pair that is split into words, and about how many seconds it will take."""

    source: Segmented
    target: Segmented
    seconds: float

    @property
    def pair(self) -> SentencePair:
        return SentencePair(self.source.words, self.target.words)


def settings_of(request: AlignRequest, aligner: Aligner) -> ExtractionSettings:
    """The model's settings with what the request changes; what would change nothing is refused."""
    names = ("method", "threshold", "alpha", "cost", "symmetrize", "null")
    settings = aligner.settings.updated(**{name: getattr(request, name) for name in names})
    for name in names[1:]:
        if getattr(request, name) is not None and not METHODS[settings.method].uses(name):
            raise SettingError(f"`{name}` has no effect with the method {settings.method}.")
    if settings.method == "entmax" and settings.alpha not in _ALPHAS and not aligner.encoder.runs_in_torch:
        raise SettingError(
            f"`alpha` is 1 or 1.5 with this model; {settings.alpha:g} needs torch, which takes more memory than all "
            "the rest. `weft align --alpha` can do it."
        )
    return settings


def check_size(request: AlignRequest, limits: Limits) -> None:
    """Refuse what is too large to be looked at."""
    pairs = request.all_pairs()
    if len(pairs) > limits.pairs:
        raise SettingError(f"{len(pairs):,} pairs were sent, but one request may contain at most {limits.pairs:,}.")
    if request.terms and len(request.terms) > limits.terms:
        raise SettingError(
            f"{len(request.terms):,} terms were sent, but one request may contain at most {limits.terms:,}."
        )
    for number, pair in enumerate(pairs):
        for name, side in (("source", pair.source), ("target", pair.target)):
            characters = _characters(side)
            if characters > limits.characters:
                found = f"has {characters:,} characters, but at most {limits.characters:,} are allowed."
                raise PairError(request, number, name, found)
            if not isinstance(side, str):
                _check_words(request, number, name, len(side), limits)


def _characters(side: str | list[str]) -> int:
    return len(side) if isinstance(side, str) else sum(map(len, side))


def _check_words(request: AlignRequest, number: int, name: str, words: int, limits: Limits) -> None:
    if words > limits.words:
        raise PairError(request, number, name, f"has {words:,} words, but at most {limits.words:,} are allowed.")


def align_in_steps(
    name: str, aligner: Aligner, request: AlignRequest, settings: ExtractionSettings, limits: Limits
) -> Steps[AlignResponse]:
    """The work itself: first the words, then links of a few pairs a step.

    Args:
        name: what the model is called here.
        aligner: the model.
        request: the pairs.
        settings: how links are taken.
        limits: what is too much.

    Yields:
        About how many seconds the next step will take.

    Returns:
        The answer.

    Raises:
        SettingError: a pair is too long, or all of them are too much work.
    """
    cuts = yield from _all_cut(request, aligner, settings, limits)
    seconds = sum(cut.seconds for cut in cuts)
    if seconds > limits.request_seconds:
        raise SettingError(
            f"these pairs are about {seconds:,.1f} seconds of work, but a request may ask for at most "
            f"{limits.request_seconds:g}; send fewer at a time."
        )
    terms = _terms(request)
    chosen = Aligner(aligner.encoder, settings)
    aligned: list[AlignedPair] = []
    for piece in _pieces(cuts):
        yield sum(cut.seconds for cut in piece)
        found = chosen.align_batch([cut.pair for cut in piece], scores=request.scores)
        aligned += [_written(cut, links, request, terms) for cut, links in zip(piece, found, strict=True)]
    return AlignResponse(model=name, method=settings.method, threshold=settings.effective_threshold, alignments=aligned)


def _all_cut(
    request: AlignRequest, aligner: Aligner, settings: ExtractionSettings, limits: Limits
) -> Steps[list[_Cut]]:
    """Split the pairs into words, a few pages a step."""
    cuts: list[_Cut] = []
    characters = 0
    for number, pair in enumerate(request.all_pairs()):
        cuts.append(_cut(request, number, aligner, settings, limits))
        characters += _characters(pair.source) + _characters(pair.target)
        if characters > _STEP_CHARACTERS:
            yield _STEP_CHARACTERS * _SECONDS_A_CHARACTER
            characters = 0
    return cuts


def _cut(request: AlignRequest, number: int, aligner: Aligner, settings: ExtractionSettings, limits: Limits) -> _Cut:
    pair = request.all_pairs()[number]
    source = _segmented(pair.source, request.raw, request.source_language)
    target = _segmented(pair.target, request.raw, request.target_language)
    for name, side in (("source", source), ("target", target)):
        _check_words(request, number, name, len(side.words), limits)
    if not (source.words and target.words):
        return _Cut(source, target, 0.0)
    subwords = aligner.encoder.tokenize.tokenizer.split([source.words, target.words])
    lengths = [len(side.ids) for side in subwords]
    for name, length in zip(("source", "target"), lengths, strict=True):
        if length > limits.subwords:
            found = f"has {length:,} subwords (what the model reads), but at most {limits.subwords:,} are allowed."
            raise PairError(request, number, name, found)
    seconds = seconds_for(lengths[0], lengths[1], settings)
    if seconds > limits.pair_seconds:
        sentence = (
            f"{lengths[0]:,} and {lengths[1]:,} subwords are about {seconds:,.1f} seconds of work with these settings, "
            f"but a pair may take {limits.pair_seconds:g}; shorten it, or choose another method or `symmetrize`."
        )
        raise PairError(request, number, "", sentence)
    return _Cut(source, target, seconds)


def _segmented(side: str | list[str], raw: bool, language: str | None) -> Segmented:
    if raw and isinstance(side, str):
        return segmenter_for(language)(side)
    return Segmented(words_of(side if isinstance(side, str) else tuple(side)), ())


def _pieces(cuts: Sequence[_Cut]) -> Iterator[list[_Cut]]:
    """Neighbouring pairs that together take about as long as others should wait."""
    piece: list[_Cut] = []
    for cut in cuts:
        if piece and sum(before.seconds for before in piece) + cut.seconds > _STEP_SECONDS:
            yield piece
            piece = []
        piece.append(cut)
    if piece:
        yield piece


def _terms(request: AlignRequest) -> TermIndex:
    languages = (request.source_language, request.target_language)
    split = [
        [_segmented(words, request.raw, language).words for words, language in zip(term, languages, strict=True)]
        for term in request.terms or ()
    ]
    for term, sides in zip(request.terms or (), split, strict=True):
        if not all(sides):
            raise SettingError(f"terms: {list(term)} has a side without words.")
    return TermIndex(Term(source, target) for source, target in split)


def _written(cut: _Cut, alignment: Alignment, request: AlignRequest, terms: TermIndex) -> AlignedPair:
    scored = request.scores is not Scores.NONE
    kept = keep_terms(cut.pair, alignment, terms.of(cut.source.words)) if request.terms else None
    links = kept.alignment.links if kept else alignment.links
    return AlignedPair(
        source=list(cut.source.words),
        target=list(cut.target.words),
        links=[[*link.indices, link.score or 0.0] if scored else list(link.indices) for link in links],
        score=alignment.score,
        unknown=alignment.unknown or None,
        source_offsets=list(cut.source.offsets) or None,
        target_offsets=list(cut.target.offsets) or None,
        missing_terms=[(" ".join(term.source), " ".join(term.target)) for term in kept.missing] if kept else None,
    )
