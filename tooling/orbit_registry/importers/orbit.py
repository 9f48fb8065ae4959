"""Takes over an `.orbit/` of danieljhkim/orbit: in place, or from another folder; reading it is `orbit_layout`'s.

In place each record moves to our layout as one recoverable step, and its old files go when the new ones are there.
What can't be read stays where it is; what is no record is left alone, or put aside where only records may stand.
Learnings of an older layout in a workspace of ours are brought into that of today once; decisions are left alone then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from orbit_registry.errors import ForeignWorkspaceError, UsageError, WorkspaceNotFoundError
from orbit_registry.importers.orbit_layout import OrbitLayout, find_orbit, read_layout
from orbit_registry.importers.orbit_plan import OrbitPlan, plan_import
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.adopt.adoption import in_steps
from orbit_registry.operations.import_report import Outcome, TakeoverReport
from orbit_registry.operations.init import (
    GITATTRIBUTES,
    GITIGNORE,
    SetupReport,
    add_lines,
    config_text,
    detect_style,
    schema_texts,
    setup_workspace,
    write_schemas,
)
from orbit_registry.repository.guard import refuse_for_agent, write_step
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import writing
from orbit_registry.workspace.author import acting_role
from orbit_registry.workspace.config import config_of
from orbit_registry.workspace.files import write_atomic
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.journal import FileChange, has_unfinished_steps
from orbit_registry.workspace.workspace import ORBIT, Workspace, find_workspace, open_workspace

MARK = "x-imported_from"
_STEP = 20_000_000
"""Characters of a step; only a collection larger than this takes more than one."""
_PERSON = "a person runs `orbit learning migrate-layout`; --dry-run shows what it does"
_COMMITTED = ("config.yaml", "schemas/", "baseline.yaml", "adrs/", "learnings/", "imported-from-orbit/")


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
            records = read_collection(open_workspace(done.parent)).records
            here = tuple(Outcome("present", record.path, record.id, "") for record in records)
            note = "nothing is left to take: its records were taken over before"
            return TakeoverReport("orbit", str(done), dry_run, here, (note,))
        layout = read_layout(orbit)
        target = target_of(start, orbit)
        in_place = target.root / ORBIT == orbit
        files = _workspace_files(target) if in_place else []
        if dry_run:
            plan = plan_import(target, layout, in_place=in_place, dry_run=True)
        else:
            plan = _apply(target, orbit, in_place=in_place)
        return TakeoverReport("orbit", str(orbit), dry_run, (*plan.outcomes, *files), tuple(plan.notes))


def _apply(target: Workspace, orbit: Path, *, in_place: bool) -> OrbitPlan:
    if acting_role() == "agent":  # before anything is written
        plan = plan_import(target, read_layout(orbit), in_place=in_place, dry_run=True)
        every = [change for group in plan.groups for change in group]
        refuse_for_agent(target, every, hint="a person runs `orbit import`; `--dry-run` shows what it takes")
    if in_place:
        make_workspace(target)
    workspace = open_workspace(target.root)
    with writing(workspace):
        plan = plan_import(workspace, read_layout(orbit), in_place=in_place, dry_run=False)
        for step in in_steps(_changes(plan), _STEP):
            write_step(workspace, "import", step, taken_over=True)
    return plan


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


def target_of(start: Path, orbit: Path) -> Workspace:
    """Return the workspace that the records go to; one that is still to be made has the configuration it will have."""
    root = orbit.parent
    if orbit.name == ORBIT and (root == start or root in start.parents or not _inside_workspace(start)):
        if (orbit / "config.yaml").exists():
            return open_workspace(root)
        return Workspace(root, replace(config_of({}), adr=detect_style(root)), load_kinds())
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


def make_workspace(target: Workspace) -> None:
    """Write the configuration first: from then on a killed import is a workspace with records still to be taken."""
    config = target.orbit / "config.yaml"
    if not config.exists():
        note = f"\n# The tool whose records were taken over here.\n{MARK}: orbit\n"
        write_atomic(config, config_text(detect_style(target.root)) + note)
    top = Git(target.root).top
    if top is None or top == target.root:
        setup_workspace(target.root, load_kinds())
    else:
        write_schemas(open_workspace(target.root))
    hidden = _hidden_from_git(target)
    if hidden:
        lines = tuple(f"!{ORBIT}/{name}" for name in hidden)
        add_lines(SetupReport(target.root), ".gitignore", lines, dry_run=False)


def _hidden_from_git(target: Workspace) -> list[str]:
    """Return what has to be in git and is ignored, because the other tool's rules leave out all but its own folders."""
    git = Git(target.root)
    return [name for name in _COMMITTED if git.ask("check-ignore", "--no-index", f"{ORBIT}/{name}") is not None]


