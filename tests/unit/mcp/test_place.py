"""Where a call finds its project."""

from pathlib import Path

import pytest

from orbit_registry.errors import WorkspaceNotFoundError
from orbit_registry.mcp.server import open_registry
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("one", "two words"):
        (tmp_path / name).mkdir()
        setup_workspace(tmp_path / name, load_kinds())
    return tmp_path / "one", tmp_path / "two words"


def test_a_project_that_was_named_is_the_one(roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(roots[1])
    assert open_registry(roots[0], [roots[1].as_uri()]).workspace.root == roots[0]


def test_the_first_root_with_a_workspace_counts(roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(roots[0])
    strange = ["https://example.org/x", "file://elsewhere/x", "file:///%00", "file:///", "nonsense"]

    assert open_registry(None, [*strange, roots[1].as_uri()]).workspace.root == roots[1]
    assert open_registry(None, strange).workspace.root == roots[0]


def test_nowhere_is_said_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkspaceNotFoundError) as error:
        open_registry(None, [])
    assert "orbit init" in error.value.hint
