"""The hook as agents run it: the installed command, in a shell, with payloads as they come;
and nothing ever fails.
"""

import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import PATIENT, bring_up_to_date, dispatched, withhold_at_edits
from tests.acceptance.hook.replies import ids_in
from tests.files import CONFIG, commit, make_workspace, write, write_learning

from orbit_registry.agents.agent import load_agent
from orbit_registry.agents.install import install as installation
from orbit_registry.model.reach import SKIPS, TRIAL
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import open_workspace

CLAUDE = load_agent("claude")
Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def root(git_repo: Path) -> Path:
    """Return a workspace with seven learnings for `src/**` and its push index."""
    make_workspace(git_repo)
    write(git_repo, "src/a.py", "")
    for number in range(1, 8):
        write_learning(git_repo, number)
    commit(git_repo, "Learn")
    bring_up_to_date(git_repo)
    return git_repo


@pytest.fixture
def run(root: Path) -> Run:
    workspace = open_workspace(root)
    installation.install(workspace.root, CLAUDE, "local")
    command = installation.installed_command(workspace.root, CLAUDE, "local")
    assert command is not None

    def started(payload: bytes | object, **variables: str) -> subprocess.CompletedProcess[bytes]:
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        environment = {**os.environ, **PATIENT, **variables}
        return subprocess.run(
            ["/bin/sh", "-c", command],
            input=content,
            capture_output=True,
            cwd=root,
            env=environment,
            check=False,
        )

    return started


def edit(root: Path, session: str | None = "s", **fields: object) -> dict[str, object]:
    """Return the payload of an edit of `src/a.py`."""
    call: dict[str, object] = {
        "cwd": str(root),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
    }
    call["tool_input"] = {"file_path": f"{root}/src/a.py"}
    return {**call, **({"session_id": session} if session is not None else {}), **fields}


