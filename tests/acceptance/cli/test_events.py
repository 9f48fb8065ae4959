"""`orbit events`, and the schema of the log."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
from jsonschema import Draft202012Validator

from orbit_registry.hook import client, events
from orbit_registry.hook.events import NOTE_SKIPS, Event, append
from orbit_registry.model.reach import SKIPS
from orbit_registry.workspace.event_log import follow

LAUNCH = [sys.executable, "-I", "-S", "-E", str(Path(client.__file__).with_name("launch.py"))]
PATIENT = {**os.environ, "ORBIT_HOOK_DEADLINE_MS": "60000"}
SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs/schemas/event.schema.json").read_text("utf-8")
)
PAGE = (Path(__file__).parents[3] / "docs/reference/events.md").read_text("utf-8")


def written(root: Path, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        event = Event("hook:PreToolUse", 1_790_000_000 + number)
        event.session, event.hits = "s-1", ["L-7k3fq"]
        append(str(root), event)


def test_the_schema_lists_all_events_and_reasons() -> None:
    retrieval, _, noted, _ = SCHEMA["allOf"]
    assert SCHEMA["properties"]["event"]["enum"] == list(events.NAMES)
    assert retrieval["then"]["properties"]["skip_reason"]["enum"] == [None, *SKIPS]
    assert noted["then"]["properties"]["skip_reason"]["enum"] == [None, *NOTE_SKIPS]
    assert [name for name in events.NAMES if f"`{name}`" not in PAGE] == []


def test_written_events_are_valid(shell: Any) -> None:
    for moment in ("PreToolUse", "Stop", "SessionEnd"):
        payload = {
            "hook_event_name": moment,
            "session_id": "s-1",
            "tool_name": "Edit",
            "tool_input": {"file_path": str(shell.root / "src/app.py")},
            "cwd": str(shell.root),
        }
        content = json.dumps(payload).encode()
        subprocess.run(
            [*LAUNCH, "claude"], input=content, check=True, env=PATIENT, capture_output=True
        )
    for arguments in (
        ["brief", "--path", "src/app.py"],
        ["fail", "task:T-1", "--reason", "x"],
        ["note", "--skip-reason", "routine-heartbeat"],
        ["clear", "task:T-1"],
        ["learning", "add", "--summary", "Wait before you ask", "--pending", "--yes"],
    ):
        assert shell(*arguments)[0] == 0, arguments
    (waiting,) = shell.data("queue", "--kind", "learning")["records"]
    assert shell("promote", waiting["id"])[0] == 0

    rows = shell.data("events", "tail")["events"]
    check = Draft202012Validator(SCHEMA)
    assert [error.message for row in rows for error in check.iter_errors(row)] == []
    names = {row["event"] for row in rows}
    assert names >= {"retrieval", "stop", "session end", "noted", "failed", "cleared", "approved"}


def test_tail_prints_the_last_events(shell: Any) -> None:
    written(shell.root, 3)
    log = shell.root / ".orbit/state/log" / events.NAME
    log.rename(log.with_name(events.FILES[-2]))
    written(shell.root, 2, start=3)
    with log.open("a", encoding="utf-8") as file:
        file.write(
            '{"at": "2026-11-22T08:00:00Z", "event": "made up", "surface": "x\\u001b"}\n{"at": "20'
        )

    code, out, _ = shell("events", "tail", "-n", "3")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (
        0,
        ["2026-09-21T14:13:22Z", "2026-09-21T14:13:23Z", "2026-09-21T14:13:24Z"],
    )
    assert "hits=L-7k3fq" in out
    counted = shell.data("events", "stats")
    assert (counted["events"], counted["surfaces"]) == ({"retrieval": 5}, {"hook:PreToolUse": 5})
    assert counted["skipped"] == {"torn or no JSON": 1, "no event": 1}
    assert (counted["files"], counted["first"]) == (
        [events.FILES[-2], events.NAME],
        "2026-09-21T14:13:20Z",
    )
    assert shell("events", "tail", "-n", "0") == (0, "", "")


def test_follow_reads_across_a_rotation(tmp_path: Path) -> None:
    (tmp_path / ".orbit").mkdir()
    written(tmp_path, 1)
    log = tmp_path / ".orbit/state/log" / events.NAME

    def turn() -> None:
        written(tmp_path, 1, start=2)
        log.rename(log.with_name(events.FILES[-2]))
        written(tmp_path, 1, start=3)

    steps = iter((lambda: written(tmp_path, 1, start=1), turn))
    start = (log.stat().st_ino, log.stat().st_size)
    followed = follow(tmp_path / ".orbit/state", start, wait=lambda: next(steps)())
    assert [next(followed)["at"][-3:-1] for _ in range(3)] == ["21", "22", "23"]


def test_follow_prints_each_event_at_once(shell: Any) -> None:
    written(shell.root, 1)
    command = [
        sys.executable,
        "-m",
        "orbit_registry.doors.cli.main",
        "events",
        "tail",
        "-n",
        "1",
        "--follow",
    ]
    with subprocess.Popen(
        [*command, "--format", "json"], stdout=subprocess.PIPE, text=True, cwd=shell.root
    ) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            written(shell.root, 1, start=1)
            second = process.stdout.readline()
        finally:
            process.terminate()
    assert ("2026-09-21T14:13:20Z" in first, "2026-09-21T14:13:21Z" in second) == (True, True)
    assert json.loads(second)["hits"] == ["L-7k3fq"]


ASKED = "SELECT type, record_id FROM events ORDER BY happened_at, record_id"


def asked(shell: Any, sql: str = ASKED) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = shell.data("query", sql)
    return rows


def test_events_are_a_table_of_the_snapshot(shell: Any) -> None:
    written(shell.root, 1)
    event = Event("hook:Stop", 1_790_000_009)
    event.name = "stop"
    append(str(shell.root), event)
    log = shell.root / ".orbit/state/log" / events.NAME
    with log.open("a", encoding="utf-8") as file:
        file.write(
            '{"at": "2026-11-22T08:00:00Z", "event": "made up", "surface": "x"}\n[]\nnull\n'
            '{"at": "20'
        )
    assert shell("sync", "--rebuild")[0] == 0
    current = [{"type": "retrieval", "record_id": "L-7k3fq"}, {"type": "stop", "record_id": None}]
    assert [row for row in asked(shell) if row["type"] != "synced"] == current
    written(shell.root, 1, start=20)
    assert [row["type"] for row in asked(shell)] == ["retrieval", "stop", "retrieval", "synced"]
    (envelope,) = asked(shell, "SELECT data FROM events WHERE type = 'stop'")
    assert json.loads(envelope["data"])["surface"] == "hook:Stop"
    newest = max((shell.root / ".orbit/state/cache").glob("snapshot-*.duckdb"))
    with duckdb.connect(str(newest), read_only=True) as connection:
        assert connection.execute(ASKED).fetchall() == [("retrieval", "L-7k3fq"), ("stop", None)]
    shutil.rmtree(shell.root / ".orbit/state/log")
    assert asked(shell) == []


def test_events_are_in_no_digest_and_no_export(shell: Any) -> None:
    digest = "SELECT value FROM meta WHERE name = 'digest'"
    before = asked(shell, digest)
    written(shell.root, 3)
    assert shell("sync", "--rebuild")[0] == 0
    assert asked(shell, digest) == before
    assert shell("snapshot", "export", "out.duckdb", "--parquet", "tables")[0] == 0
    with duckdb.connect(str(shell.root / "out.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (0,)
    assert not (shell.root / "tables/events.parquet").exists()
