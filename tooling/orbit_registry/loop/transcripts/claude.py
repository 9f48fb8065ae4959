"""Claude Code's transcripts: `projects/<folder>/<session>.jsonl`, subagents beside it; hooks' texts are attachments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.loop.transcripts.reading import Row, texts_of

KIND = "hook_additional_context"
_OTHER = re.compile(r"[^A-Za-z0-9]")


def home() -> Path:
    """Return the folder of the agent's own files."""
    moved = os.environ.get("CLAUDE_CONFIG_DIR", "")
    return Path(moved) if moved else Path.home() / ".claude"


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
