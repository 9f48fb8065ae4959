"""What acceptance tests share: a child that ends itself before a chosen change of a file, and a browser."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

import pytest

CHANGES = frozenset(("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink"))
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
RAISED = 70
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
Look = Callable[[str], tuple[str, str]]


class RunKilled(Protocol):
    """Works in a child that kills itself before its `nth` change of a file; False if it ended before that.

    `work` returns an exit code, which has to be one of `codes`; it runs in `folder` where that is given.
    """

    def __call__(
        self, work: Callable[[], int], nth: int, folder: Path | None = None, codes: Collection[int] = (0, 1)
    ) -> bool: ...


@pytest.fixture(scope="session")
def run_killed() -> RunKilled:
    """Return what runs work that is killed in the middle."""

    def work_in_child(
        work: Callable[[], int], nth: int, folder: Path | None = None, codes: Collection[int] = (0, 1)
    ) -> bool:
        child = os.fork()
        if child == 0:
            code = RAISED
            try:
                os.chdir(folder or Path.cwd())
                _kill_before(nth)
                code = work()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        assert killed or os.WEXITSTATUS(status) in codes
        return killed

    return work_in_child


def _kill_before(nth: int) -> None:
    """Let this process kill itself before its `nth` change of a file from here on."""
    count = 0

    def watch(event: str, details: tuple[object, ...]) -> None:
        nonlocal count
        flags = details[2] if event == "open" and len(details) > 2 and isinstance(details[2], int) else 0
        if event in CHANGES or flags & WRITES:
            count += 1
            if count == nth:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


@pytest.fixture(scope="session")
def look(tmp_path_factory: pytest.TempPathFactory) -> Look:
    """Return a function that opens an address and gives the page as it is after loading, and what the console said."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("Chromium is not installed")
    profile = tmp_path_factory.mktemp("profile")

    def opened(url: str) -> tuple[str, str]:
        done = subprocess.run(
            [
                browser,
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
                *(f"--user-data-dir={profile}", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=4000"),
                *("--dump-dom", url),
            ],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=120,
            check=True,
        )
        console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
        return done.stdout, console

    return opened
