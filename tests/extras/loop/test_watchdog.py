"""`orbit watchdog`: each thing it looks at has a finding of its own, by a clock of the test's;
its examples run.
"""

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.files import configure, write, write_learning

from orbit_loop.watchdog import Watch, watch
from orbit_registry.formats.yaml import load
from orbit_registry.hook.events import DISPATCHED, Event, append
from orbit_registry.model.reach import TRIAL
from orbit_registry.workspace.workspace import find_workspace

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs/schemas/watchdog.schema.json").read_text("utf-8")
)
EXAMPLES = Path(__file__).parents[3] / "docs/examples/watchdog"
WINDOW = timedelta(hours=4)
NOW = datetime.now(UTC)


def look(shell: Any, later: timedelta = timedelta(0)) -> Watch:
    """Look once, so much later than now."""
    return watch(find_workspace(shell.root), WINDOW, NOW + later)


def found(watch: Watch, level: str = "") -> dict[str, str]:
    """Return the findings that are no news of health, by topic; of one level, if given;
    the schema knows each topic.
    """
    existing = SCHEMA["properties"]["data"]["properties"]["findings"]["items"]["properties"][
        "topic"
    ]["enum"]
    assert {entry.topic for entry in watch.findings} <= {*existing}
    return {
        entry.topic: entry.what
        for entry in watch.findings
        if entry.level == (level or entry.level) and "-" in entry.topic
    }


def said(shell: Any, name: str, session: str = "s-1", at: datetime = NOW) -> None:
    event = Event("hook:Stop", at.timestamp())
    event.name, event.session, event.agent, event.skip_reason = name, session, "claude", "no match"
    append(str(shell.root), event)


def many(shell: Any, count: int, status: str = "active", at: datetime = NOW) -> None:
    stamp = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    for number in range(count):
        write_learning(
            shell.root,
            number,
            status=status,
            summary=f"Fact {number:05d} of many",
            created_at=stamp,
        )


def test_one_record_is_counted_in_words(shell: Any) -> None:
    shutil.rmtree(shell.root / ".orbit/adrs")
    assert [entry.what for entry in look(shell).findings if entry.topic == "store"] == ["1 record"]


def test_a_healthy_workspace_has_no_finding(shell: Any) -> None:
    assert shell("sync")[0] == 0
    code, answer = shell.json("watchdog", "--once", "--strict")
    assert list(Draft202012Validator(SCHEMA).iter_errors(answer)) == []
    assert (code, answer["ok"], answer["data"]["counts"]) == (
        0,
        True,
        {"ok": 3, "warning": 0, "problem": 0},
    )


def test_an_empty_and_a_shrunken_store_are_told_apart(shell: Any) -> None:
    shell("sync")
    many(shell, 9)
    assert found(look(shell)) == {}
    for number in range(2, 9):
        shutil.rmtree(shell.root / f".orbit/learnings/L-0000{number}")
    assert found(look(shell), "problem") == {"store-shrunken": "5 records, and there were 12"}
    assert found(look(shell, timedelta(days=6)), "problem") == {
        "store-shrunken": "5 records, and there were 12"
    }
    assert found(look(shell, timedelta(days=8)), "problem") == {}
    for name in ("learnings", "adrs"):
        shutil.rmtree(shell.root / ".orbit" / name)
    assert list(found(look(shell, timedelta(days=8)), "problem")) == ["store-empty"]
    code, out, _ = shell("watchdog")
    assert code == 1
    assert "next: git status .orbit" in out


@pytest.mark.parametrize("later", [timedelta(hours=47), timedelta(hours=49)])
def test_a_sync_older_than_48_hours_is_made_anew(shell: Any, later: timedelta) -> None:
    shell("sync")
    began = datetime.now(UTC)
    previous = watch(find_workspace(shell.root), WINDOW, began + later)
    stale = {
        "sync-stale": "the last sync was 49 hours ago, and 48 are admitted; it was made again now"
    }
    assert found(previous, "warning") == (stale if later > timedelta(hours=48) else {})
    assert previous.failed(strict=True) is (later > timedelta(hours=48))
    assert not previous.failed(strict=False)


def test_an_index_that_is_gone_is_made_anew(shell: Any) -> None:
    shell("sync")
    (shell.root / ".git/orbit/hook-18.idx").unlink()
    assert list(found(look(shell), "warning")) == ["derived-missing"]
    assert found(look(shell)) == {}


def test_dispatches_without_any_retrieval_are_a_problem(shell: Any) -> None:
    shell("sync")
    said(shell, DISPATCHED)
    assert list(found(look(shell), "problem")) == ["retrieval-zero"]
    assert found(look(shell, timedelta(hours=4, seconds=1)), "problem") == {}
    said(shell, "retrieval", f"{TRIAL}1")
    assert list(found(look(shell), "problem")) == ["retrieval-zero"], (
        "what `doctor` tries looks nothing up for anybody"
    )
    said(shell, "retrieval")
    assert found(look(shell)) == {}


def test_turns_without_notes_are_drift(shell: Any) -> None:
    shell("sync")
    said(shell, "retrieval")
    for _ in range(2):
        said(shell, "noted")
        said(shell, "stop")
    assert found(look(shell)) == {}
    said(shell, "stop")
    assert found(look(shell)) == {"turn-drift": "1 of 3 turns without a note or a reason"}
    assert look(shell).failed(strict=True)


