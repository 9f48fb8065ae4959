"""Brings learnings of an older layout into that of today, in place, once; decisions are left to `orbit import`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orbit_registry.errors import WorkspaceNotFoundError
from orbit_registry.importers.orbit import make_workspace, target_of
from orbit_registry.importers.orbit_layout import Layout, read_layout
from orbit_registry.importers.orbit_plan import OrbitPlan, plan_import
from orbit_registry.store.adopt.adoption import in_steps
from orbit_registry.store.authority import refuse_for_agent, write_step
from orbit_registry.store.journal import Change, begun
from orbit_registry.store.outcome import Outcome, TakeoverReport
from orbit_registry.store.workspace import ORBIT, Workspace, open_workspace
from orbit_registry.store.writer import writing

_STEP = 20_000_000
"""Characters of a step; only a collection larger than this takes more than one."""
_PERSON = "a person runs `orbit learning migrate-layout`; --dry-run shows what it does"


def migrate_layout(start: Path, *, dry_run: bool = False) -> TakeoverReport:
    """Move every learning of an older layout to its place of today; old ids stay as legacy ids. A second call is none.

    Raises:
        WorkspaceNotFoundError: there is no `.orbit/` here or above.
        LockTimeoutError: another process is writing; it is named, and not waited for.
        RefusedError: an agent would change what is in force.
    """
    root = _root(start)
    orbit = root / ORBIT
    target = target_of(root, orbit)
    if not dry_run and begun(target):
        with writing(target, wait=0):  # a migration that was killed is finished or undone first
            pass
    if not _learnings(orbit).learnings:
        note = "nothing to migrate: every learning stands where it does today"
        return TakeoverReport("orbit", str(orbit), dry_run, (), (note,))
    plan = plan_import(target, _learnings(orbit), in_place=True, dry_run=True)
    if not dry_run:
        refuse_for_agent(target, _changes(plan), hint=_PERSON)
        plan = _move(target, orbit)
    return TakeoverReport("orbit", str(orbit), dry_run, tuple(map(_said, plan.outcomes)), tuple(plan.notes))


def _move(target: Workspace, orbit: Path) -> OrbitPlan:
    if not (orbit / "config.yaml").exists():
        make_workspace(target)
    workspace = open_workspace(target.root)
    with writing(workspace, wait=0):
        plan = plan_import(workspace, _learnings(orbit), in_place=True, dry_run=False)
        for step in in_steps(_changes(plan), _STEP):
            write_step(workspace, "learning-migrate-layout", step, taken_over=True)
    return plan


def _changes(plan: OrbitPlan) -> list[Change]:
    return [change for group in plan.groups for change in group]


def _learnings(orbit: Path) -> Layout:
    """Return the learnings of an older layout, and what stands among them that is none."""
    layout = read_layout(orbit)
    strays = [name for name in layout.strays if name.startswith("learnings/")]
    return Layout(orbit, learnings=layout.learnings, strays=strays)


def _said(outcome: Outcome) -> Outcome:
    """Return an outcome; a record that is there in both layouts is for a person to look at."""
    if outcome.what != "present":
        return outcome
    why = f"{outcome.record} has its place already: compare the two, and delete this one"
    return replace(outcome, what="left", reason=why)


def _root(start: Path) -> Path:
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / ORBIT).is_dir():
            return folder
        if (folder / ".git").exists():
            break
    raise WorkspaceNotFoundError(f"there is no {ORBIT}/ in {start} or above it", hint="run `orbit init` first")
