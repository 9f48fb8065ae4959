"""Takes over an `.orbit/` of danieljhkim/orbit: in place, or from another folder; reading it is `orbit_layout`'s.

In place each record moves to our layout as one recoverable step, and its old files go when the new ones are there.
What can't be read stays where it is; what is no record is left alone, or put aside where only records may stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orbit_registry.errors import (
    ForeignWorkspaceError,
    UsageError,
    WorkspaceNotFoundError,
)
from orbit_registry.importers.orbit_layout import Layout, find_orbit, read_layout
from orbit_registry.importers.orbit_plan import OrbitPlan, plan_import
from orbit_registry.kinds.table import load_kinds
from orbit_registry.store.adopt import in_steps
from orbit_registry.store.config import AdrConfig, Config
from orbit_registry.store.files import write_atomic
from orbit_registry.store.git import Git
from orbit_registry.store.journal import apply_step
from orbit_registry.store.outcome import Outcome, TakeoverReport
from orbit_registry.store.setup import config_text, detect_style, setup_workspace, write_schemas
from orbit_registry.store.workspace import ORBIT, Workspace, find_workspace, open_workspace
from orbit_registry.store.writer import writing

MARK = "x-imported_from"
_STEP = 20_000_000


@dataclass(frozen=True, slots=True)
class OrbitImporter:
    """Reads the file layout of danieljhkim/orbit up to 0.12."""

    def detects(self, path: Path) -> bool:
        """Say whether a foreign `.orbit/` is there, or was and has been taken over in place."""
        return find_orbit(path) is not None or _marked(path) is not None

    def take(self, path: Path, start: Path, *, dry_run: bool) -> TakeoverReport:
        """Take over every record below `path`.

        Raises:
            UsageError: no such `.orbit/` is at the path.
            WorkspaceNotFoundError: it can't be converted in place, and there is no workspace to copy it into.
        """
        orbit = find_orbit(path)
        if orbit is None:
            done = _marked(path)
            if done is None:
                raise UsageError(f"{path} holds no `.orbit/` of danieljhkim/orbit", hint="name the repository's root")
            note = "nothing is left to take: its records were taken over before"
            return TakeoverReport("orbit", str(path), dry_run, (), (note,))
        layout = read_layout(orbit)
        target = _target(start, orbit)
        in_place = target.root / ORBIT == orbit
        if dry_run:
            plan = plan_import(target, layout, in_place=in_place, dry_run=True)
            return _report(orbit, target, plan, layout, in_place, dry_run)
        written = _make_workspace(target) if in_place else ()
        workspace = open_workspace(target.root)
        with writing(workspace):
            layout = read_layout(orbit)
            plan = plan_import(workspace, layout, in_place=in_place, dry_run=False)
            for step in in_steps([change for group in plan.groups for change in group], _STEP):
                apply_step(workspace, "import", step)
        return _report(orbit, workspace, plan, layout, in_place, dry_run, written)


def _marked(path: Path) -> Path | None:
    """Return the `.orbit/` at a path that was converted in place before."""
    for orbit in (path / ORBIT, path):
        config = orbit / "config.yaml"
        if orbit.name == ORBIT and config.is_file():
            try:
                return orbit if MARK in open_workspace(orbit.parent).config.raw else None
            except UsageError:
                return None
    return None


def _target(start: Path, orbit: Path) -> Workspace:
    """Return the workspace that the records go to; one that is still to be made has the configuration it will have."""
    root = orbit.parent
    if orbit.name == ORBIT and (root == start or root in start.parents or not _inside_workspace(start)):
        if (orbit / "config.yaml").exists():
            return open_workspace(root)
        detected = detect_style(root)
        style: Literal["file", "log"] = "log" if detected.style == "log" else "file"
        return Workspace(root, Config(adr=AdrConfig(style, detected.folder, detected.folders)), load_kinds())
    try:
        return find_workspace(start)
    except ForeignWorkspaceError as error:
        raise UsageError(f"{error.message}; it has to be taken over first", hint="orbit import .") from None
    except WorkspaceNotFoundError:
        raise WorkspaceNotFoundError(
            f"{orbit} can only be copied into a workspace, and there is none here",
            hint="run `orbit init` first; or name the folder `.orbit` to convert it in place",
        ) from None


def _inside_workspace(start: Path) -> bool:
    try:
        find_workspace(start)
    except UsageError:
        return False
    return True


def _make_workspace(target: Workspace) -> tuple[str, ...]:
    """Write the configuration first: from then on a killed import is a workspace with records still to be taken."""
    config = target.orbit / "config.yaml"
    written = []
    if not config.exists():
        note = f"\n# The tool whose records were taken over here.\n{MARK}: orbit\n"
        write_atomic(config, config_text(detect_style(target.root)) + note)
        written.append(f"{ORBIT}/config.yaml")
    top = Git(target.root).top
    if top is None or top == target.root:
        report = setup_workspace(target.root, load_kinds())
        return (*written, *report.created, *report.changed)
    return (*written, *write_schemas(open_workspace(target.root)))


def _report(
    orbit: Path,
    workspace: Workspace,
    plan: OrbitPlan,
    layout: Layout,
    in_place: bool,
    dry_run: bool,
    written: tuple[str, ...] = (),
) -> TakeoverReport:
    outcomes = list(plan.outcomes)
    outcomes += (
        Outcome("changed", path, None, "written for this tool") for path in written if path != f"{ORBIT}/config.yaml"
    )
    return TakeoverReport("orbit", str(orbit), dry_run, tuple(outcomes), tuple(plan.notes))
