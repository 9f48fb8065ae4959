"""Small repositories of one organisation, and what a lake answers about them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write, write_learning, write_record

MakeRepository = Callable[..., Path]


@pytest.fixture
def make_repository(tmp_path: Path) -> MakeRepository:
    """Make a repository `name` with a learning and a decision, committed."""

    def make(name: str, settings: str = "") -> Path:
        root = tmp_path / name
        root.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        make_workspace(root, settings)
        write_learning(root, 1, summary="Close the database when a test ends")
        write(root, "docs/adr/0001-x.md", "# 1. Use PostgreSQL\n\nStatus: Accepted\n\n## Decision\n\nWe use it.\n")
        fields = {"title": "Use PostgreSQL", "status": "accepted", "source": {"path": "docs/adr/0001-x.md"}}
        write_record(root, ".orbit/adrs/ADR-0001/adr.yaml", **fields)
        commit(root)
        return root

    return make


def push(root: Path, lake: Path | str, *arguments: str) -> dict[str, Any]:
    """Push a repository under the name of its folder."""
    words = ("fleet", "push", str(lake), "--repository", root.name, *arguments, "--format", "json")
    result: dict[str, Any] = json.loads(orbit(root, *words))["data"]
    return result


def ask(lake: Path | str, sql: str, *arguments: str) -> list[dict[str, Any]]:
    """Return the rows of an answer."""
    words = ("fleet", "query", sql, "--lake", str(lake), *arguments, "--format", "json")
    rows: list[dict[str, Any]] = json.loads(orbit(Path.cwd(), *words))["data"]
    return rows


def vote(root: Path, task: str) -> None:
    """Add a vote for the learning of a repository, and commit it."""
    row = {"learning_id": "L-00001", "voter_model": "m", "voted_at": "2026-01-01T00:00:00Z", "task_id": task}
    with (root / ".orbit/learnings/L-00001/votes.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    commit(root)
