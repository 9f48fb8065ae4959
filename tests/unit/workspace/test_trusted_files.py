"""What an allowed command depends on: a change of it is asked about again, another one is not."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.files import commit, make_workspace, write

from orbit_registry.workspace.trusted_commands import COMMIT, files_of
from orbit_registry.workspace.workspace import open_workspace

DATA: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases/trusted_files.yaml").read_text("utf-8")
)


def lay(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        write(root, name, text)
    commit(root)


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: case["name"])
def test_a_change_of_what_a_command_starts_is_asked_about(
    case: dict[str, Any], git_repo: Path
) -> None:
    make_workspace(git_repo)
    lay(git_repo, DATA["files"])
    workspace = open_workspace(git_repo)
    before = files_of(workspace, case["words"])
    lay(git_repo, case["change"])
    assert (files_of(workspace, case["words"]) != before) is case["asks"]


def test_a_command_that_hides_what_it_starts_depends_on_the_commit(git_repo: Path) -> None:
    make_workspace(git_repo)
    lay(git_repo, DATA["files"])
    assert COMMIT in files_of(open_workspace(git_repo), ["sh", "-c", "eval x"])
    assert COMMIT not in files_of(open_workspace(git_repo), ["make", "rank"])
