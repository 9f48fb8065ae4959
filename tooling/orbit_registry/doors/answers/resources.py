"""`refresh`: a resource from its file again."""

from typing import Annotated

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call, note
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import UsageError, plural
from orbit_registry.exchange.resources import refresh as resources
from orbit_registry.repository.codec import mapping_in
from orbit_registry.search.chunks import STRATEGIES


@operation("refresh", job="Write", line="Update a resource from its file.", writes=True)
def refresh_resource(
    call: Call,
    any_id: str,
    path: str | None = None,
    versions: tuple[str, ...] = (),
    strategy: Annotated[str, Form(enum=STRATEGIES)] | None = None,
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

    return made[0] if made else name
