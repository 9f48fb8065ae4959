"""`orbit learning`: the shared verbs and votes."""

from __future__ import annotations

import click

from orbit_registry.cli.kind import kind_group, kind_of, open_registry, refuse_other_kind
from orbit_registry.cli.output import emit, format_option, plural
from orbit_registry.records.vote import stamp

group = kind_group("learning")


@group.command("vote")
@click.argument("any_id", metavar="ID")
@click.option("--task", required=True, help="The task in which it helped.")
@click.option("--model", help="Who votes; the person or agent running this if not given.")
@format_option
def vote(any_id: str, task: str, model: str | None, output: str) -> None:
    """Say that a learning helped in a task; the same voter counts once a task.

    \b
    orbit learning vote L-7k3fq --task TASK-12
    """
    registry = open_registry()
    refuse_other_kind(registry, kind_of("learning"), any_id)
    result = registry.vote(any_id, task, model)
    counted = result.tally
    last = stamp(counted.last) if counted.last else None
    data = {"id": result.record.id, "new": result.new, "count": counted.count, "score": counted.score, "last": last}
    already = "" if result.new else " (this vote was counted before)"
    emit(output, data, f"{result.record.id} has {plural(counted.count, 'vote')}{already}")
