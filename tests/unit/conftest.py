"""What the tests of the store share: workspaces outside and inside git, made once and copied."""

import shutil
from pathlib import Path

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.registry import Registry


@pytest.fixture(scope="session")
def _plain_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one workspace outside git, for `workspace_root` to copy."""
    root = tmp_path_factory.mktemp("plain") / "project"
    root.mkdir()
    setup_workspace(root, load_kinds())
    return root


@pytest.fixture
def workspace_root(_plain_workspace: Path, tmp_path: Path) -> Path:
    """Return the root of a fresh workspace of this test's own, outside git."""
    return Path(shutil.copytree(_plain_workspace, tmp_path / "project"))


@pytest.fixture
def registry(workspace_root: Path) -> Registry:
    """Return the registry of a fresh workspace."""
    return Registry.open(workspace_root)
