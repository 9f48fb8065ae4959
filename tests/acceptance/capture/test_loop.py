"""From a session's transcript to what the next one is shown: captured, reviewed, shown, opened, stale, shown again."""

from __future__ import annotations

import json
import os
import select
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.capture.conftest import SESSION, Project, Talk, stumble

from orbit_registry.hook.refresh import capture
from orbit_registry.registry import Registry
from orbit_registry.review.review import promote_due
from orbit_registry.workspace.author import Author

PATIENCE = 600
"""Seconds after which a process that never spoke is taken for dead; nothing is asserted of how soon it speaks."""


@dataclass(frozen=True)
class Circle:
    """What an agent's recorded session teaches, how the agent asks its hook, and what the learning rests on."""

    transcript: str
    session: str
    summary: str
    paths: tuple[str, ...]
    error: str
    edits: str
    """A file to which it applies."""
    rests_on: str
    changed: str
    """What that file holds once it no longer says the same."""

    def edit(self, root: Path, path: str) -> dict[str, Any]:
        """Return how the agent's hook is asked about an edit."""
        if self.agent == "claude":
            return {"tool_name": "Edit", "tool_input": {"file_path": f"{root}/{path}"}, "tool_use_id": "t1"}
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-x\n+y\n*** End Patch\n"
        return {"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_use_id": "call_1"}

    def read(self, root: Path, path: str) -> dict[str, Any]:
        """Return how the agent's hook is asked about reading a file: Codex has no tool for it but the shell."""
        if self.agent == "claude":
            return {"tool_name": "Read", "tool_input": {"file_path": f"{root}/{path}"}, "tool_use_id": "t2"}
        return {"tool_name": "Bash", "tool_input": {"command": f"cat {path}"}, "tool_use_id": "call_2"}

    @property
    def agent(self) -> str:
        """Whose session it is."""
        return self.transcript.partition("-")[0]


CIRCLES = (
    Circle(
        "claude-stumble.jsonl", SESSION,
        "Tests run with `nox -s tests`; `pytest` fails here: a module is missing.", ("tests/**", "src/shop/**"),
        "No module named*shop", "src/shop/tax.py", "noxfile.py",
        "def tests(session):\n    session.run('pytest', 'tests')\n",
    ),
    Circle(
        "codex-stumble.jsonl", "0199c2f0-1111-7222-8333-444455557777",
        "Tests run with `npm run test:unit`; `npm test` fails here: the script is missing.", ("web/**",),
        "npm*missing script", "web/cart.ts", "package.json#scripts.test:unit",
        '{"scripts": {"test:unit": "vitest", "build": "tsc"}}\n',
    ),
)  # fmt: skip


@pytest.mark.parametrize("circle", CIRCLES, ids=lambda one: one.agent)
def test_what_one_session_stumbled_over_the_next_is_shown_until_it_no_longer_holds(
    project: Project, circle: Circle
) -> None:
    """Captured, promoted, shown at its file, opened, counted; changed, so stale and not shown; verified, so shown."""
    agent = circle.agent
    captured = project.capture(project.recorded(circle.transcript), agent)
    (candidate,) = captured["candidates"]
    name = candidate["id"]
    assert candidate["summary"] == circle.summary
    assert candidate["scope"]["paths"] == list(circle.paths)
    assert candidate["error_pattern"] == circle.error
    assert {key: candidate["provenance"][key] for key in ("source", "pattern", "agent", "session")} == {
        "source": "test", "pattern": "recovery", "agent": agent, "session": circle.session,
    }  # fmt: skip
    assert candidate["provenance"]["transcript"].startswith("sha256:")
    assert [one["input"] for one in candidate["freshness"]["fingerprint"]] == [circle.rests_on]
    edit = circle.edit(project.root, circle.edits)
    assert name not in project.hook("PreToolUse", "before", agent, **edit)  # what waits is shown to nobody

    project.orbit("promote", name, "--by", "Ada")
    assert name not in project.hook("PreToolUse", "second", agent, **circle.edit(project.root, "README.md"))
    assert name in project.hook("PreToolUse", "second", agent, **edit)
    record = f".orbit/learnings/{name}/learning.yaml"
    project.hook("PreToolUse", "second", agent, **circle.read(project.root, record))
    (counted,) = [one for one in project.json("stats")["records"] if one["id"] == name]
    assert (counted["shown"], counted["opened"]) == (1, 1)
    assert "shown in 1 session here: opened it in 1; score 0.20" in project.orbit("show", name)
    asked = project.orbit("query", "SELECT id, opened, score FROM outcome_scores", "--format", "csv")
    assert asked == f"id,opened,score\n{name},1,0.2\n"
    assert not (project.root / f".orbit/learnings/{name}/votes.jsonl").exists()

    (project.root / circle.rests_on.partition("#")[0]).write_text(circle.changed, "utf-8")
    assert name not in project.hook("PreToolUse", "third", agent, **edit)
    assert [(one["id"], one["cause"]) for one in project.json("stale")] == [(name, "fingerprint")]
    project.orbit("verify", name)
    assert name in project.hook("PreToolUse", "fourth", agent, **edit)


