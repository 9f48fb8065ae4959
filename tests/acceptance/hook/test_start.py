"""The start of a session: few records, how to ask for the others, and what a late index missed."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook.conftest import bring_up_to_date
from tests.acceptance.hook.replies import edit, ids
from tests.files import write_learning

from orbit_registry.doors.answers.path_notes import REASONS
from orbit_registry.doors.cli.main import run
from orbit_registry.hook.events import Event, append
from orbit_registry.hook.project import index_file
from orbit_registry.hook.session import tokens
from orbit_registry.model.reach import PER_CALL, SKIPS, TOKENS

MOST = 250
SCOPE = {"paths": ["src/**"]}
Call = Callable[..., dict[str, Any]]


def context(reply: dict[str, Any]) -> str:
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.fixture
def crowded(root: Path) -> Path:
    """Return a project in which more records have a wide glob than a file has places for."""
    for number in range(30):
        (root / f"src/f{number}.txt").touch()

    subprocess.run(["git", "add", "src"], cwd=root, check=True)
    for number in range(4, 60):
        summary = f"Number {number} of the many rules for all files, which takes a line of its own"
        write_learning(root, number, summary=summary, scope=SCOPE)

    for number in range(60, 90):
        write_learning(root, number, scope={"paths": [f"lib/{number}.py"]})

    bring_up_to_date(root)
    return root


def test_the_start_of_a_session_is_short(crowded: Path, call: Call) -> None:
    text = context(call("SessionStart", source="startup"))
    listed = len(ids(call("SessionStart", session="other", source="startup")))
    more = f"{89 - listed} more records of this project are not listed: `orbit brief TASK`"

    assert 1 <= listed <= 6
    assert tokens(text) <= MOST
    assert more in text
    assert "omitted" not in text


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("UserPromptSubmit", {"prompt": "Rename the exporter of invoices."}),
        ("PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": "README.md"}}),
    ],
)
def test_a_late_index_delivers_what_the_start_missed_once(
    crowded: Path, call: Call, event: str, fields: dict[str, Any]
) -> None:
    expected = ids(call("SessionStart", session="early", source="startup"))
    index = Path(index_file(str(crowded)))
    content = index.read_bytes()
    index.unlink()

    assert context(call("SessionStart", source="startup")) == ""
    index.write_bytes(content)

    assert ids(call(event, **fields))[: len(expected)] == expected
    assert ids(call(event, **fields)) == []
    assert ids(call("PreToolUse", session="early", **edit(crowded)))


@pytest.mark.parametrize(
    "missed",
    [
        {"tool_name": "Edit", "tool_input": {"file_path": "lib/60.py"}},
        {"tool_name": "Write", "tool_input": {"file_path": "lib/60.py", "content": "x"}},
        {"tool_name": "Read", "tool_input": {"file_path": "lib/a b%20.py"}},
        {"tool_name": "Bash", "tool_input": {"command": "cat 'lib/a b%20.py'"}},
    ],
)
def test_a_late_index_delivers_what_an_edit_missed_once(
    crowded: Path, call: Call, missed: dict[str, Any]
) -> None:
    (crowded / "lib").mkdir(exist_ok=True)
    (crowded / "lib/a b%20.py").touch()
    write_learning(crowded, 91, scope={"paths": ["lib/a b%20.py"]})
    bring_up_to_date(crowded)
    expected = ids(call("PreToolUse", session="early", **missed))
    assert len(expected) == 1
    other = {"tool_name": "Read", "tool_input": {"file_path": "lib/61.py"}}
    own = ids(call("PreToolUse", session="early", **other))
    index = Path(index_file(str(crowded)))
    content = index.read_bytes()
    index.unlink()

    assert context(call("PreToolUse", **missed)) == ""
    index.write_bytes(content)

    assert ids(call("PreToolUse", **other)) == [*expected, *own]
    assert ids(call("PreToolUse", **missed)) == []
    log = (crowded / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()
    assert json.loads(log[-2])["hits"] == [*expected, *own]


Noted = Callable[[], str]


@pytest.fixture
def noted(
    crowded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Noted:
    """Return what gives the notes of `orbit explain lib/60.py`."""
    monkeypatch.chdir(crowded)

    def notes() -> str:
        assert run(["explain", "lib/60.py"]) == 0
        return " ".join(capsys.readouterr().err.split())

    return notes


@pytest.mark.parametrize(
    ("session", "said"),
    [("late", "the session's next call that finds one shows"), ("", "the call named no session")],
)
def test_explain_says_that_the_last_call_found_no_index_until_it_is_made_good(
    crowded: Path, call: Call, noted: Noted, session: str, said: str
) -> None:
    edit_of_60 = {"tool_name": "Edit", "tool_input": {"file_path": "lib/60.py"}}
    index = Path(index_file(str(crowded)))
    content = index.read_bytes()
    index.unlink()
    call("PreToolUse", session=session, **edit_of_60)
    assert said in noted()

    if session:
        call("SessionStart", session=session, source="compact")
        assert said in noted()

    index.write_bytes(content)
    other = {"tool_name": "Edit", "tool_input": {"file_path": "lib/61.py"}}
    call("PreToolUse", session=session, **other)
    assert ("showed nothing" in noted()) == (not session)

    call("PreToolUse", session=session, **edit_of_60)
    assert "showed nothing" not in noted()


@pytest.mark.parametrize("reason", SKIPS)
def test_explain_says_what_to_do_about_a_silent_call_or_nothing(
    crowded: Path, noted: Noted, reason: str
) -> None:
    event = Event("hook:PreToolUse", time.time())
    event.session, event.query, event.skip_reason = "s", ["lib/60.py"], reason
    append(str(crowded), event)

    notes = noted()

    assert ("showed nothing" in notes) == (reason in REASONS)
    if reason in REASONS:
        assert REASONS[reason].replace("PATH", "lib/60.py") in notes


def test_an_index_that_is_lost_twice_delivers_twice(crowded: Path, call: Call) -> None:
    index = Path(index_file(str(crowded)))
    content = index.read_bytes()
    for number in (60, 62):
        index.unlink()
        missed = {"tool_name": "Edit", "tool_input": {"file_path": f"lib/{number}.py"}}
        assert context(call("PreToolUse", **missed)) == ""

        index.write_bytes(content)
        other = {"tool_name": "Edit", "tool_input": {"file_path": f"lib/{number + 1}.py"}}
        assert len(ids(call("PreToolUse", **other))) == 2


def test_a_late_start_comes_before_the_records_of_the_call(crowded: Path, call: Call) -> None:
    expected = ids(call("SessionStart", session="early", source="startup"))
    index = Path(index_file(str(crowded)))
    content = index.read_bytes()
    index.unlink()
    call("SessionStart", source="startup")
    index.write_bytes(content)

    shown_ids = ids(call("PreToolUse", **edit(crowded)))

    assert shown_ids[: len(expected)] == expected
    assert len(shown_ids) > len(expected)
    log = (crowded / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()
    assert json.loads(log[-1])["hits"][0] == expected[0]


@pytest.mark.parametrize(
    ("event", "fields", "is_shown"),
    [
        ("PreToolUse", {"tool_name": "Edit", "tool_input": {"file_path": "lib/a.py"}}, True),
        ("UserPromptSubmit", {"prompt": "Write a unit test for lib/a.py"}, True),
        ("UserPromptSubmit", {"prompt": "Explain lib/a.py to me"}, False),
        ("PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": "lib/a.py"}}, False),
    ],
)
@pytest.mark.parametrize("tool", ["Read", "Edit"])
def test_how_work_is_done_is_shown_late_where_the_missed_call_was_to_write_code(
    root: Path, call: Call, event: str, fields: dict[str, Any], is_shown: bool, tool: str
) -> None:
    (root / "lib").mkdir()
    (root / "lib/a.py").touch()
    write_learning(root, 91, scope={"paths": ["lib/a.py"]}, procedural=True)
    bring_up_to_date(root)
    assert ("L-00091" in ids(call(event, session="early", **fields))) == is_shown
    index = Path(index_file(str(root)))
    content = index.read_bytes()
    index.unlink()
    call(event, **fields)
    index.write_bytes(content)

    other = {"tool_name": tool, "tool_input": {"file_path": "lib/b.py"}}
    assert ("L-00091" in ids(call("PreToolUse", **other))) == is_shown


def test_what_was_missed_and_the_call_share_the_caps_of_one_reply(
    crowded: Path, call: Call
) -> None:
    for number in range(100, 112):
        name = "m" if number < 106 else "n"
        summary = f"Number {number} of the learnings for one file, which takes a line of its own"
        write_learning(crowded, number, summary=summary, scope={"paths": [f"lib/{name}.py"]})

    bring_up_to_date(crowded)
    index = Path(index_file(str(crowded)))
    content = index.read_bytes()
    index.unlink()
    call("SessionStart", source="startup")
    call("PreToolUse", tool_name="Edit", tool_input={"file_path": "lib/m.py"})
    index.write_bytes(content)

    text = context(call("PreToolUse", tool_name="Read", tool_input={"file_path": "lib/n.py"}))

    log = (crowded / ".orbit/state/log/events.jsonl").read_text("utf-8").splitlines()
    event = json.loads(log[-1])
    assert event["count"] == len(event["hits"]) == PER_CALL
    assert event["tokens"] == tokens(text) <= TOKENS
    named = ids({"hookSpecificOutput": {"additionalContext": text}})
    assert {f"L-00{number}" for number in range(100, 112)} <= set(named)
