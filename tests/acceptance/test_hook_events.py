"""What the hook does at each moment of a session: errors, subagents, compaction, opened records, the person's message;
and what it does when something is broken. The client is run as agents run it."""

from __future__ import annotations

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

from orbit_registry.push import client
from orbit_registry.push.events import FAULTS
from orbit_registry.push.hosts import session_of_process
from orbit_registry.push.ledger import LARGEST
from orbit_registry.push.select import PER_SESSION
from orbit_registry.snapshot.matches import current_index
from orbit_registry.store.workspace import open_workspace

ORBIT = [sys.executable, "-m", "orbit_registry.cli.main"]
LAUNCH = [sys.executable, "-I", "-S", "-E", str(Path(client.__file__).with_name("launch.py"))]
PATIENT = {"ORBIT_HOOK_DEADLINE_MS": "60000"}
"""A busy machine is no bug: what is tested is what the hook says, not how soon."""
LOG = ".orbit/state/log"
Call = Callable[..., dict[str, Any]]


def learning(root: Path, number: int, pending: bool = False, **fields: object) -> Path:
    """Write a learning as an editor would: JSON is YAML."""
    place = ".orbit/state/inbox/learnings" if pending else ".orbit/learnings"
    file = root / place / f"L-{number:05d}/learning.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    data = {
        "schema_version": 1, "id": f"L-{number:05d}", "uid": f"{number:032x}",
        "status": "candidate" if pending else "active", "summary": f"Learning {number}",
        "scope": {"paths": ["src/**"]}, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        **fields,
    }  # fmt: skip
    file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in data.items()), "utf-8")
    return file


def sync(root: Path) -> None:
    """Bring the push index up to date."""
    current_index(open_workspace(root))


@pytest.fixture
def root(git_repo: Path, git: Callable[..., str]) -> Path:
    """Return a workspace with three learnings for `src/**` and its push index."""
    (git_repo / ".orbit").mkdir()
    (git_repo / ".orbit/config.yaml").write_text("format: orbit-registry\nschema_version: 1\n", "utf-8")
    (git_repo / ".gitignore").write_text(".orbit/state/\n", "utf-8")
    (git_repo / "src").mkdir()
    (git_repo / "src/a.py").touch()
    for number in range(1, 4):
        learning(git_repo, number)
    git(git_repo, "add", ".")
    git(git_repo, "commit", "-q", "-m", "Learn")
    sync(git_repo)
    return git_repo


