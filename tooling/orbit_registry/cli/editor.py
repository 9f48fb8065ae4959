"""Lets a person change a text in their editor; the text they wrote is kept until it could be used."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator

import click

from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.store.files import inside, read_text, write_atomic
from orbit_registry.store.workspace import Workspace


@contextlib.contextmanager
def edited_text(workspace: Workspace, name: str, text: str) -> Iterator[str]:
    """Open a copy of a text in $VISUAL or $EDITOR and yield what it is then.

    Where the body of the `with` refuses that text, the copy stays in the state, the error says where, and whoever
    edits the same text again goes on with it.

    Raises:
        UsageError: there is no editor, or it failed.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    relative = f"{workspace.relative(workspace.state)}/edits/{name}-{digest}.yaml"
    copy = inside(workspace.root, relative)
    copy.parent.mkdir(parents=True, exist_ok=True)
    if not copy.exists():
        write_atomic(copy, text)
    try:
        click.edit(filename=str(copy))
    except click.ClickException as error:
        hint = "set EDITOR to a program that opens a file and waits, such as vi or 'code --wait'"
        raise UsageError(error.format_message(), hint=hint) from None
    try:
        yield read_text(copy)
    except OrbitError as error:
        hint = f"{error.hint}; " if error.hint else ""
        error.hint = f"{hint}your text is kept in {relative}: the same command goes on with it"
        raise
    copy.unlink(missing_ok=True)
