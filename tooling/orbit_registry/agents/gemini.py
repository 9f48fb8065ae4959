"""Gemini CLI: payloads and replies of its hooks, settings, and transcripts.

A transcript is `tmp/<project>/chats/session-….jsonl`.

Before a tool runs it takes no context, so a call is answered after it. It escapes `<` and `>` for
its model, so the block begins and ends with words in brackets.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.payload import call_from_payload, context_reply, to_json
from orbit_registry.hook.render import END, START
from orbit_registry.model.reach import PROMPT, SESSION, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orbit_registry.agents.agent import Agent, EntryKind, Row, TranscriptEntry
    from orbit_registry.hook.call import Payload

SURFACES = {"AfterTool": TOOL, "BeforeAgent": PROMPT, "SessionStart": SESSION}
LOGGED = {"AfterAgent": "stop", "SessionEnd": "session end", "PreCompress": "compaction"}
BEGIN, FINISH = "[project notes]", "[end of project notes]"


def read(payload: "Payload") -> Call | None:
    """Return the call of a payload; None for an event that we don't handle."""
    call = call_from_payload(payload, SURFACES, LOGGED)
    if call is None:
        return None

    if call.surface == TOOL:
        response = payload.get("tool_response", payload.get("toolResponse"))
        error = response.get("error") if isinstance(response, dict) else None
        if isinstance(error, dict):
            call.error = field(error, "message")
        elif error:
            call.error = str(error)
    elif call.event == "PreCompress":
        # Before each request it says "auto", whether it then compresses or not; only "manual"
        # always does.
        call.context_was_compacted = field(payload, "trigger") == "manual"

    return call


def reply(call: Call, text: str) -> str:
    """Return the reply with a text for the agent and the call's message for the person."""
    for mark in (BEGIN, FINISH):  # what a record says can't end the block
        text = text.replace(mark, f"({mark[1:-1]})")

    text = text.replace(START, BEGIN).replace(END, FINISH)
    return to_json({"suppressOutput": True, **context_reply(call, text)}) + "\n"


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents import agent as base

    tools = (
        "read_file|read_many_files|write_file|replace|run_shell_command|glob|grep_search"
        "|search_file_content|list_directory|mcp_.*"
    )
    answered = {"SessionStart": "", "BeforeAgent": "", "AfterTool": tools}
    events = {**answered, "PreCompress": "manual", "AfterAgent": "", "SessionEnd": ""}
    handler = {"name": "orbit", "type": "command", "command": "", "timeout": 5000}  # milliseconds
    off = (("hooksConfig", "enabled"), False)
    hooks = base.JsonHooks(events, handler, comments=True, off=off)
    payload = {
        "session_id": base.SESSION,
        "transcript_path": "/tmp/session.json",
        "cwd": base.ROOT,
        "hook_event_name": "AfterTool",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "tool_name": "replace",
        "tool_input": {"file_path": base.PATH, "old_string": "before", "new_string": "after"},
        "tool_response": {"llmContent": "done", "returnDisplay": "done"},
    }
    environment = {"GEMINI_PROJECT_DIR": base.ROOT, "CLAUDE_PROJECT_DIR": base.ROOT}
    replies = base.nested(answered, suppressOutput={"type": "boolean"}, systemMessage=base.TEXT)

    return base.Agent(
        name="gemini",
        title="Gemini CLI",
        evidence="tested with 0.61.0: its model gets each note once",
        proven=True,
        servers={
            "user": base.ServersFile("~/.gemini/settings.json", comments=True),
            "project": base.ServersFile(".gemini/settings.json", comments=True),
        },
        settings={
            "user": base.SettingsFile("~/.gemini/settings.json", hooks),
            "project": base.SettingsFile(".gemini/settings.json", hooks),
        },
        project_folder="${GEMINI_PROJECT_DIR:-.}",
        environment=environment,
        payload=payload,
        event="AfterTool",
        replies=replies,
        texts=(base.SPECIFIC,),
    )


def sessions(root: "Path") -> "list[Path]":
    """Return the transcripts of sessions started at a project's root, the newest first."""
    import hashlib
    import os
    from pathlib import Path

    from orbit_registry.agents.agent import agent_home, newest_first

    moved = os.environ.get("GEMINI_CLI_HOME", "")
    home = Path(moved) / ".gemini" if moved else agent_home("", ".gemini")

    paths: list[Path] = []
    for name in {hashlib.sha256(str(root).encode()).hexdigest(), root.name}:
        paths += (home / "tmp" / name / "chats").glob("session-*.json*")

    return newest_first(paths)


def is_transcript(path: "Path") -> bool:
    """Say whether a file is a transcript, by its name and folder."""
    return path.parent.name == "chats" or path.name.startswith("session-")


def subagents(path: "Path") -> "list[Path]":
    """Return the transcripts of a session's subagents, in a folder of its name."""
    return sorted(path.with_suffix("").glob("*.jsonl"))


def entries(row: "Row") -> "Iterator[TranscriptEntry]":
    """Yield the entries of a line: the session, one message, or a rewind.

    An older file is one line of all messages.
    """
    from orbit_registry.agents.agent import TranscriptEntry

    if isinstance(row.get("sessionId"), str):
        arguments = {"cwd": row.get("projectRoot")}
        yield TranscriptEntry("session", row["sessionId"], arguments=arguments)

    if "$rewindTo" in row:
        yield TranscriptEntry("stopped")

    messages = row.get("messages")
    if not isinstance(messages, list):
        messages = [row]

    for message in messages:
        if isinstance(message, dict):
            yield from _message_entries(message)


def _message_entries(message: "Row") -> "Iterator[TranscriptEntry]":
    from orbit_registry.agents.agent import TranscriptEntry, clipped, texts_of

    if message.get("type") not in ("user", "gemini"):
        return

    kind: EntryKind = "prompt" if message["type"] == "user" else "answer"
    for text in texts_of(message.get("content")):
        yield TranscriptEntry(kind, clipped(text))

    calls = message.get("toolCalls")
    if not isinstance(calls, list):
        return

    for call in calls:
        if not isinstance(call, dict):
            continue

        call_id, tool = str(call.get("id")), str(call.get("name"))
        yield TranscriptEntry("call", call=call_id, tool=tool, arguments=call.get("args"))

        status = call.get("status")
        if status == "cancelled":
            yield TranscriptEntry("stopped")
        if status in ("error", "cancelled", "success"):
            text = clipped("\n".join(_result_texts(call.get("result"))))
            failed = status != "success" or "\nExit Code: " in text.replace("\nExit Code: 0", "")
            yield TranscriptEntry("result", text, call=call_id, failed=failed)


def _result_texts(value: object) -> "Iterator[str]":
    """Yield the texts of a tool's result: parts that are texts, or responses of functions."""
    from orbit_registry.agents.agent import texts_of

    parts = value if isinstance(value, list) else [value]
    for part in parts:
        function = part.get("functionResponse") if isinstance(part, dict) else None
        response = function.get("response") if isinstance(function, dict) else None
        if isinstance(response, dict):
            yield from texts_of(response.get("output", response.get("error")))
        else:
            yield from texts_of([part])
