"""Gemini CLI's transcripts: `tmp/<project>/chats/session-<time>-<id>.jsonl`; a call holds its result."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.capture.transcripts import Entry, Row, clipped, newest_first, texts_of
from orbit_registry.workspace.workspace import user_home

WRONG = ("error", "cancelled")


def home() -> Path:
    """Return the folder of the agent's own files."""
    moved = os.environ.get("GEMINI_CLI_HOME", "")
    return (Path(moved) if moved else user_home()) / ".gemini"


def sessions(root: Path) -> list[Path]:
    """Return the transcripts of the sessions that were started at a project's root, the newest first."""
    names = {hashlib.sha256(str(root).encode()).hexdigest(), root.name}
    found = [path for name in names for path in (home() / "tmp" / name / "chats").glob("session-*.json*")]
    return newest_first(found)


def subagents(path: Path) -> list[Path]:
    """Return the transcripts of the subagents of a session, in a folder that is named after it."""
    return sorted(path.with_suffix("").glob("*.jsonl"))


def entries(row: Row) -> Iterator[Entry]:
    """Yield what a line tells: the session, one message, or what was taken back; an older file is one line of all."""
    if isinstance(row.get("sessionId"), str):
        yield Entry("session", row["sessionId"], given={"cwd": row.get("projectRoot")})
    if "$rewindTo" in row:
        yield Entry("stopped")
    messages = row.get("messages")
    for message in messages if isinstance(messages, list) else [row]:
        if isinstance(message, dict):
            yield from _told(message)


def _told(message: Row) -> Iterator[Entry]:
    kind = message.get("type")
    what = {"user": "prompt", "gemini": "answer"}.get(str(kind))
    if what is None:
        return
    for text in texts_of(message.get("content")):
        yield Entry("prompt" if what == "prompt" else "answer", clipped(text))
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else []:
        if not isinstance(call, dict):
            continue
        pair, status = str(call.get("id")), call.get("status")
        yield Entry("call", call=pair, tool=str(call.get("name")), given=call.get("args"))
        if status == "cancelled":
            yield Entry("stopped")
        if status in (*WRONG, "success"):
            text = clipped("\n".join(_results(call.get("result"))))
            failed = status in WRONG or "\nExit Code: " in text.replace("\nExit Code: 0", "")
            yield Entry("result", text, call=pair, failed=failed)


def _results(value: object) -> Iterator[str]:
    """Yield the texts of a tool's result: parts that are texts, or responses of functions."""
    for part in value if isinstance(value, list) else [value]:
        answered = part.get("functionResponse") if isinstance(part, dict) else None
        response = answered.get("response") if isinstance(answered, dict) else None
        if isinstance(response, dict):
            yield from texts_of(response.get("output", response.get("error")))
        else:
            yield from texts_of([part])
