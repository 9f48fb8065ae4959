"""`orbit list` and `orbit show`: every kind in one place; they change nothing."""

from __future__ import annotations

import click

from orbit_registry.cli.doubts import reasons_data, remedies
from orbit_registry.cli.output import emit, format_option, record_data, table, warn_of_unread
from orbit_registry.cli.tallies import vote_words
from orbit_registry.records.freshness import FRESH, Freshness
from orbit_registry.records.record import Record
from orbit_registry.registry import Registry


@click.command("list")
@click.argument("kind", required=False)
@click.option("--all", "everything", is_flag=True, help="Closed records too.")
@format_option
def list_records(kind: str | None, everything: bool, output: str) -> None:
    """List records of every kind, or of one.

    \b
    orbit list
    orbit list learning --all
    """
    registry = Registry.open()
    if kind is not None:
        registry.workspace.kinds[kind]
    wanted = [
        record
        for record in registry.collection.records
        if (everything or record.phase != "closed") and (kind is None or record.kind.name == kind)
    ]
    rows = [(record.id, record.kind.name, str(record.data["status"]), record.title) for record in wanted]
    emit(
        output,
        [record_data(record) for record in wanted],
        table(("id", "kind", "status", "title"), rows) or "no records",
    )
    warn_of_unread(registry.collection.problems)


@click.command("show")
@click.argument("any_id", metavar="ID")
@format_option
def show(any_id: str, output: str) -> None:
    """Show a record by its id or a legacy id.

    \b
    orbit show ADR-0012
    orbit show project-learnings/ADR-006
    """
    registry = Registry.open()
    registry.recover()
    say_record(registry, registry.get(any_id), output)


def say_record(registry: Registry, record: Record, output: str) -> None:
    """Print a record whole, with whether it still holds and, where it may not, why and what to do."""
    freshness = registry.freshness([record]).get(record.path, FRESH)
    state = None if record.phase == "closed" else freshness.state.value
    data = {"freshness_state": state, "freshness_reasons": reasons_data(freshness)}
    commands = remedies(record, freshness) if freshness.reasons else []
    emit(output, {**record_data(record, prose=True), **data}, _show_text(record, freshness), next_commands=commands)


def _show_text(record: Record, freshness: Freshness) -> str:
    """Return a record as people read it: head, facts, long text."""
    status = record.status
    lines = [f"{record.id}  {record.title}", f"{status.name}" + (f": {status.banner}" if status.banner else ""), ""]
    facts = [
        ("file", record.path),
        ("document", record.source.path if record.source else ""),
        ("date", record.text("date") or ""),
        ("tasks", ", ".join(record.words("tasks"))),
        ("feature", record.text("feature") or ""),
        ("category", record.text("category") or ""),
        ("paths", ", ".join(record.scope.paths)),
        ("tags", ", ".join(record.scope.tags)),
        ("labels", ", ".join(record.words("labels"))),
        ("evidence", ", ".join(f"{kind}:{reference}" for kind, reference in record.evidence)),
        ("links", ", ".join(f"{link.rel} {link.to}" for link in record.links)),
        ("supersedes", ", ".join(record.supersedes)),
        ("superseded by", ", ".join(record.superseded_by)),
        ("legacy ids", ", ".join(record.legacy_ids)),
        ("votes", vote_words(record.votes) if record.votes or record.kind.voted else ""),
        *((freshness.state.value if not at else "", reason.message) for at, reason in enumerate(freshness.reasons)),
        ("updated", f"{record.text('updated_at')} (created {record.text('created_at')})"),
    ]
    lines += [f"  {name:<14}{value}" for name, value in facts if value]
    return "\n".join([*lines, *(["", record.prose.strip("\n")] if record.prose.strip() else [])])
