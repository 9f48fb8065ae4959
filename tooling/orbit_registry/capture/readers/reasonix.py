"""Reasonix's transcripts: `<id>.events.jsonl`, to which messages are appended, or by which what was is replaced."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.capture.transcripts import Entry, Row, clipped, newest_first, texts_of
from orbit_registry.workspace.workspace import user_home

SUFFIX = ".events.jsonl"
MAIN = ("", "main")
_WRONG = re.compile(
    r"(?i)\A(?:error\b|\[?exit (?:code|status)[: ]+[1-9])|\n\[?exit (?:code|status)[: ]+[1-9]\d*\]?\s*\Z"
)
_OTHER = re.compile(r"[^A-Za-z0-9]")


def home() -> Path:
    """Return the folder of the agent's own files."""
    moved = os.environ.get("REASONIX_HOME", "")
    return Path(moved) if moved else user_home() / ".reasonix"


def sessions(root: Path) -> list[Path]:
    """Return the transcripts of the sessions that were started at a project's root, the newest first."""
    slug = _OTHER.sub("-", str(root))
    places = (home() / "projects" / slug, home() / "sessions" / slug, root / ".reasonix")
    found = [path for folder in places for path in folder.glob(f"**/*{SUFFIX}")]
    return newest_first(found)


def subagents(path: Path) -> list[Path]:
    """Return the transcripts of the subagents of a session."""
    return sorted((path.parent / path.name.removesuffix(SUFFIX) / "subagents").glob(f"*{SUFFIX}"))


def entries(row: Row) -> Iterator[Entry]:
    """Yield what a line tells: of a tree of messages the main head is followed; an older form has an event a line."""
    if str(row.get("head") or row.get("branch") or "") not in MAIN:
        return
    kind, messages = row.get("type"), row.get("messages")
    if kind in ("append", "replace") and isinstance(messages, list):
        if kind == "replace" and row.get("reason") == "rewind":
            yield Entry("stopped")
        for message in messages:
            if isinstance(message, dict):
                # What is replaced was told before; calls are known by their ids, a prompt must not end a turn again.
                yield from (one for one in _told(message) if kind == "append" or one.what != "prompt")
    elif kind == "session.opened":
        yield Entry("session", str(row.get("name")))
    elif kind == "user.message":
        yield Entry("prompt", clipped(str(row.get("text"))))
    elif kind == "tool.intent":
        yield Entry("call", call=str(row.get("callId")), tool=str(row.get("name")), given=_arguments(row.get("args")))
    elif kind == "tool.result":
        text = clipped(str(row.get("output")))
        yield Entry("result", text, call=str(row.get("callId")), failed=row.get("ok") is False)
    elif kind in ("tool.denied", "tool.confirm.deny"):
        yield Entry("stopped")


def _told(message: Row) -> Iterator[Entry]:
    role = message.get("role")
    texts = [clipped(text) for text in texts_of(message.get("content"))]
    if role == "tool":
        text = "\n".join(texts)
        wrong = message.get("is_error") is True or bool(_WRONG.search(text))
        yield Entry("result", text, call=str(message.get("tool_call_id")), failed=wrong)
        return
    yield from (Entry("prompt" if role == "user" else "answer" if role == "assistant" else "injected", text)
                for text in texts)  # fmt: skip
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        held = call.get("function", call) if isinstance(call, dict) else None
        if isinstance(held, dict):
            given = _arguments(held.get("arguments"))
            yield Entry("call", call=str(call.get("id")), tool=str(held.get("name")), given=given)


def _arguments(said: object) -> object:
    try:
        return json.loads(said) if isinstance(said, str) else said
    except (ValueError, RecursionError):
        return said
