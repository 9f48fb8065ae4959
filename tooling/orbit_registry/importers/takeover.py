"""Takes over what another tool wrote, and lets the baseline know what the gate finds in it; it reads no format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orbit_registry.checks import gate
from orbit_registry.errors import UsageError
from orbit_registry.importers import import_from
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.store.outcome import TakeoverReport
from orbit_registry.store.workspace import Workspace, find_workspace


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
