"""Lets a person change a text in their editor; the text they wrote is kept until it could be used."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping

import click

from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.workspace.author import acting_role
from orbit_registry.workspace.files import inside, read_text, write_atomic
from orbit_registry.workspace.workspace import Workspace


def copy_path(workspace: Workspace, name: str) -> str:
    """Return where the copy stands, from the root; an agent's is not the one that a person goes on with."""
    whose = "agent/" if acting_role() == "agent" else ""
    return f"{workspace.relative(workspace.state)}/edits/{whose}{name}.yaml"


def kept_name(workspace: Workspace, base: str, given: Mapping[str, object]) -> str:
    """Return the name of a new text that begins with some fields: other fields begin another text.

    Without any, the text that was kept last is gone on with.
    """
    folder = inside(workspace.root, copy_path(workspace, base)).parent
    ours = re.compile(rf"{re.escape(base)}-[0-9a-f]{{12}}\.yaml")
    kept = [] if given else [file for file in folder.glob(f"{base}-*.yaml") if ours.fullmatch(file.name)]
    if kept:
        return max(kept, key=lambda file: file.lstat().st_mtime_ns).stem
    words = json.dumps({name: value for name, value in given.items() if name != "freshness"}, sort_keys=True)
    return f"{base}-{hashlib.sha256(words.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


@contextlib.contextmanager
def edited_text(workspace: Workspace, name: str, text: str) -> Iterator[str]:
    """Open a copy of a text, called `name`, in $VISUAL or $EDITOR and yield what it is then.

    Where the body of the `with` refuses that text, the copy stays in the state, the error says where, and whoever
    edits what has that name again goes on with it.

    Raises:
        UsageError: there is no editor, or it failed.
    """
    relative = copy_path(workspace, name)
    copy = inside(workspace.root, relative)
    copy.parent.mkdir(parents=True, exist_ok=True)
    if not copy.exists():
        write_atomic(copy, text)
    elif read_text(copy) != text:  # whoever left it there, it is not what stands in the registry
        click.echo(f"going on with the text in {relative}; remove that file to start anew", err=True)
    try:
        click.edit(filename=os.path.relpath(copy))  # older versions hand it to a shell: no folder's name is in it
    except (click.ClickException, ValueError) as error:
        said = error.format_message() if isinstance(error, click.ClickException) else f"$EDITOR can't be read: {error}"
        hint = "set EDITOR to a program that opens a file and waits, such as vi or 'code --wait'"
        raise UsageError(said, hint=hint) from None
    try:
        yield read_text(copy)
    except OrbitError as error:
        hint = f"{error.hint}; " if error.hint else ""
        kept = f"your text is kept in {relative}"
        error.hint = f"{hint}{kept}: the same command goes on with it, or begins anew once that file is removed"
        raise
    copy.unlink(missing_ok=True)
