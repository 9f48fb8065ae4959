"""Knows whether anything a build rested on has changed since: times and sizes of files, never their content."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.records.record import BODY
from orbit_registry.site.output import replace_file
from orbit_registry.site.steps import Prepared
from orbit_registry.site.theme import overrides
from orbit_registry.store.freshness.ground import Ground, files_of, kinds_of
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.workspace import git_folder

ABSENT = "-"


@dataclass(frozen=True, slots=True)
class Stamps:
    """Paths and what their times and sizes were."""

    held: dict[str, str]

    @property
    def hold(self) -> bool:
        """Say whether everything is as it was."""
        return all(stamp_of(path) == stamp for path, stamp in self.held.items())


def stamp_of(path: str) -> str:
    """Return a text that changes when a file, or the list of names in a folder, does."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return ABSENT
    return f"{info.st_mtime_ns}-{info.st_size}-{info.st_ino}"


def stamps_of(paths: Iterable[str], started_ns: int) -> Stamps | None:
    """Return the stamps of paths; None where one changed after the build started and may have been read before."""
    held = {path: stamp_of(path) for path in paths}
    newest = max((int(stamp.partition("-")[0]) for stamp in held.values() if stamp != ABSENT), default=0)
    return Stamps(held) if newest < started_ns else None


def inputs_of(prepared: Prepared) -> Iterator[str]:
    """Yield every file and folder whose change can change the site."""
    workspace = prepared.registry.workspace
    root = str(workspace.root)
    yield f"{root}/mkdocs.yml"
    yield f"{workspace.orbit}/config.yaml"
    for top in [overrides(), workspace.orbit / "kinds", *(kind.folder for kind in prepared.sources.kinds)]:
        yield from _tree(top)
    for kind in workspace.kinds:
        yield str(workspace.folder_of(kind))
    own = git_folder(workspace.root)
    if own is not None:  # which files are tracked decides whether a scope matches one
        yield str(own / "index")
    for name in files_of(workspace, Ground.of(prepared.records, kinds_of(workspace.config))):
        yield f"{root}/{name}"
    for problem in prepared.collection.problems:
        yield f"{root}/{problem.location.path}"
    for record in prepared.collection.records:
        folder = f"{root}/{record.folder}"
        yield from (folder, f"{root}/{record.path}", f"{folder}/{VOTES}", f"{folder}/{BODY}")
        if record.source is not None:
            yield f"{root}/{record.source.path}"
    sources = prepared.sources
    searched = [*sources.folders, *([workspace.root / sources.own.docs] if sources.own else [])]
    for top in searched:
        yield from _tree(top)
    yield from (f"{root}/{path}" for path in sources.site.seen)
    yield from (f"{root}/{path}" for path in sources.site.assets)


def _tree(top: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        yield parent
        yield from (f"{parent}/{name}" for name in files)
    if not top.exists():
        yield str(top)


def save(file: Path, stamps: Stamps | None, data: object) -> None:
    """Keep stamps with what the build said, for the next one; without stamps forget what was kept."""
    if stamps is None:
        file.unlink(missing_ok=True)
        return
    replace_file(file, json.dumps({"stamps": stamps.held, "data": data}, separators=(",", ":")).encode())


def load(file: Path) -> tuple[Stamps, object] | None:
    """Return what the last build kept; None where there is nothing usable."""
    try:
        held = json.loads(file.read_text("utf-8"))
        return Stamps({str(path): str(stamp) for path, stamp in held["stamps"].items()}), held["data"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
