"""Words of which a tag covers a part, as in H<sub>2</sub>O: cut alike where the translation has the same word."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from weft.applications.markup import Element
from weft.applications.remapping import places, remap
from weft.text.segment import Segmented
from weft.types import Alignment

Cuts = Mapping[int, Iterable[int]]
"""Where words are cut: characters from the beginning of a word, by its number."""


def cut_alike(
    elements: Iterable[Element], source: Segmented, target: Segmented, alignment: Alignment
) -> tuple[Segmented, Segmented, Alignment]:
    """Cut source words in which an element begins or ends, and equal target words that they are linked with.

    The parts of such a pair are linked one by one. A word without an equal partner stays whole.
    """
    cuts = cuts_at((edge for element in elements for edge in (element.start, element.end)), source)
    twins = [
        (link.source, link.target)
        for link in alignment.links
        if link.source in cuts and source.words[link.source] == target.words[link.target]
    ]
    if not twins:
        return source, target, alignment
    new_source = cut(source, {left: cuts[left] for left, _ in twins})
    new_target = cut(target, {right: cuts[left] for left, right in twins})
    left_places, right_places = places(source.offsets, new_source.offsets), places(target.offsets, new_target.offsets)
    remapped = remap(alignment, left_places, right_places)
    crossing = {
        (left_places[left][one], right_places[right][other])
        for left, right in twins
        for one in range(len(left_places[left]))
        for other in range(len(right_places[right]))
        if one != other
    }
    kept = (link for link in remapped.links if (link.source, link.target) not in crossing)
    return new_source, new_target, Alignment.of(kept, alignment.score)


def cuts_at(edges: Iterable[int], segmented: Segmented) -> Cuts:
    """Those of some places in a text that are within words."""
    starts = [start for start, _ in segmented.offsets]
    cuts: defaultdict[int, set[int]] = defaultdict(set)
    for edge in edges:
        word = bisect_right(starts, edge) - 1
        if word >= 0 and starts[word] < edge < segmented.offsets[word][1]:
            cuts[word].add(edge - starts[word])
    return cuts


def cut(segmented: Segmented, cuts: Cuts) -> Segmented:
    """Cut words in two or more."""
    words: list[str] = []
    offsets: list[tuple[int, int]] = []
    for number, (word, (start, end)) in enumerate(zip(segmented.words, segmented.offsets, strict=True)):
        edges = [0, *sorted(cuts.get(number, ())), end - start]
        for first, behind in pairwise(edges):
            words.append(word[first:behind])
            offsets.append((start + first, start + behind))
    return Segmented(tuple(words), tuple(offsets))
