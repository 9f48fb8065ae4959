"""Reference page of all commands in Markdown, made from their help."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from orbit_registry.cli.main import COMMANDS, HIDDEN, KINDS, orbit

WIDTH = 100
HELP = ["-h", "--help"]
HEAD = """\
---
title: Commands
---

# Commands

Every command, as its `--help` says it. `orbit` and `orbit-registry` are the same program. Where a command has
`--format json`, it prints one envelope: `ok`, `data`, `diagnostics`, `next` (commands that make sense now), and `error`
with `hint` where it failed. Exit codes: 0 clean, 1 findings or a refused change, 2 usage, 3 our failure,
130 stopped: by Ctrl-C, or by a no where it asked yes or no. `orbit run` and `orbit mcp wrap` end with the code of what
they ran.
"""


def reference() -> str:
    """Return the page `docs/reference/cli.md`, without kinds of a workspace."""
    parts = [HEAD]
    kinds = sorted(file.parent.name for file in KINDS.glob("*/kind.yaml") if file.parent.name not in COMMANDS)
    for name in (*COMMANDS, *kinds, "new", "help"):
        command = orbit.get_command(click.Context(orbit, info_name="orbit"), name)
        if command is not None:
            parts += _pages(command, ["orbit", name])
    return "\n".join(parts)


def _pages(command: click.Command, path: list[str]) -> Iterator[str]:
    context = click.Context(
        command, info_name=" ".join(path), max_content_width=WIDTH, terminal_width=WIDTH, help_option_names=HELP
    )
    level = "#" * len(path)
    yield f"{level} `{' '.join(path)}`\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and name not in HIDDEN and not inner.hidden:
                yield from _pages(inner, [*path, name])


if __name__ == "__main__":
    sys.stdout.write(reference())
