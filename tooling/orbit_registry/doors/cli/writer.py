"""The writer of the command line: everything that a command prints goes through it."""

import click

from orbit_registry.doors.cli.encoding import for_program
from orbit_registry.formats.untrusted import shown


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people: hidden characters are visible, and no line is a command to a
    runner of CI, whatever names and titles it has.
    """
    click.echo(shown(text), err=err, nl=nl)


def give(data: str, *, nl: bool = True) -> None:
    """Print data for a program, which has escaped what it has to."""
    click.echo(for_program(data), nl=nl)
