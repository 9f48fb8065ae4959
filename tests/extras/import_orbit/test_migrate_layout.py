"""`orbit learning migrate-layout`: each older layout becomes today's once, as one step,
and no id is lost.
"""

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.doors.cli.main import run
from orbit_registry.registry import Registry
from orbit_registry.workspace.lock import locked

TEXT = """\
schema_version: 1
id: {id}
status: {status}
scope:
  paths:
  - src/**
  tags: [{tag}]
summary: {summary}
body: |
  Why, in two lines.
  Because.
evidence:
- kind: task
  reference: T-1
{more}created_at: 2026-05-17T06:07:29.099624Z
updated_at: 2026-05-18T06:07:29.099624Z
created_by: claude
"""
VOTE = (
    '{{"learning_id":"{id}","voter_model":"m","voted_at":"2026-05-17T12:00:00Z","task_id":"T-1"}}\n'
)
SUMMARIES = ("Look before you leap", "Pin the compiler", "Close files in order")


def text(name: str, number: int, status: str = "active", more: str = "") -> str:
    return TEXT.format(
        id=name, status=status, tag=f"tag{number}", summary=SUMMARIES[number], more=more
    )


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")


def flat(root: Path) -> dict[str, str]:
    folder = root / ".orbit/learnings"
    write(folder / "L-0001.yaml", text("L-0001", 0, more="supersedes: L-0002\n"))
    write(
        folder / "superseded/L-0002.yaml",
        text("L-0002", 1, "superseded", "superseded_by: L-0001\n"),
    )
    write(folder / "L-0003.yaml", text("L-0003", 2))
    return dict(zip(("L-0001", "L-0002", "L-0003"), SUMMARIES, strict=True))


def dated(root: Path) -> dict[str, str]:
    """Write the layout with a day in each id and return the old ids with their summaries."""
    folder = root / ".orbit/learnings"
    names = ("L20260517-1", "L20260517-2", "L20260518-1")
    more = ("", f"superseded_by: {names[2]}\n", f"supersedes: {names[1]}\n")
    for number, name in enumerate(names):
        write(
            folder / name / "learning.yaml",
            text(name, number, "superseded" if number == 1 else "active", more[number]),
        )
        write(folder / name / "votes.jsonl", VOTE.format(id=name))
        write(folder / name / "comments.jsonl", "")
    return dict(zip(names, SUMMARIES, strict=True))


LAYOUTS = {"flat": flat, "dated": dated}


@pytest.fixture
def old(git_repo: Path, layout: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Make a workspace with learnings in an older layout;
    return the old ids with their summaries.
    """
    Registry.init(git_repo)
    monkeypatch.chdir(git_repo)
    return LAYOUTS[layout](git_repo)


def files(root: Path) -> dict[str, bytes]:
    folder = root / ".orbit/learnings"
    return {
        str(file.relative_to(root)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def assert_migrated(root: Path, old: dict[str, str]) -> None:
    registry = Registry.open(root)
    assert registry.collection.problems == ()
    assert {name: registry.get(name).title for name in old} == old
    assert len(registry.collection.records) == len(old)
    assert not list((root / ".git/orbit/journal").glob("*"))


@pytest.mark.parametrize("layout", ["flat"])
def test_another_writer_is_named_and_not_waited_for(old: dict[str, str], git_repo: Path) -> None:
    before = files(git_repo)
    with locked(Registry.open(git_repo).workspace.lock):
        done = subprocess.run(
            [sys.executable, "-m", "orbit_registry.doors.cli.main", "learning", "migrate-layout"],
            capture_output=True,
            text=True,
            check=False,
            cwd=git_repo,
        )

    assert done.returncode == 1
    assert f"process {os.getpid()} " in done.stderr
    assert files(git_repo) == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_kill_at_any_change_of_a_file_loses_nothing(
    old: dict[str, str], git_repo: Path, tmp_path: Path, run_killed: Any
) -> None:
    migrate = partial(run, ["learning", "migrate-layout"])
    for nth in range(1, 200, 7):
        root = Path(shutil.copytree(git_repo, tmp_path / f"killed-{nth}"))
        killed = run_killed(migrate, nth, root)
        texts = " ".join(content.decode() for content in files(root).values())
        assert all(summary in texts for summary in SUMMARIES), nth
        assert not run_killed(migrate, 10**9, root, (0,))
        assert_migrated(root, old)
        shutil.rmtree(root)
        if not killed:
            assert nth > 3
            return
    pytest.fail("the command never ended")
