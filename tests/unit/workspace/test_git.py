"""Questions to git: answered from any place, with nothing where there is no repository, and never with a prompt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.errors import GitError
from orbit_registry.workspace.git import Git, ignore_pattern, merge_lines

Run = Callable[..., str]


@pytest.fixture
def repo(git_repo: Path, git: Run) -> Path:
    """Return a repository with a folder whose names are not plain, committed."""
    for name in ("docs/决定 1.md", "docs/a\tb.md", "src/x.py"):
        (git_repo / name).parent.mkdir(exist_ok=True)
        (git_repo / name).write_text(f"{name}\n", "utf-8")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-qm", "Files")
    return git_repo


def test_what_git_would_add_has_a_line_that_keeps_it_out(repo: Path) -> None:
    """A folder or a file of which git holds nothing; not where that line stands already, nor outside the repository."""
    for name in ("site [1]/index.html", "docs/new.json", "out/kept.html"):
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).touch()
    asked = [repo / name for name in ("site [1]", "docs/new.json", "docs", "README.md", "none")]

    found = [Git(repo / "docs").ignore_line(path) for path in asked]
    (repo / ".gitignore").write_text("\n".join(filter(None, found)), "utf-8")

    assert found == ["/site \\[1\\]/", "/docs/new.json", None, None, None]
    assert [Git(repo).ignore_line(path) for path in (*asked, repo.parent)] == [None] * 6
    assert Git(repo).ignore_line(repo / "out") == "/out/"


def test_names_come_back_as_they_are(repo: Path) -> None:
    """Tabs, spaces and letters of any script, from the root or from the folder asked."""
    assert Git(repo).tracked() == ["README.md", "docs/a\tb.md", "docs/决定 1.md", "src/x.py"]
    assert Git(repo / "docs").tracked() == ["a\tb.md", "决定 1.md"]
    assert sorted(Git(repo).names(["HEAD", "main", "nothing"], "docs")["HEAD"]) == ["a\tb.md", "决定 1.md"]
    assert Git(repo).names(["nothing"], "docs") == {"nothing": []}
    assert Git(repo / "docs").read("HEAD", "决定 1.md") == "docs/决定 1.md\n".encode()
    assert Git(repo).read("HEAD", "docs/none.md") is None


@pytest.mark.parametrize("folder", ["two\nlines", "no \udcff Unicode", "end\n"], ids=ascii)
def test_a_folder_may_be_called_anything(repo: Path, git: Run, folder: str) -> None:
    """Its files are found in the work tree and in commits, and the repository's root is known."""
    (repo / folder / "in").mkdir(parents=True)
    (repo / folder / "in/a.md").write_text("A\n", "utf-8")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "More")
    there = Git(repo / folder)
    assert (there.top, there.prefix, there.tracked()) == (Git(repo).top, f"{folder}/", ["in/a.md"])
    assert there.names(["HEAD", "HEAD~1"], f"{folder}/in") == {"HEAD": ["a.md"], "HEAD~1": []}
    assert there.read("HEAD", "in/a.md") == b"A\n"


@pytest.mark.parametrize("revision", ["--help", "-x", "", "no such", "HEAD~99", "main:README.md", "\n"])
def test_a_strange_revision_is_none(repo: Path, revision: str) -> None:
    """Nothing that looks like an option is taken for one."""
    assert Git(repo).commit(revision) is None


def test_the_default_branch_is_the_remote_s_if_there_is_one(repo: Path, git: Run, tmp_path: Path) -> None:
    """A clone says what its origin says; alone, main or master."""
    assert Git(repo).default_branch() == "refs/heads/main"
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repo), str(clone))
    git(clone, "checkout", "-q", "--detach")

    assert Git(clone).default_branch() == "refs/remotes/origin/main"
    assert Git(clone).default_tip() == ("refs/remotes/origin/main", Git(repo).head())
    git(clone, "remote", "set-head", "origin", "--delete")
    assert Git(clone).default_tip() == ("refs/remotes/origin/main", Git(repo).head())
    assert {"refs/heads/main", "refs/remotes/origin/main"} <= set(Git(clone).refs())


def test_work_trees_share_a_folder(repo: Path, git: Run) -> None:
    """Claims of numbers stand there."""
    second = repo.parent / "second"
    git(repo, "worktree", "add", "-q", "-b", "second", str(second))

    assert Git(second).common_dir == Git(repo).common_dir == (repo / ".git").resolve()
    assert Git(second).top == second.resolve()


def test_a_missing_git_is_said(repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A question has no answer; a command says what is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))

    assert Git(repo).top is None
    with pytest.raises(GitError, match="git is not installed"):
        Git(repo).run("status")
    with pytest.raises(GitError, match="git is not installed"):
        merge_lines("a", "b", "c")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged", "conflict"),
    [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n", False),
        ("a\n", "a\n", "b\n", "b\n", False),
        ("", "", "", "", False),
        ("\udcff\n", "\udcff\n", "x\n", "x\n", False),
    ],
)
def test_lines_are_merged_as_git_merges(base: str, ours: str, theirs: str, merged: str, conflict: bool) -> None:
    """Both sides' changes where they don't meet, whatever the bytes."""
    assert merge_lines(base, ours, theirs) == (merged, conflict)


def test_lines_that_meet_are_a_conflict() -> None:
    """It is said, and both sides are in the text."""
    text, conflict = merge_lines("a\n", "ours\n", "theirs\n")

    assert conflict
    assert "ours\n" in text
    assert "theirs\n" in text


def test_a_hostile_configuration_runs_nothing(repo: Path, tmp_path: Path) -> None:
    """A file system monitor or hook that the repository names is not started by a question of ours."""
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", "utf-8")
    script.chmod(0o755)
    with (repo / ".git/config").open("a", encoding="utf-8") as file:
        file.write(f"[core]\n\tfsmonitor = {script}\n\thooksPath = {tmp_path}\n")

    Git(repo).run("status", "--porcelain=v1", "-z", "--untracked-files=all")
    Git(repo).tracked()

    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["a*b", "[x]", "a\\b", "!a", "#a", "a ", "a  ", "a b", "plain"])
def test_a_pattern_means_its_path_alone(git_repo: Path, git: Run, name: str) -> None:
    """Whatever characters a name has, git ignores it by its pattern, and nothing like it."""
    (git_repo / ".gitignore").write_text(f"{ignore_pattern(name)}\n", "utf-8")
    for other in (name, "axb", "x", "a", f"{name}.", f"in/{name}"):
        (git_repo / other).parent.mkdir(exist_ok=True)
        (git_repo / other).write_text("x", "utf-8")
    ignored = git(git_repo, "ls-files", "-z", "--others", "--ignored", "--exclude-standard").split("\0")
    assert ignored == [name, ""]
