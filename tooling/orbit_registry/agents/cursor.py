"""Cursor: payloads and replies of its hooks, and settings.

A reply holds context alone: `permission`, which Cursor takes too, is for the person to give.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.payload import call_from_payload, to_json
from orbit_registry.model.reach import SESSION, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from orbit_registry.agents.agent import Agent
    from orbit_registry.hook.call import Payload

SURFACES = {
    "preToolUse": TOOL,
    "postToolUse": TOOL,
    "postToolUseFailure": TOOL,
    "sessionStart": SESSION,
    "subagentStart": SESSION,
}
"""Events that take context.

Earlier versions drop the reply to a prompt, so a record would count as shown that was not.
"""
LOGGED = {
    "stop": "stop",
    "subagentStop": "subagent stop",
    "sessionEnd": "session end",
    "preCompact": "compaction",
}


def read(payload: "Payload") -> Call | None:
    """Return the call of a payload; None for an event that we don't handle."""
    roots = payload.get("workspace_roots", payload.get("workspaceRoots"))
    if not field(payload, "cwd") and isinstance(roots, list):
        root = next((root for root in roots if isinstance(root, str)), "")
        payload = {**payload, "cwd": root}

    call = call_from_payload(payload, SURFACES, LOGGED)
    if call is None:
        return None

    call.session = field(payload, "conversation_id", "conversationId") or call.session
    if call.event == "postToolUseFailure":
        call.error = field(payload, "error_message", "errorMessage", "error")
    elif call.event == "subagentStart":
        call.agent = field(payload, "subagent_type", "subagentType", "agent_type")
        call.agent_id = field(payload, "subagent_id", "subagentId", "agent_id")
        if not call.agent_id:
            call.session = ""  # it has seen nothing of what its parent was shown

    call.context_was_compacted = call.event == "preCompact"
    return call


def reply(call: Call, text: str) -> str:
    """Return the reply with a text for the agent."""
    if text:
        return to_json({"additional_context": text}) + "\n"

    return ""


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents.agent import (
        PATH,
        ROOT,
        SESSION,
        Agent,
        JsonHooks,
        ServersFile,
        SettingsFile,
        flat,
    )

    tools = "Shell|Read|Write|Edit|Delete|Grep|Glob|MCP:.*"
    answered = {
        "sessionStart": "",
        "preToolUse": tools,
        "postToolUseFailure": tools,
        "subagentStart": "",
    }
    events = {**answered, "preCompact": "", "stop": ""}
    handler = {"command": "", "timeout": 5}
    hooks = JsonHooks(events, handler, grouped=False, head={"version": 1})
    payload = {
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
    }
    return Agent(
        name="cursor",
        title="Cursor",
        evidence=(
            "checked against the messages of its SDK 1.0.32, its settings against what others "
            "wrote of them, not run"
        ),
        servers={
            "user": ServersFile("~/.cursor/mcp.json"),
            "project": ServersFile(".cursor/mcp.json"),
        },
        settings={
            "user": SettingsFile("~/.cursor/hooks.json", hooks),
            "project": SettingsFile(".cursor/hooks.json", hooks),
        },
        project_folder="${CURSOR_PROJECT_DIR:-.}",
        environment={"CURSOR_PROJECT_DIR": ROOT, "CURSOR_VERSION": "2.0.0"},
        payload=payload,
        event="preToolUse",
        replies=flat(answered, "additional_context"),
        texts=(("additional_context",),),
    )
