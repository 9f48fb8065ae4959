"""The history of a repository: which commits there are, by which names, and what each changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orbit_registry.workspace.git import Git, commits_since, dates_of, newest_commits

Run = Callable[..., str]


def test_a_file_that_moved_has_its_new_name_among_the_newest(git_repo: Path, git: Run) -> None:
    """Followed, a move is one file, and a commit is told by git's short name; not followed, it is one gone, one new."""
    (git_repo / "old.py").write_text("x = 1\n" * 20, "utf-8")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-qm", "Add")
    git(git_repo, "mv", "old.py", "new.py")
    git(git_repo, "commit", "-qm", "Move")
    whole, short = git(git_repo, "log", "-1", "--format=%H %h").split()
    blob = git(git_repo, "rev-parse", "HEAD:new.py").strip()

    first, last = next(newest_commits(Git(git_repo))), commits_since(Git(git_repo), "HEAD~1")

    assert (first.name, first.short, first.message, first.files) == (whole, short, "Move", ("new.py",))
    assert [(one.name, sorted(one.changes)) for one in last] == [(whole, [("new.py", blob), ("old.py", "")])]


def test_a_merge_has_the_changes_of_records_alone(git_repo: Path, git: Run) -> None:
    """What it brought against its first parent; the newest leave merges out."""
    git(git_repo, "checkout", "-qb", "side")
    for name in (".orbit/adrs/ADR-0001/adr.yaml", "src/x.py"):
        (git_repo / name).parent.mkdir(parents=True)
        (git_repo / name).write_text("id: ADR-0001\n", "utf-8")
    git(git_repo, "add", "-Af")
    git(git_repo, "commit", "-qm", "Side")
    git(git_repo, "checkout", "-q", "main")
    git(git_repo, "merge", "-q", "--no-ff", "-m", "Merge", "side")

    found = commits_since(Git(git_repo), "HEAD^1")

    assert [(one.message, one.files) for one in found] == [
        ("Side", (".orbit/adrs/ADR-0001/adr.yaml", "src/x.py")),
        ("Merge", (".orbit/adrs/ADR-0001/adr.yaml",)),
    ]
    assert {one.message for one in newest_commits(Git(git_repo))} == {"Start", "Side"}


def test_outside_a_repository_there_is_no_history(tmp_path: Path) -> None:
    """Neither fails."""
    assert list(newest_commits(Git(tmp_path))) == []
    assert commits_since(Git(tmp_path), None) == []


def test_a_file_has_the_date_of_its_first_commit_under_any_name(
    git_repo: Path, git: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move changes neither the first commit nor makes another file's history its own; what no commit has is left."""
    text = "one\n" * 20
    steps = [("old.md", text, ""), ("old.md", f"{text}x\n", ""), ("new/a.md", "", "old.md"), ("old.md", "b\n", "")]
    for day, (path, content, moved) in enumerate(steps, 1):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2024-03-0{day}T00:00:00Z")
        (git_repo / path).parent.mkdir(exist_ok=True)
        if moved:
            git(git_repo, "mv", moved, path)
        else:
            (git_repo / path).write_text(content, "utf-8")
        git(git_repo, "add", "-A")
        git(git_repo, "commit", "-qm", f"Step {day}")

    found = dates_of(Git(git_repo), ["new/a.md", "old.md", "none.md"])

    days = {path: [datetime.fromtimestamp(time, UTC).day for time in times] for path, times in found.items()}
    assert days == {"new/a.md": [1, 3], "old.md": [4, 4]}
