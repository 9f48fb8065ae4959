"""Names everything that a build rested on; whether it is as it was, `stamps` knows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from pathlib import Path

from orbit_registry.records.record import BODY
from orbit_registry.site.documents import UNSEARCHED
from orbit_registry.site.stage import Prepared
from orbit_registry.site.theme import overrides
from orbit_registry.store.freshness.ground import files_of
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.workspace import git_folder


def inputs_of(prepared: Prepared, out: Path) -> Iterator[str]:
    """Yield every file and folder whose change can change the site, which goes to `out`."""
    workspace = prepared.registry.workspace
    root = str(workspace.root)
    yield f"{root}/mkdocs.yml"
    yield f"{workspace.orbit}/config.yaml"
    for top in [overrides(), workspace.orbit / "kinds", *(kind.folder for kind in prepared.sources.kinds)]:
        yield from _tree(top, out)
    for kind in workspace.kinds:
        yield str(workspace.folder_of(kind))
    own = git_folder(workspace.root)
    if own is not None:  # which files are tracked decides whether a scope matches one
        yield str(own / "index")
        yield from map(str, (own / "HEAD", own / "logs/HEAD"))  # links lead to files as they are at the commit
    yield from (f"{root}/{path}" for path in prepared.citing)
    for name in files_of(workspace, prepared.ground):
        yield f"{root}/{name}"
    for problem in prepared.collection.problems:
        yield f"{root}/{problem.location.path}"
    for entry in prepared.registry.reading.entries:
        folder = f"{root}/{entry.folder}"  # which changes when a file comes or goes there
        yield from (folder, f"{root}/{entry.path}")
        if entry.has_votes:
            yield f"{folder}/{VOTES}"
        if entry.has_body:
            yield f"{folder}/{BODY}"
    yield from (f"{root}/{path}" for path in prepared.registry.reading.documents)
    sources = prepared.sources
    yield from (f"{root}/{path}" for path in sources.publication.rests_on)
    for top in sources.folders:
        yield from _tree(top, out, UNSEARCHED)
    if sources.own:
        yield from _tree(workspace.root / sources.own.docs, out)
    yield from (f"{root}/{path}" for path in sources.site.seen)
    yield from (f"{root}/{path}" for path in sources.site.assets)


def _tree(top: Path, out: Path, without: Set[str] = frozenset({"__pycache__"})) -> Iterator[str]:
    own = str(out)
    for parent, folders, files in os.walk(top):
        shown = (name for name in folders if not name.startswith(".") and name not in without)
        folders[:] = [name for name in shown if f"{parent}/{name}" != own]
        yield parent
        yield from (f"{parent}/{name}" for name in files)
    if not top.exists():
        yield str(top)
