"""The command group of a kind, put together from its folder: what each verb does is said beside it."""

from __future__ import annotations

import click

from orbit_registry.cli.adding import add_command
from orbit_registry.cli.kind import (
    example_id,
    kind_of,
    list_command,
    renumber_command,
    show_command,
    status_command,
    supersede_command,
    with_examples,
)
from orbit_registry.cli.searching import search_command
from orbit_registry.cli.updating import update_command
from orbit_registry.cli.voting import sync_command, vote_command


def kind_group(name: str) -> click.Group:
    """Return the command group of a kind with every shared verb."""
    kind = kind_of(name)
    said = with_examples(f"{kind.labels}.", f"orbit {name} list", f"orbit {name} show {example_id(kind)}")
    group = click.Group(name, help=said, no_args_is_help=True)
    commands: list[click.Command] = [add_command(kind)] if kind.in_record else []
    commands += [
        list_command(kind),
        show_command(kind),
        search_command(kind),
        update_command(kind),
        supersede_command(kind),
    ]
    commands += [status_command(kind, verb, status) for verb, status in kind.verbs.items()]
    commands += [renumber_command(kind)] if kind.numbering == "sequence" else []
    commands += [vote_command(kind), sync_command(kind)] if kind.voted else []
    for command in commands:
        if command.name != "supersede" or "superseded" in kind.statuses:
            group.add_command(command)
    return group
