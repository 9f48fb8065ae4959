"""Codex's transcripts: `sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl`; hooks' texts are messages to the model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from orbit_registry.loop.transcripts.reading import Row, texts_of

ROLES = ("developer", "system", "user")


def home() -> Path:
    """Return the folder of the agent's own files."""
    moved = os.environ.get("CODEX_HOME", "")
    return Path(moved) if moved else Path.home() / ".codex"


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
