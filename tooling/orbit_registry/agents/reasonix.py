"""Reasonix: transcripts (`<id>.events.jsonl`),
whose lines append messages or replace earlier ones.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.agents.agent import (
    Row,
    TranscriptEntry,
    agent_home,
    clipped,
    newest_first,
    texts_of,
)

SUFFIX = ".events.jsonl"
_FAILED = re.compile(
    r"(?i)\A(?:error\b|\[?exit (?:code|status)[: ]+[1-9])|\n\[?exit (?:code|status)[: "
    r"]+[1-9]\d*\]?\s*\Z"
)


def sessions(root: Path) -> list[Path]:
    """Return the transcripts of the sessions that were started at a project's root,
    the newest first.
    """
    home = agent_home("REASONIX_HOME", ".reasonix")
    slug = re.sub("[^A-Za-z0-9]", "-", str(root))
    folders = (home / "projects" / slug, home / "sessions" / slug, root / ".reasonix")
    return newest_first(path for folder in folders for path in folder.glob(f"**/*{SUFFIX}"))


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
            if isinstance(message, dict):
                # What is replaced was yielded before; calls are known by their ids, a prompt must
                # not end a turn again.
                yield from (
                    entry
                    for entry in _message_entries(message)
                    if kind == "append" or entry.kind != "prompt"
                )
    elif kind == "session.opened":
        yield TranscriptEntry("session", str(row.get("name")))
    elif kind == "user.message":
        yield TranscriptEntry("prompt", clipped(str(row.get("text"))))
    elif kind == "tool.intent":
        call_id, tool = str(row.get("callId")), str(row.get("name"))
        yield TranscriptEntry(
            "call", call=call_id, tool=tool, arguments=_arguments(row.get("args"))
        )
    elif kind == "tool.result":
        text = clipped(str(row.get("output")))
        yield TranscriptEntry(
            "result", text, call=str(row.get("callId")), failed=row.get("ok") is False
        )
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

    for text in texts:
        yield TranscriptEntry(
            "prompt" if role == "user" else "answer" if role == "assistant" else "injected", text
        )

    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = _arguments(function.get("arguments"))
            yield TranscriptEntry(
                "call",
                call=str(call.get("id")),
                tool=str(function.get("name")),
                arguments=arguments,
            )


def _arguments(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