@pytest.mark.parametrize("agent", ["codex", "gemini", "reasonix"])
def test_what_one_agent_stumbled_over_another_is_shown(project: Project, agent: str) -> None:
    """A session of each other agent leaves what one of Claude Code is shown where its pattern comes up again."""
    (candidate,) = project.capture(project.recorded(f"{agent}-stumble.jsonl"), agent)["candidates"]
    assert candidate["provenance"]["agent"] == agent
    project.orbit("promote", candidate["id"])
    edit = {"tool_name": "Edit", "tool_input": {"file_path": f"{project.root}/web/cart.ts"}}
    assert candidate["id"] in project.hook("PreToolUse", "claude-session", **edit)


def test_the_same_session_twice_leaves_nothing_twice(project: Project) -> None:
    """Neither while it waits, nor when it holds, nor after it was turned down."""
    path = project.recorded("claude-stumble.jsonl")
    name = project.capture(path)["candidates"][0]["id"]
    assert project.capture(path)["left"] == {"waits for review already": 1}
    project.orbit("reject", name, "--reason", "everybody knows")
    assert project.capture(path)["left"] == {"was rejected": 1}
    assert [one["status"] for one in project.learnings()] == ["rejected"]


def test_a_stale_fact_seen_again_is_proposed_in_its_place(project: Project) -> None:
    """It waits with a link to the old one; that stays as it was until a person decides, and is proposed once."""
    path = project.recorded("claude-stumble.jsonl")
    old = project.capture(path)["candidates"][0]["id"]
    project.orbit("promote", old)
    (project.root / "noxfile.py").write_text("def tests(session):\n    session.run('pytest', '-q')\n", "utf-8")
    before = (project.root / f".orbit/learnings/{old}/learning.yaml").read_bytes()
    told = f"<project-notes>\n- [{old}] Tests run with `nox -s tests`; `pytest` fails here: a module is missing.\n"
    path = project.transcript([*Talk(project.root).ask(told).rows, *stumble(project.root).rows])

    (new,) = project.capture(path)["candidates"]

    assert new["instead_of"] == old
    assert new["links"] == [{"rel": "amends", "to": old}]
    assert project.capture(path)["left"] == {"waits for review already": 1}
    assert (project.root / f".orbit/learnings/{old}/learning.yaml").read_bytes() == before
    project.orbit("check")
    project.orbit("promote", new["id"])
    project.orbit("learning", "supersede", old, "--with", new["id"])
    assert project.capture(path)["left"] == {"is known": 1}


