"""The history of a repository: which commits there are, by which names, and what each changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from orbit_registry.store.git import Git
from orbit_registry.store.git_log import newest, since

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

    first, last = next(newest(Git(git_repo))), since(Git(git_repo), "HEAD~1")

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

    found = since(Git(git_repo), "HEAD^1")

    assert [(one.message, one.files) for one in found] == [
        ("Side", (".orbit/adrs/ADR-0001/adr.yaml", "src/x.py")),
        ("Merge", (".orbit/adrs/ADR-0001/adr.yaml",)),
    ]
    assert {one.message for one in newest(Git(git_repo))} == {"Start", "Side"}


def test_outside_a_repository_there_is_no_history(tmp_path: Path) -> None:
    """Neither fails."""
    assert list(newest(Git(tmp_path))) == []
    assert since(Git(tmp_path), None) == []
