"""Installation of the hook in an agent's settings file, its state and its removal."""

import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from orbit_registry import hook
from orbit_registry.agents.agent import (
    SCOPES,
    Agent,
    Scope,
    ServersFile,
    SettingsFile,
    hook_agents,
    load_agent,
)
from orbit_registry.agents.install.settings import MARK, format_of
from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.formats.diff import hunks_of
from orbit_registry.workspace.files import decode, inside, read_bytes, write_atomic
from orbit_registry.workspace.git import Git, ignore_pattern
from orbit_registry.workspace.workspace import user_home, work_tree

LAUNCHER = ".orbit/hook.sh"
"""Script that a project's settings start; it finds each machine's Python,
so it can be committed.
"""
IGNORED = "# orbit hook: for you alone"
"""The comment above a line that an installation adds to `.gitignore`."""
LARGEST = 64_000_000  # bytes: agents keep the history of their sessions in such files
File = TypeVar("File", SettingsFile, ServersFile)


@dataclass(frozen=True, slots=True)
class HookState:
    """State of one settings file, and what was or would be changed,
    in it and in the `launcher` `.orbit/hook.sh`.
    """

    agent: Agent
    scope: Scope
    path: Path
    installed: bool = False
    current: bool = False
    changed: bool = False
    launcher: bool = False
    problem: str | None = None
    diff: str = ""
    off: str = ""  # the member of the file that switches all hooks of the agent off

    def as_data(self) -> dict[str, object]:
        """Return the state as JSON shows it."""
        return {
            "agent": self.agent.name,
            "scope": self.scope,
            "path": str(self.path),
            "installed": self.installed,
            "current": self.current,
            "proven": self.agent.proven,
            "evidence": self.agent.evidence,
            "changed": self.changed,
            "problem": self.problem,
            "diff": self.diff,
            "off": self.off,
        }


def command_of(agent: Agent, scope: Scope, root: Path) -> str:
    """Return the shell command of the hook, stable across upgrades;
    it exits with 0, because 2 stops the tool.
    """
    script = Path(hook.__file__).with_name("launch.py")
    words = shlex.join([sys.executable, "-I", "-S", "-E", str(script), agent.name])
    if scope == "project" and agent.project_folder:
        words = f'sh "{agent.project_folder}/{LAUNCHER}" {agent.name}'
    elif scope == "project":
        # Run all of it in `sh`: the agent's shell is unknown.
        above = 'd=$PWD; while [ -n "$d" ] && [ ! -e "$d/.git" ]; do d=${d%/*}; done'
        launcher = shlex.quote(_below_top(root) + LAUNCHER)
        words = "sh -c " + shlex.quote(f'{above}; set -- {agent.name}; . "${{d:-.}}"/{launcher}')

    return f"{words} 2>/dev/null || : {MARK}"


def file_in_scope(
    agent: Agent, files: Mapping[Scope, File], scope: Scope | None
) -> tuple[Scope, File]:
    """Return one of an agent's files: that of the scope, else the default."""
    chosen = next(iter(files)) if scope is None else scope
    if chosen not in files:
        options = " or ".join(f"--scope {option}" for option in files)
        raise RefusedError(
            f"{agent.title} has no settings of scope {chosen}", hint=f"choose {options}"
        )

    return chosen, files[chosen]


def reach(agent: Agent, files: Collection[Scope], scope: Scope) -> str:
    """Return what to say of a file for all projects: how to choose a narrower one."""
    if scope != "user":
        return ""

    narrower, reason = "local", ""
    if "local" not in files:
        narrower = "project"
        reason = f"{agent.title} has no settings for you alone in one project: "

    return (
        f"{reason}it acts in all your projects that have .orbit/; `--scope {narrower}`: in "
        f"this one alone"
    )


def settings_path(root: Path, file: SettingsFile | ServersFile) -> Path:
    """Return the path of a settings file."""
    if not file.path.startswith("~/"):
        return inside(root, file.path)
    first, *below = PurePosixPath(file.path).parts[1:]
    moved = os.environ.get(file.home, "") if file.home else ""
    if moved:
        return Path(moved).joinpath(*(below or [first]))

    return user_home().joinpath(first, *below)


def status(root: Path, names: Iterable[str] = ()) -> list[HookState]:
    """Return the state of every settings file of some agents, or of all;
    errors become `problem`.
    """
    states = []
    for name in names or hook_agents():
        agent = load_agent(name)
        for scope in sorted(agent.settings, key=SCOPES.index):
            try:
                states.append(state_of(root, agent, scope))
            except OrbitError as error:
                path = Path(agent.settings[scope].path)
                states.append(HookState(agent, scope, path, problem=str(error)))

    return states


def read_file(
    root: Path, agent: Agent, files: Mapping[Scope, File], scope: Scope | None
) -> tuple[Scope, File, Path, str | None]:
    """Return one of an agent's files, as `file_in_scope`, with its path and its text."""
    scope, file = file_in_scope(agent, files, scope)
    path = settings_path(root, file)
    return scope, file, path, file_text(path)


def state_of(root: Path, agent: Agent, scope: Scope | None = None) -> HookState:
    """Return the state of one settings file."""
    scope, file, path, text = read_file(root, agent, agent.settings, scope)
    settings = format_of(file)
    off = settings.switched_off(text, str(path)) if text is not None else ""
    if text is None or not settings.commands(text, str(path)):
        return HookState(agent, scope, path, off=off)

    current = settings.is_current(text, command_of(agent, scope, root), str(path))
    if current and scope == "project":
        current = file_text(root / LAUNCHER) == launcher_text()

    return HookState(agent, scope, path, True, current, off=off)


