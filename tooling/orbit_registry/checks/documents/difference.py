"""ORB701: title, status or date differ between a record and its document; the fix rewrites the side that follows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record, Source
from orbit_registry.records.vote import stamp
from orbit_registry.store.documents import Document
from orbit_registry.store.journal import Change
from orbit_registry.text.adr import AdrDocument, read_document, set_date, set_status, set_title
from orbit_registry.text.yaml_edit import rewrite

_LONGEST_TITLE = 300
_MARKS = re.compile(r"[`*_\\]")


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield one finding for each record that differs from its document, at the side that has to follow."""
    for record in context.records:
        home, source = context.homes.get(record.path), context.sources.get(record.path)
        if home is None or source is None:
            continue
        differing = differences(record, home[1])
        if not differing:
            continue
        said = "; ".join(f"{name}: {_shown(ours)} in the record, {_shown(theirs)} in the document"
                         for name, ours, theirs in differing)  # fmt: skip
        path = source.path
        if source.authority == "record":
            where, related = context.in_entry(record), context.at(record, differing[0][0])
            message = f"{record.id} differs from its document ({said}); the record decides"
            hint = f"`orbit check --fix` rewrites {path}; change a record with `orbit adr update {record.id}`"
        else:
            where, related = context.at(record, differing[0][0]), context.in_entry(record)
            message = f"{record.id} differs from its document ({said}); the document decides"
            hint = f"`orbit check --fix` rewrites the record from {path}"
        severity = Severity.ERROR if source.authority == "record" else Severity.WARNING
        yield CHECK.at(where, message, severity=severity, hint=hint, record=record, related=[related])


def differences(record: Record, entry: AdrDocument) -> list[tuple[str, str, str]]:
    """Return the fields that record and document state differently: name, record's value, document's value."""
    found = []
    if entry.title and not _same_title(record.title, entry.title):
        found.append(("title", record.title, entry.title))
    if record.status.name != entry.status:
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
        if source.authority == "record":
            return _document_follows(record, source, home[0], names)
        return _record_follows(context, record, home[1], names)
    return ()


def _document_follows(record: Record, source: Source, document: Document, names: Sequence[str]) -> Sequence[Change]:
    text = document.text
    for name in names:
        entry = Document(document.path, text, read_document(text, document.path)).entry(source.heading)
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
    text = context.read(record.path)
    if text is None:
        return ()
    data = dict(record.data)
    if "title" in names:
        data["title"] = _words(entry.title)[:_LONGEST_TITLE]
    if "status" in names:
        data["status"] = entry.status
        if entry.status_raw.strip():
            data["status_raw"] = entry.status_raw.strip()[:2000]
    if "date" in names:
        data["date"] = entry.date
    data["updated_at"] = stamp(context.now)
    if not record.kind.schema.is_valid(data):
        return ()
    return (Change(record.path, text, rewrite(text, data, order=record.kind.schema.properties)),)


CHECK = Check(
    "ORB701",
    "record-and-document-differ",
    Severity.ERROR,
    "Title, status or date of a decision differ between its record and its document.",
    "`orbit check --fix` rewrites the side that is not the authority",
    run,
    fix,
)
