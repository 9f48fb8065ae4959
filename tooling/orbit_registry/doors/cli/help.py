"""What every command of the line has, however it is made: example lines, and consent."""

import re
from itertools import chain

import click

_EXAMPLES = re.compile(r"(?<=\n\n)( *)(?=(?:orbit|eval) )")


def finished(command: click.Command) -> click.Command:
    """Return a command whose examples stay on lines, and that takes `--yes` where it has a trial:
    a script says so once for every command.
    """
    # click keeps the lines of a paragraph that begins with this character.
    command.help = _EXAMPLES.sub("\\1\b\n\\1", command.help or "")
    flags = {*chain.from_iterable(parameter.opts for parameter in command.params)}
    if "--dry-run" in flags and "--yes" not in flags:
        yes = click.Option(["--yes"], is_flag=True, hidden=True, expose_value=False)
        command.params.append(yes)

    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        finished(inner)
    return command