def run(root: Path, content: bytes, agent: str = "claude", **variables: str) -> bytes:
    """Return what the client prints for some input; that it ends well and says nothing else is asserted."""
    environment = {**os.environ, **PATIENT, "CLAUDE_PROJECT_DIR": str(root), **variables}
    done = subprocess.run(
        [*LAUNCH, agent], input=content, capture_output=True, cwd=root, env=environment, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.fixture
def call(root: Path) -> Call:
    """Return what sends an event of a session `s` and gives the reply; empty for none."""

    def sent(event: str, session: str = "s", **fields: object) -> dict[str, Any]:
        payload = {"cwd": str(root), "session_id": session, "hook_event_name": event, **fields}
        printed = run(root, json.dumps(payload).encode())
        reply: dict[str, Any] = json.loads(printed) if printed else {}
        if "hookSpecificOutput" in reply:
            assert reply["hookSpecificOutput"]["hookEventName"] == event
        return reply

    return sent


def ids(reply: dict[str, Any]) -> list[str]:
    """Return the ids that a reply shows."""
    text = reply.get("hookSpecificOutput", {}).get("additionalContext", "")
    return [line.split("]")[0].removeprefix("- [") for line in text.splitlines() if line.startswith("- [")]


def events(root: Path) -> list[dict[str, Any]]:
    """Return the events of the log."""
    file = root / LOG / "events.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def edit(root: Path) -> dict[str, object]:
    """Return the fields of an edit of `src/a.py`."""
    return {"tool_name": "Edit", "tool_input": {"file_path": f"{root}/src/a.py"}}


ALL = ["L-00001", "L-00002", "L-00003"]


@pytest.mark.parametrize("order", [
    ["PreCompact", "SessionStart", "PostCompact"], ["PreCompact", "PostCompact", "SessionStart"],
    ["SessionStart", "PostCompact"], ["PostCompact"], ["SessionStart"], ["PreCompact"],
])  # fmt: skip
def test_one_compaction_is_forgotten_once(root: Path, call: Call, order: list[str]) -> None:
    """Whichever events tell of a compaction, in whichever order: what was shown before comes again, and once."""
    assert ids(call("PreToolUse", **edit(root))) == ALL
    assert ids(call("PreToolUse", **edit(root))) == []
    shown: list[str] = []
    for event in order:
        shown += ids(call(event, source="compact", trigger="auto"))
    shown += ids(call("PreToolUse", **edit(root)))
    shown += ids(call("PreToolUse", **edit(root)))
    assert shown == ALL


def test_what_was_shown_between_the_events_of_a_compaction_is_not_repeated(root: Path, call: Call) -> None:
    """A session start after the compaction shows what applies everywhere; the event that follows forgets it not."""
    for number in range(30):
        (root / f"src/f{number}.txt").touch()
    subprocess.run(["git", "add", "src"], cwd=root, check=True)
    sync(root)
    assert ids(call("SessionStart", source="compact")) == ALL
    call("PostCompact")
    assert ids(call("SessionStart", source="resume")) == []


def test_a_subagent_starts_with_what_applies_everywhere(root: Path, call: Call) -> None:
    """It has a context of its own; whom a record names is asked of the agent's type."""
    for number in range(30):
        (root / f"src/f{number}.txt").touch()
    subprocess.run(["git", "add", "src"], cwd=root, check=True)
    learning(root, 3, scope={"paths": ["src/**"], "agents": ["tester"]})
    sync(root)
    assert ids(call("SessionStart", source="startup")) == ALL
    assert ids(call("SubagentStart", agent_id="a1", agent_type="engineer")) == ALL[:2]
    assert ids(call("SubagentStart", agent_id="a2", agent_type="tester")) == ALL
    assert ids(call("SubagentStart", agent_id="a2", agent_type="tester")) == []


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "SessionEnd", "PreCompact", "PostCompact"])
def test_an_end_is_noted_and_not_answered(root: Path, call: Call, event: str) -> None:
    """Nothing is printed: a stop that is answered would go on. The event has no words of the session."""
    assert call(event, last_assistant_message="secret", compact_summary="secret") == {}
    assert [one["surface"] for one in events(root)] == [f"hook:{event}"]
    assert set(events(root)[0]) == {"at", "event", "surface", "session", "fault", "ms"}
    assert events(root)[0]["event"] != "retrieval"


@pytest.mark.parametrize("tool", [
    {"tool_name": "Read", "tool_input": {"file_path": "ROOT/.orbit/learnings/L-00001/learning.yaml"}},
    {"tool_name": "Bash", "tool_input": {"command": "cd .orbit && cat learnings/L-00001/*.yaml | head"}},
    {"tool_name": "Bash", "tool_input": {"command": "head -5 .orbit/state/inbox/learnings/L-00001/learning.yaml"}},
])  # fmt: skip
def test_a_record_that_is_read_is_opened(root: Path, call: Call, tool: dict[str, object]) -> None:
    """A read of a record's own file is an event with its id, beside the retrieval; it is never counted as shown."""
    call("PreToolUse", **json.loads(json.dumps(tool).replace("ROOT", str(root))))
    opened, retrieval = events(root)
    assert (opened["event"], opened["ids"], opened["session"]) == ("opened", ["L-00001"], "s")
    assert (retrieval["event"], retrieval["hits"], retrieval["count"]) == ("retrieval", [], 0)
    assert ids(call("PreToolUse", **edit(root))) == ALL


