"""Breadth of scopes: the share of recent edits that they have."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.operations.glob_counts import COMMITS, FEWEST_COMMITS, FEWEST_FILES, Edits
from orbit_registry.workspace.git import Git, edited_files

COMMON, RARE = ["src/app.py", "src/io.py"], ["docs/a.md"]


@pytest.mark.parametrize(
    ("scope", "count"),
    [
        (("src/**",), 7),
        (("src/app.py", "src/io.py"), 7),
        (("src/**", "!src/app.py"), 7),
        (("src/**", "!src/*.py"), None),
        (("docs/**",), 33),
        (("lib/**",), None),
        (("[",), None),
    ],
)
def test_a_scope_is_broad_by_the_commits_that_edit_it(
    scope: tuple[str, ...], count: int | None
) -> None:
    edits = Edits.of([COMMON] * 7 + [RARE] * 33, [])
    assert edits.broad_scopes([scope]).get(scope) == count


def test_the_limit_is_a_share() -> None:
    assert Edits.of([COMMON] * 6 + [["docs/a.md"]] * 34, []).broad_scopes([("src/**",)]) == {}


def test_only_the_newest_commits_count() -> None:
    edits = Edits.of([RARE] * COMMITS + [COMMON] * COMMITS, [])
    assert edits.broad_scopes([("src/**",), ("docs/**",)]) == {("docs/**",): COMMITS}
    assert edits.described(COMMITS) == "300 of the last 300 commits edit files in it"


def test_in_a_short_history_each_file_counts_as_an_edit() -> None:
    files = [f"src/{number}.py" for number in range(FEWEST_FILES - 1)]
    commits = [COMMON] * (FEWEST_COMMITS - 1)
    assert Edits.of(commits, files).broad_scopes([("src/**",)]) == {}
    edits = Edits.of(commits, [*files, "README.md"])
    assert edits.broad_scopes([("src/**",), ("README.md",)]) == {("src/**",): FEWEST_FILES - 1}
    assert (
        edits.described(19) == "19 of 20 tracked files are in it, and the history has few commits"
    )


def test_edits_are_read_from_the_history(git_repo: Path, git: Callable[..., str]) -> None:
    for name in ("sub/a b.py", "sub/.orbit/config.yaml", "other/c.py", "sub/d.py"):
        file = git_repo / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", "utf-8")
        git(git_repo, "add", name)
        git(git_repo, "commit", "-qm", name)
    assert edited_files(Git(git_repo / "sub"), COMMITS) == [["d.py"], ["a b.py"]]
    assert edited_files(Git(git_repo / "sub"), 1) == [["d.py"]]
