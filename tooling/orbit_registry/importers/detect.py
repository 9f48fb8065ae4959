"""Chooses the importer of a path, by name or by what it finds there; it takes nothing over itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from orbit_registry.errors import UsageError
from orbit_registry.importers.documents import DocumentImporter
from orbit_registry.importers.orbit import OrbitImporter
from orbit_registry.store.outcome import TakeoverReport


class Importer(Protocol):
    """What reads one foreign format."""

    def detects(self, path: Path) -> bool:
        """Say whether the path holds this format."""

    def take(self, path: Path, start: Path, *, dry_run: bool) -> TakeoverReport:
        """Take over what stands at `path`; `start` is where the command runs. A second call changes nothing."""


FORMATS: Mapping[str, Importer] = {
    "orbit": OrbitImporter(),
    "madr": DocumentImporter("madr"),
    "nygard": DocumentImporter("nygard"),
}
"""Every format by the name it is asked for, in the order in which `auto` tries them."""


def import_from(
    path: Path, source: str = "auto", *, start: Path | None = None, dry_run: bool = False
) -> TakeoverReport:
    """Take over what stands at `path`, which another tool wrote in the format `source`.

    Raises:
        UsageError: there is no such format, or nothing is at the path.
        WorkspaceNotFoundError: the documents stand in no workspace.
        WriteError: the disk refused.
    """
    if source != "auto" and source not in FORMATS:
        raise UsageError(f"there is no import format {source!r}", hint=f"one of auto, {', '.join(FORMATS)}")
    where = (start or Path.cwd()).resolve()
    target = path if path.is_absolute() else where / path
    if not target.exists():
        raise UsageError(f"{path} is not there", hint="name a folder or a document")
    names = [source] if source != "auto" else list(FORMATS)
    for name in names:
        if source != "auto" or FORMATS[name].detects(target):
            return FORMATS[name].take(target, where, dry_run=dry_run)
    return DocumentImporter("none").take(target, where, dry_run=dry_run)