def test_failures_are_listed_as_held_and_as_over(shell: Any) -> None:
    shell("sync")
    assert shell("fail", "story:shop:S-1", "--reason", "no browser", "--attempts", "3")[0] == 0
    current, over = look(shell, timedelta(days=6)), look(shell, timedelta(days=8))
    assert [list(found(entry, "ok")) for entry in (current, over)] == [
        ["failure-open"],
        ["failure-expired"],
    ]
    assert "story:shop:S-1" in found(over)["failure-expired"]


def test_a_queue_older_than_its_limit_is_found(shell: Any) -> None:
    shell("sync")
    many(shell, 4, "candidate")
    assert found(look(shell, timedelta(days=13)), "warning").keys() <= {"sync-stale"}
    waited = found(look(shell, timedelta(days=15)), "warning")["queue-old"]
    assert waited == (
        "4 records have waited for review for more than 14 days: L-00000, L-00001, L-00002 "
        "and 1 more"
    )
    configure(shell.root, "watchdog:\n  queue_days: 2\n")
    assert "queue-old" in found(look(shell, timedelta(days=3)))


def test_more_than_100_unconsolidated_learnings_are_found(shell: Any) -> None:
    many(shell, 99)
    shell("sync")
    assert found(look(shell)) == {}, "with the one there was, just as many as are admitted"
    assert shell("learning", "add", "--summary", "One more than that", "--yes")[0] == 0
    assert list(found(look(shell), "warning")) == ["learnings-many"]
    added = shell("rule", "add", "--title", "Look twice", "--rationale", "Facts 0 and 1 ask for it")
    rule = re.search(r"R-[0-9a-z]+", added[1])
    assert rule is not None
    assert shell("link", rule[0], "derived_from", "L-00000")[0] == 0
    assert found(look(shell)) == {}


def test_looking_again_and_again_prints_each_look(shell: Any) -> None:
    words = [
        sys.executable,
        "-m",
        "orbit_registry.doors.cli.main",
        "watchdog",
        "--every",
        "1s",
        "--format",
        "json",
    ]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=shell.root) as process:
        assert process.stdout is not None
        try:
            looks = [json.loads(process.stdout.readline()) for _ in range(2)]
        finally:
            process.terminate()
    assert [list(entry["data"]["counts"]) for entry in looks] == [["ok", "warning", "problem"]] * 2
    assert [shell("watchdog", "--every", wrong)[0] for wrong in ("4", "0h", "soon")] == [2, 2, 2]


@pytest.fixture
def home(shell: Any, tmp_path: Path) -> Path:
    """Return a home with the workspace as `project`, which has no index, and the command where a
    user's installation has it.
    """
    (shell.root / ".git/orbit/hook-18.idx").unlink()
    shell.root.rename(tmp_path / "project")
    command = write(
        tmp_path,
        ".local/bin/orbit-registry",
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m orbit_registry.doors.cli.main "$@"\n',
    )
    command.chmod(0o755)
    return tmp_path


def started(home: Path, command: str) -> tuple[int, str]:
    """Run a line as `sh` does in that home; return the exit code and what was printed."""
    there = {
        "HOME": str(home),
        "PATH": f"{home}/.local/bin:/usr/bin:/bin",
        "PYTHONPATH": ":".join(sys.path),
    }
    done = subprocess.run(
        ["sh", "-ec", command], cwd=home / "project", env=there, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_the_crontab_is_silent_until_something_is_found(home: Path) -> None:
    """Five fields and a command, which cron would mail nothing of where all is well."""
    (line,) = (
        entry
        for entry in (EXAMPLES / "crontab").read_text("utf-8").splitlines()
        if not entry.startswith("#")
    )
    *fields, command = line.split(maxsplit=5)
    assert fields == ["0", "*/4", "*", "*", "*"]
    assert "%" not in command, "cron takes it for a new line"
    assert "derived-missing" in started(home, command)[1]
    assert started(home, command) == (0, "")


def test_the_service_fails_where_something_is_found(home: Path) -> None:
    units = {
        file.suffix: configparser.ConfigParser(interpolation=None)
        for file in EXAMPLES.glob("orbit-watchdog.*")
    }
    for suffix, unit in units.items():
        unit.read(EXAMPLES / f"orbit-watchdog{suffix}", "utf-8")
    service = units[".service"]["Service"]
    assert (service["Type"], service["WorkingDirectory"].replace("%h", str(home))) == (
        "oneshot",
        f"{home}/project",
    )
    codes = [started(home, service["ExecStart"].replace("%h", str(home)))[0] for _ in range(2)]
    assert codes == [1, 0], "what it found it has healed"
    timer = units[".timer"]
    assert (timer["Timer"]["OnCalendar"], timer["Install"]["WantedBy"]) == (
        "0/4:00",
        "timers.target",
    )


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="needs systemd-analyze: it reads units"
)
def test_systemd_takes_the_units(home: Path) -> None:
    units = [shutil.copy(file, home) for file in sorted(EXAMPLES.glob("orbit-watchdog.*"))]
    there = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", *units], env=there, capture_output=True, text=True
    )
    text = [
        line for line in done.stderr.splitlines() if "orbit-watchdog" in line
    ]  # it reads the machine's units, too
    assert (done.returncode, text) == (0, [])


def test_the_workflow_runs_its_steps(home: Path) -> None:
    text = load((EXAMPLES / "watchdog.yml").read_text("utf-8"))
    assert isinstance(text, dict)
    assert (text["on"]["schedule"], text["permissions"]) == (
        [{"cron": "0 */4 * * *"}],
        {"contents": "read"},
    )
    steps = [step["run"] for step in text["jobs"]["watchdog"]["steps"] if "run" in step]
    assert [started(home, step)[0] for step in steps if "pip install" not in step] == [0, 0]
