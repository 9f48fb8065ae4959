"""What the hook does at each moment of a session:
subagents, compaction, opened records, what the person is told.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import (
    LAUNCH,
    bring_up_to_date,
    dispatched,
    withhold_at_edits,
)
from tests.acceptance.hook.replies import edit, ids
from tests.files import write, write_learning

from orbit_registry.doors.cli.main import run
from orbit_registry.hook.project import session_of_process

ORBIT = [sys.executable, "-m", "orbit_registry.doors.cli.main"]
PATIENT = {"ORBIT_HOOK_DEADLINE_MS": "60000"}
ALL = ["L-00001", "L-00002", "L-00003"]
Call = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    "order",
    [
        ["PreCompact", "SessionStart", "PostCompact"],
        ["PreCompact", "PostCompact", "SessionStart"],
        ["SessionStart", "PostCompact"],
        ["PostCompact"],
        ["SessionStart"],
        ["PreCompact"],
    ],
)
def test_one_compaction_is_forgotten_once(root: Path, call: Call, order: list[str]) -> None:
    assert ids(call("PreToolUse", **edit(root))) == ALL
    assert ids(call("PreToolUse", **edit(root))) == []
    shown_ids: list[str] = []
    for event in order:
        shown_ids += ids(call(event, source="compact", trigger="auto"))
    shown_ids += ids(call("PreToolUse", **edit(root)))
    shown_ids += ids(call("PreToolUse", **edit(root)))
    assert shown_ids == ALL


def test_a_record_shown_during_a_compaction_is_not_repeated(root: Path, call: Call) -> None:
    withhold_at_edits(root)
    assert ids(call("SessionStart", source="compact")) == ALL
    call("PostCompact")
    assert ids(call("SessionStart", source="resume")) == []


def test_a_subagent_starts_with_what_edits_withhold(root: Path, call: Call) -> None:
    write_learning(root, 3, scope={"paths": ["src/**"], "agents": ["tester"]})
    withhold_at_edits(root)
    assert ids(call("SessionStart", source="startup")) == ALL
    assert ids(call("SubagentStart", agent_id="a1", agent_type="engineer")) == ALL[:2]
    assert ids(call("SubagentStart", agent_id="a2", agent_type="tester")) == ALL
    assert ids(call("SubagentStart", agent_id="a2", agent_type="tester")) == []


def test_a_session_that_stops_is_asked_once(root: Path, call: Call) -> None:
    config = root / ".orbit/config.yaml"
    stops, failed = (
        {"stop_hook_active": False},
        {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "no"},
    )
    call("PostToolUseFailure", session="off", **failed)
    assert call("Stop", session="off", **stops) == {}
    configure(root, "loop:\n  # once\n  ask_at_stop: true  # a session\n")

    assert call("Stop", **stops) == {}, "nothing failed"
    call("PostToolUseFailure", **failed)
    call("PreCompact", trigger="auto")
    assert call("Stop", stop_hook_active=True) == {}
    text = call("Stop", **stops)
    call("PostCompact", trigger="auto")

    assert "orbit note" in text["hookSpecificOutput"]["additionalContext"]
    assert "decision" not in text
    assert call("Stop", **stops) == {}
    config.write_text(
        config.read_text("utf-8").replace("ask_at_stop: true", "ask_at_stop: false"), "utf-8"
    )
    bring_up_to_date(root)
    assert call("Stop", session="off", **stops) == {}


def configure(root: Path, lines: str) -> None:
    config = root / ".orbit/config.yaml"
    config.write_text(f"{config.read_text('utf-8')}{lines}", "utf-8")
    bring_up_to_date(root)


def test_turns_are_noted_where_that_is_turned_on(
    root: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> int:
        with contextlib.chdir(root), contextlib.redirect_stdout(io.StringIO()) as printed:
            run(["check", "--loop"])
        return printed.getvalue().count("has no note")

    call("PreToolUse", **edit(root))
    call("Stop", session="off")
    assert said() == 1
    configure(root, "loop: {enabled: true, note_turns: true}\n")
    call("PreToolUse", session="on", **edit(root))
    call("UserPromptSubmit", session="on", prompt="src/app.py")
    call(
        "PostToolUseFailure",
        session="on",
        tool_name="Bash",
        tool_input={"command": "make"},
        error="no",
    )
    call("Stop", session="on")
    call("PreToolUse", session="other", **edit(root))
    call("Stop", session="on", last_assistant_message="secret")
    notes = [event for event in dispatched(root) if event["event"] == "noted"]
    assert [(event["tools"], event["errors"], event["skip_reason"]) for event in notes] == [
        (1, True, None),
        (0, False, "no-new-information"),
    ]
    assert said() == 1, "that of before it was turned on"


@pytest.mark.parametrize(
    "event", ["Stop", "SubagentStop", "SessionEnd", "PreCompact", "PostCompact"]
)
def test_an_end_is_noted_and_not_answered(root: Path, call: Call, event: str) -> None:
    """Nothing is printed: a stop that is answered would go on.

    The event has no words of the session.
    """
    assert call(event, last_assistant_message="secret", compact_summary="secret") == {}
    assert [event["surface"] for event in dispatched(root)] == [f"hook:{event}"]
    assert set(dispatched(root)[0]) == {"at", "event", "surface", "session", "agent", "fault", "ms"}
    assert dispatched(root)[0]["event"] != "retrieval"


@pytest.mark.parametrize(
    "tool",
    [
        {
            "tool_name": "Read",
            "tool_input": {"file_path": "ROOT/.orbit/learnings/L-00001/learning.yaml"},
        },
        {
            "tool_name": "Bash",
            "tool_input": {"command": "cd .orbit && cat learnings/L-00001/*.yaml | head"},
        },
        {
            "tool_name": "Bash",
            "tool_input": {"command": "head -5 .orbit/state/inbox/learnings/L-00001/learning.yaml"},
        },
    ],
)
def test_a_record_that_is_read_is_opened(root: Path, call: Call, tool: dict[str, object]) -> None:
    call("PreToolUse", **json.loads(json.dumps(tool).replace("ROOT", str(root))))
    opened, retrieval = dispatched(root)
    assert (opened["event"], opened["ids"], opened["session"]) == ("opened", ["L-00001"], "s")
    assert (retrieval["event"], retrieval["hits"], retrieval["count"]) == ("retrieval", [], 0)
    assert ids(call("PreToolUse", **edit(root))) == ALL


def test_a_record_that_is_written_is_not_opened(root: Path, call: Call) -> None:
    path = ".orbit/learnings/L-00001/learning.yaml"
    call("PreToolUse", tool_name="Edit", tool_input={"file_path": path})
    call(
        "PreToolUse",
        tool_name="Bash",
        tool_input={"command": f"ls .orbit/learnings/L-00001; sed -i s/a/b/ {path}"},
    )
    call("PreToolUse", tool_name="Read", tool_input={"file_path": ".orbit/config.yaml"})
    assert {event["event"] for event in dispatched(root)} == {"retrieval"}


def test_a_decisions_document_is_the_decision(root: Path, call: Call) -> None:
    text = ["## Context\n\nx\n\n## Decision\n\ny\n\n## Consequences\n\n- Cost: z\n"]
    log = write(root, "docs/4_decisions.md", "# Decisions\n")
    for number, (path, scope) in enumerate(
        [("docs/one.md", "lib/**"), (str(log), "src/**"), (str(log), "lib/**")], 1
    ):
        heading = (
            f"\n## ADR-{number:04d} — Title {number}\n\nStatus: Accepted · 2026-01-01\n\n{text[0]}"
        )
        file = root / path
        file.write_text((file.read_text("utf-8") if file.exists() else "") + heading, "utf-8")
        record = root / f".orbit/adrs/ADR-{number:04d}/adr.yaml"
        record.parent.mkdir(parents=True)
        data = {
            "schema_version": 1,
            "id": f"ADR-{number:04d}",
            "uid": f"{number:032x}",
            "title": f"Title {number}",
            "status": "accepted",
            "date": "2026-01-01",
            "scope": {"paths": [scope]},
            "source": {
                "path": str(file.relative_to(root)),
                "heading": f"ADR-{number:04d}",
                "format": "log",
                "authority": "record",
            },
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
        }
        record.write_text(
            "".join(f"{key}: {json.dumps(value)}\n" for key, value in data.items()), "utf-8"
        )
    bring_up_to_date(root)
    call("PreToolUse", tool_name="Read", tool_input={"file_path": "docs/one.md"})
    call("PreToolUse", tool_name="Read", tool_input={"file_path": str(log)})
    assert "ADR-0002" in ids(call("PreToolUse", **edit(root)))
    call("PreToolUse", tool_name="Read", tool_input={"file_path": str(log)})
    assert [event["ids"] for event in dispatched(root) if event["event"] == "opened"] == [
        ["ADR-0001"],
        ["ADR-0002"],
    ]


def test_the_person_is_told_what_awaits(root: Path, call: Call) -> None:
    assert call("SessionStart", source="startup") == {}
    for number in (8, 9):
        write_learning(root, number, pending=True)
    assert call("PreToolUse", tool_name="Read", tool_input={"file_path": "README.md"}) == {}
    assert call("SessionStart", source="compact") == {}
    reply = call("SessionStart", source="startup")
    assert set(reply) == {"systemMessage", "suppressOutput"}
    number, _, command = reply["systemMessage"].partition(" records await review: ")
    assert number == "2"
    printed = orbit(root, *command.split()[1:])
    assert [f"L-0000{number}" in printed for number in (8, 9, 1)] == [True, True, False]


def test_the_person_is_told_of_files_that_hold_no_record(root: Path, call: Call) -> None:
    (root / ".orbit/learnings/L-00001/learning.yaml").write_text("status: [", "utf-8")
    bring_up_to_date(root)
    reply = call("SessionStart", source="startup")
    assert reply["systemMessage"] == "1 record could not be read: run orbit check"


@pytest.mark.skipif(
    not Path("/proc/self/stat").exists(),
    reason="processes are not files here: no host can be known",
)
def test_a_command_knows_the_session_of_its_host(root: Path) -> None:
    payload = {
        "cwd": str(root),
        "session_id": "é s",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
    }
    content = json.dumps({**payload, "tool_input": {"command": "cat src/a.py"}})
    program = (
        "import subprocess, sys\n"
        "hook, orbit, content = sys.argv[1], sys.argv[2], sys.argv[3]\n"
        "subprocess.run(['/bin/sh', '-c', hook + ' || :'], input=content.encode(), check=True)\n"
        "subprocess.run(['/bin/sh', '-c', orbit + ' brief --path src/a.py --format json; :'], "
        "check=True)\n"
        "subprocess.run(['/bin/sh', '-c', 'cd src; ' + orbit + ' show L-00002; :'], check=True)\n"
    )
    environment = {**os.environ, **PATIENT}
    arguments = [
        sys.executable,
        "-c",
        program,
        f"{' '.join(LAUNCH)} claude",
        " ".join(ORBIT),
        content,
    ]
    done = subprocess.run(
        arguments, cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert '"deduplicated": true' in done.stdout
    shown_ids, brief, opened = dispatched(root)
    assert (shown_ids["hits"], brief["skip_reason"]) == (ALL, "already shown")
    assert (opened["event"], opened["surface"], opened["ids"]) == ("opened", "show", ["L-00002"])
    assert shown_ids["session"] == brief["session"] == opened["session"] != ""
    assert session_of_process(str(root)) is None
    orbit(root, "show", "L-00002")
    assert len(dispatched(root)) == 3
    brief = json.loads(orbit(root, "brief", "--path", "src/a.py", "--format", "json"))
    assert brief["data"]["deduplicated"] is False
    assert dispatched(root)[-1]["session"] is None
