"""Placeholders such as `{name}`, `%s` and `%1$s`: one word each, linked with themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.extraction.terms import Term, keep_terms
from weft.text.segment import Segmented
from weft.types import Alignment, SentencePair

PLACEHOLDER = re.compile(
    r"\{\{[^{}\n]{1,80}\}\}"  # {{ name }}
    r"|[$#%]?\{[^{}\s][^{}\n]{0,78}\}|\{\}"  # {name} {0:N2} ${name} %{name}
    r"|(?<![\w%])%(?:\([\w.]{1,80}\))?(?:\d{1,2}\$)?[-+#0]*(?:\d{1,4}|\*)?(?:\.\d{1,4})?(?:hh|h|ll|l|j|z|t|L)?"
    r"[sdifFgGeExXoucpa@](?![A-Za-z])",  # %s %1$s %(name)s %.2f %lld
)


def placeholders_whole(text: str, segmented: Segmented) -> Segmented:
    """The words of a text with each placeholder as one word."""
    found = [match.span() for match in PLACEHOLDER.finditer(text)]
    return _uncut(text, segmented, found) if found else segmented


def _uncut(text: str, segmented: Segmented, found: Sequence[tuple[int, int]]) -> Segmented:
    """Words that a placeholder touches give way to it; what they have beyond it becomes words of its own."""
    offsets: list[tuple[int, int]] = []
    waiting = list(reversed(found))
    for start, end in segmented.offsets:
        while waiting and waiting[-1][0] < end:
            first, behind = waiting[-1]
            if start < first:
                offsets.append((start, first))
            if not offsets or offsets[-1] != (first, behind):
                offsets.append((first, behind))
            start = max(start, behind)
            if behind > end:
                break
            waiting.pop()
        if start < end:
            offsets.append((start, end))
    return Segmented(tuple(text[start:end] for start, end in offsets), tuple(offsets))


def without_inner_blanks(placeholder: str) -> str:
    """A placeholder without the blanks inside its braces, which mean nothing: `{{ name }}` is `{{name}}`."""
    if placeholder.startswith("{{") and PLACEHOLDER.fullmatch(placeholder):
        return "{{" + placeholder[2:-2].strip() + "}}"
    return placeholder


def keep_placeholders(source: Sequence[str], target: Sequence[str], alignment: Alignment) -> Alignment:
    """Link each placeholder with the same one of the other side, and with nothing else."""
    source, target = ([without_inner_blanks(word) for word in side] for side in (source, target))
    common = {word for word in source if PLACEHOLDER.fullmatch(word)} & set(target)
    if not common:
        return alignment
    terms = [Term((word,), (word,)) for word in sorted(common)]
    return keep_terms(SentencePair(tuple(source), tuple(target)), alignment, terms, lowercase=False).alignment
