"""Codex CLI: where its settings are, which of its events we ask for, and what it takes as an answer."""

from orbit_registry.agents.agent import PATH, ROOT, SESSION, SPECIFIC, TEXT, Agent, SettingsFile, nested
from orbit_registry.install.settings import Entries

TOOLS = "Bash|apply_patch|mcp__.*"
ANSWERED = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": TOOLS,
    "PostToolUse": TOOLS,
    "SubagentStart": "",
}
EVENTS = {**ANSWERED, "Stop": "", "SessionEnd": ""}
FORMAT = Entries(EVENTS, {"type": "command", "command": "", "timeout": 3})
"""The end of a session gets no more than three seconds, and a longer limit a warning at each start."""

AGENT = Agent(
    name="codex",
    title="Codex CLI",
    evidence="its 0.169.0 was run: what the hook says stands in the next request to its model, once",
    proven=True,
    settings={
        "user": SettingsFile("~/.codex/hooks.json", FORMAT, "CODEX_HOME"),
        "project": SettingsFile(".codex/hooks.json", FORMAT),
    },
    payload={
        "session_id": SESSION,
        "turn_id": "1",
        "transcript_path": None,
        "cwd": ROOT,
        "model": "gpt-5",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "apply_patch",
        "tool_input": {"command": f"*** Begin Patch\n*** Update File: {PATH}\n@@\n-before\n+after\n*** End Patch\n"},
        "tool_use_id": "call_01",
    },
    event="PreToolUse",
    replies=nested(ANSWERED, systemMessage=TEXT),
    texts=(SPECIFIC,),
    after="Codex runs no hook before you trust it: start it, choose to review the hooks, and allow this one.",
)
