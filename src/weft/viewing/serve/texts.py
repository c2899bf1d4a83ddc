"""What `/api/texts` computes: two texts of which nobody has said which sentences belong together, for reading mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field

from weft.aligner import Aligner
from weft.errors import SettingError
from weft.viewing.serve.effort import SECONDS_A_SUBWORD
from weft.viewing.serve.limits import Limits
from weft.viewing.serve.queue import Steps
from weft.viewing.serve.requests import AlignedPair, Language, Strict, Text

# Sentences are read alone and together with their neighbours, before it is known which belong together.
_READINGS = 5


AlignDocuments = Callable[..., Iterable[Any]]
"""`weft.align_documents`, which lies above this package and is handed to it."""


class TextsRequest(Strict):
    """A text and its translation, not split into sentences or words."""

    source: Annotated[Text, Field(description="A text; the end of a line ends a paragraph.")]
    target: Annotated[Text, Field(description="Its translation.")]
    source_language: Annotated[Language | None, Field(description="A language code such as de or ja.")] = None
    target_language: Annotated[Language | None, Field(description="The language of the translation.")] = None
    model: Annotated[
        Text | None, Field(max_length=200, description="A name from /api/models; the first by default.")
    ] = None


class AlignedTexts(AlignedPair):
    """Sentences that belong together, their words and links; a side may be empty."""

    source_text: Annotated[str, Field(description="The source sentences as they stand in the text.")]
    target_text: str


class TextsResponse(BaseModel):
    """Both texts from beginning to end."""

    model: str
    parts: list[AlignedTexts]


def texts_in_steps(
    name: str, aligner: Aligner, request: TextsRequest, limits: Limits, documents: AlignDocuments
) -> Steps[TextsResponse]:
    """The work, a paragraph a step where both texts have the same number of them.

    Args:
        name: what the model is called here.
        aligner: the model.
        request: the texts.
        limits: what is too much.
        documents: how two texts are aligned.

    Yields:
        About how many seconds the next step will take.

    Returns:
        The answer.

    Raises:
        SettingError: it is too much work, all in all or without a break.
    """
    blocks = _paragraphs(request)
    seconds = [_seconds(aligner, block) for block in blocks]
    for found, most in ((sum(seconds), limits.seconds), (max(seconds, default=0), limits.request_seconds)):
        if found > most:
            raise SettingError(
                f"these texts are about {found:,.0f} seconds of work, but at most {most:g} are allowed; "
                "send a few paragraphs at a time, as many of the translation as of the text."
            )
    languages = {"source_language": request.source_language, "target_language": request.target_language}
    parts: list[AlignedTexts] = []
    for (source, target), cost in zip(blocks, seconds, strict=True):
        yield cost
        parts += map(_written, documents(source, target, aligner=aligner, **languages))
    return TextsResponse(model=name, parts=parts)


def check_texts(request: TextsRequest, limits: Limits) -> None:
    """Refuse texts that are too large to be looked at."""
    most = limits.characters * 4
    for name, text in (("source", request.source), ("target", request.target)):
        if len(text) > most:
            raise SettingError(f"{name} has {len(text):,} characters, but at most {most:,} are allowed.")


def _paragraphs(request: TextsRequest) -> Sequence[tuple[str, str]]:
    source, target = ([line for line in text.split("\n") if line.strip()] for text in (request.source, request.target))
    if len(source) == len(target):
        return list(zip(source, target, strict=True))
    return [(request.source, request.target)]


def _seconds(aligner: Aligner, texts: tuple[str, str]) -> float:
    subwords = aligner.encoder.tokenize.tokenizer.split([tuple(text.split()) for text in texts])
    return _READINGS * SECONDS_A_SUBWORD * len(subwords.ids)


def _written(part: Any) -> AlignedTexts:
    return AlignedTexts(
        source=list(part.source.words),
        target=list(part.target.words),
        links=[[*link.indices, link.score or 0.0] for link in part.alignment.links],
        score=part.alignment.score,
        source_offsets=list(part.source.offsets),
        target_offsets=list(part.target.offsets),
        source_text=part.source.text,
        target_text=part.target.text,
    )
