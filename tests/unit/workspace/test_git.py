"""Questions to git: answered from any place, with nothing where there is no repository,
and never with a prompt.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files import commit, write

from orbit_registry.errors import GitError
from orbit_registry.workspace.git import Git, ignore_pattern, merge_lines

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
