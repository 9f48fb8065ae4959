"""Two processes that learn or decide the same at the same time: one record comes of it, and the second is told so."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from orbit_registry.registry import Registry

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists() or int(version("filelock").partition(".")[0]) < 4,
    reason="open files are looked up in /proc, and an older filelock has its own open for an instant at each try",
)
LEARNING = ("learning", "add", "--summary", "Mind the gap", "--yes")


def begin(root: Path, *arguments: str, add: tuple[str, ...] = LEARNING) -> subprocess.Popen[str]:
    """Start `orbit KIND add` and return it."""
    return subprocess.Popen(
        [sys.executable, "-m", "orbit_registry.cli.main", *add, *arguments],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "ORBIT_LOCK_WAIT_SECONDS": "600"},
    )  # fmt: skip


def waits_for(process: subprocess.Popen[str], lock: Path) -> None:
    """Return when a process has the lock's file open, which is when it has compared and wants to write."""
    lock_path = str(lock.resolve())
    while process.poll() is None:
        links = Path(f"/proc/{process.pid}/fd")
        with suppress(OSError):
            if any(str(link.resolve()) == lock_path for link in links.iterdir()):
                return
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)


def answers_of_two(shell: Any, first: tuple[str, ...], second: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the answers of two commands that both compared before either could write, the successful one first."""
    workspace = Registry.open(shell.root).workspace
    workspace.lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(workspace.lock):
        started = [begin(shell.root, "--format", "json", add=command) for command in (first, second)]
        for process in started:
            waits_for(process, workspace.lock)
    answers = [json.loads(process.communicate(timeout=60)[0]) for process in started]
    assert sorted(process.returncode for process in started) == [0, 1]
    return sorted(answers, key=lambda answer: not answer["ok"])


@pytest.mark.parametrize("more", [[], ["--pending"]])
def test_the_second_of_two_equal_learnings_is_refused(shell: Any, more: list[str]) -> None:
    added, refused = answers_of_two(shell, LEARNING, (*LEARNING, *more))

    ids = [row["id"] for row in shell.data("learning", "list") if row["summary"] == "Mind the gap"]
    assert ids == [added["data"]["id"]]
    assert "this is known already" in refused["error"]
    if added["data"]["phase"] == "live":
        assert refused["next"][0] == f"orbit learning vote {ids[0]} --task TASK"
        assert shell(*refused["next"][0].split()[1:])[0] == 0


def test_the_second_of_two_equal_decisions_is_refused(shell: Any) -> None:
    add = ("adr", "add", "--title", "Use one queue")
    added, refused = answers_of_two(shell, add, add)

    assert f"{added['data']['id']} (proposed) has the same title" in refused["error"]
    following = shell.data("adr", "add", "--title", "Use two queues")
    assert following["above"].startswith(added["data"]["id"])


def test_what_says_something_else_is_added_beside_it(shell: Any) -> None:
    workspace = Registry.open(shell.root).workspace
    with FileLock(workspace.lock):
        started = [begin(shell.root), begin(shell.root, "--body", "And the platform.")]
        for process in started:
            waits_for(process, workspace.lock)
    for process in started:
        process.communicate(timeout=60)

    assert [process.returncode for process in started] == [0, 0]
