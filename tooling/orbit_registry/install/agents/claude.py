"""Claude Code: where its settings are, which of its events we ask for, and what it takes as an answer."""

from orbit_registry.agents.agent import PATH, ROOT, SESSION, SPECIFIC, TEXT, Agent, SettingsFile, nested
from orbit_registry.install.settings import Entries

TOOLS = "Read|Edit|Write|MultiEdit|NotebookEdit|Bash|Glob|Grep|mcp__.*"
ANSWERED = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": TOOLS,
    "PostToolUseFailure": TOOLS,
    "SubagentStart": "",
}
LOADS = "session_start|path_glob_match|compact"
"""Why a file of instructions may have been loaded that is one of our rule files."""
EVENTS = {**ANSWERED, "InstructionsLoaded": LOADS, "Stop": "", "SessionEnd": ""}
FORMAT = Entries(EVENTS, {"type": "command", "command": "", "timeout": 5})

AGENT = Agent(
    name="claude",
    title="Claude Code",
    evidence="its 2.1.197 was run: what the hook says stands in the next request to its model, once",
    proven=True,
    settings={
        "local": SettingsFile(".claude/settings.local.json", FORMAT),
        "project": SettingsFile(".claude/settings.json", FORMAT),
        "user": SettingsFile("~/.claude/settings.json", FORMAT, "CLAUDE_CONFIG_DIR"),
    },
    project_folder="${CLAUDE_PROJECT_DIR:-.}",
    environment={"CLAUDE_PROJECT_DIR": ROOT},
    payload={
        "session_id": SESSION,
        "transcript_path": "/tmp/transcript.jsonl",
        "cwd": ROOT,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": PATH, "old_string": "before", "new_string": "after", "replace_all": False},
        "tool_use_id": "toolu_01",
    },
    event="PreToolUse",
    replies=nested((*ANSWERED, "Stop"), suppressOutput={"type": "boolean"}, systemMessage=TEXT),
    texts=(SPECIFIC,),
)
