"""Many files are written before any appears, and the disk is waited for before the first is renamed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orbit_registry.errors import WriteError
from orbit_registry.workspace.journal import Staging


def names(root: Path) -> set[str]:
    """Return every path below a folder."""
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


def test_nothing_appears_before_it_is_renamed_and_nothing_is_left_after(tmp_path: Path) -> None:
    """A file in a new folder comes with the folder; one that was not asked for is removed."""
    (tmp_path / "old").mkdir()
    old, new, unwanted = tmp_path / "old/a.yaml", tmp_path / "new/b.yaml", tmp_path / "old/c.yaml"
    staging = Staging()
    staging.write([(old, b"1"), (new, b"2"), (tmp_path / "new/d.yaml", b"3"), (unwanted, b"4")])
    assert not any(path.exists() for path in (old, new, unwanted, new.parent))
    assert staging.rename(old)
    assert staging.rename(new)
    assert not staging.rename(tmp_path / "new/d.yaml")
    staging.finish()
    assert names(tmp_path) == {"old", "old/a.yaml", "new", "new/b.yaml"}
    assert (old.read_bytes(), new.read_bytes()) == (b"1", b"2")


def test_every_text_is_durable_before_the_first_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash after a rename can't leave an empty file under a name that readers know."""
    seen: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        seen.append("sync")
        sync(handle)

    def renamed(self: Path, target: Path) -> Path:
        seen.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    staging = Staging()
    paths = [tmp_path / f"{index}.yaml" for index in range(5)]
    staging.write((path, b"x") for path in paths)
    for path in paths:
        staging.rename(path)
    staging.finish()
    assert seen == ["sync"] * 5 + ["rename"] * 5 + ["sync"]


def test_a_folder_that_came_from_elsewhere_is_not_replaced(tmp_path: Path) -> None:
    """The file is left to its caller, and the other one's stays."""
    staging = Staging()
    staging.write([(tmp_path / "new/a.yaml", b"1")])
    (tmp_path / "new").mkdir()
    (tmp_path / "new/theirs").write_text("x", "utf-8")
    assert not staging.rename(tmp_path / "new/a.yaml")
    staging.discard()
    assert names(tmp_path) == {"new", "new/theirs"}


def test_a_file_where_a_folder_is_needed_is_said(tmp_path: Path) -> None:
    """Nothing is left behind."""
    (tmp_path / "a").write_text("x", "utf-8")
    staging = Staging()
    with pytest.raises(WriteError):
        staging.write([(tmp_path / "a/b/c.yaml", b"1")])
    staging.discard()
    assert names(tmp_path) == {"a"}
