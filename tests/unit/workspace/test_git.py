"""Questions to git: answered from any place, with nothing where there is no repository,
and never with a prompt.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.files import commit, write

from orbit_registry.errors import GitError
from orbit_registry.workspace.git import (
    Git,
    commits_since,
    dates_of,
    ignore_pattern,
    merge_lines,
    newest_commits,
)

Run = Callable[..., str]


@pytest.fixture
def repo(git_repo: Path, git: Run) -> Path:
    for name in ("docs/决定 1.md", "docs/a\tb.md", "src/x.py"):
        write(git_repo, name, f"{name}\n")
    commit(git_repo, "Files")
    return git_repo


def test_an_untracked_path_has_an_ignore_line(repo: Path) -> None:
    for name in ("site [1]/index.html", "docs/new.json", "out/kept.html"):
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).touch()
    paths = [repo / name for name in ("site [1]", "docs/new.json", "docs", "README.md", "none")]

    lines = [Git(repo / "docs").ignore_line(path) for path in paths]
    (repo / ".gitignore").write_text("\n".join(filter(None, lines)), "utf-8")

    assert lines == ["/site \\[1\\]/", "/docs/new.json", None, None, None]
    assert [Git(repo).ignore_line(path) for path in (*paths, repo.parent)] == [None] * 6
    assert Git(repo).ignore_line(repo / "out") == "/out/"


def test_names_come_back_as_they_are(repo: Path) -> None:
    assert Git(repo).tracked() == ["README.md", "docs/a\tb.md", "docs/决定 1.md", "src/x.py"]
    assert Git(repo / "docs").tracked() == ["a\tb.md", "决定 1.md"]
    assert {ref: sorted(names) for ref, names in Git(repo).names_on_refs("docs").items()} == {
        "refs/heads/main": ["a\tb.md", "决定 1.md"]
    }
    assert Git(repo).names_on_refs("none") == {"refs/heads/main": []}
    assert Git(repo / "docs").read("HEAD", "决定 1.md") == "docs/决定 1.md\n".encode()
    assert Git(repo).read("HEAD", "docs/none.md") is None


@pytest.mark.parametrize("folder", ["two\nlines", "no \udcff Unicode", "end\n"], ids=ascii)
def test_a_folder_may_be_called_anything(repo: Path, git: Run, folder: str) -> None:
    (repo / folder / "in").mkdir(parents=True)
    (repo / folder / "in/a.md").write_text("A\n", "utf-8")
    commit(repo, "More")
    there = Git(repo / folder)
    assert (there.top, there.prefix, there.tracked()) == (Git(repo).top, f"{folder}/", ["in/a.md"])
    assert there.read("HEAD", "in/a.md") == b"A\n"


@pytest.mark.parametrize("folder", ["part of", "no \udcff Unicode"], ids=ascii)
def test_names_on_refs_are_those_below_the_folder(repo: Path, git: Run, folder: str) -> None:
    (repo / folder / "in").mkdir(parents=True)
    (repo / folder / "in/a.md").write_text("A\n", "utf-8")
    commit(repo, "More")
    git(repo, "tag", "v1", "HEAD~1")

    names = Git(repo / folder).names_on_refs("in")
    assert names == {"refs/heads/main": ["a.md"], "refs/tags/v1": []}


@pytest.mark.parametrize(
    "revision", ["--help", "-x", "", "no such", "HEAD~99", "main:README.md", "\n"]
)
def test_a_strange_revision_is_none(repo: Path, revision: str) -> None:
    assert Git(repo).commit(revision) is None


@pytest.mark.parametrize("name", ["release", "RELEASE-1", "JIRA", "fix@home", "a{b"])
def test_a_branch_comes_before_a_tag_of_its_name(repo: Path, git: Run, name: str) -> None:
    commit(repo, "More")
    first, last = Git(repo).commit("HEAD~1"), Git(repo).head()
    git(repo, "branch", name)
    git(repo, "tag", name, "HEAD~1")
    for name_of_another in ("fix", "a"):
        git(repo, "branch", name_of_another, "HEAD~1")
        git(repo, "tag", name_of_another, "HEAD~1")

    assert (Git(repo).commit(name), Git(repo).commit(f"{name}~1")) == (last, first)


def test_no_branch_has_the_name_of_a_commit(repo: Path, git: Run) -> None:
    commit(repo, "More")
    first, last = Git(repo).commit("HEAD~1"), Git(repo).head()
    for name in (last, "HEAD"):
        for kind in ("heads", "tags"):
            git(repo, "update-ref", f"refs/{kind}/{name}", "HEAD~1")

    assert first != last
    assert [Git(repo).commit(name) for name in (str(last), "HEAD", "@")] == [last] * 3


def test_the_remote_decides_the_default_branch(repo: Path, git: Run, tmp_path: Path) -> None:
    assert Git(repo).default_branch() == "refs/heads/main"
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repo), str(clone))
    git(clone, "checkout", "-q", "--detach")

    assert Git(clone).default_branch() == "refs/remotes/origin/main"
    assert Git(clone).default_tip() == ("refs/remotes/origin/main", Git(repo).head())
    git(clone, "remote", "set-head", "origin", "--delete")
    assert Git(clone).default_tip() == ("refs/remotes/origin/main", Git(repo).head())
    assert {"refs/heads/main", "refs/remotes/origin/main"} <= set(Git(clone).names_on_refs("docs"))


def test_a_missing_git_is_said(repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
        ("a\n", "b\n", "c\n", "<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n", True),
    ],
)
def test_lines_are_merged_as_git_merges(
    base: str, ours: str, theirs: str, merged: str, conflict: bool
) -> None:
    assert merge_lines(base, ours, theirs) == (merged, conflict)


@pytest.mark.parametrize("name", ["a*b", "[x]", "a\\b", "!a", "#a", "a ", "a  ", "a b", "plain"])
def test_a_pattern_means_its_path_alone(git_repo: Path, git: Run, name: str) -> None:
    (git_repo / ".gitignore").write_text(f"{ignore_pattern(name)}\n", "utf-8")
    for other in (name, "axb", "x", "a", f"{name}.", f"in/{name}"):
        write(git_repo, other, "x")
    ignored = git(git_repo, "ls-files", "-z", "--others", "--ignored", "--exclude-standard").split(
        "\0"
    )
    assert ignored == [name, ""]


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


def test_a_partial_clone_says_how_to_fetch_what_it_lacks(
    git_repo: Path, git: Run, tmp_path: Path
) -> None:
    (git_repo / "a.txt").write_text("one", "utf-8")
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-m", "One")
    git(git_repo, "config", "uploadpack.allowFilter", "true")
    head = git(git_repo, "rev-parse", "HEAD").strip()
    clone = tmp_path / "clone"
    git(
        tmp_path,
        "clone",
        "-q",
        "--no-checkout",
        "--filter=blob:none",
        git_repo.as_uri(),
        str(clone),
    )

    with pytest.raises(GitError) as caught, Git(clone).checked_out(head):
        pass

    assert "--no-filter" in str(caught.value.hint)


def test_a_large_file_of_a_commit_is_not_read(repo: Path) -> None:
    (repo / "package.json").write_text("{" + " " * 5_000 + "}", "utf-8")
    commit(repo, "A large one")
    names = ["HEAD:src/x.py", "HEAD:package.json", "HEAD:missing.py", "HEAD:docs/a\tb.md"]
    git = Git(repo)

    assert [*git.blobs(names, check=False)] == [names[0], names[1], names[3]]
    assert git.blobs(names, check=False, limit=1_000) == {
        names[0]: b"src/x.py\n",
        names[3]: b"docs/a\tb.md\n",
    }
