"""`orbit doctor`: what works is said to work, what is broken is found,
and nothing of a transcript is told.
"""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orbit_registry.agents.agent import load_agent
from orbit_registry.agents.install import install as installation
from orbit_registry.doors.cli.main import run
from orbit_registry.hook.events import Event, append
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import open_workspace

Capture = pytest.CaptureFixture[str]
Git = Callable[..., str]
ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/cases/transcripts"
SCHEMA = Draft202012Validator(
    json.loads((ROOT / "docs/schemas/doctor.schema.json").read_text("utf-8"))
)
SESSION = "5b0c1f1e-6a0e-4c55-9a38-0d4d6f7b2a10"


@pytest.fixture
def workspace(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace that one stands in, with a learning for a tracked file;
    agents' own files are elsewhere.
    """
    monkeypatch.chdir(git_repo)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("ORBIT_HOOK_DEADLINE_MS", "60000")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    Registry.init(git_repo)
    Registry.open().add(
        "learning", {"summary": "Look before you leap", "scope": {"paths": ["README.md"]}}
    )
    return git_repo


def examined(capsys: Capture, code: int = 0, *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["doctor", *arguments, "--format", "json"]) == code
    answer = json.loads(capsys.readouterr().out)
    assert list(SCHEMA.iter_errors(answer)) == []
    assert answer["ok"] is (code == 0)
    data: dict[str, Any] = answer["data"]
    return data


def found(data: dict[str, Any], level: str, topic: str) -> str:
    """Return what the findings of a level and a topic say, and what they propose."""
    listed = [
        entry for entry in data["findings"] if (entry["level"], entry["topic"]) == (level, topic)
    ]
    return "\n".join(f"{entry['what']} -> {entry['next']}" for entry in listed)


def shown(workspace: Path, *events: tuple[str, list[str]]) -> None:
    """Write events of a hook as of now: a session and what it was shown."""
    folder = workspace / ".orbit/state/log"
    folder.mkdir(parents=True, exist_ok=True)
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    head = {"at": at, "event": "retrieval", "surface": "hook:PreToolUse", "ms": 1.0}
    with (folder / "events.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(
            json.dumps({**head, "session": session, "hits": ids}) + "\n" for session, ids in events
        )


def transcript(workspace: Path, session: str = SESSION) -> Path:
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(workspace))
    path = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / slug / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def test_an_installed_hook_is_run_judged_and_measured(workspace: Path, capsys: Capture) -> None:
    assert run(["hook", "install", "claude"]) == 0
    data = examined(capsys, 0, "--agent", "claude")
    (hook,) = data["hooks"]
    assert (hook["agent"], hook["scope"], hook["asked"], hook["spoke"]) == (
        "claude",
        "local",
        "README.md",
        True,
    )
    assert hook["cost"]["runs"] == 7
    assert min(hook["cost"]["hook_ms"], hook["cost"]["nothing_ms"]) > 0
    assert hook["cost"]["ratio"] == pytest.approx(
        hook["cost"]["hook_ms"] / hook["cost"]["nothing_ms"], rel=0.1
    )
    assert list((workspace / ".orbit/state/log/sessions").iterdir()) == []
    capsys.readouterr()
    assert run(["stats", "--format", "json"]) == 0
    stats = json.loads(capsys.readouterr().out)["data"]
    assert (stats["calls"], stats["trials"]) == (0, 9)


def test_a_trial_without_a_file_says_what_to_look_at(workspace: Path, capsys: Capture) -> None:
    (record,) = workspace.glob(".orbit/learnings/*/learning.yaml")
    assert run(["hook", "install", "claude"]) == 0
    record.write_text(record.read_text("utf-8").replace("README.md", "srcc/**"), "utf-8")
    assert run(["hook", "test", "claude"]) == 0
    assert "`srcc/**` matches no file" in capsys.readouterr().out


def test_a_hook_that_may_not_write_is_not_installed_again(
    workspace: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["hook", "install", "claude", "--scope", "project"]) == 0
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setattr(os, "access", lambda *_: False)
    problem = found(examined(capsys, 1), "problem", "hook")
    assert "can't be written -> make the folder writable for the user who runs agents" in problem


def test_a_file_where_the_state_belongs_is_what_keeps_a_hook_silent(
    workspace: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["hook", "install", "claude", "--scope", "project"]) == 0
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    shutil.rmtree(workspace / ".orbit/state", ignore_errors=True)
    (workspace / ".orbit/state").touch()
    capsys.readouterr()

    assert run(["hook", "test", "claude", "--file", "README.md"]) == 1

    answer = capsys.readouterr().out
    assert "where it keeps what a session saw, can't be written" in answer
    assert "shows no record" not in answer


def test_a_hook_that_says_nothing_is_a_problem(
    workspace: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["hook", "install", "claude", "--scope", "project"]) == 0
    monkeypatch.setenv("PATH", os.defpath)
    data = examined(capsys, 1)
    assert "it said nothing about README.md" in found(data, "problem", "hook")
    assert "orbit hook install claude --scope project" in found(data, "problem", "hook")


@pytest.mark.parametrize(
    ("scope", "file", "before", "after"),
    [
        ("local", ".claude/settings.local.json", "2>/dev/null ||", "; touch owned #"),
        ("project", ".claude/settings.json", "2>/dev/null ||", "; touch owned #"),
        ("project", ".orbit/hook.sh", "tool=", "touch owned\ntool="),
    ],
)
def test_a_command_that_is_not_todays_is_not_run(
    workspace: Path, capsys: Capture, scope: str, file: str, before: str, after: str
) -> None:
    assert run(["hook", "install", "claude", "--scope", scope]) == 0
    path = workspace / file
    path.write_text(path.read_text("utf-8").replace(before, after), "utf-8")
    text = found(examined(capsys, 1), "problem", "hook")
    assert "it was not run" in text
    assert f"orbit hook install claude --scope {scope}" in text
    assert run(["hook", "test", "claude", "--scope", scope]) == 1
    assert not (workspace / "owned").exists()


def test_wrong_fields_and_torn_votes_are_found(workspace: Path, capsys: Capture) -> None:
    record = next((workspace / ".orbit/learnings").glob("*/learning.yaml"))
    (record.parent / "votes.jsonl").write_text("{torn\n", "utf-8")
    assert "votes.jsonl are not votes" in found(examined(capsys), "warning", "workspace")
    record.write_text(record.read_text("utf-8").replace("summary:", "sumary:"), "utf-8")
    text = found(examined(capsys, 1), "problem", "workspace")
    assert f"1 record could not be read: {record.relative_to(workspace)}:5:1: " in text


def test_a_git_that_is_killed_is_a_problem(
    workspace: Path, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "killed/git"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *--show-toplevel*) kill -9 $$;; esac\nexec '
        f'{shutil.which("git")} "$@"\n',
        "utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert "git was killed by signal 9" in found(examined(capsys, 1), "problem", "git")


def test_unreadable_settings_and_hooks_that_run_twice_are_found(
    workspace: Path, capsys: Capture
) -> None:
    for scope in ("local", "project"):
        assert run(["hook", "install", "claude", "--scope", scope]) == 0
    assert "local, project" in found(examined(capsys), "warning", "hook")
    (workspace / ".claude/settings.json").write_text("{,}", "utf-8")
    assert "claude, project" in found(examined(capsys, 1), "problem", "hook")


def test_what_stands_below_is_examined(workspace: Path, capsys: Capture, git: Git) -> None:
    record = next((workspace / ".orbit/learnings").glob("*/learning.yaml"))
    record.write_text("id: [", "utf-8")
    (workspace / ".gitignore").unlink()
    (workspace / ".gitattributes").write_text("", "utf-8")
    git(workspace, "config", "merge.orbit-log.driver", "/nowhere/python -m x")
    data = examined(capsys, 1)
    assert "1 record could not be read" in found(data, "problem", "workspace")
    assert "-> orbit check" in found(data, "problem", "workspace")
    assert "/nowhere/python" in found(data, "problem", "git")
    git(
        workspace,
        "config",
        "merge.orbit-log.driver",
        f'"{sys.executable}" -m orbit_registry.doors.cli.main merge-driver %O',
    )
    assert "imports Python files from the top" in found(examined(capsys, 1), "problem", "git")
    assert "lines are missing" in found(data, "warning", "git")
    assert "does not ignore" in found(data, "warning", "git")


def test_a_second_workspace_below_is_found(workspace: Path, capsys: Capture, git: Git) -> None:
    folder = workspace / "shop/.orbit"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("format: orbit-registry\nschema_version: 1\n", "utf-8")
    git(workspace, "add", "--force", "shop")

    data = examined(capsys)

    assert "records of shop/.orbit/ are seen only" in found(data, "ok", "workspace")


def test_a_damaged_index_is_found_and_made_anew(workspace: Path, capsys: Capture) -> None:
    assert run(["sync"]) == 0
    path = workspace / ".git/orbit/hook-18.idx"
    content = bytearray(path.read_bytes())
    content[500] ^= 1
    path.write_bytes(content)
    data = examined(capsys)
    assert "index" in found(data, "warning", "derived")
    assert "is current" in found(examined(capsys), "ok", "derived")


def test_a_missing_or_broken_workspace_is_reported(
    tmp_path: Path, workspace: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / ".orbit/config.yaml").write_text("nonsense: [", "utf-8")
    assert "config.yaml" in found(examined(capsys, 1), "problem", "workspace")
    monkeypatch.chdir(tmp_path)
    assert "orbit init" in found(examined(capsys, 1), "problem", "workspace")


def test_all_that_was_shown_stands_in_the_transcript(workspace: Path, capsys: Capture) -> None:
    transcript(workspace).write_bytes((CASES / "claude.jsonl").read_bytes())
    shown(
        workspace,
        (SESSION, ["ADR-0009"]),
        (SESSION, ["L-7k3fq", "L-8m2xd"]),
        (SESSION, ["L-7k3fq"]),
    )
    data = examined(capsys)
    (entry,) = data["transcripts"]
    assert (entry["claimed"], entry["found"], entry["missing"], entry["broken"]) == (4, 4, [], 1)
    assert "have 4 of 4 records shown in 1 of 1 session" in found(data, "ok", "transcript")
    capsys.readouterr()
    assert run(["doctor"]) == 0
    page = capsys.readouterr().out
    for text in (page, json.dumps(data)):
        assert "PRIVATE" not in text
        assert "idempotency" not in text


def test_missing_delivery_is_a_warning_or_a_problem(workspace: Path, capsys: Capture) -> None:
    transcript(workspace).write_bytes((CASES / "claude.jsonl").read_bytes())
    shown(workspace, (SESSION, ["L-7k3fq", "L-6666a"]))
    assert "1 of 2 records" in found(examined(capsys), "warning", "transcript")
    assert "missing L-6666a" in found(examined(capsys), "warning", "transcript")
    transcript(workspace, "aaaa-1").write_text('{"type": "user"}\n', "utf-8")
    shown(workspace, ("aaaa-1", ["L-7k3fq"]))
    assert "0 of 1 record shown" in found(examined(capsys, 1), "problem", "transcript")


def test_a_session_that_the_log_does_not_know_is_told(workspace: Path, capsys: Capture) -> None:
    shown(workspace, ("known", []))
    for name in ("known", "unknown"):
        transcript(workspace, name).write_text("{}\n", "utf-8")
    assert "1 of the 2 newest sessions" in found(examined(capsys), "warning", "transcript")


def test_a_transcript_of_the_hooks_replies_is_complete(workspace: Path, capsys: Capture) -> None:
    opened, agent = open_workspace(workspace), load_agent("claude")
    assert run(["sync"]) == 0
    installation.install(opened.root, agent, "local")
    command = installation.installed_command(opened.root, agent, "local")
    assert command is not None
    payload = {
        "session_id": SESSION,
        "cwd": str(workspace),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": str(workspace / "README.md")},
        "tool_use_id": "toolu_1",
    }
    request = json.dumps(payload).encode()
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=request, capture_output=True, check=True
    )
    text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    attachment = {
        "type": "hook_additional_context",
        "content": [text],
        "hookName": "PreToolUse:Edit",
        "toolUseID": "toolu_1",
        "hookEvent": "PreToolUse",
    }
    transcript(workspace).write_text(
        json.dumps({"type": "attachment", "attachment": attachment}) + "\n", "utf-8"
    )
    assert "have 1 of 1 record shown in 1 of 1 session" in found(
        examined(capsys), "ok", "transcript"
    )


def test_a_library_that_is_gone_is_a_problem(
    workspace: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if name == "duckdb":
            raise importlib.metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(importlib.metadata, "version", version)

    assert run(["doctor"]) == 1
    assert "duckdb is not installed" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["doctor"], ["hook", "test", "claude"]], ids=" ".join)
def test_a_home_that_cannot_be_read_is_no_fault_of_orbit(
    workspace: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    nowhere = "/" + "a" * 300  # no system can look into it
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, nowhere)

    assert run(words) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


NONE, MATCHED, UNASKED = "no index", "no match", "nothing asked"


@pytest.mark.parametrize(
    ("reasons", "level", "words"),
    [
        ([NONE, NONE, MATCHED], "ok", "2 of 3 calls found no index"),
        ([MATCHED, NONE, NONE], "ok", "2 of 3 calls found no index"),
        ([NONE, NONE, NONE, MATCHED], "ok", "3 of 4 calls found no index"),
        ([MATCHED, NONE, UNASKED, NONE, NONE], "warning", "the newest 3 calls found no index"),
    ],
)
def test_calls_without_an_index_are_a_warning_as_long_as_none_finds_one(
    workspace: Path, capsys: Capture, reasons: list[str], level: str, words: str
) -> None:
    for reason in reasons:
        event = Event("hook:PreToolUse", time.time())
        event.session, event.query, event.skip_reason = "s", ["README.md"], reason
        append(str(workspace), event)

    data = examined(capsys)

    assert words in found(data, level, "log")
