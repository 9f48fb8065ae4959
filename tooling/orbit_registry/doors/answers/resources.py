"""`import doc`, `import script` and `refresh`: resources from files."""

import sys
from pathlib import PurePosixPath
from typing import Annotated

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import SHARED, FieldValues, Form
from orbit_registry.doors.answers.call import Call, note
from orbit_registry.doors.answers.inputs import STANDARD_INPUT
from orbit_registry.doors.answers.record_fields import refuse_managed
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import UsageError, plural
from orbit_registry.exchange.resources import intake
from orbit_registry.exchange.resources import refresh as resources
from orbit_registry.repository.codec import mapping_in
from orbit_registry.search.chunks import STRATEGIES, Chunk, Cut

Strategy = Annotated[str, Form(enum=STRATEGIES)]


@operation("import doc", writes=True)
def import_doc(
    call: Call,
    source: str,
    title: str | None = None,
    versions: tuple[str, ...] = (),
    strategy: Strategy | None = None,
    preview: bool = False,
    pending: bool = False,
    dry_run: bool = False,
    fields: Annotated[FieldValues | None, SHARED] = None,
    name: str | None = None,
) -> Answer:
    """Keep a copy of a document; - reads standard input.

    `orbit refresh` reads it again.

    orbit import doc docs/deploying.md --version 2.1

    Args:
        source PATH: The document; - is the standard input.
        title --title: Its title; else its first heading or its file's name.
        versions --version V: A version it is for; repeatable.
        strategy --chunks: How search splits the text.
        preview: Print the chunks; write nothing.
        pending: Let it wait for review, as an agent's record does.
        dry_run: Print what would be written; write nothing.
        fields: Fields that every kind has.
        name --name: The name of the copy; else the file's name.
    """
    if source != STANDARD_INPUT:
        text = intake.source_at(call.workspace, call.file(source))
    else:
        text = intake.source_from_stream(sys.stdin.buffer)
        if not (title or name):
            message = "a text from standard input has no name"
            raise UsageError(message, hint="give it one: --title or --name")

    file_name = name or (PurePosixPath(text.path).name if text.path else _file_name(str(title)))
    values = _values(call, fields, strategy, pending=pending)
    chunking = mapping_in(values, "chunking")
    request = intake.IntakeRequest(intake.DOC, text, file_name, title, versions, chunking, values)
    return _taken(call, request, preview=preview, dry_run=dry_run)


@operation("import script", writes=True)
def import_script(
    call: Call,
    source: str,
    title: str | None = None,
    versions: tuple[str, ...] = (),
    strategy: Strategy | None = None,
    preview: bool = False,
    pending: bool = False,
    dry_run: bool = False,
    fields: Annotated[FieldValues | None, SHARED] = None,
) -> Answer:
    """Make a script findable; it stays the file that it is.

    orbit import script tools/migrate.sh --tag database

    Args:
        source PATH: The script.
        title --title: Its title; else its first heading or its file's name.
        versions --version V: A version it is for; repeatable.
        strategy --chunks: How search splits the text.
        preview: Print the chunks; write nothing.
        pending: Let it wait for review, as an agent's record does.
        dry_run: Print what would be written; write nothing.
        fields: Fields that every kind has.
    """
    text = intake.source_at(call.workspace, call.file(source))
    values = _values(call, fields, strategy, pending=pending)
    chunking = mapping_in(values, "chunking")
    file_name = PurePosixPath(text.path or source).name
    request = intake.IntakeRequest(
        intake.SCRIPT, text, file_name, title, versions, chunking, values
    )
    return _taken(call, request, preview=preview, dry_run=dry_run)


def _values(
    call: Call, fields: FieldValues | None, strategy: str | None, *, pending: bool
) -> dict[str, object]:
    """Return the fields of a new resource."""
    kind = call.workspace.kinds[intake.KIND]
    values = dict(fields or {})
    refuse_managed(kind, values)
    if pending:
        values["status"] = kind.initial["agent"]
    if strategy:
        values["chunking"] = {**mapping_in(values, "chunking"), "strategy": strategy}

    return values


