"""Puts our hook into an agent's settings file and takes it out again; how entries stand in it is the format's work."""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from orbit_registry.agents.agent import SCOPES, Agent, Scope, SettingsFile, hook_agents, load_agent
from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.hook import index as reader
from orbit_registry.install.settings import MARK, format_of
from orbit_registry.workspace.files import decode, inside, read_bytes, write_atomic
from orbit_registry.workspace.workspace import user_home

LAUNCHER = ".orbit/hook.sh"
"""What a project's settings start: it finds each machine's own Python, so that it can be committed."""
EARLIER_LAUNCHER = "orbit_registry/push/launch.py"
"""What settings of version 0.1.0 start; it still starts the hook."""
LARGEST = 5_000_000


@dataclass(frozen=True, slots=True)
class HookState:
    """One settings file: whether it has our entries, whether they are today's, what was or would be done to it.

    `problem` says why it can't be told; `diff` is what was or would be changed, empty for nothing.
    """

    agent: Agent
    scope: Scope
    path: Path
    installed: bool
    current: bool
    changed: bool = False
    problem: str | None = None
    diff: str = ""

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
        }


def command_of(agent: Agent, scope: Scope, root: Path) -> str:
    """Return the shell command that an agent runs. Exit code 0 whatever is missing: 2 would stop the agent's tool.

    It stays the same for as long as Python and the package stay where they are: agents ask their user about a command
    that changed.
    """
    words = shlex.join(
        [sys.executable, "-I", "-S", "-E", str(Path(reader.__file__).with_name("launch.py")), agent.name]
    )
    if scope == "project" and agent.project_folder:
        words = f'sh "{agent.project_folder}/{LAUNCHER}" {agent.name}'
    elif scope == "project":
        # One shell for all of it, and a `sh` of its own: whose shell the agent uses is not known.
        above = 'd=$PWD; while [ -n "$d" ] && [ ! -e "$d/.git" ]; do d=${d%/*}; done'
        launcher = shlex.quote(_below_top(root) + LAUNCHER)
        words = "sh -c " + shlex.quote(f'{above}; set -- {agent.name}; . "${{d:-.}}"/{launcher}')
    return f"{words} 2>/dev/null || : {MARK}"


def settings_file(agent: Agent, scope: Scope | None) -> tuple[Scope, SettingsFile]:
    """Return the scope that is meant, the agent's own where none is named, and its settings file.

    Raises:
        RefusedError: the agent has no settings of this scope.
    """
    chosen = scope or agent.default_scope
    if chosen not in agent.settings:
        options = " or ".join(f"--scope {option}" for option in agent.settings)
        raise RefusedError(f"{agent.title} has no settings of scope {chosen}", hint=f"choose {options}")
    return chosen, agent.settings[chosen]


def settings_path(root: Path, file: SettingsFile) -> Path:
    """Return where a settings file is.

    Raises:
        UnsafePathError: a folder on the way to it in the project is a symbolic link.
    """
    if not file.path.startswith("~/"):
        return inside(root, file.path)
    first, *below = PurePosixPath(file.path).parts[1:]
    moved = os.environ.get(file.home, "") if file.home else ""
    return (Path(moved) if moved else user_home() / first).joinpath(*below)


def status(root: Path, names: Iterable[str] = ()) -> list[HookState]:
    """Return where our hook stands, in every settings file of some agents; one that can't be told is no exception."""
    states = []
    for name in names or hook_agents():
        agent = load_agent(name)
        for scope in sorted(agent.settings, key=SCOPES.index):
            try:
                states.append(state_of(root, agent, scope))
            except OrbitError as error:
                path = Path(agent.settings[scope].path)
                states.append(HookState(agent, scope, path, False, False, problem=str(error)))
    return states


def state_of(root: Path, agent: Agent, scope: Scope | None = None) -> HookState:
    """Return where our hook stands in one settings file.

    Raises:
        RefusedError: the file is no settings, or the agent has none of this scope.
        UnreadableFileError: it can't be read.
    """
    scope, file = settings_file(agent, scope)
    path = settings_path(root, file)
    text = _text(path)
    if text is None or not format_of(file).commands(text, str(path)):
        return HookState(agent, scope, path, False, False)
    current = format_of(file).is_current(text, command_of(agent, scope, root), str(path))
    current = current and (scope != "project" or _text(root / LAUNCHER) == launcher_text())
    return HookState(agent, scope, path, True, current)


