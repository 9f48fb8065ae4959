"""A small workspace that snapshot tests fill; it holds no expectations."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.files import write, write_record

from orbit_registry.snapshot.sync import Snapshot, SyncResult, sync
from orbit_registry.workspace.workspace import Workspace, open_workspace

CONFIG = "format: orbit-registry\nschema_version: 1\nproject: demo\n"


@dataclass(frozen=True)
class Project:
    """A workspace on disk."""

    root: Path

    @property
    def workspace(self) -> Workspace:
        return open_workspace(self.root)

    def learning(self, code: str, *, inbox: bool = False, **fields: object) -> Path:
        data = {
            "status": "candidate" if inbox else "active",
            "summary": f"Summary {code}",
            **fields,
        }
        position = ".orbit/state/inbox/learnings" if inbox else ".orbit/learnings"
        return self._record(f"{position}/L-{code}/learning.yaml", data)

    def adr(self, number: int, **fields: object) -> Path:
        data = {"status": "accepted", "title": f"Title {number}", **fields}
        return self._record(f".orbit/adrs/ADR-{number:04d}/adr.yaml", data)

    def doc(self, code: str, **fields: object) -> Path:
        """Write a resource that is a document; its copy is not among what is written."""
        data = {"status": "active", "type": "doc", "versions": ["unversioned"], **fields}
        return self._record(f".orbit/resources/RES-{code}/resource.yaml", data)

    def votes(self, code: str, *rows: tuple[str, str, str]) -> None:
        """Write votes: model, task, time."""
        lines = [
            json.dumps(
                {"learning_id": f"L-{code}", "voter_model": model, "voted_at": at, "task_id": task}
            )
            for model, task, at in rows
        ]
        self.write(f".orbit/learnings/L-{code}/votes.jsonl", "\n".join(lines) + "\n")

    def write(self, path: str, text: str) -> Path:
        return write(self.root, path, text)

    def sync(self, **options: Any) -> SyncResult:
        return sync(self.workspace, snapshot=True, **options)

    def build(self, **options: Any) -> Snapshot:
        """Return the snapshot, up to date."""
        result = self.sync(**options).snapshot
        assert result is not None
        return result

    def ask(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.build().path), read_only=True) as connection:
            return connection.execute(sql, list(parameters)).fetchall()

    def _record(self, path: str, fields: dict[str, object]) -> Path:
        times = {"created_at": "2026-05-17T12:00:00Z", "updated_at": "2026-05-17T12:00:00Z"}
        return write_record(self.root, path, **{**times, **fields})


def made_project(folder: Path) -> Project:
    created = Project(folder / "project")
    created.write(".orbit/config.yaml", CONFIG)
    return created


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return made_project(tmp_path)
