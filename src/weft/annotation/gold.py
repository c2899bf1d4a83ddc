"""The gold of a project: what was settled, or what everybody who finished a pair agrees on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from weft.annotation.names import ADJUDICATED
from weft.annotation.record import Annotation, State
from weft.types import Alignment, Link

Annotations = Mapping[str, Mapping[int, Annotation]]


def confirmed_gold(annotations: Annotations) -> dict[int, Alignment]:
    """The gold alignment of each pair that has one, by the pair's number from 0.

    A pair that was settled between annotators counts as settled. Another pair counts if somebody finished it and
    everybody who did has the same links.
    """
    gold: dict[int, Alignment] = {}
    for number in sorted({number for said in annotations.values() for number in said}):
        alignment = _settled(annotations, number)
        if alignment is None:
            alignment = _agreed(annotations, number)
        if alignment is not None:
            gold[number] = alignment
    return gold


def _settled(annotations: Annotations, number: int) -> Alignment | None:
    final = annotations.get(ADJUDICATED, {}).get(number)
    return _stated(final) if final and final.state is State.DONE else None


def _agreed(annotations: Annotations, number: int) -> Alignment | None:
    done = [
        _stated(said[number])
        for name, said in annotations.items()
        if name != ADJUDICATED and number in said and said[number].state is State.DONE
    ]
    if not done or any(other != done[0] for other in done[1:]):
        return None
    return done[0]


def _stated(said: Annotation) -> Alignment:
    """The links without the probabilities of the model that suggested them: what somebody confirmed is certain."""
    return Alignment(tuple(Link(link.source, link.target, sure=link.sure) for link in said.links))


def progress(said: Mapping[int, Annotation], total: int) -> dict[str, int]:
    """How many pairs of an annotator are in which state, and how many there are.

    Args:
        said: the annotator's annotations.
        total: pairs that can be annotated.
    """
    counts = Counter(str(annotation.state) for annotation in said.values())
    return {**{str(state): counts[state] for state in State}, "total": total}
