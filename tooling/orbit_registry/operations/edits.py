"""Edits of fields: what changes in a record's file, and of a decision in its document too."""

from collections.abc import Mapping
from datetime import UTC, datetime

from orbit_registry.errors import InvalidRecordError, RefusedError
from orbit_registry.formats.yaml_edit import rewrite
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.repository import writer
from orbit_registry.repository.guard import refuse_closed, refuse_date, write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import read_text
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace


def change_fields(
    workspace: Workspace,
    any_id: str,
    edit: writer.Edit,
    title: str | None = None,
    *,
    kind: Kind | None = None,
    author: Author | None = None,
) -> Record:
    """Change a record's fields; the caller's edit sees the data as the file has it now.

    Title and date of a decision change in the record and the document both. A record of another
    `kind` is refused.
    """
    with writer.writing(workspace):
        result, changes = plan_change(workspace, any_id, edit, title, kind=kind)
        write_step(workspace, f"{result.kind.name}-update", changes, author=author)
        return result


def plan_change(
    workspace: Workspace,
    any_id: str,
    edit: writer.Edit,
    title: str | None = None,
    *,
    kind: Kind | None = None,
) -> tuple[Record, list[FileChange]]:
    """Return the record and the changes of files that `change_fields` would make now;
    see there for what is raised.
    """
    records = read_collection(workspace).records
    if kind is not None:
        records.refuse_other_kind(any_id, kind)

    record = records.get(any_id)
    if record.kind.in_document:
        return _planned_decision(workspace, record, edit, title)

    refuse_closed(record)
    change, result = writer.prepare_edit(workspace, record, edit)
    return result, [change]


def replace_text(workspace: Workspace, any_id: str, before: str, after: str) -> Record:
    """Replace the text of a record's file by an edited one;
    `before` is the text that was edited.
    """
    with writer.writing(workspace):
        record = read_collection(workspace).records.get(any_id)
        refuse_closed(record)

        if read_text(workspace.root / record.path) != before:
            raise RefusedError(
                f"{record.path} has changed meanwhile",
                hint="begin again with the text it has now",
            )

        result = writer.validated(after, record.kind, record.path)
        for name in sorted(writer.FIXED | record.kind.schema.managed):
            if result.data.get(name) != record.data.get(name):
                verbs = ", ".join(("supersede", *record.kind.verbs))
                raise InvalidRecordError(
                    f"`{name}` can't be changed by hand",
                    hint=f"verbs change it: {verbs}",
                )

        writer.refuse_bad_values(result, previous=record)

        if after == before:
            return record

        data = {**result.data, "updated_at": format_time(datetime.now(UTC))}
        text = rewrite(after, data, order=record.kind.schema.properties)
        write_step(workspace, f"{record.kind.name}-update", [FileChange(record.path, before, text)])
        return writer.validated(text, record.kind, record.path)


def _planned_decision(
    workspace: Workspace, record: Record, edit: writer.Edit, title: str | None
) -> tuple[Record, list[FileChange]]:
    refuse_closed(record, f"`orbit {record.kind.name} new` decides again")
    flat = " ".join(title.split()) if title is not None else None

    def whole(fields: dict[str, object]) -> Mapping[str, object]:
        changed = dict(edit(fields))
        day = changed.get("date")
        if isinstance(day, str) and day != record.text("date"):
            refuse_date(day)

        if flat is None:
            return changed

        # An entry without a number is found by its title.
        source = changed.get("source")
        if isinstance(source, dict) and source.get("heading") == record.title:
            changed["source"] = {**source, "heading": flat}

        changed["title"] = flat
        return changed

    change, result = writer.prepare_edit(workspace, record, whole)
    return result, [*_document_change(workspace, record, result), change]


def _document_change(workspace: Workspace, old: Record, new: Record) -> list[FileChange]:
    """Return the change of the document of a decision whose title or date changes."""
    facts: dict[str, str] = {}
    if new.title != old.title:
        facts["title"] = new.title

    day = new.text("date")
    if day is not None and day != old.text("date"):
        facts["date"] = day

    if not facts:
        return []

    # Other edits need no reader and no writer of documents.
    from orbit_registry.operations.adr import document_with

    return document_with(workspace, old, new, facts)
