"""Copies of the snapshot for others: complete, clean, and replaced as a whole or not at all."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from orbit_registry.errors import WriteError
from orbit_registry.snapshot.export import export_snapshot
from orbit_registry.snapshot.rows import CONTENT


@pytest.fixture
def filled(project: Any) -> Any:
    """Return a workspace with a learning, a candidate in the inbox and a broken file."""
    project.learning("aaaaa", scope={"paths": ["src/**"], "tags": ["x"]})
    project.learning("bbbbb", inbox=True, scope={"paths": ["lib/**"]}, links=[{"rel": "related_to", "to": "L-aaaaa"}])
    project.write(".orbit/learnings/L-ccccc/learning.yaml", "id: [")
    project.votes("aaaaa", ("m", "T-1", "2026-01-01T00:00:00Z"))
    return project


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compress nothing, so that bytes can be looked for."""
    monkeypatch.setattr("orbit_registry.snapshot.export.COMPRESSION", "uncompressed")


def test_an_export_holds_what_git_carries(filled: Any, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder's" / "out.duckdb"
    assert export_snapshot(filled.workspace, out) == [out]
    with duckdb.connect(str(out), read_only=True) as connection:
        ask = lambda sql: connection.execute(sql).fetchall()  # noqa: E731
        assert ask("SELECT id FROM records") == [("L-aaaaa",)]
        assert ask("SELECT id FROM scope_match('src/a.py')") == [("L-aaaaa",)]
        assert ask("SELECT id FROM scope_match('lib/a.py')") == ask("FROM links") == ask("FROM diagnostics") == []
        assert ask("SELECT path, mtime FROM sources WHERE role = 'record'") == [
            (".orbit/learnings/L-aaaaa/learning.yaml", None)
        ]
        assert ask("SELECT votes FROM vote_ranking") == [(1,)]
        assert ask("SELECT value FROM meta WHERE name = 'digest'") == [(filled.sync().digest,)]
    content = out.read_bytes()
    assert str(filled.root).encode() not in content
    assert b"L-bbbbb" not in content
    assert sorted(file.name for file in out.parent.iterdir()) == ["out.duckdb"]


def test_parquet_has_a_file_a_table(filled: Any, tmp_path: Path) -> None:
    text = export_snapshot(filled.workspace, tmp_path / "out.duckdb", tmp_path / "tables")
    assert {file.name for file in text[1:]} == {f"{table}.parquet" for table in (*CONTENT, "meta")}
    assert sorted((tmp_path / "tables").iterdir()) == sorted(text[1:])
    with duckdb.connect() as connection:
        rows = connection.execute(f"SELECT id, title FROM '{tmp_path}/tables/records.parquet'").fetchall()
    assert rows == [("L-aaaaa", "Summary aaaaa")]


def test_an_export_replaces_an_older_one(filled: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.duckdb"
    out.write_text("old", "utf-8")
    export_snapshot(filled.workspace, out)
    with duckdb.connect(str(out), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM records").fetchall() == [(1,)]


def test_an_export_that_cannot_be_written_leaves_nothing(filled: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x", "utf-8")
    for out in (tmp_path / "folder", tmp_path / "file" / "out.duckdb"):
        with pytest.raises(WriteError, match=out.name):
            export_snapshot(filled.workspace, out)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder", "project"]
