"""The text of a new decision's entry in a log, and where in the log it goes; it takes no number and writes no file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from orbit_registry.errors import RefusedError, UsageError
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.templates import new_document
from orbit_registry.formats.adr.writer import (
    add_entry,
    insert_entry,
    nest_headings,
    next_entry_heading,
    refuse_restated,
    shift_headings,
)
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.model.kind import Kind
from orbit_registry.repository.documents import LOG_NAME
from orbit_registry.workspace.config import Config
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.workspace import Workspace

_FACT_SECTIONS = frozenset(("status", "date", "changelog"))
"""Sections of a document that state facts instead of reasons."""
_SECTION = re.compile(r"(?<=\n)#+ (?P<name>[^\n]+)\n\n(?P<item>-)?")
_WHOLE_DATE = len("2026-04-01")


@dataclass(frozen=True, slots=True)
class NewText:
    """The document of a new decision, as it was and as it will be, and how the record finds the decision in it."""

    path: str
    before: str | None
    after: str
    heading: str | None = None
    """What the record's `source.heading` says; None where the document is the decision's own."""
    names: tuple[str, ...] = ()
    """What the log calls the decision beside its id, such as `D10`."""


def log_of(config: Config, feature: str | None) -> str:
    """Return the log that a new entry goes into: the project's one log, else that of the feature."""
    return config.adr.log or f"{config.design}/{feature}/{LOG_NAME}"


def new_entry(workspace: Workspace, kind: Kind, path: str, fields: Mapping[str, str], body: str | None) -> NewText:
    """Return a log with a new entry: in the project's one log where and as its newest stands, else ascending by id.

    Raises:
        RefusedError: the log names its entries by date and title, and has one of this title; or the text breaks it.
        UsageError: it names them by the day, and the date has none.
        UnsafePathError, UnreadableFileError: the log can't be read.
    """
    file = inside(workspace.root, path)
    before = read_text(file, limit=DOCUMENT_LIMIT) if file.exists() else None
    name = path.split("/")[-2] if path.endswith(f"/{LOG_NAME}") else ""
    log = before or (f"# {name}: decisions\n" if name else "# Decisions\n")
    entry = entry_text(kind, path, log, fields, body)
    record_id, title, date = fields["id"], fields["title"], fields["date"]
    heading = next_entry_heading(log, path, record_id, title, date) if path == workspace.config.adr.log else None
    if heading is None:
        return NewText(path, before, insert_entry(log, entry, record_id), record_id)
    if heading.number is None:
        if len(date) < _WHOLE_DATE:
            raise UsageError(f"{path} names its entries by the day", hint=f"--date {date}-01")
        if any(other.title == title for other in read_document(log, path).entries):
            message = f"{path} has an entry `{title}` already, and its entries are told apart by their titles"
            raise RefusedError(message, hint="give another title")
    after = add_entry(log, path, heading.line + entry[entry.index("\n") :])
    found_by = title if heading.number is None else f"ADR-{heading.number}"
    return NewText(path, before, after, found_by, (heading.code,) if heading.code else ())


def entry_text(kind: Kind, path: str, log: str, fields: Mapping[str, str], body: str | None) -> str:
    """Return a new entry, its headings on the levels that the log's entries have."""
    template = new_document(kind.template("entry.md"), fields)
    deeper = max(0, _level_of_entries(log, path) - _level_of_entries(template, path))
    return with_body(path, _labelled(shift_headings(template, deeper), log, path), body)


def _labelled(entry: str, log: str, path: str) -> str:
    """Return a new entry with labels in place of its headings, where the log's last entry has `**Context.**`."""
    sections = [section for last in read_document(log, path).entries[-1:] for section in last.sections]
    if not sections or not all(section.run_in for section in sections if section.key not in _FACT_SECTIONS):
        return entry
    labels = [section for section in sections if section.run_in]
    if not labels:
        return entry
    line = log[: labels[0].body.start].rpartition("\n")[2].strip()
    before, _, after = line.partition(labels[0].heading)
    return _SECTION.sub(lambda match: f"{before}{match['name']}{after}" + ("\n\n-" if match["item"] else " "), entry)


def _level_of_entries(text: str, path: str) -> int:
    starts = {entry.span.start for entry in read_document(text, path).entries}
    return next((heading.level for heading in parse_markdown(text).headings if heading.section.start in starts), 1)


def with_body(path: str, document: str, body: str | None) -> str:
    """Put a text given by the author in the place of the template's sections; those that state something stay.

    Raises:
        RefusedError: the text would break the document, or states what the document's head states.
    """
    if body is None:
        return document
    entries = read_document(document, path).entries
    sections = [section for section in entries[0].sections if section.key not in _FACT_SECTIONS] if entries else []
    head = "\n".join(document.split("\n")[: sections[0].position.line - 1]) if sections else document
    newline = "\r\n" if "\r\n" in document else "\n"
    prose = nest_headings(body, _level_of_entries(document, path))
    result = newline.join((head.rstrip(), "", *prose.split("\n"), ""))
    refuse_restated(document, result, path)
    return result
