"""`orbit retro`: the group of its kind, which writes one where no command follows."""

from typing import Any

import click

from orbit_registry.doors.answers.table import by_method
from orbit_registry.doors.cli.kind import kind_group
from orbit_registry.doors.cli.operations import command_of
from orbit_registry.doors.cli.writer import say


def retro_group() -> click.Group:
    """Return the group."""
    group = kind_group("retro")
    operation = by_method("retro")
    if operation is None:
        return group

    command = command_of(operation)
    write = command.callback

    @click.pass_context
    def run(context: click.Context, /, **values: Any) -> None:
        if context.invoked_subcommand is not None or write is None:
            return

        options = {name: value for name, value in values.items() if name != "output"}
        if any(options.values()):
            write(**values)
        else:
            say(context.get_help())

    group.help = command.help
    group.params = command.params
    group.callback = run
    group.invoke_without_command = True
    group.no_args_is_help = False
    return group


group = retro_group()
