"""Lists the documents where decisions are written, and opens none: a run in which nothing changed needs no more."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from orbit_registry.formats.markdown import is_markdown
from orbit_registry.workspace.files import walk
from orbit_registry.workspace.workspace import ORBIT, Workspace

LOG_NAME = "4_decisions.md"
_NO_DECISIONS = frozenset({ORBIT, "_templates", "templates"})


def decision_paths(workspace: Workspace) -> Iterator[str]:
    """Yield the documents where decisions are written: folders of decision files, the features' logs, the one log."""
    config = workspace.config
    for folder in dict.fromkeys((config.adr.folder, *config.adr.folders)):
        yield from _markdown_below(workspace, folder)
    for path in _markdown_below(workspace, config.design):
        if path.rpartition("/")[2] == LOG_NAME:
            yield path
    if config.adr.log and (workspace.root / config.adr.log).is_file():
        yield config.adr.log


def _markdown_below(workspace: Workspace, folder: str) -> Iterator[str]:
    if (workspace.root / folder).is_symlink():
        return
    if folder == ".":  # the decisions of a repository that is all decisions: what is below it are other things
        with contextlib.suppress(OSError):
            yield from sorted(
                entry.name for entry in os.scandir(workspace.root) if is_markdown(entry.name) and entry.is_file()
            )
        return
    for path in walk(workspace.root, folder, without=_NO_DECISIONS):
        if is_markdown(path):
            yield path
