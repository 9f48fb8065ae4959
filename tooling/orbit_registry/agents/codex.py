"""Codex CLI: payloads and replies of its hooks, settings, and transcripts.

A transcript is `sessions/YYYY/MM/DD/rollout-….jsonl`. Codex edits files by patches, so their paths
are in the patch's text: `hook.call.patch_paths` reads them. A reply holds no key but those below:
Codex drops a whole reply for a key that it does not know.
"""

from orbit_registry.hook.call import Call, field
from orbit_registry.hook.payload import call_from_payload, context_reply, parse_json, to_json
from orbit_registry.model.reach import PROMPT, SESSION, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orbit_registry.agents.agent import Agent, EntryKind, Row, TranscriptEntry, Usage
    from orbit_registry.hook.call import Payload

SURFACES = {
    "PreToolUse": TOOL,
    "PostToolUse": TOOL,
    "UserPromptSubmit": PROMPT,
    "SessionStart": SESSION,
    "SubagentStart": SESSION,
}
LOGGED = {
    "Stop": "stop",
    "SubagentStop": "subagent stop",
    "SessionEnd": "session end",
    "PostCompact": "compacted",
}
_EXIT_CODES = ("Exit code: ", "Process exited with code ")
"""Beginnings of a shell's output, before the exit code."""
_ENTRY_KINDS: "dict[str, EntryKind]" = {"assistant": "answer", "user": "prompt"}
"""Entries by the role of a message; any other role's is injected."""
MOST_SUBAGENTS = MOST_SESSIONS = 50


def read(payload: "Payload") -> Call | None:
    """Return the call of a payload; None for an event that we don't handle."""
    call = call_from_payload(payload, SURFACES, LOGGED)
    if call is not None and call.event == "PostToolUse":
        call.error = _failure(payload.get("tool_response"))
        return call if call.error else None  # what ran well was answered before it ran
    return call


def _failure(response: object) -> str:
    """Return the output of a failed tool; empty if it did not fail.

    A failure is an exit code in an object, JSON or text, or an MCP server's `isError`.
    """
    if isinstance(response, str):
        if response[:1] != "{":
            if _exit_code(response) != "0":
                return response

            return ""

        try:
            response = parse_json(response)
        except (ValueError, StopIteration, RecursionError):
            return ""

    if not isinstance(response, dict):
        return ""

    metadata = response.get("metadata")
    results = metadata if isinstance(metadata, dict) else response
    has_error = response.get("success", True) is False or response.get("isError") is True
    if not has_error and results.get("exit_code", 0) in (0, None):
        return ""

    output = field(response, "output", "aggregated_output", "stderr", "error", "message", "content")
    parts = response.get("content")
    if isinstance(parts, list):
        output += "".join([field(part, "text") for part in parts if isinstance(part, dict)])

    return output


def _printed(text: str) -> str:
    """Return what a shell printed; older versions write it in JSON."""
    if text[:1] != "{":
        return text

    try:
        members = parse_json(text)
    except (ValueError, StopIteration, RecursionError):
        return text

    if not isinstance(members, dict) or "metadata" not in members:
        return text

    return field(members, "output")


def _exit_code(output: str) -> str:
    """Return the exit code at the beginning of a shell's output, `0` without one."""
    for start in _EXIT_CODES:
        if output.startswith(start):
            return output[len(start) :].partition("\n")[0].strip()

    return "0"


def reply(call: Call, text: str) -> str:
    """Return the reply with a text for the agent and the call's message for the person."""
    return to_json(context_reply(call, text)) + "\n"


def agent() -> "Agent":
    """Return what the installer needs."""
    from orbit_registry.agents import agent as base

    tools = "Bash|apply_patch|mcp__.*"
    answered = {
        "SessionStart": "",
        "UserPromptSubmit": "",
        "PreToolUse": tools,
        "PostToolUse": tools,
        "SubagentStart": "",
    }
    events = {**answered, "Stop": "", "SessionEnd": ""}
    # The end of a session gets at most three seconds; a longer limit causes warnings at starts.
    hooks = base.JsonHooks(events, {"type": "command", "command": "", "timeout": 3})
    patch = f"*** Begin Patch\n*** Update File: {base.PATH}\n@@\n-before\n+after\n*** End Patch\n"
    payload = {
        "session_id": base.SESSION,
        "turn_id": "1",
        "transcript_path": None,
        "cwd": base.ROOT,
        "model": "gpt-5",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "apply_patch",
        "tool_input": {"command": patch},
        "tool_use_id": "call_01",
    }
    replies = base.nested(answered, systemMessage=base.TEXT)
    return base.Agent(
        name="codex",
        title="Codex CLI",
        evidence="tested with 0.169.0: its model gets each note once",
        proven=True,
        servers={
            "user": base.ServersFile("~/.codex/config.toml", (), home="CODEX_HOME"),
            "project": base.ServersFile(".codex/config.toml", ()),
        },
        settings={
            "user": base.SettingsFile("~/.codex/hooks.json", hooks, "CODEX_HOME"),
            "project": base.SettingsFile(".codex/hooks.json", hooks),
        },
        payload=payload,
        event="PreToolUse",
        replies=replies,
        texts=(base.SPECIFIC,),
        after=(
            "Codex runs no hook before you trust it: start it, choose to review the hooks, "
            "and allow this one."
        ),
    )


