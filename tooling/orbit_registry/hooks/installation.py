"""Puts our hook into an agent's settings file and takes it out again; which text that makes is `claude_settings`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.errors import RefusedError
from orbit_registry.hooks import claude_settings
from orbit_registry.push import reader
from orbit_registry.store.files import decode, inside, read_bytes, write_atomic
from orbit_registry.store.workspace import Workspace

AGENTS = ("claude",)
SCOPES = ("local", "project", "user")
LAUNCHER = ".orbit/hook.sh"
"""What a project's settings start: it finds each machine's own Python, so that it can be committed."""
LARGEST = 5_000_000


@dataclass(frozen=True, slots=True)
class HookState:
    """One settings file: whether it has our entries, whether they are today's, what was or would be done to it."""

    agent: str
    scope: str
    path: Path
    installed: bool
    current: bool
    changed: bool = False

    def as_data(self) -> dict[str, object]:
        """Return the state as JSON shows it."""
        return {
            "agent": self.agent,
            "scope": self.scope,
            "path": str(self.path),
            "installed": self.installed,
            "current": self.current,
            "changed": self.changed,
        }


def command_of(agent: str, scope: str = "local") -> str:
    """Return the shell command that an agent runs. Exit code 0 whatever is missing: 2 would stop the agent's tool."""
    words = shlex.join([sys.executable, "-I", "-S", "-E", str(Path(reader.__file__).with_name("launch.py")), agent])
    if scope == "project":
        words = f'sh "${{CLAUDE_PROJECT_DIR:-.}}/{LAUNCHER}" {agent}'
    return f"{words} 2>/dev/null || : {claude_settings.MARK}"


def settings_path(workspace: Workspace, scope: str) -> Path:
    """Return the settings file of a scope: `local` is the user's own in this project, `user` the user's everywhere,
    `project` the one that the project commits."""
    if scope == "user":
        return Path.home() / ".claude/settings.json"
    return workspace.root / (".claude/settings.json" if scope == "project" else ".claude/settings.local.json")


def status(workspace: Workspace, scopes: Sequence[str] = SCOPES) -> list[HookState]:
    """Return where our hook stands.

    Raises:
        RefusedError: a settings file is no settings.
        UnreadableFileError: one can't be read.
    """
    found = []
    for scope in scopes:
        path = settings_path(workspace, scope)
        text = _text(path)
        entries = claude_settings.installed(text, str(path)) if text is not None else {}
        current = claude_settings.is_current(entries, command_of("claude", scope))
        current = current and (scope != "project" or _text(workspace.root / LAUNCHER) == _launcher())
        found.append(HookState("claude", scope, path, bool(entries), current))
    return found


def install(workspace: Workspace, scope: str, *, dry_run: bool = False) -> HookState:
    """Put our entries into a settings file; entries of an earlier place or version are replaced, others are kept.

    Raises:
        RefusedError: the file is no settings; nothing was changed.
        UnreadableFileError: it can't be read.
        WriteError: the disk refused.
    """
    path = settings_path(workspace, scope)
    if status(workspace, [scope])[0].current:
        return HookState("claude", scope, path, True, True)
    wanted = claude_settings.with_entries(_text(path), command_of("claude", scope), str(path))
    if not dry_run:
        if scope == "project":
            write_atomic(inside(workspace.root, LAUNCHER), _launcher())
        write_atomic(path, wanted)
    return HookState("claude", scope, path, True, True, changed=True)


def uninstall(workspace: Workspace, scope: str, *, dry_run: bool = False) -> HookState:
    """Take our entries out of a settings file; a file that held nothing else is removed.

    Raises: as `install`.
    """
    path = settings_path(workspace, scope)
    text = _text(path)
    wanted = None if text is None else claude_settings.without_entries(text, str(path))
    launcher = inside(workspace.root, LAUNCHER)
    if scope == "project" and not dry_run and _text(launcher) == _launcher():
        launcher.unlink()
    if wanted != text and not dry_run:
        if wanted is None:
            path.unlink(missing_ok=True)
        else:
            write_atomic(path, wanted)
    return HookState("claude", scope, path, False, False, wanted != text)


def installed_command(workspace: Workspace, scope: str) -> str | None:
    """Return the command that the settings run before a tool; None where ours is not among them."""
    path = settings_path(workspace, scope)
    text = _text(path)
    entries = claude_settings.installed(text, str(path)).get("PreToolUse", []) if text is not None else []
    return entries[0][1] if entries else None


def _launcher() -> str:
    return Path(__file__).with_name("project_hook.sh").read_text("utf-8")


def _text(path: Path) -> str | None:
    """Return a settings file's text, line endings as they are; None where there is none."""
    if path.is_symlink():
        raise RefusedError(f"{path} is a symbolic link", hint="name the hook in the file it leads to by hand")
    return decode(read_bytes(path, limit=LARGEST), path) if path.exists() else None
