"""What the hook does when something is broken:
it exits 0, shows nothing that it would show again, and notes why.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook.conftest import (
    LAUNCH,
    bring_up_to_date,
    dispatched,
    run_client,
    write_learning,
)
from tests.acceptance.hook.replies import edit, ids

from orbit_registry.hook.events import FAULTS
from orbit_registry.hook.session import LARGEST
from orbit_registry.workspace.lock import locked

PATIENT = {"ORBIT_HOOK_DEADLINE_MS": "60000"}
LOG = ".orbit/state/log"
ALL = ["L-00001", "L-00002", "L-00003"]
Call = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_ledger_that_is_none_silences(root: Path, call: Call, kind: str) -> None:
    file = root / LOG / "sessions/s"
    file.parent.mkdir(parents=True)
    match kind:
        case "link":
            file.symlink_to(root / "src/a.py")
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
    assert call("PreToolUse", **edit(root)) == {}
    assert [event["fault"] for event in dispatched(root)] == ["ledger"]
    assert (root / "src/a.py").read_bytes() == b""


@pytest.mark.parametrize(
    "content", [b"\0" * 300, b"\xff\xfe " * 100, b"x " * 30_000, b"y" * LARGEST * 3, b"\n\n= =x\n"]
)
def test_a_ledger_of_garbage_is_survived(root: Path, call: Call, content: bytes) -> None:
    file = root / LOG / "sessions/s"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert ids(call("PreToolUse", **edit(root))) == ALL
    assert ids(call("PreToolUse", **edit(root))) == []
    assert file.stat().st_size <= LARGEST + 100


def test_a_full_disk_silences(root: Path) -> None:
    """Where no byte can be written nothing is shown, for it would be shown again and again;
    exit code 0.
    """

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    payload = {"cwd": str(root), "session_id": "s", "hook_event_name": "PreToolUse", **edit(root)}
    done = subprocess.run(
        [*LAUNCH, "claude"],
        input=json.dumps(payload).encode(),
        capture_output=True,
        cwd=root,
        env={**os.environ, **PATIENT},
        preexec_fn=full,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert dispatched(root) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b"[" * 200_000,
        b'{"a":' * 50_000,
        b'"\\ud8',
        b"nul",
        b"\0" * 1000,
        b"[1]",
        b"null",
        b'{"session_id": ' + b"9" * 10_000 + b"}",
        b'{"password": "hunter2"',
    ],
)
def test_a_payload_that_is_none_is_a_fault(root: Path, content: bytes) -> None:
    assert run_client(root, content) == b""
    logged = dispatched(root)
    assert [(event["fault"], event["hits"]) for event in logged] == [("payload", [])]
    assert "payload" in FAULTS
    assert "hunter2" not in json.dumps(logged)


@pytest.mark.parametrize(
    "command",
    [
        "{ cat src/a.py; }",
        "[ -f src/a.py ] && cat src/a.py",
        '{"command": "cat src/a.py"',
        "{,}",
        '[1, "\\x"]',
        "{'a': 1}",
    ],
)
def test_a_text_that_only_begins_like_json_loses_no_call(
    root: Path, call: Call, command: str
) -> None:
    """Some agents pass a tool's input as JSON in a text."""
    call("PreToolUse", tool_name="Bash", tool_input=command)
    assert [event.get("fault") for event in dispatched(root)] == [None]


def test_an_input_that_never_ends_is_left(root: Path) -> None:
    for content in (b"", b'{"hook_event_name": "PreToolUse"'):
        environment = {
            **os.environ,
            "CLAUDE_PROJECT_DIR": str(root),
            "ORBIT_HOOK_DEADLINE_MS": "50",
        }
        began = time.monotonic()
        with subprocess.Popen(
            [*LAUNCH, "claude"],
            cwd="/",
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None
            process.stdin.write(content)
            process.stdin.flush()
            assert process.wait(timeout=60) == 0
            assert time.monotonic() - began < 30
            assert process.stdout is not None
            assert process.stdout.read() == b""
    assert [event["skip_reason"] for event in dispatched(root)] == ["deadline"] * 2


def test_a_lock_that_stays_held_is_not_awaited(root: Path, call: Call) -> None:
    assert ids(call("PreToolUse", **edit(root))) == ALL
    write_learning(root, 4)
    bring_up_to_date(root)
    holding = (
        "import fcntl, sys\n"
        "file = open(sys.argv[1], 'r+')\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(root / LOG / "sessions/s")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        payload = {
            "cwd": str(root),
            "session_id": "s",
            "hook_event_name": "PreToolUse",
            **edit(root),
        }
        assert run_client(root, json.dumps(payload).encode(), ORBIT_HOOK_DEADLINE_MS="200") == b""
        holder.communicate()
    assert dispatched(root)[-1]["skip_reason"] == "deadline"
    assert ids(call("PreToolUse", **edit(root))) == ["L-00004"]


def test_a_damaged_index_is_a_fault(root: Path, call: Call) -> None:
    index = root / ".git/orbit/hook-18.idx"
    content = index.read_bytes()
    faults = set()
    for position in range(336, len(content), max(1, len(content) // 40)):
        index.write_bytes(
            content[:position]
            + bytes([content[position] ^ 0xFF]) * 8
            + content[position + 8 :][: len(content) - position - 8]
        )
        call("PreToolUse", session=f"s{position}", **edit(root))
        faults.add(dispatched(root)[-1]["fault"])
    assert "index" in faults
    assert faults <= {None, "index", "UnicodeDecodeError", "IndexError"}


def test_another_change_starts_another_sync_at_once(root: Path, call: Call) -> None:
    mark = root / ".orbit/state/cache/sync.asked"
    with locked(root / ".git/orbit/hook.lock"):
        for number in (1, 2):
            write_learning(root, number, summary="Another text")
            before = mark.stat().st_mtime_ns if mark.exists() else 0
            call("PreToolUse", session=f"s{number}", **edit(root))
            assert mark.stat().st_mtime_ns > before


def test_a_copied_project_shows_the_same_at_once(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", str(root), str(copy)], check=True)
    replies = []
    for position in (root, copy):
        payload = {
            "cwd": str(position),
            "session_id": "s",
            "hook_event_name": "PreToolUse",
            **edit(position),
        }
        replies.append(
            run_client(position, json.dumps(payload).encode()).replace(
                str(position).encode(), b"ROOT"
            )
        )
    assert ids(json.loads(replies[0])) == ALL
    assert replies[1] == replies[0]


def test_a_project_without_an_index_is_indexed_at_once(root: Path, call: Call) -> None:
    index = root / ".git/orbit/hook-18.idx"
    cache = root / ".orbit/state/cache"
    cache.mkdir(parents=True, exist_ok=True)
    index.rename(cache / "push-000001.idx")
    ended = time.monotonic() + 60
    while not call("PreToolUse", **edit(root)):
        assert time.monotonic() < ended, "no sync was started"
