"""Search for transcripts, by agent, file or session."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from orbit_registry.capture.run import transcripts_of
from orbit_registry.errors import UsageError
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import Workspace

THREAD = "0199c2f0-1111-7222-8333-444455557777"


@pytest.fixture
def workspace(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    homes = {"CLAUDE_CONFIG_DIR": "c", "CODEX_HOME": "x", "GEMINI_CLI_HOME": "g", "REASONIX_HOME": "r"}
    for name, folder in homes.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    Registry.init(git_repo)
    return Registry.open(git_repo).workspace


def put(path: Path, at: float, first: object = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(first) + "\n", "utf-8")
    os.utime(path, (at, at))
    return path


def everywhere(root: Path, homes: Path) -> dict[str, Path]:
    slug = "".join(entry if entry.isalnum() else "-" for entry in str(root))
    meta = {"type": "session_meta", "payload": {"id": THREAD, "cwd": str(root)}}
    project = hashlib.sha256(str(root).encode()).hexdigest()
    return {
        "claude": put(homes / f"c/projects/{slug}/5b0c.jsonl", 1e9),
        "codex": put(homes / f"x/sessions/2026/11/20/rollout-2026-11-20T09-00-00-{THREAD}.jsonl", 2e9, meta),
        "gemini": put(homes / f"g/.gemini/tmp/{project}/chats/session-2026-a1b2.jsonl", 3e9),
        "reasonix": put(homes / f"r/projects/{slug}/sessions/s-1.events.jsonl", 4e9),
    }


def test_the_newest_transcript_is_found(workspace: Workspace, tmp_path: Path) -> None:
    places = everywhere(workspace.root, tmp_path)
    other = {"type": "session_meta", "payload": {"id": "o", "cwd": "/elsewhere"}}
    put(tmp_path / "x/sessions/2026/11/21/rollout-2026-11-21T09-00-00-other.jsonl", 9e9, other)
    for agent, path in places.items():
        assert transcripts_of(workspace, agent, None) == [(agent, path)]
    assert transcripts_of(workspace, "", None) == [("reasonix", places["reasonix"])]


def test_a_file_name_tells_the_agent(workspace: Workspace, tmp_path: Path) -> None:
    """Otherwise `--from` has to."""
    for agent, path in everywhere(workspace.root, tmp_path).items():
        assert transcripts_of(workspace, "", path) == [(agent, path)]
    with pytest.raises(UsageError, match="any agent"):
        transcripts_of(workspace, "", tmp_path / "talk.jsonl")


def test_sessions_of_the_event_log_are_found(workspace: Workspace, tmp_path: Path) -> None:
    places = everywhere(workspace.root, tmp_path)
    result = transcripts_of(workspace, "events", None, [THREAD, "5b0c", ""])
    assert result == [("claude", places["claude"]), ("codex", places["codex"])]
    assert transcripts_of(workspace, "events", None, []) == []
