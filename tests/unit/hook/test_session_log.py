"""What a session was shown: names that can't lead anywhere, torn files, age,
and the events' bounded log.
"""

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbit_registry.formats.yaml import load
from orbit_registry.hook import events
from orbit_registry.hook.events import Event, append
from orbit_registry.hook.project import KEPT_DAYS, prune
from orbit_registry.hook.session import FAILED, LATE, MOST_MISSED, SessionLog, safe_name

FOLDER = ".orbit/state/log/sessions"
MISSED: Any = load((Path(__file__).parents[2] / "cases/push/missed.yaml").read_text("utf-8"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with an empty `.orbit/`."""
    (tmp_path / ".orbit").mkdir()
    return tmp_path


def shown(root: Path, session: str, *more: str, agent: str = "") -> list[str]:
    ledger = SessionLog(str(root), session, agent)
    ids = ledger.begin()
    ledger.add(list(more))
    ledger.end()
    return ids


@given(st.text(), st.text())
def test_a_name_is_a_plain_file_name(text: str, other: str) -> None:
    name = safe_name(text)
    assert len(name) <= 64
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    assert (safe_name(other) == name) is (text == other)


def test_sessions_and_agents_do_not_share(root: Path) -> None:
    assert shown(root, "s", "a") == []
    assert shown(root, "s", "b") == ["a"]
    assert shown(root, "t") == []
    assert shown(root, "s", "org:ADR-0001", agent="x") == []
    assert shown(root, "s") == ["a", "b"]
    assert shown(root, "s", agent="x") == ["org:ADR-0001"]


def test_a_torn_line_costs_no_other(root: Path) -> None:
    shown(root, "s", "L-00001")
    with (root / FOLDER / "s").open("a", encoding="utf-8") as file:
        file.write("L-00")
    assert shown(root, "s", "L-00002") == ["L-00001", "L-00"]
    assert shown(root, "s") == ["L-00001", "L-00", "L-00002"]


def run_step(log: SessionLog, step: Mapping[str, Any]) -> None:
    """Do to a session's log what a step of a case says."""
    if step.get("late"):
        log.mark(LATE)
    if step.get("compacted"):
        log.forget()

    for number in range(step.get("times", 1)):
        prefix = f"{number}/" if step.get("new") else ""
        for name in ("read", "code"):
            paths = [prefix + _spelled(path) for path in step.get(name, ())]
            log.note_missed(paths, writes_code=name == "code")


def _spelled(path: str) -> str:
    """Return a path with what a case can't hold, or would be too long in it."""
    path = path.replace("LONGEST", "é" * 190).replace("TOO_LONG", "é" * 200)
    return path.replace("HALF", "\ud800")


@pytest.mark.parametrize("case", MISSED, ids=lambda case: str(case["name"]))
def test_what_a_session_missed_is_kept_once_and_costs_nothing_else(
    root: Path, case: Mapping[str, Any]
) -> None:
    log = SessionLog(str(root), "s")
    log.mark(FAILED)
    is_compacted = any("compacted" in step for step in case["steps"])
    if not is_compacted:
        shown(root, "s", "L-00001")

    for step in case["steps"]:
        run_step(log, step)

    is_late, paths = log.take_missed()
    expected = {_spelled(path): writes for path, writes in case.get("paths", {}).items()}
    assert is_late == case.get("late", False)
    assert len(paths) == case.get("count", len(expected)) <= MOST_MISSED
    if expected:
        assert paths == expected

    assert log.take_missed() == (False, {})
    assert shown(root, "s") == ([] if is_compacted else ["L-00001"])
    assert not log.mark(FAILED)


def test_old_ledgers_are_removed(root: Path) -> None:
    for name in ("old", "new"):
        shown(root, name, "a")
    os.utime(root / FOLDER / "old", (0, 0))
    prune(str(root), time.time(), "log", "sessions")
    assert [path.name for path in (root / FOLDER).iterdir()] == ["new"]
    assert KEPT_DAYS >= 7


def test_a_link_in_a_ledgers_place_is_refused(root: Path, tmp_path: Path) -> None:
    shown(root, "s")
    (root / FOLDER / "s").unlink()
    (root / FOLDER / "s").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic"):
        shown(root, "s", "a")
    assert not (tmp_path / "victim").exists()


def test_the_log_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LARGEST", 2000)
    for number in range(101):
        event = Event("hook:PreToolUse", 0.0)
        event.query, event.hits = [f'src/"ü\n{number}'], ["L-00001"]
        append(str(root), event)
    folder = root / ".orbit/state/log"
    assert {path.name for path in folder.iterdir()} <= {*events.FILES}
    assert (folder / events.FILES[0]).exists()
    parts = [folder / name for name in events.FILES if (folder / name).exists()]
    lines = [json.loads(line) for path in parts for line in path.read_text("utf-8").splitlines()]
    numbers = [int(line["query"][0].rpartition("\n")[2]) for line in lines]
    assert numbers == list(range(numbers[0], 101))
    assert lines[-1]["at"] == "1970-01-01T00:00:00Z"
    assert all(path.stat().st_size < 3000 for path in folder.iterdir())
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in folder.iterdir())


def test_half_a_line_costs_no_other(root: Path) -> None:
    append(str(root), Event("hook", 0.0))
    log = root / ".orbit/state/log" / events.NAME
    with log.open("a", encoding="utf-8") as file:
        file.write('{"at": "2026-')
    append(str(root), Event("hook", 1.0))
    first, torn, last = log.read_text("utf-8").splitlines()
    assert (json.loads(first)["at"], torn, json.loads(last)["at"]) == (
        "1970-01-01T00:00:00Z",
        '{"at": "2026-',
        "1970-01-01T00:00:01Z",
    )


WRITER = """
import sys
from orbit_registry.formats.yaml import load
from orbit_registry.hook import events
events.LARGEST = 80_000
for number in range(200):
    event = events.Event("hook:PreToolUse", number)
    event.session, event.query = sys.argv[2], [str(number)]
    events.append(sys.argv[1], event)
"""


def test_eight_processes_lose_and_mix_no_line(root: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(root), str(process)])
        for process in range(8)
    ]
    assert [writer.wait() for writer in writers] == [0] * 8
    folder = root / ".orbit/state/log"
    parts = [
        (folder / name).read_text("utf-8") for name in events.FILES if (folder / name).exists()
    ]
    # A line that is just being written looks torn to the next writer, which leaves an empty one
    # behind it.
    lines = [json.loads(line) for part in parts for line in part.splitlines() if line]
    pairs = sorted((int(line["session"]), int(line["query"][0])) for line in lines)
    assert pairs == [(writer, number) for writer in range(8) for number in range(200)]
    assert len(parts) > 1
