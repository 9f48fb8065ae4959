"""Finding the workspace around a folder, and where things stand in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orbit_registry.errors import ConfigError, WorkspaceNotFoundError
from orbit_registry.kinds.table import load_kinds
from orbit_registry.store.workspace import find_workspace, open_workspace

KINDS = Path(__file__).parents[2] / "cases" / "kinds"


def test_the_search_ends_at_a_repository(workspace_root: Path) -> None:
    """A repository inside another workspace is not that workspace's."""
    inner = workspace_root / "vendor"
    (inner / ".git").mkdir(parents=True)

    with pytest.raises(WorkspaceNotFoundError) as caught:
        find_workspace(inner)

    assert caught.value.hint == "run `orbit init` first"


def test_the_nearest_workspace_wins(workspace_root: Path) -> None:
    """A workspace of its own in a subfolder is the one that counts there."""
    inner = workspace_root / "inner"
    shutil.copytree(workspace_root / ".orbit", inner / ".orbit")

    assert find_workspace(inner).root == inner


def test_kinds_of_its_own_belong_to_the_workspace(workspace_root: Path) -> None:
    """A folder in `.orbit/kinds` is a kind here, and a broken one stops everything with its file."""
    shutil.copytree(KINDS / "experiment", workspace_root / ".orbit/kinds/experiment")
    assert [kind.name for kind in open_workspace(workspace_root).kinds] == [
        *(kind.name for kind in load_kinds()),
        "experiment",
    ]

    (workspace_root / ".orbit/kinds/broken").mkdir()
    (workspace_root / ".orbit/kinds/broken/kind.yaml").write_text("kind: broken\n", "utf-8")
    with pytest.raises(ConfigError, match=r"broken/kind\.yaml"):
        open_workspace(workspace_root)
