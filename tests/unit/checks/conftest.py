"""What the gate's unit tests share: a workspace with records, written the way people find them."""

from collections.abc import Callable
from pathlib import Path

import pytest

CONFIG = "format: orbit-registry\nschema_version: 1\n"

Learning = Callable[..., Path]


def uid_of(record_id: str) -> str:
    return record_id.encode().hex().ljust(32, "0")[:32]


@pytest.fixture
def workspace(git_repo: Path) -> Path:
    (git_repo / ".orbit").mkdir()
    (git_repo / ".orbit" / "config.yaml").write_text(CONFIG, "utf-8")
    (git_repo / ".gitignore").write_text(".orbit/state/\n", "utf-8")
    (git_repo / "src").mkdir()
    (git_repo / "src" / "app.py").write_text("print('hello')\n", "utf-8")
    return git_repo


@pytest.fixture
def learning(workspace: Path) -> Learning:
    """Write a learning: `learning("L-7k3fq", "Parse dates strictly", status="active",
    more="links: …")`.
    """

    def write(
        record_id: str,
        summary: str,
        *,
        status: str = "active",
        uid: str | None = None,
        more: str = "",
    ) -> Path:
        file = workspace / ".orbit" / "learnings" / record_id / "learning.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'schema_version: 1\nid: {record_id}\nuid: "{uid or uid_of(record_id)}"\nstatus: '
            f"{status}\n"
            f"summary: {summary}\nscope:\n  paths:\n    - src/**\n{more}"
            "created_at: 2026-05-01T09:00:00Z\nupdated_at: 2026-05-01T09:00:00Z\n",
            "utf-8",
        )
        return file

    return write
