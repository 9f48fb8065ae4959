"""Claude Code: payloads and replies of its hooks, settings, and transcripts.

A transcript is `projects/<folder>/<session>.jsonl`. A reply adds context. It never holds a decision
about a permission, nor another input for the tool.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.payload import call_from_payload, context_reply, to_json
from orbit_registry.model.reach import PROMPT, SESSION, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from orbit_registry.agents.agent import (
        Agent,
        Row,
        Scope,
        ServersFile,
        TranscriptEntry,
        Usage,
    )
    from orbit_registry.hook.call import Payload

SURFACES = {
    "PreToolUse": TOOL,
    "PostToolUse": TOOL,
    "PostToolUseFailure": TOOL,
    "UserPromptSubmit": PROMPT,
    "SessionStart": SESSION,
    "SubagentStart": SESSION,
}
LOGGED = {
    "Stop": "stop",
    "SubagentStop": "subagent stop",
    "SessionEnd": "session end",
    "PreCompact": "compaction",
    "PostCompact": "compacted",
    "InstructionsLoaded": "loaded",
}


def read(payload: "Payload") -> Call | None:
    """Return the call of a payload; None for an event that we don't handle."""
    if _is_of_another_agent(payload):
        return None

    call = call_from_payload(payload, SURFACES, LOGGED)
    if call is None:
        return None

    if call.event == "PostToolUseFailure":
        call.error = field(payload, "error")
    elif call.event == "InstructionsLoaded":
        call.instruction_file = field(payload, "file_path", "filePath")
    elif call.event == "PreCompact":
        call.context_was_compacted = True

    call.is_stop = call.event == "Stop" and payload.get("stop_hook_active") is False
    return call


def _is_of_another_agent(payload: "Payload") -> bool:
    """Say whether an agent that reads these settings too sent a payload.

    It has its own hook and may not show the reply, so a record would count as shown that was not.
    """
    if "conversation_id" in payload:
        return True
    return "timestamp" in payload and "permission_mode" not in payload


def reply(call: Call, text: str) -> str:
    """Return the reply with a text for the agent and the call's message for the person."""
    return to_json({**context_reply(call, text), "suppressOutput": True}) + "\n"


def hook_events() -> dict[str, str]:
    """Return the events that the hook is installed for, each with its matcher."""
    tools = "Read|Edit|Write|MultiEdit|NotebookEdit|Bash|Glob|Grep|mcp__.*"
    return {
        "SessionStart": "",
        "UserPromptSubmit": "",
        "PreToolUse": tools,
        "PostToolUseFailure": tools,
        "SubagentStart": "",
        # Why our rule file may have been loaded.
        "InstructionsLoaded": "session_start|path_glob_match|compact",
        "Stop": "",
        "SessionEnd": "",
    }


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents import agent as base

    answered = (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUseFailure",
        "SubagentStart",
        "Stop",
    )
    handler = {"type": "command", "command": "", "timeout": 5}
    hooks = base.JsonHooks(hook_events(), handler, off=(("disableAllHooks",), True))
    home = "CLAUDE_CONFIG_DIR"
    of_project = ("projects", base.ROOT, "mcpServers")
    servers: Mapping[Scope, ServersFile] = {
        "local": base.ServersFile("~/.claude.json", of_project, home=home),
        "project": base.ServersFile(".mcp.json"),
        "user": base.ServersFile("~/.claude.json", home=home),
    }
    payload = {
        "session_id": base.SESSION,
        "transcript_path": "/tmp/transcript.jsonl",
        "cwd": base.ROOT,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {
            "file_path": base.PATH,
            "old_string": "before",
            "new_string": "after",
            "replace_all": False,
        },
        "tool_use_id": "toolu_01",
    }
    replies = base.nested(answered, suppressOutput={"type": "boolean"}, systemMessage=base.TEXT)
    return base.Agent(
        name="claude",
        title="Claude Code",
        evidence="tested with 2.1.197: its model gets each note once",
        proven=True,
        settings={
            "local": base.SettingsFile(".claude/settings.local.json", hooks),
            "project": base.SettingsFile(".claude/settings.json", hooks),
            "user": base.SettingsFile("~/.claude/settings.json", hooks, home),
        },
        servers=servers,
        project_folder="${CLAUDE_PROJECT_DIR:-.}",
        environment={"CLAUDE_PROJECT_DIR": base.ROOT},
        payload=payload,
        event="PreToolUse",
        replies=replies,
        texts=(base.SPECIFIC,),
    )


