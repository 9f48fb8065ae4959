"""Refresh of a resource from its file, and the difference that this makes."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from orbit_registry.errors import OrbitError, RefusedError, UnreadableFileError, UsageError
from orbit_registry.exchange.resources import intake
from orbit_registry.formats.links import is_markdown
from orbit_registry.hook.events import note
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.repository.guard import write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import Edit, prepare_edit, writing
from orbit_registry.search.chunks import Cut, chunking_from, cut
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import DOCUMENT_LIMIT, document_text, inside, read_text
from orbit_registry.workspace.journal import FileChange, unified_diff
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RefreshRequest:
    """What to change besides the text; None leaves it unchanged."""

    versions: Sequence[str] | None = None
    chunking: Mapping[str, object] | None = None
    path: str | None = None  # where its file is by now


@dataclass(frozen=True, slots=True)
class RefreshResult:
    """What was brought up to date: the record, the commits before and after,
    the text's difference, its chunks.
    """

    record: Record
    old_ref: str | None
    new_ref: str | None
    is_changed: bool
    diff: str  # of the text alone; empty where it is the same, or what it was is not known any more
    cut: Cut
    notes: tuple[str, ...]


def refresh(
    workspace: Workspace,
    any_id: str,
    author: Author,
    request: RefreshRequest | None = None,
    *,
    dry_run: bool = False,
) -> RefreshResult:
    """Take a resource's text over again: a document's copy is replaced,
    a script counts as looked at.
    """
    request = request or RefreshRequest()
    with writing(workspace):
        record = read_collection(workspace).records.get(any_id)
        _refuse(record)
        path = request.path or record.text("path")
        if path is None and request == RefreshRequest():
            hint = "take the new text over with `orbit import doc -`, then retire this one"
            raise RefusedError(
                f"{record.id} came over standard input; there is no file to look at again",
                hint=hint,
            )

        text = _current_source(workspace, record, path)
        _refuse_second(workspace, record, text, request)
        old = _previous_text(workspace, record)
        change, result = prepare_edit(workspace, record, _edit(record, text, request, author))
        changes = [change, *_copy_changes(workspace, record, result, text)]
        is_changed = any(step.before != step.after for step in changes)

        if is_changed and not dry_run:
            write_step(workspace, "refresh", changes, author=author)
            old_ref, new_ref = record.text("source_ref"), result.text("source_ref")
            note(
                str(workspace.root),
                "refreshed",
                "cli",
                time.time(),
                id=record.id,
                by=author.name,
                role=author.role,
                old_ref=old_ref,
                new_ref=new_ref,
                content_hash=text.digest,
            )

    chunking = chunking_from(result.data.get("chunking"))
    diff = "" if old is None else unified_diff([FileChange(path or "text", old, text.content)])
    parts = cut(text.content, chunking, markdown=is_markdown(_copy_path(result)))
    refs = (record.text("source_ref"), result.text("source_ref"))
    notes = _notes(refs, text, old is None)
    return RefreshResult(result, *refs, is_changed, diff, parts, tuple(notes))


def _refuse(record: Record) -> None:
    if not record.kind.in_file:
        raise UsageError(
            f"{record.id} is not a resource: it has no file",
            hint="`orbit resource list` lists them",
        )

    if record.phase == "closed":
        hint = "import it again: `orbit import --help`"
        raise RefusedError(f"{record.id} is {record.status.name} and is kept as it was", hint=hint)


def _current_source(workspace: Workspace, record: Record, path: str | None) -> intake.IntakeSource:
    if path is None:  # the text that a record without a file holds stays
        content = read_text(inside(workspace.root, _copy_path(record)), limit=DOCUMENT_LIMIT)
        return intake.IntakeSource(None, content, intake.raw_digest(content.encode()))

    try:
        return intake.source_at(workspace, path)
    except UnreadableFileError as error:
        if os.path.lexists(workspace.root / path):
            raise
        hint = f"bring it back, or name its new path: `orbit refresh {record.id} --path NEW`"
        raise UnreadableFileError(error.message, hint=hint) from None


def _refuse_second(
    workspace: Workspace,
    record: Record,
    text: intake.IntakeSource,
    request: RefreshRequest,
) -> None:
    if request.path is None and request.versions is None:
        return

    type_ = record.text("type") or intake.DOC
    versions = _versions(record, request)
    other = intake.existing_resource(workspace, type_, text, versions, but=record)
    if other is not None:
        listed = ", ".join(other.words("versions"))
        message = f"{other.id} is {text.path or 'that text'}, {listed}, already"
        hint = f"retire one of the two: `orbit {record.kind.name} retire {record.id}`"
        raise RefusedError(message, hint=hint)


def _versions(record: Record, request: RefreshRequest) -> list[str]:
    if request.versions is None:
        return list(record.words("versions"))

    return intake.versions_of(request.versions)


def _copy_path(record: Record) -> str:
    if record.source is not None:
        return record.source.path

    return ""


def _previous_text(workspace: Workspace, record: Record) -> str | None:
    if record.text("type") == intake.DOC:
        return document_text(workspace.root, _copy_path(record))

    ref, path = record.text("source_ref"), record.text("path")
    if ref is None or path is None:
        return None

    content = workspace.git.read(ref, path)
    if content is None or intake.raw_digest(content) != record.text("content_hash"):
        return None

    return content.decode("utf-8", "replace")


def _edit(
    record: Record,
    text: intake.IntakeSource,
    request: RefreshRequest,
    author: Author,
) -> Edit:
    versions = _versions(record, request)
    now = format_time(datetime.now(UTC))

    def edit(data: dict[str, object]) -> Mapping[str, object]:
        result = {**data, "versions": versions, "content_hash": text.digest}
        if text.path is not None:
            ref = text.commit
            if not ref and text.digest == data.get("content_hash"):
                ref = record.text("source_ref")

            result |= {"path": text.path, "source_ref": ref}

        file = record.text("file")
        if file is not None:
            name, old = PurePosixPath(file).name, record.text("path")
            if old is not None and text.path is not None and name == PurePosixPath(old).name:
                name = PurePosixPath(text.path).name

            result["file"] = intake.stored_path(versions, name)

        if request.chunking is not None:
            chunking_from(request.chunking)
            result["chunking"] = dict(request.chunking)

        result = {name: value for name, value in result.items() if value not in (None, {})}
        if result == data:
            return data

        current = data.get("freshness")
        before = current if isinstance(current, Mapping) else {}
        return {**result, "freshness": {**before, "verified_at": now, "verified_by": author.name}}

    return edit


def _copy_changes(
    workspace: Workspace,
    record: Record,
    result: Record,
    text: intake.IntakeSource,
) -> list[FileChange]:
    if record.text("type") != intake.DOC:
        return []

    old, new = _copy_path(record), _copy_path(result)
    try:
        before = read_text(inside(workspace.root, old), limit=DOCUMENT_LIMIT)
    except OrbitError:
        before = None

    if old == new:
        return [FileChange(new, before, text.content)]

    changes = [FileChange(new, None, text.content)]
    if before is not None:
        changes.append(FileChange(old, before, None))

    return changes


def _notes(
    refs: tuple[str | None, str | None], text: intake.IntakeSource, is_unknown: bool
) -> list[str]:
    notes, (old, new) = [], refs
    if old != new and text.path is not None:
        then, now = (old or "none")[:12], (new or "none")[:12]
        notes.append(f"the last commit of {text.path} is {now}; the text was of {then}")

    if text.is_dirty:
        notes.append(f"{text.path} has changes that are not committed")
    if is_unknown:
        notes.append("what the text was is not known any more, so no difference is shown")

    return notes
