"""Numbers under contention: many processes, two work trees, kills;
no number is given out twice and none is lost.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import pytest
from tests.acceptance.conftest import orbit

from orbit_registry.errors import RefusedError
from orbit_registry.registry import Registry
from orbit_registry.repository.ids import allocate

PROCESSES = 8


@pytest.fixture
def two_trees(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return two work trees of one repository, both a workspace;
    on a busy machine one waits long for its turn.
    """
    monkeypatch.setenv("ORBIT_LOCK_WAIT_SECONDS", "600")
    Registry.init(git_repo)
    subprocess.run(["git", "add", "-A"], cwd=git_repo, check=True)
    subprocess.run(["git", "commit", "-qm", "Init"], cwd=git_repo, check=True)
    second = git_repo.parent / "second"
    subprocess.run(["git", "worktree", "add", "-q", str(second)], cwd=git_repo, check=True)
    return git_repo, second


def test_a_number_of_another_branch_is_said_to_be_there(git_repo: Path) -> None:
    Registry.init(git_repo)
    orbit(git_repo, "adr", "new", "Cache in Redis", "--yes")
    for words in (["checkout", "-qb", "a"], ["add", "-A"], ["commit", "-qm", "A"]):
        subprocess.run(["git", *words], cwd=git_repo, check=True)
    subprocess.run(["git", "checkout", "-q", "main"], cwd=git_repo, check=True)
    Registry.init(git_repo)

    printed = orbit(git_repo, "adr", "new", "Ship as images", "--yes")

    assert "ADR-0002" in printed
    assert "ADR-0001 on a" in printed


def in_child(work: Callable[[TextIO], None], path: Path) -> int:
    """Run a function that writes ids to a file, line by line, in a forked child;
    returns its process id.
    """
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        with path.open("w", encoding="utf-8", buffering=1) as out:
            work(out)
        status = 0
    finally:
        os._exit(status)


def taken(files: Sequence[Path]) -> list[str]:
    """Return the ids that the children reported, whole lines only."""
    return [line for file in files for line in file.read_text("utf-8").split("\n")[:-1]]


def test_eight_processes_take_80_numbers_and_none_twice(
    two_trees: tuple[Path, Path], tmp_path: Path
) -> None:
    files = [tmp_path / f"ids-{index}" for index in range(PROCESSES)]

    def take(root: Path) -> Callable[[TextIO], None]:
        def work(out: TextIO) -> None:
            workspace = Registry.open(root).workspace
            for _ in range(10):
                out.write(allocate(workspace, workspace.kinds["adr"])[0].id + "\n")

        return work

    children = [in_child(take(two_trees[index % 2]), file) for index, file in enumerate(files)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * PROCESSES

    assert [f"ADR-{number:04d}" for number in range(1, 81)] == sorted(taken(files))


def test_a_number_is_released_when_the_write_fails(git_repo: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "orbit_registry.doors.cli.main",
        "adr",
        "add",
        "--title",
        "Keep the queue",
    ]
    Registry.init(git_repo)

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))

    refused = subprocess.run(
        command, cwd=git_repo, capture_output=True, check=False, preexec_fn=little_room
    )
    assert refused.returncode == 1
    added = subprocess.run(command, cwd=git_repo, capture_output=True, text=True, check=True)
    assert added.stdout.startswith("ADR-0001 ")


def test_the_number_of_a_trial_that_was_thrown_away_says_how_to_free_it(git_repo: Path) -> None:
    def run(*words: str) -> str:
        return subprocess.run(
            words, cwd=git_repo, capture_output=True, text=True, check=True
        ).stdout

    def add(title: str) -> str:
        return run(sys.executable, "-m", "orbit_registry.doors.cli.main", "adr", "add", title)

    Registry.init(git_repo)
    add("Try it")
    run("git", "clean", "-fdxq")
    Registry.init(git_repo)
    printed = add("Keep the queue")
    assert "ADR-0002" in printed
    remedy = printed.partition("`rm ")[2].partition("`")[0]
    Path(remedy).unlink()

    run("git", "clean", "-fdxq")
    Registry.init(git_repo)
    assert add("Keep the queue").startswith("ADR-0001 ")


def test_no_number_is_taken_where_git_refuses_to_read_the_branches(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Registry.init(git_repo)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    workspace = Registry.open(git_repo).workspace
    with pytest.raises(RefusedError, match="another user owns") as refused:
        allocate(workspace, workspace.kinds["adr"])

    assert refused.value.hint == f"`git config --global --add safe.directory {git_repo}`"
    assert "git refuses to read" in orbit(git_repo, "check")
