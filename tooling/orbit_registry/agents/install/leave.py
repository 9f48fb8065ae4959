"""`orbit leave`: takes back what Orbit wrote outside `.orbit/`, step by step, and that folder if
asked to.

It removes only text that Orbit wrote, letter by letter. All other bytes of a file stay.
"""

import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from orbit_registry.agents.agent import SCOPES, load_agent
from orbit_registry.agents.install import mcp
from orbit_registry.agents.install.install import (
    file_text,
    status,
    stop_ignoring,
    uninstall,
    write_or_remove,
)
from orbit_registry.errors import OrbitError, plural
from orbit_registry.exchange.exporters import plugin, rules
from orbit_registry.hook.project import index_file
from orbit_registry.operations.init import DRIVER, GITATTRIBUTES, GITIGNORE, log_attributes
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.skills import MARK
from orbit_registry.workspace import trusted_commands
from orbit_registry.workspace.files import inside
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import ORBIT, Workspace

_NAMED_IN = (
    "mkdocs.yml",
    ".pre-commit-config.yaml",
    ".gitlab-ci.yml",
    ".github/workflows/*.y*ml",
    ".forgejo/workflows/*.y*ml",
    ".gitea/workflows/*.y*ml",
)
"""Files of one's own that may call Orbit: a person removes that by hand."""
_NAME = re.compile(r"(?m)^[^#\n]*\borbit(?:-registry)?\b")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that Orbit wrote, where it is, and what removes it."""

    what: str
    path: str
    take: Callable[[], object]

    def text(self) -> str:
        """Return the step as a person reads it."""
        if self.path:
            return f"{self.what} ({self.path})"

        return self.what


@dataclass(frozen=True, slots=True)
class Leaving:
    """What was removed, or would be; what stays, and why; and what could not be done."""

    steps: tuple[Step, ...]
    stays: tuple[str, ...]
    problems: tuple[str, ...]
    dry_run: bool

    def as_data(self) -> dict[str, object]:
        """Return it as JSON shows it."""
        return {
            "removed": [{"what": step.what, "path": step.path} for step in self.steps],
            "stays": list(self.stays),
            "problems": list(self.problems),
            "dry_run": self.dry_run,
        }

    def result_text(self) -> str:
        """Return one line for each step, for what stays, and for each problem."""
        verb = "would be removed" if self.dry_run else "removed"
        lines = [f"{verb}: {step.text()}" for step in self.steps]
        lines += [f"not removed: {problem}" for problem in self.problems]
        lines += [f"stays: {text}" for text in self.stays]
        return "\n".join(lines)


def leave(workspace: Workspace, *, records: bool = False, dry_run: bool = False) -> Leaving:
    """Remove what Orbit wrote here; `records` removes `.orbit/` too.

    A file that can't be read or changed stays, and its step is a problem.
    """
    planned = _Plan(workspace)
    planned.hooks()
    planned.servers()
    planned.rule_files()
    planned.skills()
    planned.settings_of_git()
    planned.own_files(records=records)

    done: list[Step] = []
    problems = planned.problems
    for step in planned.steps:
        try:
            if not dry_run:
                step.take()
        except (OrbitError, OSError) as error:
            problems.append(f"{step.text()}: {error}")
            continue
        done.append(step)

    stays = [*planned.stays, *_names_orbit(workspace.root)]
    return Leaving(tuple(done), tuple(stays), tuple(problems), dry_run)


class _Plan:
    """The steps in their order; what can't be read is a problem, and the next step follows."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.root = workspace.root
        self.steps: list[Step] = []
        self.stays: list[str] = []
        self.problems: list[str] = []

    def add(self, what: str, path: Path | str, take: Callable[[], object]) -> None:
        shown = path
        if isinstance(path, Path):
            is_inside = path.is_relative_to(self.root)
            shown = path.relative_to(self.root).as_posix() if is_inside else path

        self.steps.append(Step(what, str(shown), take))

    def hooks(self) -> None:
        for state in status(self.root):
            if state.problem is not None:
                self.problems.append(f"{state.path}: {state.problem}")
            elif state.installed and state.scope == "user":
                command = f"orbit hook uninstall {state.agent.name} --scope user"
                self.stays.append(f"{state.path} has the hook for all your projects: `{command}`")
            elif state.installed:
                take = partial(uninstall, self.root, state.agent, state.scope)
                self.add(f"the hook of {state.agent.title}", state.path, take)
                if state.scope == "local":
                    self._line_for(state.path)

    def _line_for(self, path: Path) -> None:
        """Plan to remove the line that keeps a settings file out of git."""
        top = Git(self.root).top
        if top is not None and stop_ignoring(self.root, path, dry_run=True):
            take = partial(stop_ignoring, self.root, path)
            self.add(f"the line for {path.name}", top / ".gitignore", take)

    def servers(self) -> None:
        seen: set[Path] = set()
        for name in mcp.server_agents():
            agent = load_agent(name)
            for scope in sorted(agent.servers, key=SCOPES.index):
                try:
                    state = mcp.uninstall_server(self.root, agent, scope, dry_run=True)
                except OrbitError as error:
                    self.problems.append(str(error))
                    continue

                if not state.changed or state.path in seen:
                    continue

                seen.add(state.path)
                if scope == "user":
                    command = f"orbit mcp uninstall {name} --scope user"
                    self.stays.append(f"{state.path} has the server for all projects: `{command}`")
                    continue

                take = partial(mcp.uninstall_server, self.root, agent, scope)
                self.add(f"the MCP server of {agent.title}", state.path, take)

    def rule_files(self) -> None:
        for exporter in rules.exporters().values():
            try:
                export = exporter.plan(self.workspace, ())
            except OrbitError as error:
                self.problems.append(str(error))
                continue

            for change in export.changes:
                what = "the rules" if change.content is not None else "the rule file"
                take = partial(self._apply, change, export.own_folder)
                self.add(what, change.path, take)

    def _apply(self, change: rules.Change, own_folder: str) -> None:
        rules.apply_changes(self.root, [change])
        if not own_folder:
            return

        folder = inside(self.root, own_folder)
        ignore = folder / rules.IGNORE
        if [*folder.iterdir()] == [ignore] and file_text(ignore) == rules.IGNORED:
            ignore.unlink()
        _remove_if_empty(folder)

    def skills(self) -> None:
        for agent, folder in plugin.FOLDERS.items():
            for name in plugin.skill_files():
                path = inside(self.root, f"{folder}/{name}")
                with suppress(OrbitError):
                    if MARK in (file_text(path) or ""):
                        self.add(f"the skill for {agent}", path, partial(_remove_page, path))

    def settings_of_git(self) -> None:
        git = Git(self.root)
        if git.ask("config", "--local", f"merge.{DRIVER}.driver"):
            section = f"merge.{DRIVER}"
            take = partial(git.run, "config", "--local", "--remove-section", section)
            self.add("a merge driver in this clone's git settings", section, take)

    def own_files(self, *, records: bool) -> None:
        if trusted_commands.allowed(self.workspace):
            revoke = partial(trusted_commands.revoke, self.workspace)
            self.add("what `orbit trust` allowed here", "", revoke)

        lines = log_attributes(self.workspace.config.adr)
        if records:
            lines += GITATTRIBUTES
            self._lines_of(".gitignore", GITIGNORE)
        self._lines_of(".gitattributes", lines)

        index = Path(index_file(str(self.root)))
        if records and index.parent.exists():
            take = partial(_remove_entries, index.parent, "*")
            self.add("the hook's index, caches and taken numbers", index.parent, take)
        elif index.exists():
            names = f"{index.name.partition('.')[0]}.*"
            self.add("the hook's index", index, partial(_remove_entries, index.parent, names))

        orbit = self.root / ORBIT
        counted = plural(len(Reading(self.workspace).entries), "record")
        if not records:
            self.stays.append(f"{ORBIT}/ with {counted}: `orbit leave --records` removes it")
        elif orbit.is_symlink():
            self.problems.append(f"{ORBIT}/ is a symbolic link: remove it by hand")
        else:
            self.add(counted, f"{ORBIT}/", partial(shutil.rmtree, orbit))

        if (self.root / self.workspace.config.adr.folder).is_dir():
            self.stays.append(f"your documents in {self.workspace.config.adr.folder}/")

    def _lines_of(self, name: str, lines: Collection[str]) -> None:
        top = Git(self.root).top
        try:
            text = file_text(top / name) if top is not None else None
        except OrbitError as error:
            self.problems.append(str(error))
            return

        if top is not None and text is not None and _without_lines(text, lines) != text:
            take = partial(_remove_lines, top / name, lines)
            self.add("the lines for Orbit", top / name, take)


def _without_lines(text: str, lines: Collection[str]) -> str:
    remaining = [line for line in text.splitlines(keepends=True) if line.rstrip() not in lines]
    return "".join(remaining)


def _remove_lines(path: Path, lines: Collection[str]) -> None:
    # An earlier step may have changed the file.
    write_or_remove(path, _without_lines(file_text(path) or "", lines) or None)


def _remove_page(path: Path) -> None:
    path.unlink()
    _remove_if_empty(path.parent)
    _remove_if_empty(path.parent.parent)


def _remove_entries(folder: Path, names: str) -> None:
    for entry in folder.glob(names):
        if entry.name == "below":  # the indexes of projects in folders below this one
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()

    _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # a folder that holds more stays
        folder.rmdir()


def _names_orbit(root: Path) -> Iterator[str]:
    for pattern in _NAMED_IN:
        for path in sorted(root.glob(pattern)):
            with suppress(OrbitError):
                if _NAME.search(file_text(path) or ""):
                    name = path.relative_to(root).as_posix()
                    yield f"{name} names Orbit: remove that by hand"
