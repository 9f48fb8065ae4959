"""Reasonix: transcripts (`<id>.events.jsonl`), whose lines append or replace messages."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.agents.agent import (
    EntryKind,
    Row,
    TranscriptEntry,
    agent_home,
    clipped,
    folder_name,
    newest_first,
    texts_of,
)

SUFFIX = ".events.jsonl"
_ENTRY_KINDS: dict[str, EntryKind] = {"assistant": "answer", "user": "prompt"}
"""Entries by the role of a message; any other role's is injected."""
_FAILED = re.compile(
    r"(?i)\A(?:error\b|\[?exit (?:code|status)[: ]+[1-9])"
    r"|\n\[?exit (?:code|status)[: ]+[1-9]\d*\]?\s*\Z"
)


def sessions(root: Path) -> list[Path]:
    """Return the transcripts of sessions started at a project's root, the newest first."""
    home = agent_home("REASONIX_HOME", ".reasonix")
    slug = folder_name(root)
    paths: list[Path] = []
    for folder in (home / "projects" / slug, home / "sessions" / slug, root / ".reasonix"):
        paths += folder.glob(f"**/*{SUFFIX}")

    return newest_first(paths)


def is_transcript(path: Path) -> bool:
    """Say whether a file is a transcript, by its name."""
    return path.name.endswith(SUFFIX)


def subagents(path: Path) -> list[Path]:
    """Return the transcripts of a session's subagents."""
    return sorted((path.parent / path.name.removesuffix(SUFFIX) / "subagents").glob(f"*{SUFFIX}"))


def entries(row: Row) -> Iterator[TranscriptEntry]:
    """Yield the entries of a line: messages of the main head, or one event in an older form."""
    if str(row.get("head") or row.get("branch") or "") not in ("", "main"):
        return

    kind, messages = row.get("type"), row.get("messages")
    if kind in ("append", "replace") and isinstance(messages, list):
        if kind == "replace" and row.get("reason") == "rewind":
            yield TranscriptEntry("stopped")

        for message in messages:
            if not isinstance(message, dict):
                continue

            # What is replaced was yielded before; calls are known by their ids, a prompt must not
            # end a turn again.
            for entry in _message_entries(message):
                if kind == "append" or entry.kind != "prompt":
                    yield entry
    elif kind == "session.opened":
        yield TranscriptEntry("session", str(row.get("name")))
    elif kind == "user.message":
        yield TranscriptEntry("prompt", clipped(str(row.get("text"))))
    elif kind == "tool.intent":
        call_id, tool = str(row.get("callId")), str(row.get("name"))
        arguments = _arguments(row.get("args"))
        yield TranscriptEntry("call", call=call_id, tool=tool, arguments=arguments)
    elif kind == "tool.result":
        text = clipped(str(row.get("output")))
        failed = row.get("ok") is False
        yield TranscriptEntry("result", text, call=str(row.get("callId")), failed=failed)
    elif kind in ("tool.denied", "tool.confirm.deny"):
        yield TranscriptEntry("stopped")


def _message_entries(message: Row) -> Iterator[TranscriptEntry]:
    role = message.get("role")
    texts = [clipped(text) for text in texts_of(message.get("content"))]
    if role == "tool":
        text = "\n".join(texts)
        failed = message.get("is_error") is True or bool(_FAILED.search(text))
        yield TranscriptEntry("result", text, call=str(message.get("tool_call_id")), failed=failed)
        return

    kind = _ENTRY_KINDS.get(str(role), "injected")
    for text in texts:
        yield TranscriptEntry(kind, text)

    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return

    for call in calls:
        function = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(function, dict):
            call_id, tool = str(call.get("id")), str(function.get("name"))
            arguments = _arguments(function.get("arguments"))
            yield TranscriptEntry("call", call=call_id, tool=tool, arguments=arguments)


def _arguments(text: object) -> object:
    try:
        if isinstance(text, str):
            return json.loads(text)

        return text
    except (ValueError, RecursionError):
        return text
