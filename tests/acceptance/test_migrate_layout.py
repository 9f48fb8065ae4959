"""`orbit learning migrate-layout`: each older layout becomes today's once, as one step, and no id is lost."""

import json
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.cli.main import run
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
VOTE = '{{"learning_id":"{id}","voter_model":"m","voted_at":"2026-05-17T12:00:00Z","task_id":"T-1"}}\n'
SUMMARIES = ("Look before you leap", "Pin the compiler", "Close files in order")


def text(name: str, number: int, status: str = "active", more: str = "") -> str:
    return TEXT.format(id=name, status=status, tag=f"tag{number}", summary=SUMMARIES[number], more=more)


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")


def flat(root: Path) -> dict[str, str]:
    folder = root / ".orbit/learnings"
    write(folder / "L-0001.yaml", text("L-0001", 0, more="supersedes: L-0002\n"))
    write(folder / "superseded/L-0002.yaml", text("L-0002", 1, "superseded", "superseded_by: L-0001\n"))
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
each_layout = pytest.mark.parametrize("layout", LAYOUTS)
flat_layout = pytest.mark.parametrize("layout", ["flat"])


@pytest.fixture
def old(git_repo: Path, layout: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Make a workspace with learnings in an older layout; return the old ids with their summaries."""
    Registry.init(git_repo)
    monkeypatch.chdir(git_repo)
    return LAYOUTS[layout](git_repo)


def orbit(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    """Run `orbit` and return its code and what it printed."""
    code = run(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def files(root: Path) -> dict[str, bytes]:
    folder = root / ".orbit/learnings"
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def assert_migrated(root: Path, old: dict[str, str], *, by_gate: bool = True) -> None:
    registry = Registry.open(root)
    assert registry.collection.problems == ()
    assert {name: registry.get(name).title for name in old} == old
    assert len(registry.collection.records) == len(old)
    if by_gate:
        assert [
            str(diagnostic) for diagnostic in registry.check().diagnostics if diagnostic.severity.value == "error"
        ] == []
    assert not list((root / ".git/orbit/journal").glob("*"))


@flat_layout
def test_an_older_layout_is_said_once(old: dict[str, str], git_repo: Path, capsys: Any) -> None:
    diagnostics = [
        diagnostic for diagnostic in Registry.open(git_repo).check().diagnostics if diagnostic.severity.value == "error"
    ]
    assert [(diagnostic.code, str(diagnostic.location.path)) for diagnostic in diagnostics] == [
        ("ORB110", ".orbit/learnings")
    ]
    assert "orbit learning migrate-layout" in str(diagnostics[0].hint)

    before = files(git_repo)
    for command, code in ((["learning", "add", "--summary", "New", "--yes"], 1), (["learning", "list"], 0)):
        ended, _, err = orbit(capsys, *command)
        assert (ended, err.count("orbit learning migrate-layout")) == (code, 1)
    assert files(git_repo) == before


@each_layout
def test_a_migration_keeps_ids_texts_votes_and_edges(old: dict[str, str], git_repo: Path, capsys: Any) -> None:
    code, out, _ = orbit(capsys, "learning", "migrate-layout", "--format", "json")

    assert code == 0
    assert json.loads(out)["data"]["counts"]["taken"] == 3
    assert_migrated(git_repo, old)
    registry = Registry.open(git_repo)
    closed, live = (
        next(record for record in registry.records if record.phase == phase) for phase in ("closed", "live")
    )
    (new,) = [record for record in registry.records if closed.id in record.supersedes]
    assert closed.superseded_by == (new.id,)
    assert live.prose.startswith("Why, in two lines.\nBecause.")
    assert [len(record.votes) for record in registry.records] == [1 if name.startswith("L2") else 0 for name in old]
    assert not (git_repo / ".orbit/learnings/superseded").exists()


@flat_layout
def test_a_second_run_and_a_dry_run_change_nothing(old: dict[str, str], git_repo: Path, capsys: Any) -> None:
    """The one says what would be moved, the other that nothing is left."""
    before = files(git_repo)
    code, out, _ = orbit(capsys, "learning", "migrate-layout", "--dry-run")
    assert (code, files(git_repo)) == (0, before)
    assert "3 would be taken" in out

    orbit(capsys, "learning", "migrate-layout")
    after = files(git_repo)
    code, out, _ = orbit(capsys, "learning", "migrate-layout")
    assert (code, files(git_repo)) == (0, after)
    assert "nothing to migrate" in out


@flat_layout
def test_a_workspace_is_made_where_there_is_none(layout: str, git_repo: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(git_repo)
    old = LAYOUTS[layout](git_repo)
    code, _, err = orbit(capsys, "learning", "list")
    assert code == 2
    assert "orbit learning migrate-layout" in err

    assert orbit(capsys, "learning", "migrate-layout")[0] == 0

    assert_migrated(git_repo, old)


@flat_layout
def test_another_writer_is_named_and_not_waited_for(old: dict[str, str], git_repo: Path) -> None:
    before = files(git_repo)
    with locked(Registry.open(git_repo).workspace.lock):
        done = subprocess.run(
            [sys.executable, "-m", "orbit_registry.cli.main", "learning", "migrate-layout"],
            capture_output=True, text=True, check=False, cwd=git_repo,
        )  # fmt: skip

    assert done.returncode == 1
    assert f"process {os.getpid()} " in done.stderr
    assert files(git_repo) == before


@flat_layout
def test_an_agent_migrates_nothing(old: dict[str, str], git_repo: Path, monkeypatch: Any, capsys: Any) -> None:
    before = files(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "agent")

    code, _, err = orbit(capsys, "learning", "migrate-layout")

    assert (code, files(git_repo)) == (1, before)
    assert "a person runs" in err


def test_a_learning_in_both_layouts_is_left(git_repo: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(git_repo)
    Registry.init(git_repo)
    flat(git_repo)
    orbit(capsys, "learning", "migrate-layout")
    write(git_repo / ".orbit/learnings/L-0003.yaml", text("L-0003", 2))
    before = files(git_repo)

    code, out, _ = orbit(capsys, "learning", "migrate-layout")

    assert (code, files(git_repo)) == (0, before)
    assert "L-0003 has its place already: compare the two, and delete this one" in out


@each_layout
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
        assert_migrated(root, old, by_gate=False)
        shutil.rmtree(root)
        if not killed:
            assert nth > 3
            return
    pytest.fail("the command never ended")
