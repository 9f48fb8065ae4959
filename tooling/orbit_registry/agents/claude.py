"""Claude Code: payloads and replies of its hooks, settings, and transcripts
(`projects/<folder>/<session>.jsonl`).

A reply adds context. It never holds a decision about a permission, nor another input for the tool.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.context import PROMPT, SESSION, TOOL
from orbit_registry.hook.payload import call_from_payload, context_reply, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orbit_registry.agents.agent import Agent, Row, TranscriptEntry, Usage
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
    call = None if _is_of_another_agent(payload) else call_from_payload(payload, SURFACES, LOGGED)
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
    """Say whether an agent that reads these settings too sent a payload:
    it has its own hook and may not show the reply, so a record would count as shown that was not.
    """
    return (
        "timestamp" in payload and "permission_mode" not in payload
    ) or "conversation_id" in payload


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
        # why our rule file may have been loaded
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

    hooks = base.JsonHooks(hook_events(), {"type": "command", "command": "", "timeout": 5})
    home, servers = "CLAUDE_CONFIG_DIR", "mcpServers"
    return base.Agent(
        name="claude",
        title="Claude Code",
        evidence="its 2.1.197 was run: the hook's text is in the next request to its model, once",
        proven=True,
        servers={
            "local": base.ServersFile(
                "~/.claude.json", ("projects", base.ROOT, servers), home=home
            ),
            "project": base.ServersFile(".mcp.json"),
            "user": base.ServersFile("~/.claude.json", home=home),
        },
        settings={
            "local": base.SettingsFile(".claude/settings.local.json", hooks),
            "project": base.SettingsFile(".claude/settings.json", hooks),
            "user": base.SettingsFile("~/.claude/settings.json", hooks, home),
        },
        project_folder="${CLAUDE_PROJECT_DIR:-.}",
        environment={"CLAUDE_PROJECT_DIR": base.ROOT},
        payload={
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
        },
        event="PreToolUse",
        replies=base.nested(answered, suppressOutput={"type": "boolean"}, systemMessage=base.TEXT),
        texts=(base.SPECIFIC,),
    )


def transcript(root: "Path", session: str, agent: str = "") -> "Path | None":
    """Return the transcript of a session of a project, or of one of its subagents."""
    import os

    name = f"{session}/subagents/agent-{agent}.jsonl" if agent else f"{session}.jsonl"
    projects = _projects()
    slug = _slug(root)

    try:
        names = sorted(
            entry.name for entry in os.scandir(projects) if entry.is_dir(follow_symlinks=False)
        )
    except OSError:
        return None

    # A session may have been started in a folder of the project.
    folders = [
        projects / folder for folder in names if folder == slug or folder.startswith(f"{slug}-")
    ]
    return next((path for folder in folders if (path := folder / name).is_file()), None)


def sessions(root: "Path") -> "list[Path]":
    """Return the transcripts of the sessions that were started at a project's root,
    the newest first.
    """
    from orbit_registry.agents.agent import newest_first

    # Not of its folders: `a/b` and the neighbour `a-b` have the same name there.
    return newest_first((_projects() / _slug(root)).glob("*.jsonl"))


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

    kind, message = row.get("type"), row.get("message")

    if isinstance(row.get("sessionId"), str) and row.get("parentUuid") is None:
        yield TranscriptEntry("session", row["sessionId"], arguments={"cwd": row.get("cwd")})

    yield from (TranscriptEntry("injected", text) for text in injected_texts(row))

    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return

    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict):
            continue

        if part.get("type") == "text" and isinstance(part.get("text"), str):
            yield _message(row, kind, clipped(part["text"]))
        elif part.get("type") == "tool_use":
            tool, arguments = str(part.get("name")), part.get("input")
            yield TranscriptEntry("call", call=str(part.get("id")), tool=tool, arguments=arguments)
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
    if (
        row.get("type") == "assistant"
        and isinstance(message, dict)
        and isinstance(message.get("usage"), dict)
    ):
        counts = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
        yield Usage(
            str(message.get("id")), str(row.get("timestamp")), token_sum(message["usage"], counts)
        )


def _message(row: "Row", kind: str, text: str) -> "TranscriptEntry":
    from orbit_registry.agents.agent import TranscriptEntry

    if kind == "assistant":
        return TranscriptEntry("answer", text)
    if text.startswith("[Request interrupted by user"):
        return TranscriptEntry("stopped")
    # A summary, a command's echo, and what a model asks of its subagent are no person's words.
    is_prompt = not (row.get("isMeta") or row.get("isCompactSummary") or row.get("isSidechain"))
    return TranscriptEntry("prompt" if is_prompt else "injected", text)


def _projects() -> "Path":
    from orbit_registry.agents.agent import agent_home

    return agent_home("CLAUDE_CONFIG_DIR", ".claude") / "projects"


def _slug(root: "Path") -> str:
    import re

    return re.sub("[^A-Za-z0-9]", "-", str(root))