def _workspace_files(target: Workspace) -> list[Outcome]:
    """Return the files that make a workspace and aren't there as they should be yet."""
    root, git = target.root, Git(target.root)
    texts = {f"{target.config.schemas}/{name}": text for name, text in schema_texts(target.kinds).items()}
    missing = [path for path, text in texts.items() if not _contains(root / path, text)]
    if not (target.orbit / "config.yaml").exists():
        missing.insert(0, f"{ORBIT}/config.yaml")
    if git.top == root:
        rules = {".gitignore": GITIGNORE, ".gitattributes": GITATTRIBUTES}
        missing += (path for path, lines in rules.items() if not all(_contains(root / path, line) for line in lines))
    outcomes = [Outcome("changed", path, None, "written for this tool") for path in missing]
    hidden = ", ".join(_hidden_from_git(target))
    if hidden:
        reason = f"git ignores {hidden} in {ORBIT}/, which have to be committed: lines that let them in are added"
        outcomes.append(Outcome("changed", ".gitignore", None, reason))
    return outcomes


def _contains(path: Path, text: str) -> bool:
    try:
        return text in path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


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
    if not dry_run and has_unfinished_steps(target):
        with writing(target, wait=0):  # a migration that was killed is finished or undone first
            pass
    if not _learnings(orbit).learnings:
        note = "nothing to migrate: every learning stands where it does today"
        return TakeoverReport("orbit", str(orbit), dry_run, (), (note,))
    plan = plan_import(target, _learnings(orbit), in_place=True, dry_run=True)
    if not dry_run:
        refuse_for_agent(target, _changes(plan), hint=_PERSON)
        plan = _move(target, orbit)
    return TakeoverReport(
        "orbit", str(orbit), dry_run, tuple(map(_migration_outcome, plan.outcomes)), tuple(plan.notes)
    )


def _move(target: Workspace, orbit: Path) -> OrbitPlan:
    if not (orbit / "config.yaml").exists():
        make_workspace(target)
    workspace = open_workspace(target.root)
    with writing(workspace, wait=0):
        plan = plan_import(workspace, _learnings(orbit), in_place=True, dry_run=False)
        for step in in_steps(_changes(plan), _STEP):
            write_step(workspace, "learning-migrate-layout", step, taken_over=True)
    return plan


def _changes(plan: OrbitPlan) -> list[FileChange]:
    return [change for group in plan.groups for change in group]


def _learnings(orbit: Path) -> OrbitLayout:
    """Return the learnings of an older layout, and what stands among them that is none."""
    layout = read_layout(orbit)
    strays = [name for name in layout.strays if name.startswith("learnings/")]
    return OrbitLayout(orbit, learnings=layout.learnings, strays=strays)


def _migration_outcome(outcome: Outcome) -> Outcome:
    """Return an outcome; a record that is there in both layouts is for a person to look at."""
    if outcome.what != "present":
        return outcome
    reason = f"{outcome.record} has its place already: compare the two, and delete this one"
    return replace(outcome, what="left", reason=reason)


def _root(start: Path) -> Path:
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / ORBIT).is_dir():
            return folder
        if (folder / ".git").exists():
            break
    raise WorkspaceNotFoundError(f"there is no {ORBIT}/ in {start} or above it", hint="run `orbit init` first")
