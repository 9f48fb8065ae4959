"""What acceptance tests share: a child that ends itself before a chosen change of a file, a small disk, a browser."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from playwright.sync_api import Browser
from tests.acceptance import browsing
from tests.acceptance.browsing import Tab

CHANGES = frozenset(("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink"))
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
RAISED = 70
Look = Callable[[str], tuple[str, str]]


class RunKilled(Protocol):
    """Works in a child that kills itself before its `nth` change of a file; False if it ended before that.

    `work` returns an exit code, which has to be one of `codes`; it runs in `folder` where that is given. Only changes
    `below` a folder count where that is given.
    """

    def __call__(
        self,
        work: Callable[[], int],
        nth: int,
        folder: Path | None = None,
        codes: Collection[int] = (0, 1),
        below: Path | None = None,
    ) -> bool: ...


@pytest.fixture(scope="session")
def run_killed() -> RunKilled:
    """Return what runs work that is killed in the middle."""

    def work_in_child(
        work: Callable[[], int],
        nth: int,
        folder: Path | None = None,
        codes: Collection[int] = (0, 1),
        below: Path | None = None,
    ) -> bool:
        child = os.fork()
        if child == 0:
            code = RAISED
            try:
                os.chdir(folder or Path.cwd())
                _kill_before(nth, str(below or ""))
                code = work()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        assert killed or os.WEXITSTATUS(status) in codes
        return killed

    return work_in_child


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of its own with two megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("only the superuser may mount a file system, here one of two megabytes that can be filled")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def _kill_before(nth: int, below: str) -> None:
    """Let this process kill itself before its `nth` change of a file from here on, of those whose path begins so."""
    count = 0

    def watch(event: str, details: tuple[object, ...]) -> None:
        nonlocal count
        flags = details[2] if event == "open" and len(details) > 2 and isinstance(details[2], int) else 0
        if (event in CHANGES or flags & WRITES) and str(details[0]).startswith(below):
            count += 1
            if count == nth:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a running browser, for one module: others start event loops of their own, beside which its can't run."""
    with browsing.chromium() as running:
        yield running


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    """Return a tab of the browser that nothing was opened in before."""
    with browsing.tab(browser) as opened:
        yield opened


@pytest.fixture
def look(tab: Tab) -> Look:
    """Return a function that opens an address and gives the page as it is after loading, and what the console said."""

    def opened(url: str) -> tuple[str, str]:
        tab.said.clear()
        return tab.settled(url), "\n".join(tab.said)

    return opened
