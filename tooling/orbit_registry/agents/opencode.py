"""OpenCode: settings; its plugin, `opencode_plugin.js`, sends the generic hook's payloads."""

from orbit_registry.agents.generic import SURFACES, read, reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from orbit_registry.agents.agent import Agent, Scope, ServersFile

__all__ = ["agent", "read", "reply"]


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents import agent as base

    plugin = base.CommandFile("opencode_plugin.js", "javascript")
    keys, more = ("mcp",), {"type": "local"}
    servers: Mapping[Scope, ServersFile] = {
        "user": base.ServersFile(
            "~/.config/opencode/opencode.json", keys, more, one_list=True, home="XDG_CONFIG_HOME"
        ),
        "project": base.ServersFile("opencode.json", keys, more, one_list=True),
    }
    payload = {
        "event": "tool-done",
        "session": base.SESSION,
        "cwd": base.ROOT,
        "tool": "edit",
        "input": {"filePath": base.PATH, "oldString": "before", "newString": "after"},
    }
    return base.Agent(
        name="opencode",
        title="OpenCode",
        evidence="tested with 1.18.33: its model gets each note once",
        proven=True,
        servers=servers,
        settings={
            "local": base.SettingsFile(".opencode/plugin/orbit.local.js", plugin),
            "project": base.SettingsFile(".opencode/plugin/orbit.js", plugin),
            "user": base.SettingsFile(
                "~/.config/opencode/plugin/orbit.js", plugin, "XDG_CONFIG_HOME"
            ),
        },
        payload=payload,
        event="tool-done",
        replies=base.flat(SURFACES, "context", message=base.TEXT),
        texts=(("context",),),
    )