def install(
    root: Path, agent: Agent, scope: Scope | None = None, *, dry_run: bool = False
) -> HookState:
    """Put our entries into a settings file, in place of those of an earlier version."""
    state = state_of(root, agent, scope)
    if state.current:
        return state

    text = file_text(state.path)
    command = command_of(agent, state.scope, root)
    settings = format_of(agent.settings[state.scope])
    new_text = settings.with_entries(text, command, str(state.path))

    launcher = state.scope == "project" and file_text(inside(root, LAUNCHER)) != launcher_text()

    if launcher and not dry_run:
        write_atomic(inside(root, LAUNCHER), launcher_text())

    diff = replace_text(state.path, text, new_text, dry_run=dry_run)
    return HookState(
        agent, state.scope, state.path, True, True, changed=True, launcher=launcher, diff=diff
    )


def uninstall(
    root: Path, agent: Agent, scope: Scope | None = None, *, dry_run: bool = False
) -> HookState:
    """Remove our entries from a settings file;
    an empty file goes, and the launcher with its last user.
    """
    scope, file, path, text = read_file(root, agent, agent.settings, scope)
    new_text = None
    if text is not None:
        new_text = format_of(file).without_entries(text, str(path))

    diff = replace_text(path, text, new_text, dry_run=dry_run)

    launcher = inside(root, LAUNCHER)
    is_last = (
        scope == "project"
        and not _is_started(root, but=path)
        and file_text(launcher) == launcher_text()
    )
    if is_last and not dry_run:
        launcher.unlink()

    is_changed = new_text != text
    return HookState(agent, scope, path, changed=is_changed, launcher=is_last, diff=diff)


def found_agents(root: Path) -> list[str]:
    """Return the agents in use here: their folder is in the project or in the user's home."""
    return [
        name
        for name in hook_agents()
        if any(map(Path.is_dir, _agent_folders(root, load_agent(name))))
    ]


def _agent_folders(root: Path, agent: Agent) -> Iterator[Path]:
    for file in agent.settings.values():
        parts = PurePosixPath(file.path.removeprefix("~/")).parts
        if parts[0] == ".orbit":
            continue

        levels = 3 if parts[0] in (".config", ".github") else 2  # which many programs share
        yield settings_path(root, file).parents[len(parts) - levels]


def installed_command(root: Path, agent: Agent, scope: Scope | None = None) -> str | None:
    """Return the installed command; only today's to the letter:
    a repository may bring one that looks like it.
    """
    scope, file, path, text = read_file(root, agent, agent.settings, scope)
    commands = format_of(file).commands(text, str(path)) if text is not None else []
    if not commands:
        return None

    if not state_of(root, agent, scope).current:
        hint = f"run `orbit hook install {agent.name} --scope {scope}`"
        raise RefusedError(
            f"{path} has a hook that is not the one installed today, so it was not run", hint=hint
        )

    return commands[0]


def _is_started(root: Path, but: Path) -> bool:
    """Say whether project settings in another file than `but` start the launcher;
    an unreadable file may.
    """
    states = (state for state in status(root) if state.scope == "project" and state.path != but)
    return any(state.installed or state.problem for state in states)


def _below_top(root: Path) -> str:
    top = work_tree(root)
    if top == root:
        return ""
    return f"{root.relative_to(top).as_posix()}/"


def replace_text(path: Path, old: str | None, new: str | None, *, dry_run: bool) -> str:
    """Write a new text of a file, if it differs, and return the difference; None means no file."""
    if new != old and not dry_run:
        write_or_remove(path, new)

    hunks = hunks_of(old or "", new or "")
    old_name, new_name = ("/dev/null" if text is None else str(path) for text in (old, new))
    if hunks:
        return f"--- {old_name}\n+++ {new_name}\n{hunks}"

    return ""


def write_or_remove(path: Path, text: str | None) -> None:
    """Write a settings file; None removes it, and the folders that are then empty."""
    if text is not None:
        write_atomic(path, text)
        return

    path.unlink(missing_ok=True)
    with suppress(OSError):  # a folder that holds more stays, and those around it
        for folder in path.parents:
            if folder == Path.home():
                break

            folder.rmdir()


def stop_ignoring(root: Path, path: Path, *, dry_run: bool = False) -> list[str]:
    """Remove the line that an installation added to `.gitignore`, and say so."""
    top = Git(root).top
    if top is None or not path.is_relative_to(top):
        return []

    text = file_text(top / ".gitignore")
    if text is None:
        return []

    line = ignore_pattern(path.relative_to(top).as_posix())
    ours = rf"^{re.escape(IGNORED)}\r?\n{re.escape(line)}\r?\n"
    without = re.sub(ours, "", text, count=1, flags=re.MULTILINE)
    if without == text:
        return []

    if dry_run:
        return [f"would be removed from .gitignore: {line}"]

    write_or_remove(top / ".gitignore", without or None)
    return [f"removed from .gitignore: {line}"]


def launcher_text() -> str:
    """Return the shell script that finds each machine's own Python."""
    return Path(__file__).with_name("project_hook.sh").read_text("utf-8")


def file_text(path: Path) -> str | None:
    """Return a settings file's text with its line endings; None if there is no file.

    A home folder of another user, as in some containers, has none.
    """
    if os.path.islink(path):  # noqa: PTH114
        raise RefusedError(
            f"{path} is a symbolic link", hint="make the change by hand in the file it leads to"
        )
    if not os.path.exists(path):  # noqa: PTH110
        return None

    return decode(read_bytes(path, limit=LARGEST), path)
