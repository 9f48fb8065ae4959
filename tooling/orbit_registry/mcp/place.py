"""Finds the project that a call is about: the one named at the start, else the client's roots, else where we stand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from orbit_registry.errors import ForeignWorkspaceError, WorkspaceNotFoundError
from orbit_registry.registry import Registry


def open_registry(named: Path | None, roots: Sequence[str]) -> Registry:
    """Return the registry of the first place that has one, read anew; `roots` are URIs as a client gives them.

    Raises:
        WorkspaceNotFoundError: none of them has.
        ConfigError: its configuration can't be used.
    """
    if named is not None:
        return Registry.open(named)
    missing: WorkspaceNotFoundError | ForeignWorkspaceError | None = None
    for folder in (*_folders(roots), Path.cwd()):
        try:
            return Registry.open(folder)
        except (WorkspaceNotFoundError, ForeignWorkspaceError) as error:
            missing = missing or error
    raise missing or WorkspaceNotFoundError("there is no workspace here", hint="run `orbit init` first")


def _folders(roots: Sequence[str]) -> list[Path]:
    """Return the folders on this machine that URIs name."""
    found = []
    for root in roots:
        parts = urlsplit(root)
        if parts.scheme == "file" and parts.netloc in ("", "localhost") and "\0" not in (path := unquote(parts.path)):
            found.append(Path(path))
    return found
