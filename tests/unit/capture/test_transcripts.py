"""What is read back from transcripts: what hooks gave the model, and neither what it wrote nor what a tool printed."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given as given_values
from hypothesis import strategies as st

from orbit_registry.agents import claude, codex
from orbit_registry.capture.delivery import deliveries, events_by_session
from orbit_registry.capture.transcripts import ids_in, read_transcript
from orbit_registry.hook.render import END, START
from orbit_registry.hook.session import SessionLog
from orbit_registry.workspace.event_log import LoggedEvent

CASES = Path(__file__).parents[2] / "cases/transcripts"
SESSION = "5b0c1f1e-6a0e-4c55-9a38-0d4d6f7b2a10"
THREAD = "0199c2f0-1111-7222-8333-444455556666"
AT = 1_795_000_000.0


def said(session: str, *shown: str, at: float = AT, surface: str = "hook:PreToolUse", agent: str = "") -> LoggedEvent:
    """Return an event of a hook that showed some records."""
    ledger = SessionLog("", session, agent).name
    return LoggedEvent(at, "retrieval", surface, ledger, "", shown, (), (), 0, "", "", 1.0, None)


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


def test_only_what_hooks_gave_the_model_counts() -> None:
    """Attachments of the one kind count, texts and lists of them; commands' output, quotes and torn lines do not."""
    read = read_transcript(CASES / "claude.jsonl", claude.injected_texts)
    assert read is not None
    assert read.records == {"L-7k3fq": 2, "L-8m2xd": 1, "ADR-0009": 1}
    assert read.broken == 1


def test_of_codex_only_messages_that_the_model_did_not_write_count() -> None:
    """A developer's message counts; a tool's output, an event and a summary do not."""
    read = read_transcript(CASES / "codex.jsonl", codex.injected_texts)
    assert read is not None
    assert (dict(read.records), read.broken) == ({"L-7k3fq": 1}, 0)


def test_each_session_is_found_where_its_agent_keeps_it(root: Path) -> None:
    """Sessions, subagents and threads are each compared with the transcript of their own."""
    shown = events_by_session(
        [
            said(SESSION, "ADR-0009", surface="hook:SessionStart"), said(SESSION, "L-7k3fq", "L-8m2xd"),
            said(SESSION, "L-7k3fq"), said(SESSION, "L-7k3fq", agent="a1b2c3d"), said(THREAD, "L-7k3fq", "L-9999z"),
            said("another", "L-7k3fq"), said(SESSION, "L-brief", surface="brief:prompt"), said("trial-1", "L-7k3fq"),
        ]
    )  # fmt: skip
    found = deliveries(root, shown)
    assert [(one.agent, one.session, one.claimed, one.found, one.missing, one.unclaimed) for one in found] == [
        ("claude", SESSION, 4, 4, (), ()),
        ("claude", f"{SESSION}.a1b2c3d", 1, 1, (), ()),
        ("codex", THREAD, 2, 1, ("L-9999z",), ()),
    ]


def test_what_was_shown_after_the_transcript_was_written_is_not_missed(root: Path) -> None:
    """A session that runs has written less than it was shown; what stands there beyond the log is told apart."""
    found = deliveries(root, events_by_session([said(SESSION, "L-7k3fq"), said(SESSION, "L-later", at=AT + 1000)]))
    assert [(one.claimed, one.missing, one.unclaimed) for one in found] == [(1, (), ("ADR-0009", "L-7k3fq", "L-8m2xd"))]


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "a/b", "*", "..", "A.B", "-x", "_1f-3"])
def test_a_session_that_is_no_plain_name_leads_nowhere(root: Path, name: str) -> None:
    """What a log says becomes a part of a path only where it can't be one."""
    secret = root.parent / "x.jsonl"
    secret.write_bytes((CASES / "claude.jsonl").read_bytes())
    event = LoggedEvent(AT, "retrieval", "hook:x", name, "", ("L-7k3fq",), (), (), 0, "", "", 1.0, None)
    assert deliveries(root, events_by_session([event])) == []


def test_a_link_or_a_folder_is_no_transcript(root: Path, tmp_path: Path) -> None:
    """Only plain files are read."""
    link = tmp_path / "link.jsonl"
    link.symlink_to(CASES / "claude.jsonl")
    assert read_transcript(link, claude.injected_texts) is None
    assert read_transcript(tmp_path, claude.injected_texts) is None
    assert read_transcript(tmp_path / "none.jsonl", claude.injected_texts) is None


def test_a_project_is_not_taken_for_one_whose_name_begins_alike(root: Path) -> None:
    """Sessions of a neighbour `project-2` are not counted as those of `project`."""
    assert [path.stem for path in claude.sessions(root)] == [SESSION]
    assert claude.sessions(root.parent / "pro") == []


@given_values(st.text(), st.text())
def test_any_text_around_a_block_changes_nothing(before: str, after: str) -> None:
    """Ids are those of the block, wherever it stands and however its brackets are escaped."""
    whole = f"{START}\nsaid\n- [L-7k3fq] a [b] - [L-8m2xd]\n  more: x\nomitted: 0\n{END}"
    around = [before.replace("project-notes", ""), after.replace("project-notes", "")]
    assert ids_in(f"{around[0]}\n{whole}\n{around[1]}") == ["L-7k3fq"]
    escaped = whole.replace("<", "&lt;").replace(">", "&gt;")
    assert ids_in(f"{around[0]}\n{escaped}\n{around[1]}") == ["L-7k3fq"]


@given_values(st.binary(max_size=200))
def test_a_transcript_of_anything_raises_nothing(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Bytes of any kind beside our word make at most a broken line."""
    path = tmp_path_factory.mktemp("t") / "s.jsonl"
    path.write_bytes(
        content + b'\n{"project-notes": 1}\n[1, "project-notes"]\n' + json.dumps({"attachment": 7}).encode()
    )
    assert read_transcript(path, claude.injected_texts) is not None
    assert read_transcript(path, codex.injected_texts) is not None
