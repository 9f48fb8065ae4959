"""Gemini CLI: where its settings are, which of its events we ask for, and what it takes as an answer."""

from orbit_registry.agents.agent import PATH, ROOT, SESSION, SPECIFIC, TEXT, Agent, SettingsFile, nested
from orbit_registry.install.settings import Entries

TOOLS = (
    "read_file|read_many_files|write_file|replace|run_shell_command|glob|grep_search|search_file_content|"
    "list_directory|mcp_.*"
)
ANSWERED = {"SessionStart": "", "BeforeAgent": "", "AfterTool": TOOLS}
EVENTS = {**ANSWERED, "PreCompress": "manual", "AfterAgent": "", "SessionEnd": ""}
FORMAT = Entries(EVENTS, {"name": "orbit", "type": "command", "command": "", "timeout": 5000}, comments=True)
"""Its time limits are in milliseconds."""

AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    evidence="its 0.61.0 was run: what the hook says stands in the next request to its model, once",
    proven=True,
    settings={
        "user": SettingsFile("~/.gemini/settings.json", FORMAT),
        "project": SettingsFile(".gemini/settings.json", FORMAT),
    },
    project_folder="${GEMINI_PROJECT_DIR:-.}",
    environment={"GEMINI_PROJECT_DIR": ROOT, "CLAUDE_PROJECT_DIR": ROOT},
    payload={
        "session_id": SESSION,
        "transcript_path": "/tmp/session.json",
        "cwd": ROOT,
        "hook_event_name": "AfterTool",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "tool_name": "replace",
        "tool_input": {"file_path": PATH, "old_string": "before", "new_string": "after"},
        "tool_response": {"llmContent": "done", "returnDisplay": "done"},
    },
    event="AfterTool",
    replies=nested(ANSWERED, suppressOutput={"type": "boolean"}, systemMessage=TEXT),
    texts=(SPECIFIC,),
)
