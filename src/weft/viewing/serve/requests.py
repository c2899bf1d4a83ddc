"""What the REST API reads and writes, with the words that its OpenAPI description says about it."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from weft.extraction.methods import METHODS, Cost
from weft.extraction.scores import Scores
from weft.extraction.symmetrize import Symmetrization


def _whole(text: str) -> str:
    """Refuse half a character: JSON can name one, but no text holds it."""
    if not text.isascii() and (broken := _HALF.search(text)):
        raise ValueError(
            f"\\u{ord(broken[0]):04x} at character {broken.start() + 1} is half of a surrogate pair and no character"
        )
    return text


_HALF = re.compile("[\ud800-\udfff]")
Text = Annotated[str, AfterValidator(_whole)]
Sentence = Annotated[
    Text | list[Annotated[Text, Field(min_length=1)]],
    Field(description="Words separated by spaces, or a list of words; with `raw` a text that is not split yet."),
]
Language = Annotated[Text, Field(max_length=35, description="A language code such as de or ja; only with `raw`.")]


def _known_method(name: str) -> str:
    if name not in METHODS:
        raise ValueError(f"must be one of {', '.join(METHODS)}")
    return name


Term = Annotated[Text, Field(min_length=1, max_length=200)]
MethodName = Annotated[str, AfterValidator(_known_method), Field(json_schema_extra={"enum": list(METHODS)})]


class Strict(BaseModel):
    """A record that has no other fields than these, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


class PairIn(Strict):
    """A sentence and its translation."""

    source: Sentence
    target: Sentence


class AlignRequest(Strict):
    """One pair (`source`, `target`) or many (`pairs`), and how to align them."""

    source: Sentence | None = None
    target: Sentence | None = None
    pairs: Annotated[list[PairIn] | None, Field(min_length=1, description="Several pairs, instead of one.")] = None
    raw: Annotated[bool, Field(description="Split the text into words first.")] = False
    source_language: Language | None = None
    target_language: Language | None = None
    model: Annotated[
        Text | None, Field(max_length=200, description="A name from /api/models; the first by default.")
    ] = None
    method: Annotated[
        MethodName | None, Field(description="How similarities become links; the model's own by default.")
    ] = None
    threshold: Annotated[float | None, Field(ge=0, le=1, description="Link where both directions exceed it.")] = None
    alpha: Annotated[float | None, Field(ge=1, le=100, description="Alpha of entmax.")] = None
    cost: Annotated[Cost | None, Field(description="Cost of optimal transport.")] = None
    symmetrize: Annotated[Symmetrization | None, Field(description="How both directions are combined.")] = None
    null: Annotated[
        float | Literal["off"] | None,
        Field(description="Similarity that a link must beat; the model's own by default."),
    ] = None
    scores: Annotated[Scores, Field(description="Which probability a link carries.")] = Scores.CALIBRATED
    terms: Annotated[
        list[tuple[Term, Term]] | None,
        Field(
            description="Words whose translation is known, each as [term, translation]; where a pair has both, "
            "they are linked."
        ),
    ] = None

    @model_validator(mode="after")
    def _one_or_many(self) -> Self:
        given = (self.source is not None, self.target is not None)
        if self.pairs is not None and any(given):
            raise ValueError("give `source` and `target`, or `pairs`, not both.")
        if self.pairs is None and not all(given):
            raise ValueError("give `source` and `target`, or `pairs`.")
        return self

    @model_validator(mode="after")
    def _raw_means_something(self) -> Self:
        if not self.raw and (self.source_language or self.target_language):
            name = "source_language" if self.source_language else "target_language"
            raise ValueError(f"`{name}` has no effect without `raw`.")
        texts = [side for pair in self.all_pairs() for side in (pair.source, pair.target) if isinstance(side, str)]
        if self.raw and not texts:
            raise ValueError("`raw` has no effect on lists of words.")
        return self

    def all_pairs(self) -> list[PairIn]:
        """The pairs, whichever way they were given."""
        if self.pairs is not None:
            return self.pairs
        assert self.source is not None
        assert self.target is not None
        return [PairIn(source=self.source, target=self.target)]


class AlignedPair(BaseModel):
    """A pair's words and links."""

    source: Annotated[list[str], Field(description="The source words, as they were counted.")]
    target: list[str]
    links: Annotated[
        list[list[int | float]], Field(description="[i, j, score], counted from 0; [i, j] where no scores were wanted.")
    ]
    score: Annotated[float | None, Field(description="How well the whole pair is linked, from 0 to 1.")] = None
    unknown: Annotated[
        int | None,
        Field(
            description="Words that the model cannot read, if they are over a third of a side; scores are lower then."
        ),
    ] = None
    source_offsets: Annotated[
        list[tuple[int, int]] | None, Field(description="With `raw`: where each word stands in the text.")
    ] = None
    target_offsets: list[tuple[int, int]] | None = None
    missing_terms: Annotated[
        list[tuple[str, str]] | None,
        Field(description="Of `terms`: those whose source is there without its translation."),
    ] = None


class AlignResponse(BaseModel):
    """The alignments in the order of the pairs, and how they were made."""

    model: str
    method: MethodName
    threshold: Annotated[float, Field(description="The threshold in force; 0 for methods that have none.")]
    alignments: list[AlignedPair]


class ModelOut(BaseModel):
    """A model that this server has loaded."""

    name: str
    method: Annotated[MethodName, Field(description="Its own method.")]
    threshold: float
    calibrated: Annotated[bool, Field(description="Whether its link scores are probabilities fitted on a dev set.")]


class LimitsOut(BaseModel):
    """The bounds of one request."""

    body: int
    pairs: int
    words: int
    characters: int
    subwords: int
    terms: int
    seconds: float
    queue: int


class ModelsResponse(BaseModel):
    """Everything a client can choose from."""

    models: list[ModelOut]
    methods: list[MethodName]
    thresholds: Annotated[dict[str, float], Field(description="Methods with a threshold, and its usual value.")]
    limits: LimitsOut


class Health(BaseModel):
    """That the server is there, and how busy it is."""

    status: str
    version: str
    waiting: Annotated[int, Field(description="Requests that wait or are being worked on.")]


class Problem(BaseModel):
    """What was wrong, in a sentence."""

    detail: str
    pair: Annotated[int | None, Field(description="Which of `pairs` it was, counted from 0.")] = None
