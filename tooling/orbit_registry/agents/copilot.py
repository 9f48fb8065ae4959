"""GitHub Copilot: payloads and replies of its hooks, settings, and the CLI's transcripts.

A transcript is `session-state/<session>/events.jsonl`, with an event a line.

Events in camel case have no name, so their fields tell it; those in Pascal case have one, in snake
case. Before a tool runs, for a prompt and after a failed tool no context is taken from a hook that
succeeds, so none of them is answered: a record would count as shown that was not.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.payload import context_reply, parse_embedded, take_tool, to_json
from orbit_registry.model.reach import SESSION, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from orbit_registry.agents.agent import Agent, Row, Scope, ServersFile, TranscriptEntry
    from orbit_registry.hook.call import Payload

SURFACES = {"postToolUse": TOOL, "sessionStart": SESSION, "subagentStart": SESSION}
LOGGED = {
    "agentStop": "stop",
    "stop": "stop",
    "subagentStop": "subagent stop",
    "sessionEnd": "session end",
    "preCompact": "compaction",
}
ARGUMENTS = ("toolArgs", "tool_input", "toolInput")


def read(payload: "Payload") -> Call | None:
    """Return the call of a payload; None for an event that we don't handle."""
    event_name = field(payload, "hook_event_name", "hookEventName")
    event = event_name[:1].lower() + event_name[1:]
    if not event:
        event = _event_of_fields(payload)

    surface = SURFACES.get(event, "")
    if not surface and event not in LOGGED:
        return None

    call = Call(event_name or event, surface)
    call.session = field(payload, "sessionId", "session_id")
    call.folder = field(payload, "cwd")

    if surface == TOOL:
        arguments = next((payload[name] for name in ARGUMENTS if name in payload), None)
        take_tool(call, field(payload, "toolName", "tool_name"), parse_embedded(arguments))
    elif event == "subagentStart":
        call.agent = field(payload, "agentName", "agent_name", "agent_type")
        call.agent_id = field(payload, "agentId", "agent_id")
        if not call.agent_id:
            call.session = ""  # it has seen nothing of what its parent was shown
    elif event in LOGGED:
        call.log_only_event = LOGGED[event]
        call.context_was_compacted = event == "preCompact"

    return call


def _event_of_fields(payload: "Payload") -> str:
    if "toolName" in payload:
        if "toolResult" in payload:
            return "postToolUse"

        return ""
    if "source" in payload:
        return "sessionStart"
    if "trigger" in payload:
        return "preCompact"
    if "agentName" in payload:
        if "stopReason" in payload:
            return "subagentStop"

        return "subagentStart"
    if "stopReason" in payload:
        return "agentStop"

    if "reason" in payload:
        return "sessionEnd"

    return ""


def reply(call: Call, text: str) -> str:
    """Return the reply with a text for the agent, in the form of the payload."""
    if not text:
        return ""
    if call.event in SURFACES:
        return to_json({"additionalContext": text}) + "\n"

    return to_json(context_reply(call, text)) + "\n"


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents import agent as base

    answered = {"sessionStart": "", "postToolUse": "", "subagentStart": ""}
    # Without matchers: it leaves out an entry whose matcher it can't read, and tools' names differ
    # by version.
    events = {**answered, "preCompact": "", "agentStop": ""}
    handler = {"type": "command", "bash": "", "timeoutSec": 5}
    inline = base.JsonHooks(events, handler, "bash", grouped=False)
    own_file = base.JsonHooks(events, handler, "bash", grouped=False, head={"version": 1})

    servers: Mapping[Scope, ServersFile] = {
        "user": base.ServersFile(
            "~/.copilot/mcp-config.json",
            more={"type": "local", "tools": ["*"]},
            home="COPILOT_HOME",
        ),
        "project": base.ServersFile(".mcp.json"),
    }
    payload = {
        "sessionId": base.SESSION,
        "timestamp": 1767225600000,
        "cwd": base.ROOT,
        "toolName": "edit",
        "toolArgs": {"path": base.PATH, "old_str": "before", "new_str": "after"},
        "toolResult": {"resultType": "success", "textResultForLlm": "done"},
    }
    # In Pascal case an editor asks, and is answered.
    in_editor = [event[0].upper() + event[1:] for event in answered]
    replies = {**base.flat(answered, "additionalContext"), **base.nested(in_editor)}

    return base.Agent(
        name="copilot",
        title="GitHub Copilot",
        evidence="tested with 1.0.102: its model gets each note once",
        proven=True,
        servers=servers,
        settings={
            "local": base.SettingsFile(".github/copilot/settings.local.json", inline),
            "project": base.SettingsFile(".github/hooks/orbit.json", own_file),
            "user": base.SettingsFile("~/.copilot/hooks/orbit.json", own_file, "COPILOT_HOME"),
        },
        payload=payload,
        event="postToolUse",
        replies=replies,
        texts=(("additionalContext",), base.SPECIFIC),
        after=(
            "Copilot runs the hooks of a project only if you trust its folder: start it there "
            "once, and say so."
        ),
    )


