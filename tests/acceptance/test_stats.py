"""`orbit stats` on the log that surfaces wrote: counts, shares with their denominators, and a page that stays plain."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.agents.agent import load_agent
from orbit_registry.cli.main import run
from orbit_registry.hook.session import tokens
from orbit_registry.install import install as installation
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import open_workspace

Capture = pytest.CaptureFixture[str]
SCHEMA = Draft202012Validator(
    json.loads((Path(__file__).parents[2] / "docs/schemas/stats.schema.json").read_text("utf-8"))
)
EFFECT = Draft202012Validator(
    json.loads((Path(__file__).parents[2] / "docs/schemas/effect.schema.json").read_text("utf-8"))
)


@pytest.fixture
def workspace(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace that one stands in, without records."""
    monkeypatch.chdir(git_repo)
    Registry.init(git_repo)
    return git_repo


def learn(summary: str, *globs: str, **fields: object) -> str:
    """Add a learning and return its id."""
    scope = {"scope": {"paths": list(globs)}} if globs else {}
    return Registry.open().add("learning", {"summary": summary, **scope, **fields}).id


def counted(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """Return the data, which the schema describes."""
    capsys.readouterr()
    assert run(["stats", *arguments, "--format", "json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert list(SCHEMA.iter_errors(whole)) == []
    data: dict[str, Any] = whole["data"]
    return data


def said(capsys: Capture, *arguments: str) -> str:
    """Return the page for people."""
    capsys.readouterr()
    assert run(["stats", *arguments]) == 0
    return capsys.readouterr().out


def logged(workspace: Path, *events: dict[str, object]) -> None:
    """Append events to the log, as of now where they say nothing else."""
    folder = workspace / ".orbit/state/log"
    folder.mkdir(parents=True, exist_ok=True)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    head = {"at": now, "event": "retrieval", "surface": "hook:PreToolUse", "session": "s1", "hits": [], "ms": 1.0}
    with (folder / "events.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({**head, **event}) + "\n" for event in events)


def measured(capsys: Capture, *command: str) -> dict[str, Any]:
    """Return what a command says of effects, which the schema describes, and prints it for people too."""
    assert run([*command, "--effect"]) == 0
    assert capsys.readouterr().out.strip()
    assert run([*command, "--effect", "--format", "json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert list(EFFECT.iter_errors(whole)) == []
    data: dict[str, Any] = whole["data"]
    return data


def test_a_hold_out_tells_what_showing_a_record_did(workspace: Path, capsys: Capture) -> None:
    """Of sessions that the lot divided, those with the record failed less: so many failures were avoided."""
    known = learn("Retries need a key", "src/**", error_pattern="duplicate key")
    for number in range(200):
        withheld, fails = number % 4 == 0, number % (2 if number % 4 == 0 else 10) == 0
        due = {"withheld": [known]} if withheld else {"hits": [known], "tokens": 40}
        failed = {"surface": "hook:PostToolUseFailure", "failed": [known], "result": "failed", "command": "c1"}
        run_again = {"command": "c1", "tests": True}
        log = [due, run_again, failed, run_again] if fails else [due, run_again]
        logged(workspace, *({**event, "session": f"s{number}"} for event in log))
    data = measured(capsys, "stats")
    record = data["records"][0]
    assert (data["enough"], data["by"], data["sessions"], record["id"]) == (True, "hold-out", 200, known)
    assert record["effect"]["failures"]["withheld"] == 1
    assert record["effect"]["failures"]["high"] < -0.5
    assert record["effect"]["failures_avoided"]["low"] > 75
    assert record["effect"]["retries"]["high"] < 0 < record["effect"]["tokens"]["difference"]
    assert record["votes"] == 0


def test_without_a_hold_out_nothing_is_claimed(workspace: Path, capsys: Capture) -> None:
    """An effect without sessions that did without is none; an empty log, a torn one, and other garbage say so too."""
    assert measured(capsys, "stats")["why"] == "no record came due in a session"
    logged(workspace, {"hits": [learn("Retries need a key", "src/**")]})
    with (workspace / ".orbit/state/log/events.jsonl").open("ab") as file:
        file.write(b'{"event": "retrieval", "withheld": [7, null], "query": {}, "command": [')
    data = measured(capsys, "stats")
    assert (data["enough"], data["why"]) == (False, "nothing was withheld: experiment.holdout is 0")
    assert measured(capsys, "stats", "--since", "1")["overall"]["shown"] == 1


def test_a_history_feeds_the_same_report(workspace: Path, capsys: Capture) -> None:
    """Commits that a record was shown for stand beside those before it stood; nothing is said to be avoided."""
    known = learn("Retries need a key", "src/**", created_at="2025-07-01T00:00:00Z")
    lines = []
    for number in range(400):
        day = time.strftime("%Y-%m-%d", time.gmtime(1_735_732_800 + number * 86_400))
        subject = "Fix what was broken" if number % (3 if number < 200 else 11) == 1 else "Go on"
        files = [f"src/{number % 20}.py", f"docs/{number}.md"]
        lines.append(json.dumps({"commit": f"{number:040x}", "date": day, "subject": subject, "files": files}))
    (workspace / "history.jsonl").write_text("\n".join(lines), "utf-8")
    data = measured(capsys, "replay", "--commits", "history.jsonl")
    record = data["records"][0]["effect"]
    assert (data["by"], data["records"][0]["id"], data["sessions"]) == ("before and after", known, 350)
    assert record["failures"]["high"] < 0
    assert record["failures_avoided"] is None
    assert "only a lot proves" in data["note"]


def test_what_a_hook_showed_is_counted_with_its_agent_and_its_tokens(
    workspace: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The installed command says who asked and what its text costs; nothing has to be estimated."""
    monkeypatch.setenv("ORBIT_HOOK_DEADLINE_MS", "60000")
    learn("Retries need a key", "src/**")
    assert run(["sync"]) == 0
    opened, agent = open_workspace(workspace), load_agent("claude")
    payload = {"session_id": "s1", "cwd": str(workspace), "hook_event_name": "PreToolUse", "tool_name": "Edit",
               "tool_input": {"file_path": str(workspace / "src/a.py")}}  # fmt: skip
    command = installation.command_of(agent, "local", opened.root)
    asked = json.dumps(payload).encode()
    replies = [subprocess.run(["/bin/sh", "-c", command], input=asked, capture_output=True, check=True) for _ in "12"]
    text = json.loads(replies[0].stdout)["hookSpecificOutput"]["additionalContext"]
    found = counted(capsys)

    assert [(one["agent"], one["calls"], one["tokens"]) for one in found["agents"]] == [("claude", 2, tokens(text))]
    assert (found["tokens_estimated_calls"], found["silent_share"]) == (0, 0.5)


def test_a_failure_that_a_record_describes_is_counted_by_whether_it_had_been_shown(
    workspace: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook names the records whose pattern an error holds, the first time and again."""
    monkeypatch.setenv("ORBIT_HOOK_DEADLINE_MS", "60000")
    known = learn("Retries need a key", "src/**", error_pattern="duplicate key")
    assert run(["sync"]) == 0
    payload = {"session_id": "s1", "cwd": str(workspace), "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
               "tool_input": {"command": "make"}, "error": "E: Duplicate  key 7"}  # fmt: skip
    command = installation.command_of(load_agent("claude"), "local", open_workspace(workspace).root)
    for _ in "12":
        asked = json.dumps(payload).encode()
        subprocess.run(["/bin/sh", "-c", command], input=asked, capture_output=True, check=True)
    found = counted(capsys)

    assert found["prevention"] == {"applied": 1, "records": 1, "failed_before_shown": 1, "failed_after_shown": 1}
    assert [(one["id"], one["shown"]) for one in found["records"]] == [(known, 1)]


def test_older_events_are_left_out(workspace: Path, capsys: Capture) -> None:
    """`--since` counts the last days alone and says how many events are older."""
    logged(workspace, {"at": "2020-01-01T00:00:00Z"}, {})
    assert (counted(capsys)["calls"], counted(capsys, "--since", "7")["calls"]) == (2, 1)
    assert counted(capsys, "--since", "7")["log"]["older"] == 1


def test_an_empty_log_and_one_of_garbage_say_so(workspace: Path, capsys: Capture) -> None:
    """Nothing is divided by nothing."""
    assert said(capsys) == "no call is in the event log\n"
    logged(workspace, {"event": 7})
    (workspace / ".orbit/state/log/events.1.jsonl").write_bytes(os.urandom(5000))
    assert "no call is in the event log" in said(capsys)
    assert counted(capsys)["silent_share"] is None


def test_a_terminal_gets_bars(workspace: Path) -> None:
    """On a terminal the same numbers are drawn with blocks."""
    logged(workspace, {"hits": ["L-zzzzz"]})
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "orbit_registry.cli.main", "stats"],
        stdout=theirs,
        stdin=subprocess.DEVNULL,
        cwd=workspace,
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 4096):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert done.wait() == 0
    assert "█" * 30 in b"".join(parts).decode("utf-8", "replace")
