"""Every command, flag, MCP tool and argument of 0.1.0 still works; the help may hide it.

`tests/cases/names_0_1_0.yaml` lists them. A name is never taken out of that file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from orbit_registry.doors.cli.main import HIDDEN, orbit
from orbit_registry.doors.mcp.tools import available_tools
from orbit_registry.formats.yaml import load

CASES: Any = load(
    (Path(__file__).parents[1] / "cases/names_0_1_0.yaml").read_text(encoding="utf-8")
)


def flags_of(command: click.Command) -> set[str]:
    """Return the flags that a command takes."""
    options = [each for each in command.params if isinstance(each, click.Option)]
    return {flag for each in options for flag in (*each.opts, *each.secondary_opts)}


def command_at(words: list[str]) -> click.Command | None:
    """Return the command of some words; None if there is none."""
    command: click.Command | None = orbit
    for word in words:
        context = click.Context(command or orbit, info_name="orbit")
        command = command.get_command(context, word) if isinstance(command, click.Group) else None

    return command


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all commands, hidden ones too."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command, info_name="orbit")
        names = [*command.list_commands(context), *([] if path else HIDDEN)]
        for name in names:
            inner = command.get_command(context, name)
            if inner is not None:
                yield from commands(inner, (*path, name))


@pytest.mark.parametrize(("name", "flags"), CASES["commands"].items())
def test_a_command_takes_every_flag_that_it_took(name: str, flags: str) -> None:
    command = command_at(name.split())
    assert command is not None
    assert {*flags.split()} <= flags_of(command)


@pytest.mark.parametrize(("name", "arguments"), CASES["tools"].items())
def test_a_tool_takes_every_argument_that_it_took(name: str, arguments: str) -> None:
    assert {*arguments.split()} <= {*available_tools()[name].properties}