def shown(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the text that the agent sees; everything that every reply has to be is asserted on the
    way.
    """
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    reply = json.loads(done.stdout)
    assert set(reply) == {"hookSpecificOutput", "suppressOutput"}
    assert set(reply["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    text = reply["hookSpecificOutput"]["additionalContext"]
    assert isinstance(text, str)
    return text


def test_five_megabytes_are_read_and_more_is_left(root: Path, run: Run) -> None:
    fitting = edit(root, tool_input={"file_path": f"{root}/src/a.py", "content": "ä" * 800_000})
    assert ids_in(shown(run(fitting)))
    assert (
        shown(
            run(
                edit(
                    root,
                    "t",
                    tool_input={"file_path": f"{root}/src/a.py", "content": "x" * 5_000_001},
                )
            )
        )
        == ""
    )
    assert dispatched(root)[-1]["skip_reason"] == "too large"


def test_a_changed_record_is_named_and_starts_one_sync(root: Path, run: Run) -> None:
    write_learning(root, 1, summary="Another text")
    write_learning(root, 8)
    stamp = root / ".orbit/state/cache/sync.asked"

    with locked(root / ".git/orbit/hook.lock"):  # else a quick sync is done before the second call
        text = shown(run(edit(root)))
        assert (
            "- [L-00001] has changed since it was read: .orbit/learnings/L-00001/learning.yaml\n"
            "- [L-00002]"
        ) in text
        first = stamp.stat().st_mtime_ns
        assert ids_in(shown(run(edit(root)))) == ["L-00006", "L-00007"]
    ended = time.monotonic() + 60
    while not (new := shown(run(edit(root)))):
        assert time.monotonic() < ended, "the sync that was started did not bring the new text"

    assert ids_in(new) == ["L-00008"]
    assert "Another text" in shown(run(edit(root, session="other")))
    assert stamp.stat().st_mtime_ns == first


def test_the_sync_of_the_hook_leaves_the_snapshot_to_a_question(root: Path, run: Run) -> None:
    """To write it takes as long as all else, and few projects ask it after each edit."""
    log, cache = root / ".orbit/state/log/events.jsonl", root / ".orbit/state/cache"
    before = sorted(cache.glob("snapshot-*"))
    syncs = log.read_text("utf-8").count('"synced"') if log.exists() else 0
    write_learning(root, 8)
    ended = time.monotonic() + 60
    while not (log.exists() and log.read_text("utf-8").count('"synced"') > syncs):
        assert time.monotonic() < ended, "no sync has ended"
        run(edit(root))

    assert sorted(cache.glob("snapshot-*")) == before
    asked = orbit(root, "query", "SELECT id FROM records WHERE id = 'L-00008'", "--format", "csv")
    assert "L-00008" in asked


@pytest.mark.parametrize("harm", ["state", "log"])
def test_a_place_that_cant_be_written_to_silences(
    root: Path, run: Run, tmp_path: Path, harm: str
) -> None:
    assert shown(run(edit(root, "before")))
    state = root / ".orbit/state"
    if harm == "state":
        state.rename(tmp_path / "elsewhere")
        state.symlink_to(tmp_path / "elsewhere")
    else:
        shutil.rmtree(state / "log")
        (state / "log").write_text("", "utf-8")
    assert shown(run(edit(root, "after"))) == ""


def test_nothing_is_for_others_to_read(root: Path, run: Run) -> None:
    shown(run(edit(root, "../../../../../x")))
    files = [path for path in (root / ".orbit/state/log").rglob("*") if path.is_file()]
    assert len(files) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    status = subprocess.run(
        ["git", "status", "--short"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    assert status.split() == ["??", ".claude/"]


def test_every_dispatch_is_an_event(root: Path, run: Run) -> None:
    run(edit(root))
    run(
        {
            "cwd": str(root),
            "session_id": "s",
            "hook_event_name": "UserPromptSubmit",
            "prompt": "the key is secret.word/x, see src/a.py",
        }
    )
    run(edit(root, tool_input={"file_path": "/elsewhere"}))
    logged = dispatched(root)

    assert [event["surface"] for event in logged] == [
        "hook:PreToolUse",
        "hook:UserPromptSubmit",
        "hook:PreToolUse",
    ]
    assert [event["query"] for event in logged] == [["src/a.py"], ["src/a.py"], []]
    assert [(event["count"], event["omitted"], event["skip_reason"]) for event in logged] == [
        (5, 0, None),
        (2, 0, None),
        (0, 0, "nothing asked"),
    ]
    assert {event["skip_reason"] for event in logged} - {None} <= set(SKIPS)
    assert "secret" not in str(dispatched(root))


def test_a_hold_out_is_silent_and_logged(root: Path, run: Run) -> None:
    (root / ".orbit/config.yaml").write_text(f"{CONFIG}experiment:\n  holdout: 1\n", "utf-8")
    bring_up_to_date(root)
    assert [shown(run(edit(root))) for _ in "123"] == [""] * 3
    logged = dispatched(root)
    assert [len(event.get("withheld", ())) for event in logged] == [5, 2, 0]
    assert [event["skip_reason"] for event in logged] == ["withheld", "withheld", "already shown"]
    assert shown(run(edit(root, f"{TRIAL}1")))


def test_events_say_how_calls_went_and_no_word_of_them(root: Path, run: Run) -> None:
    shell = {
        "tool_name": "Bash",
        "tool_input": {"command": "cd /x &&  npm run test:unit -- secret"},
    }
    failed = {"hook_event_name": "PostToolUseFailure", "error": "3 failed"}
    for payload in ({}, shell, {**shell, **failed}, {**shell, "tool_input": {"command": "ls"}}):
        run(edit(root, **payload))
    outcomes = [
        {name: event.get(name) for name in ("writes", "tests", "result")}
        for event in dispatched(root)
    ]
    assert outcomes == [
        {"writes": True, "tests": None, "result": None},
        {"writes": None, "tests": True, "result": None},
        {"writes": None, "tests": True, "result": "failed"},
        {"writes": None, "tests": None, "result": None},
    ]
    commands = [event.get("command") for event in dispatched(root)]
    assert commands[0] is None
    assert commands[1] == commands[2] != commands[3]
    assert "secret" not in str(dispatched(root))


def test_a_session_begins_with_what_edits_withhold(root: Path, run: Run) -> None:
    write_learning(root, 8, scope={"paths": ["README.md"]})
    withhold_at_edits(root)
    start = {
        "cwd": str(root),
        "session_id": "s",
        "hook_event_name": "SessionStart",
        "source": "startup",
    }

    withheld = {f"L-0000{number}" for number in range(1, 8)}
    assert withheld.isdisjoint(ids_in(shown(run(edit(root)))))
    assert set(ids_in(shown(run(start)))) == withheld
