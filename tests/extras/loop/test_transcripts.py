"""Transcripts: where they are found, the records in them,
and their comparison with the event log.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as given_values
from hypothesis import strategies as st

from orbit_loop.capture.run import transcripts_of
from orbit_registry.agents import claude, codex
from orbit_registry.agents.transcripts import (
    deliveries,
    events_by_session,
    ids_in,
    read_transcript,
)
from orbit_registry.errors import UsageError
from orbit_registry.hook.render import END, START
from orbit_registry.hook.session import SessionLog
from orbit_registry.registry import Registry
from orbit_registry.workspace.event_log import LoggedEvent
from orbit_registry.workspace.workspace import Workspace

CASES = Path(__file__).parents[2] / "cases/transcripts"
SESSION = "5b0c1f1e-6a0e-4c55-9a38-0d4d6f7b2a10"
THREAD = "0199c2f0-1111-7222-8333-444455556666"
AT = 1_795_000_000.0


def shown_event(
    session: str, *displayed: str, at: float = AT, surface: str = "hook:PreToolUse", agent: str = ""
) -> LoggedEvent:
    ledger = SessionLog("", session, agent).name
    return LoggedEvent(
        at, "retrieval", surface, ledger, "", displayed, (), (), 0, "", "", 1.0, None
    )


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project that both agents have a transcript of, last written a while after `AT`."""
    project = tmp_path / "pro_ject.x"
    for name, value in (("CLAUDE_CONFIG_DIR", tmp_path / "c"), ("CODEX_HOME", tmp_path / "x")):
        monkeypatch.setenv(name, str(value))
    folder = tmp_path / "c/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project))
    for source, target in (
        ("claude", folder / f"{SESSION}.jsonl"),
        ("claude-subagent", folder / SESSION / "subagents/agent-a1b2c3d.jsonl"),
        ("codex", tmp_path / f"x/sessions/2026/11/20/rollout-2026-11-20T09-00-00-{THREAD}.jsonl"),
    ):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((CASES / f"{source}.jsonl").read_bytes())
        os.utime(target, (AT + 100, AT + 100))
    return project


@pytest.mark.parametrize(
    ("agent", "injected_texts", "records", "broken"),
    [
        ("claude", claude.injected_texts, {"L-7k3fq": 2, "L-8m2xd": 1, "ADR-0009": 1}, 1),
        ("codex", codex.injected_texts, {"L-7k3fq": 1}, 0),
    ],
)
def test_only_text_of_hooks_counts(
    agent: str, injected_texts: Any, records: dict[str, int], broken: int
) -> None:
    read = read_transcript(CASES / f"{agent}.jsonl", injected_texts)
    assert read is not None
    assert (dict(read.records), read.broken) == (records, broken)


def test_each_session_is_compared_with_its_transcript(root: Path) -> None:
    displayed = events_by_session(
        [
            shown_event(SESSION, "ADR-0009", surface="hook:SessionStart"),
            shown_event(SESSION, "L-7k3fq", "L-8m2xd"),
            shown_event(SESSION, "L-7k3fq"),
            shown_event(SESSION, "L-7k3fq", agent="a1b2c3d"),
            shown_event(THREAD, "L-7k3fq", "L-9999z"),
            shown_event("another", "L-7k3fq"),
            shown_event(SESSION, "L-brief", surface="brief:prompt"),
            shown_event("trial-1", "L-7k3fq"),
        ]
    )
    result = [
        (entry.agent, entry.session, entry.claimed, entry.found, entry.missing, entry.unclaimed)
        for entry in deliveries(root, displayed)
    ]
    assert result == [
        ("claude", SESSION, 4, 4, (), ()),
        ("claude", f"{SESSION}.a1b2c3d", 1, 1, (), ()),
        ("codex", THREAD, 2, 1, ("L-9999z",), ()),
    ]


def test_later_records_are_not_missing(root: Path) -> None:
    result = deliveries(
        root,
        events_by_session(
            [shown_event(SESSION, "L-7k3fq"), shown_event(SESSION, "L-later", at=AT + 1000)]
        ),
    )
    assert [(entry.claimed, entry.missing, entry.unclaimed) for entry in result] == [
        (1, (), ("ADR-0009", "L-7k3fq", "L-8m2xd"))
    ]


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "a/b", "*", "..", "A.B", "-x", "_1f-3"])
def test_an_unsafe_session_name_reads_no_file(root: Path, name: str) -> None:
    secret = root.parent / "x.jsonl"
    secret.write_bytes((CASES / "claude.jsonl").read_bytes())
    event = LoggedEvent(
        AT, "retrieval", "hook:x", name, "", ("L-7k3fq",), (), (), 0, "", "", 1.0, None
    )
    assert deliveries(root, events_by_session([event])) == []


