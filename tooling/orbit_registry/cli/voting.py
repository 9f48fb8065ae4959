"""`orbit KIND vote`, for the kinds whose table says that they are voted for."""

from __future__ import annotations

import click

from orbit_registry.cli.kind import open_registry, refuse_other_kind
from orbit_registry.cli.output import emit, format_option, plural
from orbit_registry.cli.tallies import vote_data
from orbit_registry.kinds.table import Kind
from orbit_registry.registry import Registry


def vote_command(kind: Kind) -> click.Command:
    """Return `orbit KIND vote`."""

    def vote(any_id: str, task: str, model: str | None, output: str) -> None:
        registry = open_registry()
        refuse_other_kind(registry, kind, any_id)
        say_vote(registry, any_id, task, model, output)

    params: list[click.Parameter] = [
        click.Argument(["any_id"], metavar="ID"),
        click.Option(["--task"], required=True, help="The task in which it helped."),
        click.Option(["--model"], help="Who votes; the person or agent running this if not given."),
    ]
    said = (
        f"Say that a {kind.label.lower()} helped in a task; the same voter counts once a task.\n\n"
        f"\b\norbit {kind.name} vote {kind.prefix}7k3fq --task TASK-12"
    )
    return format_option(click.Command("vote", params=params, callback=vote, help=said))


def say_vote(registry: Registry, any_id: str, task: str, model: str | None, output: str) -> None:
    """Vote, and print what the record's votes come to."""
    result = registry.vote(any_id, task, model)
    already = "" if result.new else " (this vote was counted before)"
    text = f"{result.record.id} has {plural(result.tally.count, 'vote')}{already}"
    emit(output, {"id": result.record.id, "new": result.new, **vote_data(result.record.votes)}, text)