def test_a_record_that_is_written_is_not_opened(root: Path, call: Call) -> None:
    """Edits, listings and what stands beside records are none."""
    path = ".orbit/learnings/L-00001/learning.yaml"
    call("PreToolUse", tool_name="Edit", tool_input={"file_path": path})
    call("PreToolUse", tool_name="Bash", tool_input={"command": f"ls .orbit/learnings/L-00001; sed -i s/a/b/ {path}"})
    call("PreToolUse", tool_name="Read", tool_input={"file_path": ".orbit/config.yaml"})
    assert {one["event"] for one in events(root)} == {"retrieval"}


def test_a_decisions_document_is_the_decision(root: Path, call: Call) -> None:
    """A read of the document of one decision opens it; of a log of several, those that the session was shown."""
    said = ["## Context\n\nx\n\n## Decision\n\ny\n\n## Consequences\n\n- Cost: z\n"]
    log = root / "docs/4_decisions.md"
    log.parent.mkdir()
    log.write_text("# Decisions\n", "utf-8")
    for number, (path, scope) in enumerate([("docs/one.md", "lib/**"), (str(log), "src/**"), (str(log), "lib/**")], 1):
        heading = f"\n## ADR-{number:04d} — Title {number}\n\nStatus: Accepted · 2026-01-01\n\n{said[0]}"
        file = root / path
        file.write_text((file.read_text("utf-8") if file.exists() else "") + heading, "utf-8")
        record = root / f".orbit/adrs/ADR-{number:04d}/adr.yaml"
        record.parent.mkdir(parents=True)
        data = {
            "schema_version": 1, "id": f"ADR-{number:04d}", "uid": f"{number:032x}", "title": f"Title {number}",
            "status": "accepted", "date": "2026-01-01", "scope": {"paths": [scope]},
            "source": {"path": str(file.relative_to(root)), "heading": f"ADR-{number:04d}", "format": "log",
                       "authority": "record"},
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        }  # fmt: skip
        record.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in data.items()), "utf-8")
    sync(root)
    call("PreToolUse", tool_name="Read", tool_input={"file_path": "docs/one.md"})
    call("PreToolUse", tool_name="Read", tool_input={"file_path": str(log)})
    assert "ADR-0002" in ids(call("PreToolUse", **edit(root)))
    call("PreToolUse", tool_name="Read", tool_input={"file_path": str(log)})
    assert [one["ids"] for one in events(root) if one["event"] == "opened"] == [["ADR-0001"], ["ADR-0002"]]


def test_the_person_is_told_what_awaits(root: Path, call: Call) -> None:
    """A session's start says how many records wait, to the person and not to the agent, with a command that shows
    them; none waiting, it says nothing; and neither do other events."""
    assert call("SessionStart", source="startup") == {}
    for number in (8, 9):
        learning(root, number, pending=True)
    assert call("PreToolUse", tool_name="Read", tool_input={"file_path": "README.md"}) == {}
    assert call("SessionStart", source="compact") == {}
    reply = call("SessionStart", source="startup")
    assert set(reply) == {"systemMessage", "suppressOutput"}
    number, _, command = reply["systemMessage"].partition(" records await review: ")
    assert number == "2"
    done = subprocess.run([*ORBIT, *command.split()[1:]], cwd=root, capture_output=True, text=True, check=True)
    assert ("L-00008" in done.stdout, "L-00009" in done.stdout, "L-00001" in done.stdout) == (True, True, False)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are not files here: no host can be known")
