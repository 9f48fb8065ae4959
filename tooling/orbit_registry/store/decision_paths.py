"""Lists the documents where decisions are written, and opens none: a run in which nothing changed needs no more."""

from __future__ import annotations

import os
from collections.abc import Iterator

from orbit_registry.store.workspace import Workspace

LOG_NAME = "4_decisions.md"
_SKIPPED_FOLDERS = frozenset({".git", ".orbit", "node_modules", "_templates", "templates"})


def decision_paths(workspace: Workspace) -> Iterator[str]:
    """Yield the documents where decisions are written: the folders of decision files, and the logs of the design."""
    config = workspace.config
    for folder in dict.fromkeys((config.adr.folder, *config.adr.folders)):
        yield from (path for path in _markdown_below(workspace, folder))
    for path in _markdown_below(workspace, config.design):
        if path.rpartition("/")[2] == LOG_NAME:
            yield path


def _markdown_below(workspace: Workspace, folder: str) -> Iterator[str]:
    top = workspace.root / folder
    if top.is_symlink():
        return
    for parent, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        prefix = os.path.relpath(parent, workspace.root).replace(os.sep, "/")
        for name in sorted(files):
            if name.lower().endswith((".md", ".markdown")):
                yield name if prefix == "." else f"{prefix}/{name}"
