"""Two processes that learn or decide the same at the same time:
one record comes of it, and the second is told so.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from orbit_registry.registry import Registry

LEARNING = ("learning", "add", "--summary", "Mind the gap", "--yes")
TELLS = """
import os, runpy, sys
lock, pipe = sys.argv.pop(1), int(sys.argv.pop(1))
def watch(event, details):
    global lock
    if event == "open" and str(details[0]).endswith(lock):
        lock = "\\0"
        os.write(pipe, b"1")
sys.addaudithook(watch)
runpy.run_module("orbit_registry.doors.cli.main", run_name="__main__", alter_sys=True)
"""
"""Runs `orbit`, and writes into a pipe when that first opens the lock:
then it has compared and wants to write.
"""


def at_once(root: Path, lock: Path, *commands: tuple[str, ...]) -> list[subprocess.Popen[str]]:
    """Start `orbit` with each command's arguments,
    all of which compare before one of them can write.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    started = []
    with FileLock(lock):
        for command in commands:
            reads, writes = os.pipe()
            process = subprocess.Popen(
                [sys.executable, "-c", TELLS, f"{os.sep}{lock.name}", str(writes), *command],
                cwd=root,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=[writes],
                env={**os.environ, "ORBIT_LOCK_WAIT_SECONDS": "600"},
            )
            os.close(writes)
            os.read(reads, 1)  # returns also where the process ends
            os.close(reads)
            started.append(process)
    return started


def answers_of_two(
    shell: Any, first: tuple[str, ...], second: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return the answers of two commands that both compared before either could write,
    the successful one first.
    """
    lock = Registry.open(shell.root).workspace.lock
    started = at_once(
        shell.root, lock, *((*command, "--format", "json") for command in (first, second))
    )
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
    lock = Registry.open(shell.root).workspace.lock
    other = ("learning", "add", "--summary", "Retry a lost connection three times")
    started = at_once(shell.root, lock, LEARNING, other)
    for process in started:
        process.communicate(timeout=60)

    assert [process.returncode for process in started] == [0, 0]