def test_a_command_knows_the_session_of_its_host(root: Path) -> None:
    """A brief and a show that the same host starts take part in the session that its hook noted; another's don't."""
    payload = {"cwd": str(root), "session_id": "é s", "hook_event_name": "PreToolUse", "tool_name": "Bash"}
    content = json.dumps({**payload, "tool_input": {"command": "cat src/a.py"}})
    program = (
        "import subprocess, sys\n"
        "hook, orbit, content = sys.argv[1], sys.argv[2], sys.argv[3]\n"
        "subprocess.run(['/bin/sh', '-c', hook + ' || :'], input=content.encode(), check=True)\n"
        "subprocess.run(['/bin/sh', '-c', orbit + ' brief --path src/a.py --format json; :'], check=True)\n"
        "subprocess.run(['/bin/sh', '-c', 'cd src; ' + orbit + ' show L-00002; :'], check=True)\n"
    )
    environment = {**os.environ, **PATIENT}
    arguments = [sys.executable, "-c", program, f"{' '.join(LAUNCH)} claude", " ".join(ORBIT), content]
    done = subprocess.run(arguments, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert '"deduplicated": true' in done.stdout
    shown, brief, opened = events(root)
    assert (shown["hits"], brief["skip_reason"]) == (ALL, "already shown")
    assert (opened["event"], opened["surface"], opened["ids"]) == ("opened", "show", ["L-00002"])
    assert shown["session"] == brief["session"] == opened["session"] != ""
    assert session_of_process(str(root)) is None
    subprocess.run([*ORBIT, "show", "L-00002"], cwd=root, check=True, capture_output=True)
    assert len(events(root)) == 3
    done = subprocess.run([*ORBIT, "brief", "--path", "src/a.py", "--format", "json"], cwd=root, capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert json.loads(done.stdout)["data"]["deduplicated"] is False
    assert events(root)[-1]["session"] is None


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_ledger_that_is_none_silences(root: Path, call: Call, kind: str) -> None:
    """What the session was shown can't be known: nothing is shown, and the event says why."""
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
    assert [one["fault"] for one in events(root)] == ["ledger"]
    assert (root / "src/a.py").read_bytes() == b""


@pytest.mark.parametrize(
    "content", [b"\0" * 300, b"\xff\xfe " * 100, b"x " * 30_000, b"y" * LARGEST * 3, b"\n\n= =x\n"]
)
def test_a_ledger_of_garbage_is_survived(root: Path, call: Call, content: bytes) -> None:
    """Records are shown, each once, however long and of whatever bytes the file was."""
    file = root / LOG / "sessions/s"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert ids(call("PreToolUse", **edit(root))) == ALL
    assert ids(call("PreToolUse", **edit(root))) == []
    assert file.stat().st_size <= LARGEST + 100


def test_a_full_disk_silences(root: Path) -> None:
    """Where no byte can be written nothing is shown, for it would be shown again and again; exit code 0."""

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    payload = {"cwd": str(root), "session_id": "s", "hook_event_name": "PreToolUse", **edit(root)}
    done = subprocess.run([*LAUNCH, "claude"], input=json.dumps(payload).encode(), capture_output=True, cwd=root,
                          env={**os.environ, **PATIENT}, preexec_fn=full, check=False)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert events(root) == []


def test_a_state_that_can_not_be_written_silences(root: Path, call: Call) -> None:
    """A file where the sessions' folder should be: nothing is shown, and the log still says so."""
    (root / LOG).mkdir(parents=True)
    (root / LOG / "sessions").touch()
    (root / LOG / "hosts").touch()
    assert call("PreToolUse", **edit(root)) == {}
    assert call("UserPromptSubmit", prompt="src/a.py") == {}
    assert call("SessionStart", source="clear") == {}
    assert [one["fault"] for one in events(root)] == ["ledger"] * 3


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe{}", b"[" * 200_000, b'{"a":' * 50_000, b'"\\ud8', b"nul", b"\0" * 1000, b"[1]", b"null",
     b'{"session_id": ' + b"9" * 10_000 + b"}", b'{"password": "hunter2"'],
)  # fmt: skip
def test_a_payload_that_is_none_is_a_fault(root: Path, content: bytes) -> None:
    """Nothing is printed; the event says that it was the payload, and none of its words."""
    assert run(root, content) == b""
    found = events(root)
    assert [(one["fault"], one["hits"]) for one in found] == [("payload", [])]
    assert "payload" in FAULTS
    assert "hunter2" not in json.dumps(found)


def test_an_input_that_never_ends_is_left(root: Path) -> None:
    """A writer that keeps the pipe open, with nothing or half a payload in it: the clock ends it, and it is noted."""
    for content in (b"", b'{"hook_event_name": "PreToolUse"'):
        environment = {**os.environ, "CLAUDE_PROJECT_DIR": str(root), "ORBIT_HOOK_DEADLINE_MS": "50"}
        began = time.monotonic()
        with subprocess.Popen(
            [*LAUNCH, "claude"], cwd="/", env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            process.stdin.write(content)
            process.stdin.flush()
            assert process.wait(timeout=60) == 0
            assert time.monotonic() - began < 30
            assert process.stdout is not None
            assert process.stdout.read() == b""
    assert [one["skip_reason"] for one in events(root)] == ["deadline"] * 2


def test_a_lock_that_is_never_given_back_is_not_waited_for(root: Path, call: Call) -> None:
    """Another process holds the session's ledger: the clock ends the call, nothing is shown, and it is noted."""
    assert ids(call("PreToolUse", **edit(root))) == ALL
    learning(root, 4)
    sync(root)
    holding = (
        "import fcntl, sys\n"
        "file = open(sys.argv[1], 'r+')\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(root / LOG / "sessions/s")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        payload = {"cwd": str(root), "session_id": "s", "hook_event_name": "PreToolUse", **edit(root)}
        assert run(root, json.dumps(payload).encode(), ORBIT_HOOK_DEADLINE_MS="200") == b""
        holder.communicate()
    assert events(root)[-1]["skip_reason"] == "deadline"
    assert ids(call("PreToolUse", **edit(root))) == ["L-00004"]


def test_a_damaged_index_is_a_fault(root: Path, call: Call) -> None:
    """Whatever byte of the index is another one, the hook ends well; where that is noticed, the event says so."""
    index = next((root / ".orbit/state/cache").glob("push-*.idx"))
    seal = root / ".orbit/state/cache/push.seal"
    whole, lines = index.read_bytes(), seal.read_text("utf-8").split("\n")
    faults = set()
    for place in range(336, len(whole), max(1, len(whole) // 40)):
        index.write_bytes(
            whole[:place] + bytes([whole[place] ^ 0xFF]) * 8 + whole[place + 8 :][: len(whole) - place - 8]
        )
        found = index.stat()
        lines[2] = f"{found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"
        seal.write_text("\n".join(lines), "utf-8")
        call("PreToolUse", session=f"s{place}", **edit(root))
        faults.add(events(root)[-1]["fault"])
    assert "index" in faults
    assert faults <= {None, "index", "UnicodeDecodeError", "IndexError"}


def test_twenty_a_session_hold_across_surfaces(root: Path, call: Call) -> None:
    """Prompts, tools and briefs count together; the twenty-first waits for another session."""
    for number in range(4, 31):
        learning(root, number)
    sync(root)
    found = ids(call("UserPromptSubmit", prompt="see src/a.py"))
    found += ids(call("PreToolUse", tool_name="Bash", tool_input={"command": "cat src/a.py"}))
    brief = [*ORBIT, "brief", "--path", "src/a.py", "--session", "s", "--format", "json"]
    done = subprocess.run(brief, cwd=root, capture_output=True, text=True, check=True)
    found += [one["id"] for one in json.loads(done.stdout)["data"]["matches"]]
    found += ids(call("PostToolUse", **edit(root)))
    assert (len(found), len(set(found))) == (PER_SESSION, PER_SESSION)
    assert ids(call("PreToolUse", **edit(root))) == []
    assert events(root)[-1]["skip_reason"] == "capped"