MOST_SESSIONS = 200
_OF_PERSONS = ("", "user", "human")
_EXIT = "<exited with exit code "


def sessions(root: "Path") -> "list[Path]":
    """Return the transcripts of sessions started at a project's root, the newest first."""
    import json

    from orbit_registry.agents.agent import first_line, newest_first

    folder = json.dumps(str(root)).encode()
    paths = newest_first(_sessions().glob("*/events.jsonl"))
    return [path for path in paths[:MOST_SESSIONS] if folder in first_line(path)]


def is_transcript(path: "Path") -> bool:
    """Say whether a file is a transcript, by its name."""
    return path.name == "events.jsonl" and path.is_relative_to(_sessions())


def subagents(path: "Path") -> "list[Path]":
    """Return nothing: the events of a session's subagents are among its own."""
    return []


def entries(row: "Row") -> "Iterator[TranscriptEntry]":
    """Yield the entries of a line, which is one event."""
    from orbit_registry.agents.agent import TranscriptEntry, clipped

    kind, data = row.get("type"), row.get("data")
    if not isinstance(data, dict):
        return

    call = str(data.get("toolCallId"))
    content = data.get("content")
    text = clipped(content) if isinstance(content, str) else ""
    if kind in ("session.start", "session.resume"):
        context = data.get("context")
        folder = context.get("cwd") if isinstance(context, dict) else None
        yield TranscriptEntry("session", field(data, "sessionId"), arguments={"cwd": folder})
    elif kind == "user.message" and text:
        is_agents = "agentId" in row or "parentToolCallId" in data
        is_persons = not is_agents and field(data, "source") in _OF_PERSONS
        yield TranscriptEntry("prompt" if is_persons else "injected", text)
    elif kind == "assistant.message" and text:
        yield TranscriptEntry("answer", text)
    elif kind == "tool.execution_start":
        arguments = parse_embedded(data.get("arguments"))
        yield TranscriptEntry("call", call=call, tool=field(data, "toolName"), arguments=arguments)
    elif kind == "tool.execution_complete":
        text = clipped(_result_of(data))
        failed = data.get("success") is not True or _has_failed(text)
        yield TranscriptEntry("result", text, call=call, failed=failed)
    elif kind in ("abort", "session.snapshot_rewind"):
        yield TranscriptEntry("stopped")


def _result_of(data: "Row") -> str:
    """Return what a tool answered, or the error that it ended with."""
    for name in ("result", "error"):
        value = data.get(name)
        if isinstance(value, dict):
            return field(value, "content", "message")
        if isinstance(value, str):
            return value

    return ""


def _has_failed(text: str) -> bool:
    """Say whether a command ended with another exit code than 0; the last line has it."""
    _, mark, code = text.rpartition(_EXIT)
    return bool(mark) and code.rstrip().rstrip(">").strip() != "0"


def _sessions() -> "Path":
    from orbit_registry.agents.agent import agent_home

    return agent_home("COPILOT_HOME", ".copilot") / "session-state"
