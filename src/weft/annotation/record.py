"""What one annotator said about one pair: links, how far it is, a comment, and when."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from weft.errors import SettingError, chosen
from weft.text.json_objects import parse_json_object
from weft.text.links import json_links, links_of_record
from weft.types import Alignment, Link, SentencePair

LONGEST_COMMENT = 10_000


class State(StrEnum):
    """How far an annotator is with a pair. Only `done` counts as gold."""

    OPEN = "open"
    DONE = "done"
    DOUBTFUL = "doubtful"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotator's links for one pair.

    Attributes:
        links: the links, sure and possible.
        state: how far the annotator is with the pair.
        comment: whatever the annotator wants to remember.
        time: when this was said, in UTC, as ISO 8601.
        revision: counts all changes of a project; of two annotations the one with the higher number is newer.
    """

    links: tuple[Link, ...] = ()
    state: State = State.OPEN
    comment: str = ""
    time: str = ""
    revision: int = 0

    @property
    def alignment(self) -> Alignment:
        """The links as an alignment."""
        return Alignment(self.links)

    def stamped(self, revision: int) -> Annotation:
        """The same with a number and the time of now."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return replace(self, time=now, revision=revision)

    def record(self) -> dict[str, Any]:
        """What is written; any reader of JSONL links understands it."""
        written: dict[str, Any] = {**json_links(self.alignment), "state": str(self.state)}
        if self.comment:
            written["comment"] = self.comment
        return {**written, "time": self.time, "revision": self.revision}

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Annotation:
        """Read what `record` wrote; every way it can fail is a ValueError."""
        return cls(
            links=Alignment.of(links_of_record(record)).links,
            state=chosen("state", State, str(record.get("state", State.OPEN))),
            comment=str(record.get("comment", "")),
            time=str(record.get("time", "")),
            revision=int(record.get("revision", 0)),
        )


def written_line(annotation: Annotation | None) -> str:
    """An annotation as a line of JSONL without its end; blank for a pair that nobody looked at."""
    return "" if annotation is None else json.dumps(annotation.record(), ensure_ascii=False)


def read_line(line: str) -> Annotation | None:
    """The annotation of a line that `written_line` wrote."""
    return Annotation.of_record(parse_json_object(line)) if line.strip() else None


def check_links(links: Sequence[Link], pair: SentencePair) -> None:
    """Refuse links that point beyond a sentence's end, and scores that could not be read again."""
    for link in links:
        if not (0 <= link.source < len(pair.source) and 0 <= link.target < len(pair.target)):
            raise SettingError(
                f"the link {link.source}-{link.target} is out of range: source and target have {len(pair.source)} "
                f"and {len(pair.target)} words, counted from 0."
            )
        if link.score is not None and not math.isfinite(link.score):
            raise SettingError(
                f"the score of the link {link.source}-{link.target} is {link.score}, which is no number."
            )
