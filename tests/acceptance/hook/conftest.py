"""A project with records and the client of the hook, run as agents run it;
it holds no expectations but a good end.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import files
from tests.files import commit, make_workspace, write, write_learning

from orbit_registry.hook import client
from orbit_registry.matching.match import current_index
from orbit_registry.model.reach import WIDE_PLACES
from orbit_registry.workspace.workspace import open_workspace

LAUNCH = [sys.executable, "-I", "-S", "-E", str(Path(client.__file__).with_name("launch.py"))]
PATIENT = {"ORBIT_HOOK_DEADLINE_MS": "60000"}
"""A busy machine is no bug: what is tested is what the hook says, not how soon."""


def dispatched(root: Path) -> list[dict[str, Any]]:
    """Return a project's events, but for syncs: one that a call starts ends whenever it ends."""
    return [row for row in files.events(root) if row["event"] != "synced"]


def bring_up_to_date(root: Path) -> None:
    current_index(open_workspace(root))


def withhold_at_edits(root: Path) -> None:
    """Make `src` large, and write so many better learnings about it that others have no place."""
    for number in range(30):
        write(root, f"src/f{number}.txt")
    for number in range(WIDE_PLACES):
        write_learning(root, 90_000 + number, priority=9)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    bring_up_to_date(root)


@pytest.fixture(scope="session")
def _with_learnings(_first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one workspace with three learnings for `src/**`, for `root` to copy."""
    root = make_workspace(
        Path(shutil.copytree(_first_commit, tmp_path_factory.mktemp("hook") / "repo"))
    )
    write(root, "src/a.py")
    for number in range(1, 4):
        write_learning(root, number)
    commit(root)
    return root


@pytest.fixture
def root(_with_learnings: Path, tmp_path: Path) -> Path:
    """Return a workspace with three learnings for `src/**` and its push index."""
    root = Path(shutil.copytree(_with_learnings, tmp_path / "repo"))
    bring_up_to_date(root)
    return root


def run_client(root: Path, content: bytes, agent: str = "claude", **variables: str) -> bytes:
    """Return what the client prints for some input;
    that it ends well and says nothing else is asserted.
    """
    environment = {**os.environ, **PATIENT, "CLAUDE_PROJECT_DIR": str(root), **variables}
    done = subprocess.run(
        [*LAUNCH, agent],
        input=content,
        capture_output=True,
        cwd=root,
        env=environment,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.fixture
def call(root: Path) -> Callable[..., dict[str, Any]]:
    """Return what sends an event of a session `s` and gives the reply; empty for none."""

    def sent(event: str, session: str = "s", **fields: object) -> dict[str, Any]:
        payload = {"cwd": str(root), "session_id": session, "hook_event_name": event, **fields}
        printed = run_client(root, json.dumps(payload).encode())
        reply: dict[str, Any] = json.loads(printed) if printed else {}
        if "hookSpecificOutput" in reply:
            assert reply["hookSpecificOutput"]["hookEventName"] == event
        return reply

    return sent
