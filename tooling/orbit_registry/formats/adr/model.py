"""The values that reading an ADR document gives; nothing here reads or writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orbit_registry.formats.position import Position, Problem, Span

Status = Literal["proposed", "accepted", "rejected", "deprecated", "superseded", "unknown"]

FOLDER = "folder"
"""The format of a document that states no status itself, and stands in a folder named after one."""

Rel = Literal[
    "supersedes",
    "superseded_by",
    "amends",
    "amended_by",
    "extends",
    "extended_by",
    "reverts",
    "reverted_by",
    "implements",
    "related_to",
    "references",
]


@dataclass(frozen=True, slots=True)
class Relation:
    """What a document says about another one.

    `target_raw` is the link's target where there is a link, else the id or number as written;
    `text` is the link's text or the same id. `weak` relations are mere mentions in prose.
    """

    rel: Rel
    target_raw: str
    position: Position
    span: Span
    text: str = ""
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of an ADR. `key` is its standard name, or `other`; `body` leaves the heading out."""

    key: str
    heading: str
    level: int
    body: Span
    position: Position
    run_in: bool = False
    """The heading is the bold start of a paragraph (`**Context.** …`)."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing the header states, in the style that states it; `span` covers the value as written."""

    key: str
    raw: str
    span: Span
    style: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AdrDocument:
    """One decision as its document states it; nothing is filled in that the text does not say.

    `span` covers the whole decision: the file, or a log's entry from its heading to the next one.
    `status_span` is what `set_status` replaces; None where the document states no status.
    """

    title: str
    number: str | None
    status_raw: str
    status: Status
    date: str | None
    date_raw: str
    date_source: str | None
    deciders: tuple[str, ...]
    tasks: tuple[str, ...]
    legacy_ids: tuple[str, ...]
    tags: tuple[str, ...]
    relations: tuple[Relation, ...]
    sections: tuple[Section, ...]
    has_cost: bool
    cost_position: Position | None
    format: str
    """The style that states the status (`front-matter`, `bullets`, `line`, `section`, `table`, `badge`), or
    `folder` where only the folder's name says it, or `none`."""
    anchor: str
    """The explicit `{#id}` of the heading, or ''."""
    position: Position
    span: Span
    heading_span: Span | None
    title_spans: tuple[Span, ...]
    number_spans: tuple[Span, ...]
    status_span: Span | None
    superseding_spans: tuple[Span, ...]
    """Other statements in the header that the decision is superseded; they go when the status changes back."""
    date_span: Span | None
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...] = ()

    def section(self, key: str) -> Section | None:
        """Return the first section with the standard name `key`."""
        return next((section for section in self.sections if section.key == key), None)

    def targets(self, rel: Rel) -> tuple[str, ...]:
        """Return the targets of one relation, as written, in order."""
        return tuple(relation.target_raw for relation in self.relations if relation.rel == rel)


@dataclass(frozen=True, slots=True)
class AdrFile:
    """What a text holds: a log of decisions, one decision, or none and why."""

    format: Literal["log", "file", "none"]
    entries: tuple[AdrDocument, ...]
    problems: tuple[Problem, ...] = ()
    skipped_reason: str | None = None
    candidate: AdrDocument | None = None
    """What a text that reads like no decision says all the same: whoever names it as one may read it so."""
    in_series: bool = False
    """Whether the document numbers itself in a series of some name: `CIP: 1` in `CIP-0001/README.md`."""