def test_a_dry_run_writes_nothing(project: Project) -> None:
    """It says what would wait, and neither record nor event is there afterwards."""
    found = project.capture(project.recorded("claude-stumble.jsonl"), "claude", "--dry-run")
    assert (len(found["candidates"]), found["written"]) == (1, False)
    assert project.learnings() == []
    assert not (project.root / ".orbit/state/log/events.jsonl").exists()


def test_what_a_person_turned_down_in_the_session_teaches_nothing(project: Project) -> None:
    """A prompt that rejects the turn, or its interruption, is enough; thanks are none."""
    rejected = stumble(project.root).ask("No, that is wrong: leave nox alone.").rows
    stopped = stumble(project.root).ask("[Request interrupted by user]").rows
    thanked = stumble(project.root).ask("No problem, thanks.").rows
    assert project.capture(project.transcript(rejected))["candidates"] == []
    assert project.capture(project.transcript(stopped))["candidates"] == []
    assert len(project.capture(project.transcript(thanked))["candidates"]) == 1


def test_a_way_that_failed_for_the_code_is_no_finding(project: Project) -> None:
    """Tests that fail and pass once the code was mended say nothing about how to run them."""
    talk = Talk(project.root).ask("Mend it.")
    talk.bash("pytest tests", "E   AssertionError\n1 failed", failed=True).edit("src/shop/cart.py")
    talk.bash("nox -s tests", "1 passed")
    assert project.capture(project.transcript(talk.rows))["candidates"] == []


def test_calls_are_paired_by_their_ids(project: Project) -> None:
    """Two calls at once, answered the other way round: the one that failed is the one that failed."""
    rows = stumble(project.root).rows
    calls = [row for row in rows if row["type"] == "assistant"]
    results = [row for row in rows if row["type"] == "user" and isinstance(row["message"]["content"], list)]
    crossed = [rows[0], *calls, *reversed(results)]
    assert project.capture(project.transcript(crossed))["candidates"] == []  # it worked first, and failed then
    crossed = [rows[0], *calls, *results]
    assert len(project.capture(project.transcript(crossed))["candidates"]) == 1


