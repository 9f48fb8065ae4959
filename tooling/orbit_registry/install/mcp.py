"""Entry of our MCP server in the file in which an agent looks for servers."""

import json
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.agents.agent import ROOT, Agent, Scope, ServersFile, hook_agents, load_agent
from orbit_registry.errors import OrbitError, RefusedError
from orbit_registry.install.install import file_in_scope, file_text, replace_text, settings_path
from orbit_registry.install.settings import JsonText

NAME = "orbit"
COMMAND = (
    "orbit-registry",
    "mcp",
    "serve",
)  # without a path of this machine, so that the file can be committed
TABLE = f"[mcp_servers.{NAME}]"
BLOCK = f'{TABLE}\ncommand = "{COMMAND[0]}"\nargs = {json.dumps(list(COMMAND[1:]))}\n'


@dataclass(frozen=True, slots=True)
class ServerState:
    """The file of an agent, whether it names our server, and what was or would be changed."""

    agent: Agent
    scope: Scope
    path: Path
    installed: bool
    changed: bool
    diff: str

    def as_data(self) -> dict[str, object]:
        """Return the state as JSON shows it."""
        return {
            "agent": self.agent.name,
            "scope": self.scope,
            "path": str(self.path),
            "installed": self.installed,
            "changed": self.changed,
            "diff": self.diff,
        }


def server_agents() -> tuple[str, ...]:
    """Return the agents that start MCP servers."""
    return tuple(name for name in hook_agents() if load_agent(name).servers)


def sharing_agents(state: ServerState) -> str:
    """Return the titles of the other agents that read the same file of servers."""
    others = (load_agent(name) for name in server_agents() if name != state.agent.name)
    file = state.agent.servers[state.scope]
    return " and ".join(other.title for other in others if other.servers.get(state.scope) == file)


def install_server(
    root: Path, agent: Agent, scope: Scope | None = None, *, dry_run: bool = False
) -> ServerState:
    """Name our server in an agent's file; other bytes stay."""
    scope, file, path, text = _file(root, agent, scope)
    new_text = _with_entry(text, file, root, str(path)) if file.keys else _with_block(text, path)
    diff = replace_text(path, text, new_text, dry_run=dry_run)
    return ServerState(agent, scope, path, True, new_text != text, diff)


def uninstall_server(
    root: Path, agent: Agent, scope: Scope | None = None, *, dry_run: bool = False
) -> ServerState:
    """Remove our server from an agent's file; a file with only our server is removed."""
    scope, file, path, text = _file(root, agent, scope)
    new_text = text
    if text is not None:
        new_text = (
            _without_entry(text, file, root, str(path)) if file.keys else _without_block(text)
        )

    diff = replace_text(path, text, new_text, dry_run=dry_run)
    return ServerState(agent, scope, path, False, new_text != text, diff)


def other_files(root: Path, state: ServerState) -> list[str]:
    """Return what to say of the agent's other files that name our server."""
    lines = []
    for scope in state.agent.servers.keys() - {state.scope}:
        with suppress(OrbitError):  # of a file that can't be read
            if (other := uninstall_server(root, state.agent, scope, dry_run=True)).changed:
                command = f"orbit mcp uninstall {state.agent.name} --scope {scope}"
                lines.append(f"it is still in {other.path}: `{command}`")
    return sorted(lines)


def _file(
    root: Path, agent: Agent, scope: Scope | None
) -> tuple[Scope, ServersFile, Path, str | None]:
    scope, file = file_in_scope(agent, agent.servers, scope)
    path = settings_path(root, file)
    return scope, file, path, file_text(path)


def _with_entry(text: str | None, file: ServersFile, root: Path, what: str) -> str:
    path = _entry_path(file, root)
    if text is None:
        value: object = _entry(file)
        for key in reversed(path):
            value = {key: value}
        return json.dumps(value, indent=2) + "\n"

    settings = JsonText(text, what, comments=file.comments)
    current = settings.get(path)
    if current is None:
        return settings.with_item(path, _entry(file)).text

    if current.value != _entry(file):
        raise RefusedError(
            f"{what} has another server `{NAME}`", hint="rename it there; nothing was changed"
        )

    return text


def _without_entry(text: str, file: ServersFile, root: Path, what: str) -> str | None:
    settings, path = JsonText(text, what, comments=file.comments), _entry_path(file, root)
    current = settings.get(path)
    if current is None or current.value != _entry(file):
        return text
    remaining = settings.without(path)
    return None if remaining is None else remaining.text


def _entry_path(file: ServersFile, root: Path) -> list[str]:
    return [key.replace(ROOT, str(root)) for key in (*file.keys, NAME)]


def _entry(file: ServersFile) -> dict[str, object]:
    command = (
        {"command": list(COMMAND)}
        if file.one_list
        else {"command": COMMAND[0], "args": list(COMMAND[1:])}
    )
    return {**file.more, **command}


def _with_block(text: str | None, path: Path) -> str:
    try:
        servers = tomllib.loads(text or "").get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise RefusedError(
            f"{path}: no valid TOML: {error}", hint="correct it there; nothing was changed"
        ) from None

    if not isinstance(servers, dict) or NAME in servers:
        if text is not None and BLOCK in text:
            return text
        raise RefusedError(
            f"{path} has another server `{NAME}`", hint="rename it there; nothing was changed"
        )

    return BLOCK if text is None else f"{text}\n{BLOCK}"


def _without_block(text: str) -> str | None:
    if f"\n{BLOCK}" in text:
        return text.replace(f"\n{BLOCK}", "", 1)
    return text.replace(BLOCK, "", 1) or None if BLOCK in text else text
