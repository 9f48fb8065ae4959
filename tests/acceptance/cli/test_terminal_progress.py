"""What a terminal shows while a command works, and a pipe does not."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

ORBIT = [sys.executable, "-m", "orbit_registry.doors.cli.main"]
DECISION = "# 1. Use Redis\n\n## Status\n\nAccepted\n\n## Decision\n\nWe use Redis.\n"


def errors_on_terminal(folder: Path, *arguments: str) -> str:
    """Run `orbit` with standard error on a terminal, and return what was shown there."""
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [*ORBIT, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=follower
    )
    os.close(follower)
    shown = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            part = os.read(leader, 4096)
        except OSError:  # Linux says so when the child is gone
            break
        if not part:
            break
        shown += part

    os.close(leader)
    assert child.wait(60) == 0
    return shown.decode()


@pytest.fixture
def with_decision(git_repo: Path) -> Path:
    folder = git_repo / "docs" / "adr"
    folder.mkdir(parents=True)
    (folder / "0001-use-redis.md").write_text(DECISION, "utf-8")
    subprocess.run([*ORBIT, "init", "--yes"], cwd=git_repo, check=True, capture_output=True)
    return git_repo


def test_an_import_says_on_a_terminal_what_it_does(
    with_decision: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "reading the documents" in errors_on_terminal(with_decision, "import", ".")


def test_an_import_in_ci_shows_no_bar(with_decision: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert "reading" not in errors_on_terminal(with_decision, "import", ".")
