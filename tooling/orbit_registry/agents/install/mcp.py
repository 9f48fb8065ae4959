"""Entry of our MCP server in the file in which an agent looks for servers."""

import json
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orbit_registry.agents.agent import ROOT, Agent, Scope, ServersFile, hook_agents, load_agent
from orbit_registry.agents.install.install import read_file, replace_text
from orbit_registry.agents.install.settings import JsonText
from orbit_registry.errors import OrbitError, RefusedError

NAME = "orbit"
COMMAND = ("orbit-registry", "mcp", "serve")
"""Has no path of this machine, so that the file can be committed."""
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
    file = state.agent.servers[state.scope]
    titles = []
    for name in server_agents():
        other = load_agent(name)
        if name != state.agent.name and other.servers.get(state.scope) == file:
            titles.append(other.title)

    return " and ".join(titles)


def install_server(
    root: Path, agent: Agent, scope: Scope | None = None, *, dry_run: bool = False
) -> ServerState:
    """Name our server in an agent's file; other bytes stay."""
    scope, file, path, text = read_file(root, agent, agent.servers, scope)
    if file.keys:
        new_text = _with_entry(text, file, root, str(path))
    else:
        new_text = _with_block(text, path)

    diff = replace_text(path, text, new_text, dry_run=dry_run)
    return ServerState(agent, scope, path, True, new_text != text, diff)


def uninstall_server(
    root: Path, agent: Agent, scope: Scope | None = None, *, dry_run: bool = False
) -> ServerState:
    """Remove our server from an agent's file; a file with only our server is removed."""
    scope, file, path, text = read_file(root, agent, agent.servers, scope)
    new_text = text
    if text is not None and file.keys:
        new_text = _without_entry(text, file, root, str(path))
    elif text is not None:
        new_text = _without_block(text)

    diff = replace_text(path, text, new_text, dry_run=dry_run)
    return ServerState(agent, scope, path, False, new_text != text, diff)


def other_files(root: Path, state: ServerState) -> list[str]:
    """Return what to say of the agent's other files that name our server."""
    lines = []
    for scope in state.agent.servers.keys() - {state.scope}:
        with suppress(OrbitError):  # of a file that can't be read
            other = uninstall_server(root, state.agent, scope, dry_run=True)
            if other.changed:
                command = f"orbit mcp uninstall {state.agent.name} --scope {scope}"
                lines.append(f"it is still in {other.path}: `{command}`")

    return sorted(lines)


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
    settings = JsonText(text, what, comments=file.comments)
    path = _entry_path(file, root)
    current = settings.get(path)
    if current is None or current.value != _entry(file):
        return text

    remaining = settings.without(path)
    if remaining is None:
        return None

    return remaining.text


def _entry_path(file: ServersFile, root: Path) -> tuple[str, ...]:
    return tuple(key.replace(ROOT, str(root)) for key in (*file.keys, NAME))


def _entry(file: ServersFile) -> dict[str, object]:
    if file.one_list:
        return {**file.more, "command": list(COMMAND)}
    return {**file.more, "command": COMMAND[0], "args": list(COMMAND[1:])}


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

    if text is None:
        return BLOCK
    return f"{text}\n{BLOCK}"


def _without_block(text: str) -> str | None:
    if f"\n{BLOCK}" in text:
        return text.replace(f"\n{BLOCK}", "", 1)
    if BLOCK in text:
        return text.replace(BLOCK, "", 1) or None
    return text