def test_a_subagents_transcript_is_followed(project: Project) -> None:
    """What a subagent stumbled over is found in its file beside the session's."""
    main = project.transcript(Talk(project.root).ask("Look.").call("Read", {"file_path": "README.md"}).rows)
    folder = main.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    rows = [{**row, "isSidechain": True, "agentId": "a1"} for row in stumble(project.root).rows]
    (folder / "agent-a1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert len(project.capture(main)["candidates"]) == 1


def test_a_session_of_another_folder_teaches_nothing_here(project: Project, tmp_path: Path) -> None:
    """Its ways are another project's."""
    found = project.capture(project.transcript(stumble(tmp_path / "elsewhere").rows))
    assert found["transcripts"][0]["skipped"] == "the session was in another folder"
    assert found["candidates"] == []


def test_time_promotes_only_what_is_trusted_and_only_where_it_is_turned_on(project: Project) -> None:
    """Day 6 no, day 7 yes; turned down never; 0 days never; an agent never."""
    name = project.capture(project.recorded("claude-stumble.jsonl"))["candidates"][0]["id"]
    other = project.capture(project.recorded("codex-stumble.jsonl"), "codex")["candidates"][0]["id"]
    project.orbit("reject", other, "--reason", "no")
    person, now = Author("Ada", "human"), datetime.now(UTC)

    def due(days: float, author: Author = person) -> list[str]:
        registry = Registry.open(project.root)
        records = registry.collection.records
        return [one.id for one in promote_due(registry.workspace, records, author, now + timedelta(days=days))]

    assert due(400) == []
    config = project.root / ".orbit/config.yaml"
    config.write_text(config.read_text("utf-8") + "\ncapture:\n  auto_promote_days: 7\n", "utf-8")
    assert due(6.9) == []
    assert list(project.json("queue")["due"]) == [name]
    assert project.json("promote", "--due") == []
    with pytest.raises(Exception, match="an agent may not"):
        due(7.1, Author("claude", "agent"))
    held = (project.root / "noxfile.py").read_text("utf-8")
    (project.root / "noxfile.py").write_text("", "utf-8")
    assert due(7.1) == []  # it is stale: somebody has to look
    (project.root / "noxfile.py").write_text(held, "utf-8")
    assert due(7.1) == [name]
    promoted = project.json("show", name)
    assert promoted["status"] == "active"
    assert promoted["approval"]["approved_by"] == "auto-promotion"
    assert project.json("show", other)["status"] == "rejected"


def test_time_promotes_neither_of_two_lessons_of_one_subject(project: Project) -> None:
    """They say two ways to run the tests: at most one is right, and a person says which."""
    for transcript, agent in (("claude-stumble.jsonl", "claude"), ("codex-stumble.jsonl", "codex")):
        project.capture(project.recorded(transcript), agent)
    config = project.root / ".orbit/config.yaml"
    config.write_text(config.read_text("utf-8") + "\ncapture:\n  auto_promote_days: 7\n", "utf-8")
    registry, later = Registry.open(project.root), datetime.now(UTC) + timedelta(days=8)
    assert promote_due(registry.workspace, registry.collection.records, Author("Ada", "human"), later) == []
    assert project.json("queue")["due"] == {}
    assert {one["provenance"]["subject"] for one in project.learnings()} == {"run:test"}


def test_the_end_of_a_session_is_captured_only_where_that_is_turned_on(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off, and as a comment, nothing is started or read; on, the transcript that the hook was told of is."""
    monkeypatch.setenv("ORBIT_PROGRAMS", "on")
    path, told = project.recorded("claude-stumble.jsonl"), tmp_path / "told"
    ended = {"reason": "exit", "transcript_path": str(path)}
    config = project.root / ".orbit/config.yaml"
    base = config.read_text("utf-8")
    assert capture(str(project.root), "claude", str(path)) is False
    assert project.orbit("capture", "--at-session-end", "--from", "claude", str(path)) == ""
    assert project.learnings() == []

    os.mkfifo(told)
    program = f"import sys; open({str(told)!r}, 'w').write(sys.stdin.read()); print('{{\"candidates\": []}}')"
    words = json.dumps([sys.executable, "-c", program])
    config.write_text(f"{base}\ncapture:\n  at_session_end: true\n  command: {words}\n", "utf-8")
    pipe = os.open(told, os.O_RDWR)  # held open at both ends, so that nobody waits for the other to come
    try:
        project.hook("SessionEnd", SESSION, **ended)
        ready, _, _ = select.select([pipe], [], [], PATIENCE)  # a process of its own asks once it is through
        assert ready
        assert f'"session": "{SESSION}"' in os.read(pipe, 1 << 16).decode()
    finally:
        os.close(pipe)


def test_a_lesson_has_a_slug(project: Project) -> None:
    """By it, its beginning or its id a lesson is shown, promoted and removed; a path is none, and neither is a word."""
    name = project.capture(project.recorded("claude-stumble.jsonl"))["candidates"][0]["id"]
    (listed,) = project.json("lessons", "list")
    assert listed["slug"].startswith("tests-run-with-nox")
    assert project.json("lessons", "show", listed["slug"])["id"] == name
    for wrong in ("../tests-run-with-nox", ".orbit/x", "~/x", "no-such-lesson"):
        assert "lesson" in project.orbit("lessons", "show", wrong, code=1 if wrong == "no-such-lesson" else 2)
    assert "has 4 characters or more" in project.orbit("lessons", "show", "tes", code=1)
    assert project.json("lessons", "promote", "tests-run")[0]["status"] == "active"
    assert project.json("lessons", "stale") == []
    (project.root / "noxfile.py").write_text("", "utf-8")
    assert [one["id"] for one in project.json("lessons", "stale")] == [name]
    assert project.json("lessons", "rm", name)[0]["status"] == "retired"
    assert project.json("lessons", "list") == []