def install(root: Path, agent: Agent, scope: Scope | None = None, *, dry_run: bool = False) -> HookState:
    """Put our entries into a settings file; entries of an earlier place or version are replaced, others are kept.

    Raises:
        RefusedError: the file is no settings, or the agent has none of this scope; nothing was changed.
        UnreadableFileError: it can't be read.
        WriteError: the disk refused.
    """
    state = state_of(root, agent, scope)
    if state.current:
        return state
    text = _text(state.path)
    file = agent.settings[state.scope]
    new_text = format_of(file).with_entries(text, command_of(agent, state.scope, root), str(state.path))
    if not dry_run:
        if state.scope == "project":
            write_atomic(inside(root, LAUNCHER), launcher_text())
        write_atomic(state.path, new_text)
    diff = _diff(state.path, text, new_text)
    return HookState(agent, state.scope, state.path, True, True, changed=True, diff=diff)


def uninstall(root: Path, agent: Agent, scope: Scope | None = None, *, dry_run: bool = False) -> HookState:
    """Take our entries out of a settings file; a file that held nothing else is removed, its folder too.

    The project's launcher goes with the last agent that starts it.

    Raises: as `install`.
    """
    scope, file = settings_file(agent, scope)
    path = settings_path(root, file)
    text = _text(path)
    new_text = None if text is None else format_of(file).without_entries(text, str(path))
    if new_text != text and not dry_run:
        if new_text is None:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # a folder that holds more stays
                path.parent.rmdir()
        else:
            write_atomic(path, new_text)
    launcher = inside(root, LAUNCHER)
    if scope == "project" and not dry_run and not _is_started(root) and _text(launcher) == launcher_text():
        launcher.unlink()
    diff = _diff(path, text, new_text)
    return HookState(agent, scope, path, False, False, changed=new_text != text, diff=diff)


def installed_command(root: Path, agent: Agent, scope: Scope | None = None) -> str | None:
    """Return the command that the settings name, to be run; None where ours is not among them.

    Whoever wrote the repository may have written its settings, with a command that ends as ours does, and what that
    command starts. So it is returned where it is what would be installed today, to the letter, and run nowhere else.

    Raises:
        RefusedError: it is another one, the file is no settings, or the agent has none of this scope.
        UnreadableFileError: it can't be read.
    """
    scope, file = settings_file(agent, scope)
    path = settings_path(root, file)
    text = _text(path)
    commands = format_of(file).commands(text, str(path)) if text is not None else []
    if commands and not state_of(root, agent, scope).current:
        hint = f"run `orbit hook install {agent.name} --scope {scope}`"
        scripts = [*commands, _text(root / LAUNCHER) or ""] if scope == "project" else commands
        if any(EARLIER_LAUNCHER in script for script in scripts):
            raise RefusedError(f"{path} has a hook of an earlier version, which starts push/launch.py", hint=hint)
        raise RefusedError(f"{path} has a hook that is not the one installed today, so it was not run", hint=hint)
    return commands[0] if commands else None


def _is_started(root: Path) -> bool:
    """Say whether an agent's project settings still start the launcher; a file that can't be read may."""
    return any(state.installed or state.problem for state in status(root) if state.scope == "project")


def _below_top(root: Path) -> str:
    """Return the way from the repository's top to the workspace with a slash at its end; empty where it is the top."""
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    return f"{root.relative_to(top).as_posix()}/" if top != root else ""


def _diff(path: Path, old: str | None, new: str | None) -> str:
    before, after = ((text or "").splitlines(keepends=True) for text in (old, new))
    old_name, new_name = ("/dev/null" if text is None else str(path) for text in (old, new))
    lines = difflib.unified_diff(before, after, old_name, new_name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def launcher_text() -> str:
    """Return the shell script that finds each machine's own Python, or is silent."""
    return Path(__file__).with_name("project_hook.sh").read_text("utf-8")


def _text(path: Path) -> str | None:
    """Return a settings file's text, line endings as they are; None where there is none."""
    if path.is_symlink():
        raise RefusedError(f"{path} is a symbolic link", hint="name the hook in the file it leads to by hand")
    return decode(read_bytes(path, limit=LARGEST), path) if path.exists() else None
