"""`orbit list` and `orbit show`: every kind in one place, and what binds a verdict to what was shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import click

from orbit_registry.cli.output import Decorated, emit, format_option, warn_of_unread
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.model.freshness import FRESH
from orbit_registry.model.kind import PHASES
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.render.records import (
    chunk_data,
    chunk_head,
    details_text,
    named_chunk,
    reasons_data,
    record_data,
    record_text,
    remedies,
    table,
)
from orbit_registry.workspace.author import Review
from orbit_registry.workspace.event_log import note_opened


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
    warn_of_unread(registry)


@click.command("show")
@click.argument("any_id", metavar="ID")
@format_option
def show(any_id: str, output: str) -> None:
    """Show a record by its id or a legacy id, or one chunk of a resource.

    \b
    orbit show ADR-0012
    orbit show project-learnings/ADR-006
    orbit show RES-7k3fq#2c26b46b68
    """
    registry = open_registry()
    say_part(registry, *registry.part(any_id), output)


def say_part(registry: Registry, record: Record, name: str, output: str) -> None:
    """Print the chunk of a record that has a name; the record whole where the name is empty."""
    if not name:
        say_record(registry, record, output)
        return
    chunk = named_chunk(record, name)
    note_opened(registry.workspace.root, record.id)
    freshness = registry.freshness([record]).get(record.path, FRESH)
    text = f"{chunk_head(record, chunk, freshness)}\n\n{chunk.body}"
    emit(output, chunk_data(record, chunk, freshness), text, next_commands=[f"orbit show {record.id}"])


def say_record(registry: Registry, record: Record, output: str) -> None:
    """Print a record whole, with whether it still holds and, where it may not, why and what to do."""
    from orbit_registry.analytics.report import outcome, outcome_words  # `orbit list` does without

    note_opened(registry.workspace.root, record.id)
    freshness = registry.freshness([record]).get(record.path, FRESH)
    state = None if record.phase == "closed" else freshness.state.value
    became = outcome(registry.workspace, record.id)
    data = {"freshness_state": state, "freshness_reasons": reasons_data(freshness), "outcome": became or None}
    commands = remedies(record, freshness) if freshness.reasons else []
    text = record_text(record, freshness, outcome_words(became)) + details_text(record)
    emit(output, {**record_data(record, prose=True), **data}, text, next_commands=commands)


def binding_options(command: Decorated) -> Decorated:
    """Give a command that brings records into force `--expect` and `--yes`; what they say goes to `bound`."""
    expect = "Only if it says what `show` or `queue` printed this digest for."
    yes = click.option("--yes", is_flag=True, help="Ask nothing; at a terminal it is shown before.")
    return click.option("--expect", metavar="DIGEST", help=expect)(yes(command))


def bound(
    any_ids: Sequence[str], said: Review, expect: str | None, yes: bool, output: str
) -> Callable[[Record], Review]:
    """Return what gives a record's review, bound to the digest that is expected, or at a terminal to what it shows.

    Raises:
        UsageError: a digest for several records, or an empty one.
    """
    if expect is not None and (len(any_ids) != 1 or not expect.strip()):
        raise UsageError("--expect is the digest of one record", hint="name one id, or take them one by one")
    own = replace(said, expected=(expect or "").strip())
    asks = not (yes or expect) and output == "text" and sys.stdin.isatty()
    return lambda record: _asked(record, own) if asks and record.phase == "pending" else own


def _asked(record: Record, said: Review) -> Review:
    """Show a record and ask whether that is to come into force; returns the review of what was shown."""
    click.echo(visible(record_text(record, FRESH) + details_text(record)))
    click.confirm(f"Bring {record.id} into force?", abort=True, err=True)
    return replace(said, expected=record.digest)