def transcript(root: "Path", session: str, agent: str = "") -> "Path | None":
    """Return the transcript of a session of a project, or of one of its subagents."""
    import os

    from orbit_registry.agents.agent import folder_name

    name = f"{session}/subagents/agent-{agent}.jsonl" if agent else f"{session}.jsonl"
    projects = _projects()
    slug = folder_name(root)

    try:
        names = sorted(
            entry.name for entry in os.scandir(projects) if entry.is_dir(follow_symlinks=False)
        )
    except OSError:
        return None

    # A session may have been started in a folder of the project.
    for folder in names:
        path = projects / folder / name
        if (folder == slug or folder.startswith(f"{slug}-")) and path.is_file():
            return path

    return None


def sessions(root: "Path") -> "list[Path]":
    """Return the transcripts of sessions started at a project's root, the newest first."""
    from orbit_registry.agents.agent import folder_name, newest_first

    # Not of its folders: `a/b` and the neighbour `a-b` have the same name there.
    return newest_first((_projects() / folder_name(root)).glob("*.jsonl"))


def is_transcript(path: "Path") -> bool:
    """Say whether a file is a transcript, by its name and folder."""
    return path.suffix == ".jsonl" and path.is_relative_to(_projects().parent)


def subagents(path: "Path") -> "list[Path]":
    """Return the transcripts of a session's subagents."""
    return sorted((path.with_suffix("") / "subagents").glob("agent-*.jsonl"))


def injected_texts(row: "Row") -> "Iterator[str]":
    """Yield the texts that hooks added, from a line of a transcript."""
    from orbit_registry.agents.agent import texts_of

    attachment = row.get("attachment")
    if isinstance(attachment, dict) and attachment.get("type") == "hook_additional_context":
        yield from texts_of(attachment.get("content"))


def entries(row: "Row") -> "Iterator[TranscriptEntry]":
    """Yield the entries of a line."""
    from orbit_registry.agents.agent import TranscriptEntry, clipped, texts_of

    if isinstance(row.get("sessionId"), str) and row.get("parentUuid") is None:
        yield TranscriptEntry("session", row["sessionId"], arguments={"cwd": row.get("cwd")})

    for text in injected_texts(row):
        yield TranscriptEntry("injected", text)

    kind, message = row.get("type"), row.get("message")
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return

    parts = message.get("content")
    if isinstance(parts, str):
        parts = [{"type": "text", "text": parts}]
    if not isinstance(parts, list):
        return

    for part in parts:
        if not isinstance(part, dict):
            continue

        if part.get("type") == "text" and isinstance(part.get("text"), str):
            yield _message(row, kind, clipped(part["text"]))
        elif part.get("type") == "tool_use":
            yield _call(row, part)
        elif part.get("type") == "tool_result":
            text = clipped("\n".join(texts_of(part.get("content"))))
            failed = part.get("is_error") is True
            yield TranscriptEntry("result", text, call=str(part.get("tool_use_id")), failed=failed)
            if text.startswith("The user doesn't want to "):
                yield TranscriptEntry("stopped")


def usage(row: "Row") -> "Iterator[Usage]":
    """Yield the tokens of the answer that a line is a part of."""
    from orbit_registry.agents.agent import Usage, token_sum

    message = row.get("message")
    if row.get("type") != "assistant" or not isinstance(message, dict):
        return

    counts = message.get("usage")
    if isinstance(counts, dict):
        names = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
        tokens = token_sum(counts, names)
        yield Usage(str(message.get("id")), str(row.get("timestamp")), tokens)


def _call(row: "Row", part: "Row") -> "TranscriptEntry":
    from orbit_registry.agents.agent import TranscriptEntry

    folder = row.get("cwd")  # `cd` in one command holds for the next
    return TranscriptEntry(
        "call",
        call=str(part.get("id")),
        tool=str(part.get("name")),
        arguments=part.get("input"),
        folder=folder if isinstance(folder, str) else "",
    )


def _message(row: "Row", kind: str, text: str) -> "TranscriptEntry":
    from orbit_registry.agents.agent import TranscriptEntry

    if kind == "assistant":
        return TranscriptEntry("answer", text)
    if text.startswith("[Request interrupted by user"):
        return TranscriptEntry("stopped")
    # A summary, a command's echo, and what a model asks of its subagent are no person's words.
    if row.get("isMeta") or row.get("isCompactSummary") or row.get("isSidechain"):
        return TranscriptEntry("injected", text)
    return TranscriptEntry("prompt", text)


def _projects() -> "Path":
    from orbit_registry.agents.agent import agent_home

    return agent_home("CLAUDE_CONFIG_DIR", ".claude") / "projects"
