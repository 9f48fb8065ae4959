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
from tests.files import commit, make_workspace, write, write_learning

from orbit_registry.hook.index import Index, open_index
from orbit_registry.hook.select import is_wide
from orbit_registry.matching.match import current_index, match
from orbit_registry.matching.sync import sync_index
from orbit_registry.model.fields import ID
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


def wide_hits(index: Index, path: str) -> list[str]:
    """Return the ids that only wide globs lead to at a path."""
    return [index.row(hit >> 32).id for hit in index.match(path) if is_wide(hit)]


def test_files_that_git_learns_of_decide_what_is_wide(tree: Tree) -> None:
    for number in range(30):
        write(tree.root, f"src/f{number}.txt")
    assert tree.asked() == ["L-aaaaa", "L-bbbbb"]
    assert wide_hits(tree.open(), "src/a.py") == []
    tree.git("add", "src")
    assert tree.open().behind()
    assert tree.asked() == ["L-aaaaa", "L-bbbbb"]
    assert wide_hits(tree.open(), "src/a.py") == ["L-aaaaa"]


def test_a_commit_that_adds_no_file_leaves_the_index_as_it_is(tree: Tree) -> None:
    write(tree.root, "src/a.py")
    tree.git("add", "src")
    tree.sync()
    for number in range(3):
        write(tree.root, "src/a.py", str(number))
        tree.git("commit", "-qam", "Change")
    assert sync_index(open_workspace(tree.root)).built is False


def test_files_of_another_git_index_do_not_count(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "index"
    for number in range(20):
        write(tree.root, f"docs/f{number}.txt")
    commit(tree.root, "More")
    shutil.copy(tree.root / ".git/index", other)
    with monkeypatch.context() as within:
        within.setenv("GIT_INDEX_FILE", str(other))
        for number in range(30):
            write(tree.root, f"src/f{number}.py")
        tree.git("add", "src")
        tree.sync()
        assert wide_hits(tree.open(), "src/f0.py") == ["L-aaaaa", "L-bbbbb"]
    for number in range(30):
        (tree.root / f"src/f{number}.py").unlink()
    tree.sync()
    assert wide_hits(tree.open(), "src/f0.py") == []


@pytest.mark.parametrize(
    "harm", [Path.unlink, lambda file: os.truncate(file, 500), lambda file: os.truncate(file, 0)]
)
def test_a_broken_index_is_made_anew(tree: Tree, harm: Callable[[Path], None]) -> None:
    harm(tree.root / ".git/orbit/hook-18.idx")
    assert not open_index(str(tree.root))
    assert tree.asked() == ["L-aaaaa", "L-bbbbb"]
    assert tree.shown() == ["L-aaaaa", "L-bbbbb"]


def test_many_at_once_get_the_same_answer(tree: Tree) -> None:
    tree.learning("ccccc", ["src/**"])
    command = [sys.executable, "-m", "orbit_registry", "match", "src/a.py", "--format", "json"]
    running = [
        subprocess.Popen(command, cwd=tree.root, stdout=subprocess.PIPE, text=True)
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
    files = tree.root / ".git/orbit/.tmp-hook-18.idx-1-00ff"
    files.write_bytes(b"ha")
    assert tree.shown() == ["L-aaaaa", "L-bbbbb"]
    tree.learning("ccccc", ["src/**"])
    assert tree.asked() == ["L-aaaaa", "L-bbbbb", "L-ccccc"]
    assert not files.exists()
