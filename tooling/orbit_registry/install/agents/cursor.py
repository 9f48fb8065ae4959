"""Cursor: where its settings are, which of its events we ask for, and what it takes as an answer."""

from orbit_registry.agents.agent import PATH, ROOT, SESSION, Agent, SettingsFile, flat
from orbit_registry.install.settings import Entries

TOOLS = "Shell|Read|Write|Edit|Delete|Grep|Glob|MCP:.*"
ANSWERED = {"sessionStart": "", "preToolUse": TOOLS, "postToolUseFailure": TOOLS, "subagentStart": ""}
EVENTS = {**ANSWERED, "preCompact": "", "stop": ""}
FORMAT = Entries(EVENTS, {"command": "", "timeout": 5}, grouped=False, head={"version": 1})

AGENT = Agent(
    name="cursor",
    title="Cursor",
    evidence="checked against the messages of its SDK 1.0.32, its settings against what others wrote of them, not run",
    settings={
        "user": SettingsFile("~/.cursor/hooks.json", FORMAT),
        "project": SettingsFile(".cursor/hooks.json", FORMAT),
    },
    project_folder="${CURSOR_PROJECT_DIR:-.}",
    environment={"CURSOR_PROJECT_DIR": ROOT, "CURSOR_VERSION": "2.0.0"},
    payload={
        "conversation_id": SESSION,
        "generation_id": "1",
        "model": "default",
        "hook_event_name": "preToolUse",
        "cursor_version": "2.0.0",
        "workspace_roots": [ROOT],
        "cwd": ROOT,
        "tool_name": "Write",
        "tool_input": {"file_path": PATH, "content": "after"},
        "tool_use_id": "tool_01",
    },
    event="preToolUse",
    replies=flat(ANSWERED, "additional_context"),
    texts=(("additional_context",),),
)
