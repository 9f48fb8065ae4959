"""Places named on the command line: paths as they are from the root, and globs that lead nowhere; it reads no file."""

from __future__ import annotations

import os
from pathlib import Path

import click

from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.records.record import Record
from orbit_registry.registry import Registry


def say_unmatched(registry: Registry, record: Record) -> None:
    """Say on the side which globs of a record that was just written match no file."""
    root, here = registry.workspace.root.resolve(), Path.cwd().resolve()
    below = here.relative_to(root).as_posix() if here.is_relative_to(root) and here != root else ""
    for one in registry.unmatched(record, below):
        click.echo(visible(f"note: `{one.glob}` matches no file: {one.hint}"), err=True)


def from_root(registry: Registry, path: str) -> str:
    """Return a path given from where the command runs as one from the workspace's root.

    Raises:
        UsageError: it is outside.
    """
    root = registry.workspace.root.resolve()
    normal = Path(os.path.normpath(Path.cwd().resolve() / path))
    if not normal.is_relative_to(root):
        raise UsageError(f"{path!r} is outside the workspace {root}", hint="name a file or folder inside it")
    return normal.relative_to(root).as_posix()
