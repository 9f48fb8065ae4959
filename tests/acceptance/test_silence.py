"""Why an edit of a file shows nothing, by the rows of `tests/cases/silence.yaml`."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.files import commit, make_workspace, write, write_learning

from orbit_registry.doors.cli.main import run

TABLE = Path(__file__).parents[1] / "cases/silence.yaml"
ROWS: list[dict[str, Any]] = yaml.safe_load(TABLE.read_text("utf-8"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("silence").resolve()
    (base / "repo").mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(base / "repo")], check=True)
    root = make_workspace(base / "repo")
    for name in ("src/a.py", "lib/b.py"):
        write(root, name)
    write(root, ".gitignore", ".orbit/state/\nmade.py\n")
    write_learning(root, 1)
    (root / "link").symlink_to("src")
    (root / "one.py").symlink_to("src/a.py")
    (root / "loop").symlink_to("loop")
    commit(root)

    for name in ("made.py", "src/made.py"):
        write(root, name)
    command = ["git", "worktree", "add", "-q", "--detach", "../tree"]
    subprocess.run(command, cwd=root, check=True)
    return base


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["path"]))
def test_a_silent_edit_is_explained(
    base: Path,
    row: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(base / "repo")
    assert run(["explain", row["path"].replace("BASE", str(base))]) == 0

    text, notes = capsys.readouterr()
    assert ("+ L-00001" in text) is row["shows"]
    answer = " ".join((text + notes).split())
    for words in row["says"]:
        assert words in answer
    for words in row.get("never", ()):
        assert words not in answer


@pytest.mark.parametrize("command", [["explain", "src/a.py"], ["list"], ["check"], ["doctor"]])
def test_a_work_tree_of_an_older_commit_says_where_the_records_are(
    git_repo: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    write(git_repo, "src/a.py")
    commit(git_repo)
    root = make_workspace(git_repo)
    write_learning(root, 1)
    commit(root)
    old = root.parent / "old"
    add = ["git", "worktree", "add", "-q", "--detach", str(old), "HEAD~1"]
    subprocess.run(add, cwd=root, check=True)

    code = run(["-C", str(old), *command])

    printed = "".join(capsys.readouterr())
    assert code in (1, 2)
    assert "`main` has one, and this commit has none: `git merge main` brings it" in printed
    assert "orbit init" not in printed


def test_a_sparse_checkout_says_that_it_leaves_the_records_out(
    git_repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_workspace(git_repo)
    write(root, "src/a.py")
    commit(root)
    subprocess.run(["git", "sparse-checkout", "set", "src"], cwd=root, check=True)
    monkeypatch.chdir(root / "src")

    assert run(["list"]) == 2
    assert "hint: its commit has one: `git sparse-checkout add .orbit`" in capsys.readouterr().err