def _taken(call: Call, request: intake.IntakeRequest, *, preview: bool, dry_run: bool) -> Answer:
    """Take a document or script in, and answer; or say how its text would be cut."""
    author = call.author()
    is_trial = dry_run or preview
    done = intake.import_resource(call.workspace, request, author, dry_run=is_trial)
    if preview:
        lines = [f"{_chunk_count(done.cut)}, cut by {done.cut.strategy}"]
        lines += map(_chunk_line, done.cut.chunks)
        return Answer({**_cut_data(done.cut), "path": request.text.path}, lines)

    record = done.record
    was = "there already, unchanged"
    if done.is_new:
        was = "would be added" if dry_run else "added"

    waits = " (waits for review)" if record.phase == "pending" else ""
    path = record.source.path if record.source is not None else request.text.path or record.path
    head = f"{record.id}{waits}  {record.title}: {was}, {_chunk_count(done.cut)}"
    data = {
        **record_data(record),
        "added": done.is_new and not dry_run,
        "chunks": len(done.cut.chunks),
        "notes": list(done.notes),
    }
    notes = [*map(note, done.notes)]
    return Answer(data, f"{head}\n  {path}", [f"orbit show {record.id}"], notes)


_CHUNK = ("code", "title", "breadcrumb", "sections", "first_line", "last_line", "tokens")


def _cut_data(cut: Cut) -> dict[str, object]:
    chunks = []
    for chunk in cut.chunks:
        row = {name: getattr(chunk, name) for name in (*_CHUNK, "continues")}
        chunks.append({**row, "warning": chunk.warning or None})

    return {"strategy": cut.strategy, "chunks": chunks}


def _chunk_line(chunk: Chunk) -> str:
    lines = f"lines {chunk.first_line}–{chunk.last_line}"
    words = [chunk.code, lines, plural(chunk.tokens, "token"), chunk.breadcrumb or chunk.title]
    if chunk.warning:
        words.append(chunk.warning)

    return f"  {'  '.join(words)}".rstrip()


def _chunk_count(cut: Cut) -> str:
    return plural(len(cut.chunks), "chunk")


def _file_name(title: str) -> str:
    letters = [each if each.isalnum() else " " for each in title.lower()]
    words = "".join(letters).split()
    return f"{'-'.join(words)[:80] or 'text'}.md"


@operation("refresh", job="Write", line="Update a resource from its file.", writes=True)
def refresh_resource(
    call: Call,
    any_id: str,
    path: str | None = None,
    versions: tuple[str, ...] = (),
    strategy: Strategy | None = None,
    dry_run: bool = False,
) -> Answer:
    """Update a resource from its file, and show the change.

    orbit refresh docs/deploying.md --dry-run
    orbit refresh RES-7k3fq --version 2.1 --version 2.2
    orbit refresh RES-7k3fq --path docs/releasing.md

    Args:
        any_id ID|FILE: The resource, or the file that it was made from.
        path --path FILE: The new place of its file.
        versions V: Its new versions.
        strategy --chunks: How search splits the text from now on.
        dry_run: Print what would change; change nothing.
    """
    registry = call.registry
    any_id = resource_named(call, any_id)
    chunking = mapping_in(registry.get(any_id).data, "chunking")
    if strategy is not None:
        chunking = {**chunking, "strategy": strategy}

    request = resources.RefreshRequest(
        versions or None,
        chunking if strategy is not None else None,
        call.path(path) if path is not None else None,
    )
    done = resources.refresh(
        registry.workspace, any_id, registry.author(), request, dry_run=dry_run
    )

    was = "unchanged"
    if done.is_changed:
        was = "would be refreshed" if dry_run else "refreshed"

    refs = f"{(done.old_ref or 'no commit')[:12]} → {(done.new_ref or 'no commit')[:12]}"
    chunks = plural(len(done.cut.chunks), "chunk")
    lines = [f"{done.record.id}  {done.record.title}: {was} ({refs}), {chunks}"]
    if done.diff:
        lines.append(done.diff.rstrip("\n"))

    data = {
        **record_data(done.record),
        "changed": done.is_changed,
        "old_ref": done.old_ref,
        "new_ref": done.new_ref,
        "diff": done.diff,
        "chunks": len(done.cut.chunks),
        "notes": list(done.notes),
        "dry_run": dry_run,
    }
    return Answer(data, lines, ["orbit check"], [*map(note, done.notes)])


def resource_named(call: Call, name: str) -> str:
    """Return the id that a person means by an id, or by the file that a resource was made from."""
    records = call.registry.collection.records
    if name in records:
        return name

    path = call.path(name)
    made = []
    for record in records.of_kind("resource"):
        if record.phase != "closed" and record.text("path") == path:
            made.append(record.id)

    if len(made) > 1:
        raise UsageError(
            f"{path} is the file of several resources: {', '.join(made)}", hint="name an id"
        )

    if not made and (call.workspace.root / path).is_file():
        raise UsageError(
            f"no resource was made from {path}", hint=f"`orbit import doc {path}` makes one"
        )

    if made:
        return made[0]

    return name
