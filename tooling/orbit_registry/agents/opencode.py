"""OpenCode: settings; its plugin, `opencode_plugin.js`, sends the generic hook's payloads."""

from orbit_registry.agents.generic import SURFACES, read, reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.agents.agent import Agent

__all__ = ["agent", "read", "reply"]


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents.agent import (
        PATH,
        ROOT,
        SESSION,
        TEXT,
        Agent,
        CommandFile,
        ServersFile,
        SettingsFile,
        flat,
    )

    plugin = CommandFile("opencode_plugin.js", "javascript")
    return Agent(
        name="opencode",
        title="OpenCode",
        evidence="its 1.18.33 was run: the hook's text is in the next request to its model, once",
        proven=True,
        servers=ServersFile("opencode.json", "mcp", one_list=True),
        settings={
            "local": SettingsFile(".opencode/plugin/orbit.local.js", plugin),
            "project": SettingsFile(".opencode/plugin/orbit.js", plugin),
            "user": SettingsFile("~/.config/opencode/plugin/orbit.js", plugin, "XDG_CONFIG_HOME"),
        },
        payload={
            "event": "tool-done",
            "session": SESSION,
            "cwd": ROOT,
            "tool": "edit",
            "input": {"filePath": PATH, "oldString": "before", "newString": "after"},
        },
        event="tool-done",
        replies=flat(SURFACES, "context", message=TEXT),
        texts=(("context",),),
        after="Keep .opencode/plugin/orbit.local.js out of git: it names this machine's Python.",
    )
