"""`orbit KIND vote` and `orbit KIND sync`, for the kinds whose table says that they are voted for."""

from __future__ import annotations

import click

from orbit_registry.cli.kind import registry_for, with_examples
from orbit_registry.cli.output import emit, format_option, plural, say_diagnostics
from orbit_registry.cli.places import open_registry
from orbit_registry.model.diagnostic import Severity
from orbit_registry.model.kind import Kind
from orbit_registry.model.votes import distinct_votes
from orbit_registry.registry import Registry
from orbit_registry.render.records import vote_data
from orbit_registry.repository.votes import BROKEN, half_life_days


def vote_command(kind: Kind) -> click.Command:
    """Return `orbit KIND vote`."""

    said = f"Say that a {kind.label.lower()} helped in a task; the same voter counts once a task."

    @click.command("vote", help=with_examples(said, f"orbit {kind.name} vote {kind.prefix}7k3fq --task TASK-12"))
    @click.argument("any_id", metavar="ID")
    @click.option("--task", required=True, help="The task in which it helped.")
    @click.option("--model", help="Who votes; the person or agent running this if not given.")
    @format_option
    def vote(any_id: str, task: str, model: str | None, output: str) -> None:
        say_vote(registry_for(kind, any_id), any_id, task, model, output)

    return vote


def say_vote(registry: Registry, any_id: str, task: str, model: str | None, output: str) -> None:
    """Vote, and print what the record's votes come to."""
    result = registry.vote(any_id, task, model)
    already = "" if result.new else " (this vote was counted before)"
    text = f"{result.record.id} has {plural(result.tally.count, 'vote')}{already}"
    emit(output, {"id": result.record.id, "new": result.new, **vote_data(result.record.votes)}, text)


def sync_command(kind: Kind) -> click.Command:
    """Return `orbit KIND sync`."""

    said = (
        f"Look through the files of {kind.labels.lower()}, their votes line by line, and bring the snapshot up to "
        "date.\n\nWhat can't be read is named with its place; no file of yours is rewritten."
    )

    @click.command("sync", help=with_examples(said, f"orbit {kind.name} sync"))
    @format_option
    def sync(output: str) -> None:
        registry = open_registry()
        half_life_days()
        folder = f"{registry.workspace.relative(registry.workspace.folder_of(kind))}/"
        found = [one for one in registry.collection.problems if f"{one.location.path}/".startswith(folder)]
        broken = [one for one in found if one.code == BROKEN]
        votes = sum(len(distinct_votes(record.votes)) for record in registry.collection.records.of_kind(kind.name))
        result = registry.sync()
        wrong = any(one.severity is Severity.ERROR for one in found)
        if output == "text":
            say_diagnostics(found)
        text = f"{plural(votes, 'vote')}, {plural(len(broken), 'line')} skipped\n{result.text()}"
        data = {"votes": votes, "skipped": len(broken), "snapshot": result.as_data()}
        emit(output, data, text, next_commands=['orbit query "FROM vote_ranking"'], diagnostics=found, ok=not wrong)
        if wrong:
            raise click.exceptions.Exit(1)

    return sync
