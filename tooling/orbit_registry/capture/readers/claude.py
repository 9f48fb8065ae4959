"""Claude Code's transcripts: `projects/<folder>/<session>.jsonl`, subagents beside it; hooks' texts are attachments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.capture.transcripts import Entry, Row, clipped, texts_of
from orbit_registry.workspace.workspace import user_home

STOPPED = ("[Request interrupted by user", "The user doesn't want to ")
KIND = "hook_additional_context"
_OTHER = re.compile(r"[^A-Za-z0-9]")


def home() -> Path:
    """Return the folder of the agent's own files."""
    moved = os.environ.get("CLAUDE_CONFIG_DIR", "")
    return Path(moved) if moved else user_home() / ".claude"


def transcript(root: Path, session: str, agent: str = "") -> Path | None:
    """Return the transcript of a session of a project, of one of its subagents where that is named; None if none is."""
    name = f"{session}/subagents/agent-{agent}.jsonl" if agent else f"{session}.jsonl"
    return next((path for folder in _folders(root) if (path := folder / name).is_file()), None)


def sessions(root: Path) -> list[Path]:
    """Return the transcripts of the sessions that were started at a project's root, the newest first."""
    # A folder's name does not tell a project's own folders from a neighbour: `a/b` and `a-b` are both `a-b` there.
    found = [path for path in (home() / "projects" / _slug(root)).glob("*.jsonl") if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def given(row: Row) -> Iterator[str]:
    """Yield the texts that hooks gave in a line."""
    held = row.get("attachment")
    if isinstance(held, dict) and held.get("type") == KIND:
        yield from texts_of(held.get("content"))


def entries(row: Row) -> Iterator[Entry]:
    """Yield what a line tells."""
    kind, message = row.get("type"), row.get("message")
    if isinstance(row.get("sessionId"), str) and row.get("parentUuid") is None:
        yield Entry("session", row["sessionId"], given={"cwd": row.get("cwd")})
    yield from (Entry("injected", text) for text in given(row))
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for part in parts if isinstance(parts, list) else []:
        if not isinstance(part, dict):
            continue
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            yield _spoken(row, kind, clipped(part["text"]))
        elif part.get("type") == "tool_use":
            yield Entry("call", call=str(part.get("id")), tool=str(part.get("name")), given=part.get("input"))
        elif part.get("type") == "tool_result":
            text = clipped("\n".join(texts_of(part.get("content"))))
            yield Entry("result", text, call=str(part.get("tool_use_id")), failed=part.get("is_error") is True)
            if text.startswith(STOPPED[1]):
                yield Entry("stopped")


def _spoken(row: Row, kind: str, text: str) -> Entry:
    if kind == "assistant":
        return Entry("answer", text)
    if text.startswith(STOPPED[0]):
        return Entry("stopped")
    # A summary of what was, a command's echo, and what a model asks of its subagent are no person's words.
    own = not (row.get("isMeta") or row.get("isCompactSummary") or row.get("isSidechain"))
    return Entry("prompt" if own else "injected", text)


def subagents(path: Path) -> list[Path]:
    """Return the transcripts of the subagents of a session."""
    return sorted((path.with_suffix("") / "subagents").glob("agent-*.jsonl"))


def _folders(root: Path) -> list[Path]:
    """Return the folders of sessions that were started in a project or below it, a neighbour's perhaps among them."""
    projects = home() / "projects"
    slug = _slug(root)
    try:
        names = sorted(entry.name for entry in os.scandir(projects) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    return [projects / name for name in names if name == slug or name.startswith(f"{slug}-")]


def _slug(root: Path) -> str:
    return _OTHER.sub("-", str(root))
