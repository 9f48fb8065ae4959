"""ORB701: title, status or date differ between a record and its document; the fix rewrites the side that follows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.successors import Named, changes_for, named_in_document
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record, Source
from orbit_registry.store.adopt.fields import STATUS_LIMIT
from orbit_registry.store.decisions.documents import Document
from orbit_registry.store.journal import Change

if TYPE_CHECKING:
    from orbit_registry.text.adr import AdrDocument

_LONGEST_TITLE = 300
_MARKS = re.compile(r"[`*_\\]")
_NEARNESS = {"closed": 0, "pending": 1, "live": 2}
"""How near each phase is to being in force."""


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield one finding for each record that differs from its document, at the side that has to follow."""
    for record in context.records:
        home, source = context.homes.get(record.path), context.sources.get(record.path)
        if home is None or source is None:
            continue
        differing = differences(record, home[1])
        if not differing:
            continue
        yield _finding(context, record, source, home[1], differing)


def _finding(
    context: CheckContext, record: Record, source: Source, entry: AdrDocument, differing: Sequence[tuple[str, str, str]]
) -> Diagnostic:
    """Return the finding at the side that follows, with what can be done."""
    said = "; ".join(
        f"{name}: {_shown(ours)} in the record, {_shown(theirs)} in the document" for name, ours, theirs in differing
    )
    message = f"{record.id} differs from its document ({said}); the {context.decides(source)} decides"
    in_document, in_record = context.in_entry(record), context.at(record, differing[0][0])
    if context.decides(source) == "record":
        hint = f"`orbit check --fix` rewrites {source.path}; change a record with `orbit adr update {record.id}`"
        return DIFFERENT.at(in_document, message, hint=hint, record=record, related=[in_record])
    hint, can_mend = f"`orbit check --fix` rewrites the record from {source.path}", True
    held = _held_back(context, record, entry)
    if held:
        message += f", but {held}"
        verb = next((name for name, to in record.kind.verbs.items() if to == entry.status), None)
        step = f"set `status: {entry.status}` in {record.path}"
        if verb is not None and entry.status in record.status.to:
            step = f"run `orbit {record.kind.name} {verb} {record.id}`"
        hint = (
            f"where {record.id} is {record.status.name}, write `{_written_status(record)}` in {source.path}; "
            f"where it is {entry.status}, {step}"
        )
        can_mend = len(differing) > 1
    return DIFFERENT.at(
        in_record,
        message,
        severity=Severity.WARNING,
        hint=hint,
        record=record,
        related=[in_document],
        fixable=can_mend,
    )


def _held_back(context: CheckContext, record: Record, entry: AdrDocument) -> str | None:
    """Return why a document's status is not taken over by itself; None where it is.

    A fix never brings a record nearer to being in force, whatever decides. It ends one in force only where the document
    changed since the two last agreed (`status_raw`), or where somebody said what decides.
    """
    if entry.status == record.status.name:
        return None
    phase = record.kind.status(entry.status).phase
    if _NEARNESS[phase] > _NEARNESS[record.phase]:
        return f"a fix never makes a {record.status.name} decision {entry.status}"
    if context.side is not None or record.phase != "live" or phase == "live":
        return None
    if entry.status_raw.strip()[:STATUS_LIMIT] == (record.text("status_raw") or ""):
        return "it has not changed since they last agreed"
    if entry.status not in record.status.to:
        return f"a decision in force does not become {entry.status} again by itself"
    return None


def differences(record: Record, entry: AdrDocument) -> list[tuple[str, str, str]]:
    """Return the fields that record and document state differently: name, record's value, document's value."""
    found = []
    if entry.title and not _same_title(record.title, entry.title):
        found.append(("title", record.title, entry.title))
    source = record.source
    follows = source is not None and source.authority == "document"
    never_stated = follows and not entry.status_raw.strip() and not record.text("status_raw")
    if record.status.name != entry.status and not never_stated:
        found.append(("status", record.status.name, entry.status_raw.strip() or entry.status))
    date, stated = record.text("date"), entry.date
    if date and stated and not (date.startswith(stated) or stated.startswith(date) or date == entry.date_raw.strip()):
        found.append(("date", date, stated))  # `2026-05` and `2026-05-17` agree; an unclear date is ORB711
    return found


def _same_title(title: str, stated: str) -> bool:
    """Say whether a record's title is what its document has, or the start of it where that is too long for a title."""
    ours, theirs = _plain(title), _plain(stated)
    return ours == theirs or (ours.endswith("…") and theirs.startswith(ours[:-1]) and len(stated) > _LONGEST_TITLE)


def _plain(text: str) -> str:
    """Return a title as both sides would show it: Markdown's marks are no difference."""
    return _MARKS.sub("", _words(text)).casefold()


def _words(text: str) -> str:
    return " ".join(text.split())


def _shown(text: str) -> str:
    flat = _words(text)
    return f"`{flat[:77]}…`" if len(flat) > 80 else f"`{flat}`"


def fix(context: CheckContext, diagnostic: Diagnostic) -> Sequence[Change]:
    """Rewrite the document where the record decides, else the record."""
    for record in context.records.with_id(diagnostic.record or ""):
        home, source = context.homes.get(record.path), record.source
        if home is None or source is None:
            continue
        names = [name for name, _, _ in differences(record, home[1])]
        if context.decides(source) == "record":
            return _document_follows(record, source, home[0], names)
        if _held_back(context, record, home[1]):
            names.remove("status")
        return _record_follows(context, record, home[1], names) if names else ()
    return ()


def _document_follows(record: Record, source: Source, document: Document, names: Sequence[str]) -> Sequence[Change]:
    from orbit_registry.text.adr import set_date, set_status, set_title

    text = document.text
    for name in names:
        entry = Document(document.path, text).entry(source.heading)
        if entry is None:
            return ()
        if name == "title":
            text = set_title(text, entry, record.title)
        elif name == "status":
            text = set_status(text, entry, _written_status(record))
        else:
            text = set_date(text, entry, record.text("date") or "")
    return (Change(document.path, document.text, text),) if text != document.text else ()


def _written_status(record: Record) -> str:
    by = record.superseded_by
    return f"Superseded by {', '.join(by)}" if record.status.name == "superseded" and by else record.status.name


def _record_follows(
    context: CheckContext, record: Record, entry: AdrDocument, names: Sequence[str]
) -> Sequence[Change]:
    data = dict(record.data)
    if "title" in names:
        data["title"] = _words(entry.title)[:_LONGEST_TITLE]
    if "status" in names:
        data["status"] = entry.status
        if entry.status_raw.strip():
            data["status_raw"] = entry.status_raw.strip()[:STATUS_LIMIT]
    if "date" in names:
        data["date"] = entry.date
    named = named_in_document(context, record) if "status" in names else Named()
    return changes_for(context, record, data, named)


DIFFERENT = Check(
    "ORB701",
    "record-and-document-differ",
    Severity.ERROR,
    "Title, status or date of a decision differ between its record and its document.",
    "`orbit check --fix` rewrites the side that is not the authority",
    run,
    fix,
)
