"""Values read from an ADR document."""

from dataclasses import dataclass
from typing import Literal, get_args

from orbit_registry.formats.position import Position, Problem, Span

Status = Literal["proposed", "accepted", "rejected", "deprecated", "superseded", "unknown"]

FOLDER = "folder"  # format of a document that states no status, in a folder named after one

HISTORY = "history"
"""Key of the fact that a section lists how the status changed, a day each."""

OTHER_KEY = "other"
"""Key of the fact of a field that Orbit has no word for; its `raw` is the field's name."""

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
RELS = frozenset(get_args(Rel))


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation to another document.

    `target_raw` is the link's target, else the id or number as written; `text` is the link's text
    or the same id. A `weak` relation is a mere mention in prose.
    """

    rel: Rel
    target_raw: str
    position: Position
    span: Span
    text: str = ""
    weak: bool = False
    of_part: bool = False  # it replaces a part of the other decision alone
    stated: bool = False  # a key of the header states it


@dataclass(frozen=True, slots=True)
class Section:
    """A section of an ADR. `key` is its standard name, or `other`; `body` excludes the heading."""

    key: str
    heading: str
    level: int
    body: Span
    position: Position
    run_in: bool = False  # the heading is the bold start of a paragraph (`**Context.** …`)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of the header, and the style that states it; `span` covers the value as written."""

    key: str
    raw: str
    span: Span
    style: str
    values: tuple[str, ...] = ()
    is_list: bool = False  # a list by its syntax, so that a comma in a value separates nothing


@dataclass(frozen=True, slots=True)
class AdrDocument:
    """One decision as its document states it; nothing is added.

    `span` covers the whole decision: the file, or a log's entry from its heading to the next one.
    `set_status` replaces `status_span`, which is None if no status is stated.
    """

    title: str
    number: str | None
    status_raw: str
    status: Status
    date: str | None
    date_raw: str
    date_source: str | None
    relations: tuple[Relation, ...]
    sections: tuple[Section, ...]
    cost_position: Position | None
    position: Position
    span: Span
    title_spans: tuple[Span, ...]
    date_span: Span | None
    facts: tuple[Fact, ...]
    updated: str | None = None  # the day of its last change
    deciders: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    legacy_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()  # globs of the files that the decision is about
    number_spans: tuple[Span, ...] = ()
    superseding_spans: tuple[Span, ...] = ()
    """Other statements that the decision is superseded, removed when the status changes back."""
    problems: tuple[Problem, ...] = ()
    format: str = "none"
    """Style of the status (`front-matter`, `bullets`, `line`, `section`, `table`, `badge`),
    or `folder` if only the folder's name states it, or `none`.
    """
    anchor: str = ""  # the explicit `{#id}` of the heading, or ''
    heading_span: Span | None = None
    status_span: Span | None = None
    status_syntax: str = ""  # the syntax that states `status_raw`, if that syntax is not read
    listed_file: str = ""  # the file that a row of a table lists, as written in its link

    @property
    def has_cost(self) -> bool:
        """Whether a cost is stated."""
        return self.cost_position is not None

    def section(self, key: str) -> Section | None:
        """Return the first section with the standard name `key`."""
        return next((section for section in self.sections if section.key == key), None)

    def targets(self, rel: Rel) -> tuple[str, ...]:
        """Return the targets of one relation, as written, in order."""
        return tuple(relation.target_raw for relation in self.relations if relation.rel == rel)


@dataclass(frozen=True, slots=True)
class AdrFile:
    """Content of a text: a log of decisions, one decision, or none and why."""

    format: Literal["log", "file", "none"]
    entries: tuple[AdrDocument, ...]
    problems: tuple[Problem, ...] = ()
    skipped_reason: str | None = None
    candidate: AdrDocument | None = (
        None  # the decision in a text that was skipped, for callers that know it is one
    )
    # whether its front matter says so: `type: adr`, or `CIP: 1` in `CIP-0001/README.md`
    says_so: bool = False


LONGEST_TITLE = 300
_KEY_LENGTH = 100  # less than what is left of a title that was too long
_MARKS = str.maketrans("", "", "`*_\\")


def title_key(title: str) -> str:
    """Return a key that titles share which `is_same_title` finds equal."""
    return _bare_title(title)[:_KEY_LENGTH]


def is_same_title(title: str, document_title: str) -> bool:
    """Say whether a title is what a document has, or the start of it where that is too long;
    marks don't count.
    """
    ours, theirs = _bare_title(title), _bare_title(document_title)
    is_start = (
        ours.endswith("…") and theirs.startswith(ours[:-1]) and len(document_title) > LONGEST_TITLE
    )
    return ours == theirs or is_start


def _bare_title(title: str) -> str:
    return " ".join(title.translate(_MARKS).split()).casefold()
