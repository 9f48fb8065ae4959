"""Entry of our MCP server in the file in which an agent looks for servers."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orbit_registry.agents.agent import Agent, ServersFile, hook_agents, load_agent
from orbit_registry.errors import RefusedError
from orbit_registry.install.install import file_text, settings_path, text_diff, write_or_remove
from orbit_registry.install.settings import (
    appended,
    container,
    is_first_on_a_line,
    json_text,
    parse,
    removed,
    without_comments,
)
from orbit_registry.workspace.files import write_atomic

NAME = "orbit"
COMMAND = ("orbit-registry", "mcp", "serve")  # without a path of this machine, so that the file can be committed
TABLE = f"[mcp_servers.{NAME}]"
BLOCK = f'{TABLE}\ncommand = "{COMMAND[0]}"\nargs = {json.dumps(list(COMMAND[1:]))}\n'


@dataclass(frozen=True, slots=True)
class ServerState:
    """The file of an agent, whether it names our server, and what was or would be changed."""

    agent: Agent
    path: Path
    installed: bool
    changed: bool
    diff: str

    def as_data(self) -> dict[str, object]:
        """Return the state as JSON shows it."""
        return {
            "agent": self.agent.name, "path": str(self.path), "installed": self.installed, "changed": self.changed,
            "diff": self.diff,
        }  # fmt: skip


def server_agents() -> tuple[str, ...]:
    """Return the agents that start MCP servers."""
    return tuple(name for name in hook_agents() if load_agent(name).servers is not None)


def sharing_agents(agent: Agent) -> str:
    """Return the titles of the other agents that read the same file of servers."""
    others = (load_agent(name) for name in server_agents() if name != agent.name)
    return " and ".join(other.title for other in others if other.servers == agent.servers)


def install_server(root: Path, agent: Agent, *, dry_run: bool = False) -> ServerState:
    """Name our server in an agent's file; other bytes stay."""
    file, path, text = _file(root, agent)
    new_text = _with_block(text, path) if file.key == "" else _with_entry(text, file, str(path))
    if new_text != text and not dry_run:
        write_atomic(path, new_text)
    return ServerState(agent, path, True, new_text != text, text_diff(path, text, new_text))


def uninstall_server(root: Path, agent: Agent, *, dry_run: bool = False) -> ServerState:
    """Remove our server from an agent's file; a file with only our server is removed."""
    file, path, text = _file(root, agent)
    new_text = text
    if text is not None:
        new_text = _without_block(text) if file.key == "" else _without_entry(text, file, str(path))
    if new_text != text and not dry_run:
        write_or_remove(path, new_text)
    return ServerState(agent, path, False, new_text != text, text_diff(path, text, new_text))


def _file(root: Path, agent: Agent) -> tuple[ServersFile, Path, str | None]:
    file = agent.servers
    if file is None:
        raise RefusedError(f"{agent.title} starts no MCP servers", hint=f"agents: {', '.join(server_agents())}")
    path = settings_path(root, file)
    return file, path, file_text(path)


def _with_entry(text: str | None, file: ServersFile, what: str) -> str:
    if text is None:
        return json.dumps({file.key: {NAME: _entry(file)}}, indent=2) + "\n"
    data = _data(text, file, what)
    if NAME in data.get(file.key, {}):
        if data[file.key][NAME] != _entry(file):
            raise RefusedError(f"{what} has another server `{NAME}`", hint="rename it there; nothing was changed")
        return text
    top = container(_plain(text, file))
    member = top.get(file.key)
    if member is None:
        return appended(text, top, f'"{file.key}": {json_text({NAME: _entry(file)}, 1)}')
    servers = container(_plain(text, file), member.value_start)
    return appended(text, servers, f'"{NAME}": {json_text(_entry(file), 2)}')


def _without_entry(text: str, file: ServersFile, what: str) -> str | None:
    if _data(text, file, what).get(file.key, {}).get(NAME) != _entry(file):
        return text
    plain = _plain(text, file)
    top = container(plain)
    member = top.get(file.key)
    servers = container(plain, member.value_start) if member else top
    item = servers.get(NAME)
    if member is None or item is None:
        return text
    if len(servers.items) > 1 or not is_first_on_a_line(plain, servers):
        return removed(text, servers, item, plain)
    return None if len(top.items) == 1 and is_first_on_a_line(plain, top) else removed(text, top, member, plain)


def _entry(file: ServersFile) -> dict[str, object]:
    if file.one_list:
        return {"type": "local", "command": list(COMMAND)}
    return {"command": COMMAND[0], "args": list(COMMAND[1:])}


def _data(text: str, file: ServersFile, what: str) -> Mapping[str, Any]:
    data = parse(_plain(text, file), what)
    if not isinstance(data, dict) or not isinstance(data.get(file.key, {}), dict):
        raise RefusedError(f"{what} has no object `{file.key}`", hint="correct it there; nothing was changed")
    return data


def _plain(text: str, file: ServersFile) -> str:
    return without_comments(text) if file.comments else text


def _with_block(text: str | None, path: Path) -> str:
    try:
        servers = tomllib.loads(text or "").get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise RefusedError(f"{path}: no valid TOML: {error}", hint="correct it there; nothing was changed") from None
    if not isinstance(servers, dict) or NAME in servers:
        if text is not None and BLOCK in text:
            return text
        raise RefusedError(f"{path} has another server `{NAME}`", hint="rename it there; nothing was changed")
    return f"{text}\n{BLOCK}" if text else BLOCK


def _without_block(text: str) -> str | None:
    return text.replace(f"\n{BLOCK}", "", 1) if f"\n{BLOCK}" in text else text.replace(BLOCK, "", 1) or None
