"""`orbit stats` on the event log."""

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.agents.agent import load_agent
from orbit_registry.agents.install import install as installation
from orbit_registry.doors.cli.main import run
from orbit_registry.hook.session import tokens
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import open_workspace

Capture = pytest.CaptureFixture[str]
SCHEMAS = Path(__file__).parents[3] / "docs/schemas"
SCHEMA = Draft202012Validator(json.loads((SCHEMAS / "stats.schema.json").read_text("utf-8")))
EFFECT = Draft202012Validator(json.loads((SCHEMAS / "effect.schema.json").read_text("utf-8")))


@pytest.fixture
def workspace(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace that one stands in, without records."""
    monkeypatch.chdir(git_repo)
    Registry.init(git_repo)
    return git_repo


def learn(summary: str, *globs: str, **fields: object) -> str:
    scope = {"scope": {"paths": list(globs)}} if globs else {}
    return Registry.open().add("learning", {"summary": summary, **scope, **fields}).id


def counted(capsys: Capture, *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["stats", *arguments, "--format", "json"]) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert list(SCHEMA.iter_errors(envelope)) == []
    data: dict[str, Any] = envelope["data"]
    return data


def logged(workspace: Path, *events: dict[str, object]) -> None:
    """Append events to the log, as of now where they say nothing else."""
    folder = workspace / ".orbit/state/log"
    folder.mkdir(parents=True, exist_ok=True)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    head = {
        "at": now,
        "event": "retrieval",
        "surface": "hook:PreToolUse",
        "session": "s1",
        "hits": [],
        "ms": 1.0,
    }
    with (folder / "events.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps({**head, **event}) + "\n" for event in events)


def measured(capsys: Capture, *command: str) -> dict[str, Any]:
    """Return what a command says of effects, which the schema describes,
    and prints it for people too.
    """
    assert run([*command, "--effect"]) == 0
    assert capsys.readouterr().out.strip()
    assert run([*command, "--effect", "--format", "json"]) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert list(EFFECT.iter_errors(envelope)) == []
    data: dict[str, Any] = envelope["data"]
    return data


def test_a_hold_out_gives_the_effect_of_a_record(workspace: Path, capsys: Capture) -> None:
    record_id = learn("Retries need a key", "src/**", error_pattern="duplicate key")
    for number in range(200):
        withheld, fails = number % 4 == 0, number % (2 if number % 4 == 0 else 10) == 0
        due = {"withheld": [record_id]} if withheld else {"hits": [record_id], "tokens": 40}
        failed = {
            "surface": "hook:PostToolUseFailure",
            "failed": [record_id],
            "result": "failed",
            "command": "c1",
        }
        run_again = {"command": "c1", "tests": True}
        log = [due, run_again, failed, run_again] if fails else [due, run_again]
        logged(workspace, *({**event, "session": f"s{number}"} for event in log))
    data = measured(capsys, "stats")
    record = data["records"][0]
    assert (data["enough"], data["by"], data["sessions"], record["id"]) == (
        True,
        "hold-out",
        200,
        record_id,
    )
    assert record["effect"]["failures"]["withheld"] == 1
    assert record["effect"]["failures"]["high"] < -0.5
    assert record["effect"]["failures_avoided"]["low"] > 75
    assert record["effect"]["retries"]["high"] < 0 < record["effect"]["tokens"]["difference"]
    assert record["votes"] == 0


def test_transcripts_tell_what_sessions_used(
    workspace: Path, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    folder = tmp_path / "claude/projects" / re.sub("[^A-Za-z0-9]", "-", str(workspace))
    folder.mkdir(parents=True)
    record_id = learn("Retries need a key", "src/**")
    for number in range(60):
        withheld = number % 2 == 0
        logged(
            workspace,
            {
                "session": f"s{number}",
                **({"withheld": [record_id]} if withheld else {"hits": [record_id]}),
            },
        )
        usage = {
            "input_tokens": (2_000 if withheld else 1_000) + 10 * (number % 5),
            "output_tokens": 5,
        }
        line = {"type": "assistant", "timestamp": "2099-01-01T00:00:00Z"}
        answers = [
            {**line, "message": {"id": str(turn), "usage": usage}}
            for turn in range(4 if withheld else 2)
        ]
        if number < 50:
            (folder / f"s{number}.jsonl").write_text("\n".join(map(json.dumps, answers)), "utf-8")
    data = measured(capsys, "stats")

    overall = data["overall"]
    assert (data["sessions"], data["transcripts"]) == (60, 50)
    assert overall["turns"]["difference"] == pytest.approx(-0.5)
    assert overall["used_tokens"]["low"] < -0.7469 < overall["used_tokens"]["high"] < -0.74
    assert overall["used_tokens"]["withheld"] == pytest.approx(8_100, rel=0.01)
    assert overall["used_tokens"]["needed"] > 20


def test_without_a_hold_out_there_is_no_effect(workspace: Path, capsys: Capture) -> None:
    assert measured(capsys, "stats")["why"] == "no record came due in a session"
    logged(workspace, {"hits": [learn("Retries need a key", "src/**")]})
    with (workspace / ".orbit/state/log/events.jsonl").open("ab") as file:
        file.write(b'{"event": "retrieval", "withheld": [7, null], "query": {}, "command": [')
    data = measured(capsys, "stats")
    assert (data["enough"], data["why"]) == (False, "nothing was withheld: experiment.holdout is 0")
    assert measured(capsys, "stats", "--since", "1")["overall"]["shown"] == 1


def test_a_history_has_no_effect(workspace: Path, capsys: Capture) -> None:
    assert run(["replay", "--effect"]) == 2
    assert "`orbit stats --effect` compares sessions" in capsys.readouterr().err


def called_twice(workspace: Path, event: str, **fields: object) -> list[bytes]:
    """Return what the hook of Claude Code answers to the same call of a tool twice."""
    assert run(["sync"]) == 0
    payload = {"session_id": "s1", "cwd": str(workspace), "hook_event_name": event, **fields}
    command = installation.command_of(load_agent("claude"), "local", open_workspace(workspace).root)
    words, environment = (
        ["/bin/sh", "-c", command],
        {**os.environ, "ORBIT_HOOK_DEADLINE_MS": "60000"},
    )
    content = json.dumps(payload).encode()
    return [subprocess.check_output(words, input=content, env=environment) for _ in "12"]


def test_a_hook_is_counted_with_agent_and_tokens(workspace: Path, capsys: Capture) -> None:
    learn("Retries need a key", "src/**")
    edit = {"file_path": str(workspace / "src/a.py")}
    reply, _ = called_twice(workspace, "PreToolUse", tool_name="Edit", tool_input=edit)
    count = tokens(json.loads(reply)["hookSpecificOutput"]["additionalContext"])
    result = counted(capsys)

    assert [(part["agent"], part["calls"], part["tokens"]) for part in result["agents"]] == [
        ("claude", 2, count)
    ]
    assert (result["tokens_estimated_calls"], result["silent_share"]) == (0, 0.5)


def test_a_described_failure_is_counted(workspace: Path, capsys: Capture) -> None:
    record_id = learn("Retries need a key", "src/**", error_pattern="duplicate key")
    command = {
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "error": "E: Duplicate  key 7",
    }
    called_twice(workspace, "PostToolUseFailure", **command)
    result = counted(capsys)

    assert result["prevention"] == {
        "applied": 1,
        "records": 1,
        "failed_before_shown": 1,
        "failed_after_shown": 1,
    }
    assert [(entry["id"], entry["shown"]) for entry in result["records"]] == [(record_id, 1)]


def test_since_leaves_out_older_events(workspace: Path, capsys: Capture) -> None:
    logged(workspace, {"at": "2020-01-01T00:00:00Z"}, {})
    assert (counted(capsys)["calls"], counted(capsys, "--since", "7")["calls"]) == (2, 1)
    assert counted(capsys, "--since", "7")["log"]["older"] == 1


def test_an_empty_or_broken_log_has_no_calls(workspace: Path, capsys: Capture) -> None:
    assert run(["stats"]) == 0
    assert capsys.readouterr().out == "no call is in the event log\n"
    logged(workspace, {"event": 7})
    (workspace / ".orbit/state/log/events.1.jsonl").write_bytes(os.urandom(5000))
    assert run(["stats"]) == 0
    assert "no call is in the event log" in capsys.readouterr().out
    assert counted(capsys)["silent_share"] is None
