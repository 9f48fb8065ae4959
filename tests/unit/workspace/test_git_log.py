"""The log: commits of any clock, moved files, merges, and nothing outside a repository."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.files import commit, write

from orbit_registry.errors import OrbitError
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.git_log import commits_since, dates_of, newest_commits

Run = Callable[..., str]


def test_newest_commits_follow_a_moved_file(git_repo: Path, git: Run) -> None:
    (git_repo / "old.py").write_text("x = 1\n" * 20, "utf-8")
    commit(git_repo, "Add")
    git(git_repo, "mv", "old.py", "new.py")
    git(git_repo, "commit", "-qm", "Move")
    full, short = git(git_repo, "log", "-1", "--format=%H %h").split()
    blob = git(git_repo, "rev-parse", "HEAD:new.py").strip()

    first, last = next(newest_commits(Git(git_repo))), commits_since(Git(git_repo), "HEAD~1")

    assert (first.name, first.short, first.message, first.files) == (
        full,
        short,
        "Move",
        ("new.py",),
    )
    assert [(commit.name, sorted(commit.changes)) for commit in last] == [
        (full, [("new.py", blob), ("old.py", "")])
    ]


@pytest.mark.parametrize("time", ["", " 9999999999999 +0000", " 99999999999999999999999 +0000"])
def test_a_commit_of_any_clock_has_a_day(git_repo: Path, git: Run, time: str) -> None:
    write(git_repo, "docs/a.md", "a\n")
    commit(git_repo, "Add")
    lines = git(git_repo, "cat-file", "commit", "HEAD").split("\n")
    lines = [f"committer a <a@b.c>{time}" if line[:9] == "committer" else line for line in lines]
    write(git_repo, "commit.txt", "\n".join(lines))
    made = git(git_repo, "hash-object", "-t", "commit", "-w", "--literally", "commit.txt").strip()
    git(git_repo, "update-ref", "HEAD", made)

    last = next(newest_commits(Git(git_repo)))
    times = [last.at, *dates_of(Git(git_repo), ["docs/a.md"])["docs/a.md"]]

    assert last.name == made
    assert {datetime.fromtimestamp(at, UTC).year for at in times} <= {1970, 9999}


def test_a_merge_has_the_changes_of_records_alone(git_repo: Path, git: Run) -> None:
    git(git_repo, "checkout", "-qb", "side")
    for name in (".orbit/adrs/ADR-0001/adr.yaml", "src/x.py"):
        write(git_repo, name, "id: ADR-0001\n")
    git(git_repo, "add", "-Af")
    git(git_repo, "commit", "-qm", "Side")
    git(git_repo, "checkout", "-q", "main")
    git(git_repo, "merge", "-q", "--no-ff", "-m", "Merge", "side")

    commits = commits_since(Git(git_repo), "HEAD^1")

    assert [(commit.message, commit.files) for commit in commits] == [
        ("Side", (".orbit/adrs/ADR-0001/adr.yaml", "src/x.py")),
        ("Merge", (".orbit/adrs/ADR-0001/adr.yaml",)),
    ]
    assert {commit.message for commit in newest_commits(Git(git_repo))} == {"Start", "Side"}


def test_a_step_has_names_and_contents_on_both_sides(git_repo: Path, git: Run) -> None:
    for name in ("changed.py", "old.py", "removed.py"):
        write(git_repo, name, f"{name}\n" * 20)
    commit(git_repo, "Add")
    write(git_repo, "changed.py", "x = 1\n")
    write(git_repo, "added.py", "y = 1\n")
    (git_repo / "link").symlink_to("added.py")
    git(git_repo, "rm", "-q", "removed.py")
    git(git_repo, "mv", "old.py", "new.py")
    commit(git_repo, "Change")

    steps = next(newest_commits(Git(git_repo))).steps

    def blob(name: str) -> str:
        return git(git_repo, "rev-parse", "--short", name).strip() if name else ""

    expected = [
        ("", "added.py", "", "HEAD:added.py"),
        ("changed.py", "changed.py", "HEAD~1:changed.py", "HEAD:changed.py"),
        ("", "link", "", ""),
        ("old.py", "new.py", "HEAD~1:old.py", "HEAD:new.py"),
        ("removed.py", "", "HEAD~1:removed.py", ""),
    ]
    rows = [(before, after, blob(old), blob(new)) for before, after, old, new in expected]
    assert sorted(steps, key=lambda step: step.before or step.after) == sorted(
        rows, key=lambda row: row[0] or row[1]
    )


def test_moves_are_followed_whatever_git_is_set_to(git_repo: Path, git: Run) -> None:
    git(git_repo, "config", "diff.renames", "false")
    write(git_repo, "old.py", "x = 1\n" * 20)
    commit(git_repo, "Add")
    git(git_repo, "mv", "old.py", "new.py")
    commit(git_repo, "Move")

    assert next(newest_commits(Git(git_repo))).files == ("new.py",)


def test_names_in_another_encoding_can_be_printed(git_repo: Path, git: Run) -> None:
    write(git_repo, "a.py", "x = 1\n")
    commit(git_repo, "Add")
    raw = git(git_repo, "cat-file", "commit", "HEAD").encode().replace(b"Add", b"Caf\xe9")
    (git_repo / "commit.txt").write_bytes(raw)
    made = git(git_repo, "hash-object", "-t", "commit", "-w", "--literally", "commit.txt").strip()
    git(git_repo, "update-ref", "HEAD", made)

    assert next(newest_commits(Git(git_repo))).message == "Caf\N{REPLACEMENT CHARACTER}"


def test_outside_a_repository_there_is_no_history(tmp_path: Path) -> None:
    assert list(newest_commits(Git(tmp_path))) == []
    assert commits_since(Git(tmp_path), None) == []


def test_dates_of_a_file_follow_its_moves(
    git_repo: Path, git: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "one\n" * 20
    steps = [
        ("old.md", text, ""),
        ("old.md", f"{text}x\n", ""),
        ("new/a.md", "", "old.md"),
        ("old.md", "b\n", ""),
    ]
    for day, (path, content, moved) in enumerate(steps, 1):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2024-03-0{day}T00:00:00Z")
        (git_repo / path).parent.mkdir(exist_ok=True)
        if moved:
            git(git_repo, "mv", moved, path)
        else:
            (git_repo / path).write_text(content, "utf-8")
        commit(git_repo, f"Step {day}")

    dates = dates_of(Git(git_repo), ["new/a.md", "old.md", "none.md"])

    days = {
        path: [datetime.fromtimestamp(time, UTC).day for time in times]
        for path, times in dates.items()
    }
    assert days == {"new/a.md": [1, 3], "old.md": [4, 4]}


def test_without_its_objects_a_log_is_empty_unless_it_is_asked_for(
    git_repo: Path, git: Run
) -> None:
    write(git_repo, "a.py", "x = 1\n")
    commit(git_repo, "Start")
    tree = git(git_repo, "rev-parse", "HEAD^{tree}").strip()
    (git_repo / ".git" / "objects" / tree[:2] / tree[2:]).unlink()

    assert list(newest_commits(Git(git_repo))) == []
    with pytest.raises(OrbitError):
        list(newest_commits(Git(git_repo), check=True))
