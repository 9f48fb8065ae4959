"""OpenCode: its plugin runs inside of it and asks the generic hook; it takes what the tool's result is extended by."""

from orbit_registry.agents.agent import PATH, ROOT, SESSION, TEXT, Agent, SettingsFile, flat
from orbit_registry.install.command_file import CommandFile, in_javascript, of_javascript

FORMAT = CommandFile("opencode_plugin.js", in_javascript, of_javascript)

AGENT = Agent(
    name="opencode",
    title="OpenCode",
    evidence="its 1.18.33 was run: what the hook says stands in the next request to its model, once",
    proven=True,
    settings={
        "local": SettingsFile(".opencode/plugin/orbit.local.js", FORMAT),
        "project": SettingsFile(".opencode/plugin/orbit.js", FORMAT),
        "user": SettingsFile("~/.config/opencode/plugin/orbit.js", FORMAT, "XDG_CONFIG_HOME"),
    },
    payload={
        "event": "tool-done",
        "session": SESSION,
        "cwd": ROOT,
        "tool": "edit",
        "input": {"filePath": PATH, "oldString": "before", "newString": "after"},
    },
    event="tool-done",
    replies=flat(
        ("tool", "tool-done", "tool-failed", "prompt", "session-start", "subagent-start"), "context", message=TEXT
    ),
    texts=(("context",),),
    after="Keep .opencode/plugin/orbit.local.js out of git: it names this machine's Python.",
)