def transcript(root: "Path", session: str, agent: str = "") -> "Path | None":
    """Return the transcript of a session or of a subagent, which is a session too."""
    name = agent or session
    if not name.replace("-", "").isalnum():  # it becomes a part of a pattern
        return None

    paths = sorted(_transcripts(f"rollout-*-{name}.jsonl"))
    if paths:
        return paths[0]

    return None


def sessions(root: "Path") -> "list[Path]":
    """Return the transcripts of sessions started at a project's root, the newest first."""
    import json
    from itertools import islice

    from orbit_registry.agents.agent import first_line

    folder = json.dumps(str(root)).encode()
    paths = sorted(_transcripts("rollout-*.jsonl"), reverse=True)
    return list(islice((path for path in paths if folder in first_line(path)), MOST_SESSIONS))


def is_transcript(path: "Path") -> bool:
    """Say whether a file is a transcript, by its name."""
    return path.name.startswith("rollout-")


def subagents(path: "Path") -> "list[Path]":
    """Return the transcripts of the threads that a session started.

    Each names its parent in its first line.
    """
    import re

    from orbit_registry.agents.agent import first_line

    thread = re.search("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", path.name)
    if thread is None:
        return []

    paths = []
    for other in sorted(path.parent.glob("rollout-*.jsonl")):
        line = first_line(other)
        if other != path and b"parent_thread_id" in line and thread[0].encode() in line:
            paths.append(other)

    return paths[:MOST_SUBAGENTS]


def injected_texts(row: "Row") -> "Iterator[str]":
    """Yield the texts of a line that are before the model and that neither it nor a tool wrote."""
    from orbit_registry.agents.agent import texts_of

    payload = row.get("payload")
    if row.get("type") != "response_item" or not isinstance(payload, dict):
        return

    if payload.get("type") == "message" and payload.get("role") in ("developer", "system", "user"):
        yield from texts_of(payload.get("content"))


def entries(row: "Row") -> "Iterator[TranscriptEntry]":
    """Yield the entries of a line."""
    from orbit_registry.agents.agent import TranscriptEntry, clipped, texts_of

    payload = row.get("payload")
    if not isinstance(payload, dict):
        return

    kind = payload.get("type")
    if row.get("type") == "session_meta":
        source = payload.get("source")
        is_subagent = isinstance(source, dict) and "subagent" in source
        parent = payload.get("parent_thread_id") or is_subagent
        arguments = {"cwd": payload.get("cwd"), "parent": parent}
        yield TranscriptEntry("session", str(payload.get("id")), arguments=arguments)
    elif row.get("type") == "event_msg" and kind in ("turn_aborted", "thread_rolled_back"):
        yield TranscriptEntry("stopped")
    elif row.get("type") != "response_item":
        return
    elif kind == "message":
        entry_kind = _ENTRY_KINDS.get(str(payload.get("role")), "injected")
        for text in texts_of(payload.get("content")):
            yield TranscriptEntry(entry_kind, clipped(text))
    elif kind in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call"):
        tool_arguments = payload.get("action")
        if not isinstance(tool_arguments, dict):
            tool_arguments = _arguments(payload.get("arguments", payload.get("input")))

        call_id, tool = str(payload.get("call_id")), str(payload.get("name") or kind)
        yield TranscriptEntry("call", call=call_id, tool=tool, arguments=tool_arguments)
    elif isinstance(kind, str) and kind.endswith("_output"):
        output, failed = payload.get("output"), False
        if isinstance(output, dict):
            failed = output.get("success") is False
            output = output.get("content")

        text = "\n".join(texts_of(output))
        failed = failed or _has_failed(text)
        text = _printed(text)
        call_id = str(payload.get("call_id"))
        yield TranscriptEntry("result", clipped(text), call=call_id, failed=failed)


def usage(row: "Row") -> "Iterator[Usage]":
    """Yield the tokens of the answer that a line reports; the line repeats when limits change."""
    from orbit_registry.agents.agent import Usage, token_sum

    payload = row.get("payload")
    if row.get("type") != "event_msg" or not isinstance(payload, dict):
        return

    info = payload.get("info")
    if payload.get("type") != "token_count" or not isinstance(info, dict):
        return

    counts = info.get("last_token_usage")
    if isinstance(counts, dict):
        names = ("input_tokens", "output_tokens")
        answer = str(token_sum(info.get("total_token_usage"), names))
        tokens = token_sum(counts, names, ("cached_input_tokens",))
        yield Usage(answer, str(row.get("timestamp")), tokens)


def _has_failed(text: str) -> bool:
    import re

    pattern = r'(?m)^(?:Exit code: |Process exited with code )(-?\d+)|"exit_code":\s*(-?\d+)'
    code = re.search(pattern, text[:300]) or re.search(pattern, text[-300:])
    return code is not None and int(code[1] or code[2]) != 0


def _arguments(text: object) -> object:
    import json

    try:
        if isinstance(text, str) and text[:1] == "{":
            return json.loads(text)

        return text
    except (ValueError, RecursionError):
        return text


def _transcripts(pattern: str) -> "list[Path]":
    """Return the transcripts of a pattern; none where the home is another user's."""
    try:
        return list(_sessions().glob(f"*/*/*/{pattern}"))
    except OSError:
        return []


def _sessions() -> "Path":
    from orbit_registry.agents.agent import agent_home

    return agent_home("CODEX_HOME", ".codex") / "sessions"
