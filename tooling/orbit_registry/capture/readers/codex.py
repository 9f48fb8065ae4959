"""Codex's transcripts: `sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl`; hooks' texts are messages to the model."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from orbit_registry.capture.transcripts import Entry, Row, What, clipped, first_line, texts_of
from orbit_registry.workspace.workspace import user_home

_CODE = re.compile(r'(?m)^(?:Exit code: |Process exited with code )(-?\d+)|"exit_code":\s*(-?\d+)')
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_THREAD = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
MOST_SUBAGENTS = MOST_SESSIONS = 50
ROLES = ("developer", "system", "user")


def home() -> Path:
    """Return the folder of the agent's own files."""
    moved = os.environ.get("CODEX_HOME", "")
    return Path(moved) if moved else user_home() / ".codex"


def transcript(root: Path, session: str, agent: str = "") -> Path | None:
    """Return the transcript of a session, or of one of its subagents, which are sessions of their own."""
    name = agent or session
    if not name.replace("-", "").isalnum():  # it becomes a part of a pattern
        return None
    return next(iter(sorted((home() / "sessions").glob(f"*/*/*/rollout-*-{name}.jsonl"))), None)


def given(row: Row) -> Iterator[str]:
    """Yield the texts of a line that stand before the model and that neither it nor a tool wrote."""
    held = row.get("payload")
    if row.get("type") != "response_item" or not isinstance(held, dict):
        return
    if held.get("type") == "message" and held.get("role") in ROLES:
        yield from texts_of(held.get("content"))


def entries(row: Row) -> Iterator[Entry]:
    """Yield what a line tells."""
    held = row.get("payload")
    if not isinstance(held, dict):
        return
    kind = held.get("type")
    if row.get("type") == "session_meta":
        yield Entry("session", str(held.get("id")), given={"cwd": held.get("cwd")})
    elif row.get("type") == "event_msg" and kind in ("turn_aborted", "thread_rolled_back"):
        yield Entry("stopped")
    elif row.get("type") != "response_item":
        return
    elif kind == "message":
        role = held.get("role")
        what: What = "answer" if role == "assistant" else "prompt" if role == "user" else "injected"
        yield from (Entry(what, clipped(text)) for text in texts_of(held.get("content")))
    elif kind in _CALLS:
        action = held.get("action")
        given = action if isinstance(action, dict) else _arguments(held.get("arguments", held.get("input")))
        yield Entry("call", call=str(held.get("call_id")), tool=str(held.get("name") or kind), given=given)
    elif isinstance(kind, str) and kind.endswith("_output"):
        output = held.get("output")
        said = "\n".join(texts_of(output.get("content") if isinstance(output, dict) else output))
        code = _CODE.search(said[:300]) or _CODE.search(said[-300:])
        wrong = isinstance(output, dict) and output.get("success") is False
        failed = wrong or (code is not None and int(code[1] or code[2]) != 0)
        yield Entry("result", clipped(said), call=str(held.get("call_id")), failed=failed)


def _arguments(said: object) -> object:
    """Return a tool's input: an object, or the text that it takes."""
    try:
        return json.loads(said) if isinstance(said, str) and said[:1] == "{" else said
    except (ValueError, RecursionError):
        return said


def subagents(path: Path) -> list[Path]:
    """Return the transcripts of the threads that a session started: each names its parent in its first line."""
    own = _THREAD.search(path.name)
    if own is None:
        return []
    found = []
    for other in sorted(path.parent.glob("rollout-*.jsonl")):
        first = first_line(other)
        if other != path and b"parent_thread_id" in first and own[0].encode() in first:
            found.append(other)
    return found[:MOST_SUBAGENTS]


def sessions(root: Path) -> list[Path]:
    """Return the transcripts of the sessions that were started at a project's root, the newest first."""
    wanted = json.dumps(str(root)).encode()
    every = sorted((home() / "sessions").glob("*/*/*/rollout-*.jsonl"), reverse=True)
    return list(islice((path for path in every if wanted in first_line(path)), MOST_SESSIONS))
