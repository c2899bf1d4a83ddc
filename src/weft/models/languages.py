"""What to say of text in a language that a model was not trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.text.languages import LONGEST_CODE, listed_code, primary_code

_MOST_LISTED = 40


def unknown_words_remark(lines: int, languages: Sequence[str]) -> str:
    """How many lines hold mostly words that a model cannot read, and which languages it knows."""
    where = "1 line" if lines == 1 else f"{lines:,} lines"
    remark = (
        f"in {where}, the model cannot read more than a third of the words of one side, so the link probabilities "
        "there are lowered."
    )
    known = f" {_known(languages)}" if languages else ""
    return f"{remark}{known} To teach it another language, use weft train --extend-vocabulary."


def unknown_languages(
    languages: Sequence[str], source_language: str | None, target_language: str | None
) -> Iterator[str]:
    """A sentence for each language of the text that a model was not trained on.

    Args:
        languages: codes of those that it was trained on; nothing is said if they are not known.
        source_language: the code of the source language, if it is known.
        target_language: the code of the target language.
    """
    for name, code in (("source_language", source_language), ("target_language", target_language)):
        primary = primary_code(code)
        if languages and primary and listed_code(code) not in languages:
            wanted = "" if len(primary) <= LONGEST_CODE else " Codes have two or three letters, such as de."
            yield f"`{name}` {code} is not a language that the model was trained on.{wanted} {_known(languages)}"


def _known(languages: Sequence[str]) -> str:
    if len(languages) > _MOST_LISTED:
        return f"It knows {len(languages)} languages, which weft model info lists."
    return f"It knows {', '.join(languages)}."
