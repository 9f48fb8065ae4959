"""When a change shows in the push index: each row of the table in docs/reference/push-index.md,
with real git.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files import commit, make_workspace, write_learning

from orbit_registry.hook.index import BROAD, ID, Index, open_index
from orbit_registry.matching.match import current_index, match
from orbit_registry.workspace.workspace import open_workspace


class Tree:
    """A repository with two committed learnings, and its push index as a hook sees it."""

    def __init__(self, root: Path, git: Callable[..., str]) -> None:
        self.root, self.run = root, git

    def git(self, *arguments: str) -> str:
        return self.run(self.root, *arguments)

    def learning(self, code: str, paths: list[str], **fields: object) -> Path:
        return write_learning(self.root, code, scope={"paths": paths}, **fields)

    def sync(self) -> None:
        current_index(open_workspace(self.root))

    def open(self) -> Index:
        index = open_index(str(self.root))
        assert isinstance(index, Index)
        return index

    def shown(self, path: str = "src/a.py") -> list[str]:
        """Return the ids that a hook shows for a path, without any sync."""
        index = self.open()
        rows = [index.row(hit >> 32) for hit in index.match(path)]
        return [row.values[ID] for row in rows if not index.difference(row)]

    def asked(self, path: str = "src/a.py") -> list[str]:
        """Return the ids that `orbit match` lists."""
        return [row.row.values[ID] for row in match(open_workspace(self.root), [path])]


@pytest.fixture
def tree(git_repo: Path, git: Callable[..., str]) -> Tree:
    make_workspace(git_repo)
    tree_ = Tree(git_repo, git)
    tree_.learning("aaaaa", ["src/**"])
    tree_.learning("bbbbb", ["src/*.py"])
    commit(tree_.root, "Learn")
    tree_.sync()
    assert tree_.shown() == ["L-aaaaa", "L-bbbbb"]
    assert not tree_.open().behind()
    return tree_


def test_a_new_record_shows_after_a_sync(tree: Tree) -> None:
    tree.learning("ccccc", ["src/**"])
    assert tree.open().behind()
    assert tree.shown() == ["L-aaaaa", "L-bbbbb"]
    assert tree.asked() == ["L-aaaaa", "L-bbbbb", "L-ccccc"]
    assert not tree.open().behind()
    assert tree.shown() == ["L-aaaaa", "L-bbbbb", "L-ccccc"]


def test_a_record_whose_bytes_are_the_same_is_shown(tree: Tree) -> None:
    file = tree.learning("aaaaa", ["src/**"])
    os.utime(file, ns=(1, 1))
    assert tree.shown() == ["L-aaaaa", "L-bbbbb"]
    file.write_text(file.read_text("utf-8").replace("Learning aaaaa", "Learning zzzzz"), "utf-8")
    assert tree.shown() == ["L-bbbbb"]


def test_a_checkout_is_noticed(tree: Tree) -> None:
    tree.git("checkout", "-q", "-b", "other")
    tree.learning("aaaaa", ["src/**"], summary="On the other branch")
    tree.learning("ccccc", ["src/**"])
    commit(tree.root, "Other")
    assert tree.asked() == ["L-aaaaa", "L-bbbbb", "L-ccccc"]
    tree.git("checkout", "-q", "main")
    assert tree.open().behind()
    assert tree.shown() == ["L-bbbbb"]
    assert tree.asked() == ["L-aaaaa", "L-bbbbb"]


def test_a_linked_work_tree_has_an_index_of_its_own(tree: Tree, tmp_path: Path) -> None:
    other = tmp_path / "other"
    tree.git("worktree", "add", "-q", "-b", "other", str(other))
    second = Tree(other, tree.run)
    second.sync()
    assert not second.open().behind()
    second.learning("ccccc", ["src/**"])
    commit(second.root, "Other")
    assert second.open().behind()
    assert second.asked() == ["L-aaaaa", "L-bbbbb", "L-ccccc"]
    assert not tree.open().behind()
    assert tree.shown() == ["L-aaaaa", "L-bbbbb"]


def test_files_that_git_learns_of_decide_what_is_broad(tree: Tree) -> None:
    def broad() -> list[bool]:
        index = tree.open()
        return [bool(index.flags[number] & BROAD) for number in range(index.records)]

    (tree.root / "src").mkdir()
    for number in range(30):
        (tree.root / f"src/f{number}.txt").write_text("", "utf-8")
    assert tree.asked() == ["L-aaaaa", "L-bbbbb"]
    assert broad() == [False, False]
    tree.git("add", "src")
    assert tree.open().behind()
    assert tree.asked() == ["L-aaaaa", "L-bbbbb"]
    assert broad() == [True, False]


def test_commits_decide_what_is_broad(tree: Tree) -> None:
    commits = "".join(
        "commit refs/heads/main\ncommitter T <t@example.org> 1800000000 +0000\ndata 0\n"
        f"{'' if number else 'from refs/heads/main^0'}\nM 644 inline "
        f"{'src/a.py' if number % 2 else 'docs/a.md'}\n"
        f"data 2\n{number:02}\n"
        for number in range(30)
    )
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=tree.root, input=commits, text=True, check=True
    )
    tree.git("reset", "-q", "--hard")
    tree.learning("ccccc", ["src/b.py", "docs/b.md"])
    assert tree.open().behind()
    assert tree.asked() == ["L-aaaaa", "L-bbbbb"]
    index = tree.open()
    rows = [index.row(number) for number in range(index.records)]
    assert {row.values[ID] for row in rows if row.flags & BROAD} == {"L-aaaaa", "L-bbbbb"}


def test_files_of_another_git_index_do_not_count(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other, src = tmp_path / "index", tree.root / "src"
    for position in ("src", "docs"):
        (tree.root / position).mkdir(exist_ok=True)
        (tree.root / position / "a.py").write_text("", "utf-8")
    for number in range(20):
        (tree.root / f"docs/f{number}.txt").write_text("", "utf-8")
    tree.learning("bbbbb", ["src/*.py"])
    commit(tree.root, "More")
    shutil.copy(tree.root / ".git/index", other)
    with monkeypatch.context() as within:
        within.setenv("GIT_INDEX_FILE", str(other))
        for number in range(30):
            (src / f"f{number}.py").write_text("", "utf-8")
        tree.git("add", "src")
        tree.learning("bbbbb", ["src/*.py", "src/**"])
        tree.sync()
        assert [bool(flags & BROAD) for flags in tree.open().flags] == [True, True]
    for number in range(30):
        (src / f"f{number}.py").unlink()
    tree.sync()
    assert [bool(flags & BROAD) for flags in tree.open().flags] == [False, False]


@pytest.mark.parametrize(
    "harm", [Path.unlink, lambda file: os.truncate(file, 500), lambda file: os.truncate(file, 0)]
)
def test_a_broken_index_is_made_anew(tree: Tree, harm: Callable[[Path], None]) -> None:
    harm(tree.root / ".git/orbit/hook.idx")
    assert not open_index(str(tree.root))
    assert tree.asked() == ["L-aaaaa", "L-bbbbb"]
    assert tree.shown() == ["L-aaaaa", "L-bbbbb"]


def test_many_at_once_get_the_same_answer(tree: Tree) -> None:
    tree.learning("ccccc", ["src/**"])
    program = (
        "from orbit_registry.cli.main import main\nmain(['match', 'src/a.py', '--format', 'json'])"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program], cwd=tree.root, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    answers = [json.loads(row.communicate()[0])["data"]["matches"] for row in running]
    assert [[result["id"] for result in answer] for answer in answers] == [
        ["L-aaaaa", "L-bbbbb", "L-ccccc"]
    ] * 4
    assert tree.shown() == ["L-aaaaa", "L-bbbbb", "L-ccccc"]
    assert [
        file for file in (tree.root / ".git/orbit").iterdir() if file.name.startswith(".tmp-")
    ] == []


def test_a_killed_writer_leaves_the_old_index(tree: Tree) -> None:
    files = tree.root / ".git/orbit/.tmp-hook.idx-1-00ff"
    files.write_bytes(b"ha")
    assert tree.shown() == ["L-aaaaa", "L-bbbbb"]
    tree.learning("ccccc", ["src/**"])
    assert tree.asked() == ["L-aaaaa", "L-bbbbb", "L-ccccc"]
    assert not files.exists()
