"""A value kept from run to run comes back under its own key, and only where this machine wrote it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orbit_registry.store.kept import KeptValue
from orbit_registry.store.workspace import Workspace, open_workspace

VALUE = {"rows": [[1, "é", None], []], "of": {"a": 1.5}}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace with nothing in it."""
    root = tmp_path / "root"
    (root / ".orbit").mkdir(parents=True)
    (root / ".orbit/config.yaml").write_text("format: orbit-registry\nschema_version: 1\n", "utf-8")
    return open_workspace(root)


def test_a_value_comes_back_under_its_key(workspace: Workspace) -> None:
    """The next run gets what the last one kept."""
    KeptValue(workspace, "one", "key").keep(VALUE)
    assert KeptValue(workspace, "one", "key").value == VALUE


@pytest.mark.parametrize(("name", "key"), [("one", "other"), ("two", "key")])
def test_another_key_and_another_name_give_nothing(workspace: Workspace, name: str, key: str) -> None:
    """What the value rested on has changed, or it is not the value asked for."""
    KeptValue(workspace, "one", "key").keep(VALUE)
    assert KeptValue(workspace, name, key).value == {}


def test_the_last_value_holds(workspace: Workspace) -> None:
    """A value replaces the one before it, whatever the key of that was."""
    KeptValue(workspace, "one", "old").keep(VALUE)
    KeptValue(workspace, "one", "key").keep({"new": True})
    assert KeptValue(workspace, "one", "key").value == {"new": True}
    assert KeptValue(workspace, "one", "old").value == {}


def test_a_value_that_came_with_the_repository_is_not_believed(workspace: Workspace, tmp_path: Path) -> None:
    """A copy, byte for byte, is another inode than the seal names."""
    KeptValue(workspace, "one", "key").keep(VALUE)
    shutil.copytree(workspace.root, tmp_path / "clone")
    assert KeptValue(open_workspace(tmp_path / "clone"), "one", "key").value == {}


@pytest.mark.parametrize("part", ["values", "seal"])
@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'["key", 1]', b"[" * 500], ids=["empty", "list", "torn", "foreign", "deep"]
)
def test_a_damaged_value_is_none(workspace: Workspace, part: str, content: bytes) -> None:
    """A file of the two that was written by another gives nothing, and no error."""
    KeptValue(workspace, "one", "key").keep(VALUE)
    (workspace.cache / f"one.{part}").write_bytes(content)
    assert KeptValue(workspace, "one", "key").value == {}


def test_a_value_is_not_written_through_a_link(workspace: Workspace, tmp_path: Path) -> None:
    """A repository whose cache is a link makes us write nowhere else."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    workspace.state.mkdir()
    workspace.cache.symlink_to(elsewhere)
    KeptValue(workspace, "one", "key").keep(VALUE)
    assert not any(elsewhere.iterdir())
