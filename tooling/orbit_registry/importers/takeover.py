"""Takes over what another tool wrote, chosen by name or by looking; what the gate finds in it is baselined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from orbit_registry.checks import gate
from orbit_registry.errors import UsageError
from orbit_registry.importers.documents import DocumentImporter
from orbit_registry.importers.orbit import OrbitImporter
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.store.outcome import TakeoverReport
from orbit_registry.store.workspace import Workspace, find_workspace


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


def take_over(path: Path, source: str, *, dry_run: bool) -> TakeoverReport:
    """Import from a path; the report says how many findings went into the baseline."""
    places = dict.fromkeys((Path.cwd(), path if path.is_dir() else path.parent))
    before = {place: _findings_at(place) for place in places}
    seen: set[Path] = set()
    report = import_from(path, source, dry_run=dry_run)
    if dry_run or not report.records:
        return report
    count = 0
    for place, found in before.items():
        workspace = _workspace_at(place)
        if workspace is not None and workspace.root not in seen:
            seen.add(workspace.root)
            count += gate.take_into_baseline(workspace, found, gate.findings(workspace))
    if not count:
        return report
    older = "1 older finding is baselined" if count == 1 else f"{count} older findings are baselined"
    return replace(report, notes=(*report.notes, f"{older}: `orbit check --all` lists them"))


def _findings_at(place: Path) -> list[Diagnostic]:
    """Return what the gate finds in the workspace around a folder, nothing where there is none yet."""
    workspace = _workspace_at(place)
    return gate.findings(workspace) if workspace is not None else []


def _workspace_at(place: Path) -> Workspace | None:
    try:
        return find_workspace(place)
    except UsageError:
        return None
