"""`orbit list` and `orbit show`: every kind in one place; they change nothing."""

from __future__ import annotations

import click

from orbit_registry.answers.records import details_text, reasons_data, record_data, record_text, remedies, table
from orbit_registry.cli.output import emit, format_option, warn_of_unread
from orbit_registry.kinds.table import PHASES
from orbit_registry.loop.events import note_opened
from orbit_registry.records.freshness import FRESH
from orbit_registry.records.record import Record
from orbit_registry.registry import Registry


@click.command("list")
@click.argument("kind", required=False)
@click.option("--all", "everything", is_flag=True, help="Closed records too.")
@click.option("--phase", "phases", type=click.Choice(PHASES), multiple=True, help="Waiting, in force or closed.")
@format_option
def list_records(kind: str | None, everything: bool, phases: tuple[str, ...], output: str) -> None:
    """List records of every kind, or of one.

    \b
    orbit list
    orbit list learning --all
    orbit list --phase pending
    """
    registry = Registry.open()
    if kind is not None:
        registry.workspace.kinds[kind]
    wanted = [
        record
        for record in registry.collection.records
        if (record.phase in phases if phases else everything or record.phase != "closed")
        and (kind is None or record.kind.name == kind)
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
    from orbit_registry.loop.stats.report import outcome, outcome_words  # `orbit list` does without

    note_opened(registry.workspace.root, record.id)
    freshness = registry.freshness([record]).get(record.path, FRESH)
    state = None if record.phase == "closed" else freshness.state.value
    became = outcome(registry.workspace, record.id)
    data = {"freshness_state": state, "freshness_reasons": reasons_data(freshness), "outcome": became or None}
    commands = remedies(record, freshness) if freshness.reasons else []
    text = record_text(record, freshness, outcome_words(became)) + details_text(record)
    emit(output, {**record_data(record, prose=True), **data}, text, next_commands=commands)
