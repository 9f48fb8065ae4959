"""A file that someone states as evidence is there, or the statement is refused."""

from pathlib import Path

import pytest

from orbit_registry.errors import UsageError
from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.freshness.evaluate import refuse_missing_evidence
from orbit_registry.operations.init import setup_workspace
from orbit_registry.workspace.workspace import Workspace, open_workspace


@pytest.fixture
def workspace(git_repo: Path) -> Workspace:
    setup_workspace(git_repo, load_kinds())
    (git_repo / "src").mkdir()
    (git_repo / "src/app.py").write_text("x = 1\n", encoding="utf-8")
    return open_workspace(git_repo)


@pytest.mark.parametrize(
    "reference", ["src/app.py", "./src/app.py", "src", "src/", "src/app.py:1", "src/app.py#L1-L2"]
)
def test_a_file_that_is_there_is_evidence(workspace: Workspace, reference: str) -> None:
    refuse_missing_evidence(workspace, [{"kind": "file", "reference": reference}])


@pytest.mark.parametrize(
    ("reference", "near"),
    [
        ("src/ap.py", "did you mean `src/app.py`? "),
        ("src/app.pyy:3", "did you mean `src/app.py`? "),
        ("nowhere/at/all.txt", ""),
    ],
)
def test_a_file_that_is_not_there_is_refused(
    workspace: Workspace, reference: str, near: str
) -> None:
    entries = [{"kind": "issue", "reference": "12"}, {"kind": "file", "reference": reference}]
    with pytest.raises(UsageError, match="is not there") as caught:
        refuse_missing_evidence(workspace, entries)

    assert caught.value.hint.startswith(near or "name a file")


@pytest.mark.parametrize("entry", [{"kind": "file"}, {"kind": "file", "reference": None}])
def test_an_entry_without_a_reference_is_left_to_the_schema(
    workspace: Workspace, entry: dict[str, object]
) -> None:
    refuse_missing_evidence(workspace, [entry])