def test_only_plain_files_are_read(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(CASES / "claude.jsonl")
    for path in (link, tmp_path, tmp_path / "none.jsonl"):
        assert read_transcript(path, claude.injected_texts) is None


def test_a_project_with_a_similar_name_is_another_one(root: Path) -> None:
    assert [path.stem for path in claude.sessions(root)] == [SESSION]
    assert claude.sessions(root.parent / "pro") == []


@given_values(st.text(), st.text())
def test_ids_are_found_in_any_block(before: str, after: str) -> None:
    envelope = f"{START}\nsaid\n- [L-7k3fq] a [b] - [L-8m2xd]\n  more: x\nomitted: 0\n{END}"
    around = [before.replace("project-notes", ""), after.replace("project-notes", "")]
    assert ids_in(f"{around[0]}\n{envelope}\n{around[1]}") == ["L-7k3fq"]
    escaped = envelope.replace("<", "&lt;").replace(">", "&gt;")
    assert ids_in(f"{around[0]}\n{escaped}\n{around[1]}") == ["L-7k3fq"]


@given_values(st.binary(max_size=200))
def test_any_bytes_can_be_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    path.write_bytes(
        content
        + b'\n{"project-notes": 1}\n[1, "project-notes"]\n'
        + json.dumps({"attachment": 7}).encode()
    )
    assert read_transcript(path, claude.injected_texts) is not None
    assert read_transcript(path, codex.injected_texts) is not None


OTHER_THREAD = "0199c2f0-1111-7222-8333-444455557777"


@pytest.fixture
def workspace(git_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    homes = {
        "CLAUDE_CONFIG_DIR": "c",
        "CODEX_HOME": "x",
        "COPILOT_HOME": "p",
        "GEMINI_CLI_HOME": "g",
        "REASONIX_HOME": "r",
    }
    for name, folder in homes.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    Registry.init(git_repo)
    return Registry.open(git_repo).workspace


def put(path: Path, at: float, first: object = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(first) + "\n", "utf-8")
    os.utime(path, (at, at))
    return path


def everywhere(root: Path, homes: Path) -> dict[str, Path]:
    slug = "".join(entry if entry.isalnum() else "-" for entry in str(root))
    meta = {"type": "session_meta", "payload": {"id": OTHER_THREAD, "cwd": str(root)}}
    project = hashlib.sha256(str(root).encode()).hexdigest()
    started = {"type": "session.start", "data": {"context": {"cwd": str(root)}}}
    return {
        "claude": put(homes / f"c/projects/{slug}/5b0c.jsonl", 1e9),
        "codex": put(
            homes / f"x/sessions/2026/11/20/rollout-2026-11-20T09-00-00-{OTHER_THREAD}.jsonl",
            2e9,
            meta,
        ),
        "copilot": put(homes / "p/session-state/7c1d/events.jsonl", 2.5e9, started),
        "gemini": put(homes / f"g/.gemini/tmp/{project}/chats/session-2026-a1b2.jsonl", 3e9),
        "reasonix": put(homes / f"r/projects/{slug}/sessions/s-1.events.jsonl", 4e9),
    }


def test_the_newest_transcript_is_found(workspace: Workspace, tmp_path: Path) -> None:
    places = everywhere(workspace.root, tmp_path)
    other = {"type": "session_meta", "payload": {"id": "o", "cwd": "/elsewhere"}}
    put(tmp_path / "x/sessions/2026/11/21/rollout-2026-11-21T09-00-00-other.jsonl", 9e9, other)
    for agent, path in places.items():
        assert transcripts_of(workspace, agent, None) == [(agent, path)]
    assert transcripts_of(workspace, "", None) == [("reasonix", places["reasonix"])]


def test_a_file_name_tells_the_agent(workspace: Workspace, tmp_path: Path) -> None:
    """Otherwise `--from` has to."""
    for agent, path in everywhere(workspace.root, tmp_path).items():
        assert transcripts_of(workspace, "", path) == [(agent, path)]
    with pytest.raises(UsageError, match="any agent"):
        transcripts_of(workspace, "", tmp_path / "talk.jsonl")


def test_sessions_of_the_event_log_are_found(workspace: Workspace, tmp_path: Path) -> None:
    places = everywhere(workspace.root, tmp_path)
    result = transcripts_of(workspace, "events", None, [OTHER_THREAD, "5b0c", "7c1d", ""])
    names = ("claude", "codex", "copilot")
    assert result == [(name, places[name]) for name in names]
    assert transcripts_of(workspace, "events", None, []) == []
