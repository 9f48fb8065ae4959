"""Capture of a session until the next session is shown what it taught."""

import json
import os
import select
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.extras.loop.conftest import SESSION, Project, Talk, stumble
from tests.files import configure

from orbit_registry.checks.review.review import promote_due
from orbit_registry.hook.refresh import capture
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author

PATIENCE = 600
"""Seconds after which a process that never spoke is taken for dead;
nothing is asserted of how soon it speaks.
"""


@dataclass(frozen=True)
class Circle:
    """What an agent's recorded session teaches, how the agent asks its hook,
    and what the learning rests on.
    """

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
        if self.agent == "claude":
            return {
                "tool_name": "Edit",
                "tool_input": {"file_path": f"{root}/{path}"},
                "tool_use_id": "t1",
            }
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-x\n+y\n*** End Patch\n"
        return {
            "tool_name": "apply_patch",
            "tool_input": {"command": patch},
            "tool_use_id": "call_1",
        }

    def read(self, root: Path, path: str) -> dict[str, Any]:
        """Return how the agent's hook is asked about reading a file:
        Codex has no tool for it but the shell.
        """
        if self.agent == "claude":
            return {
                "tool_name": "Read",
                "tool_input": {"file_path": f"{root}/{path}"},
                "tool_use_id": "t2",
            }
        return {
            "tool_name": "Bash",
            "tool_input": {"command": f"cat {path}"},
            "tool_use_id": "call_2",
        }

    @property
    def agent(self) -> str:
        return self.transcript.partition("-")[0]


CIRCLES = (
    Circle(
        "claude-stumble.jsonl",
        SESSION,
        "Tests run with `nox -s tests`; `pytest` fails here: a module is missing.",
        ("tests/**", "src/shop/**"),
        "No module named*shop",
        "src/shop/tax.py",
        "noxfile.py",
        "def tests(session):\n    session.run('pytest', 'tests')\n",
    ),
    Circle(
        "codex-stumble.jsonl",
        "0199c2f0-1111-7222-8333-444455557777",
        "Tests run with `npm run test:unit`; `npm test` fails here: the script is missing.",
        ("web/**",),
        "npm*missing script",
        "web/cart.ts",
        "package.json#scripts.test:unit",
        '{"scripts": {"test:unit": "vitest", "build": "tsc"}}\n',
    ),
)


@pytest.mark.parametrize("circle", CIRCLES, ids=lambda entry: entry.agent)
def test_a_captured_learning_is_shown_until_it_is_stale(project: Project, circle: Circle) -> None:
    agent = circle.agent
    captured = project.capture(project.recorded(circle.transcript), agent)
    (candidate,) = captured["candidates"]
    name = candidate["id"]
    assert candidate["summary"] == circle.summary
    assert candidate["scope"]["paths"] == list(circle.paths)
    assert candidate["error_pattern"] == circle.error
    assert {
        key: candidate["provenance"][key] for key in ("source", "pattern", "agent", "session")
    } == {
        "source": "test",
        "pattern": "recovery",
        "agent": agent,
        "session": circle.session,
    }
    assert candidate["provenance"]["transcript"].startswith("sha256:")
    assert [entry["input"] for entry in candidate["freshness"]["fingerprint"]] == [circle.rests_on]
    edit = circle.edit(project.root, circle.edits)
    assert name not in project.hook(
        "PreToolUse", "before", agent, **edit
    )  # what waits is shown to nobody

    project.orbit("promote", name, "--by", "Ada")
    assert name not in project.hook(
        "PreToolUse", "second", agent, **circle.edit(project.root, "README.md")
    )
    assert name in project.hook("PreToolUse", "second", agent, **edit)
    record = f".orbit/learnings/{name}/learning.yaml"
    project.hook("PreToolUse", "second", agent, **circle.read(project.root, record))
    (counted,) = [entry for entry in project.json("stats")["records"] if entry["id"] == name]
    assert (counted["shown"], counted["opened"]) == (1, 1)
    assert "shown in 1 session here: opened it in 1; score 0.20" in project.orbit("show", name)
    output = project.orbit(
        "query", "SELECT id, opened, score FROM outcome_scores", "--format", "csv"
    )
    assert output == f"id,opened,score\n{name},1,0.2\n"
    assert not (project.root / f".orbit/learnings/{name}/votes.jsonl").exists()

    (project.root / circle.rests_on.partition("#")[0]).write_text(circle.changed, "utf-8")
    assert name not in project.hook("PreToolUse", "third", agent, **edit)
    assert [(entry["id"], entry["cause"]) for entry in project.json("stale")] == [
        (name, "fingerprint")
    ]
    project.orbit("verify", name)
    assert name in project.hook("PreToolUse", "fourth", agent, **edit)


def test_a_lesson_about_tests_is_shown_when_they_run(project: Project) -> None:
    name = project.capture(project.recorded("claude-stumble.jsonl"))["candidates"][0]["id"]
    project.orbit("promote", name, "--by", "Ada")
    run = {"tool_name": "Bash", "tool_use_id": "t1"}
    error = "E   ModuleNotFoundError: No module named 'shop'"
    moments: dict[str, tuple[str, dict[str, Any]]] = {
        "command": (
            "PreToolUse",
            {**run, "tool_input": {"command": "cd web && uv run pytest -x; echo done"}},
        ),
        "failure": (
            "PostToolUseFailure",
            {**run, "tool_input": {"command": "./check.sh"}, "error": error},
        ),
        "words": ("UserPromptSubmit", {"prompt": "Fix the tests that nox fails on the module"}),
        "task": ("UserPromptSubmit", {"prompt": "Make the failing test of the cart pass"}),
        "change": ("UserPromptSubmit", {"prompt": "Round half to even in src/shop/tax.py"}),
    }
    for moment, (event, fields) in moments.items():
        assert name in project.hook(event, moment, **fields), moment
        assert name not in project.hook(event, moment, **fields), moment
    for event, fields in (
        ("PreToolUse", {**run, "tool_input": {"command": "ruff check . && ls tests"}}),
        ("UserPromptSubmit", {"prompt": "What does src/shop/tax.py do?"}),
    ):
        assert name not in project.hook(event, "no help", **fields)


def test_the_same_session_is_captured_once(project: Project) -> None:
    path = project.recorded("claude-stumble.jsonl")
    name = project.capture(path)["candidates"][0]["id"]
    assert project.capture(path)["left"] == {"waits for review already": 1}
    project.orbit("reject", name, "--reason", "everybody knows")
    assert project.capture(path)["left"] == {"was rejected": 1}
    assert [entry["status"] for entry in project.learnings()] == ["rejected"]


def test_what_was_retired_is_not_learned_again_from_its_own_session(project: Project) -> None:
    path = project.recorded("claude-stumble.jsonl")
    name = project.capture(path)["candidates"][0]["id"]
    project.orbit("promote", name)
    project.orbit("learning", "retire", name, "--reason", "nox is gone")

    assert project.capture(path)["left"] == {"was retired": 1}

    later = project.transcript(stumble(project.root, session="later").rows, "later.jsonl")
    assert [entry["summary"] for entry in project.capture(later)["candidates"]] == [
        project.learnings()[0]["summary"]
    ]


def test_a_stale_fact_found_again_is_proposed_once(project: Project) -> None:
    path = project.recorded("claude-stumble.jsonl")
    old = project.capture(path)["candidates"][0]["id"]
    project.orbit("promote", old)
    (project.root / "noxfile.py").write_text(
        "def tests(session):\n    session.run('pytest', '-q')\n", "utf-8"
    )
    before = (project.root / f".orbit/learnings/{old}/learning.yaml").read_bytes()
    told_file = (
        f"<project-notes>\n- [{old}] Tests run with `nox -s tests`; `pytest` fails "
        f"here: a module is missing.\n"
    )
    path = project.transcript(
        [*Talk(project.root).ask(told_file).rows, *stumble(project.root).rows]
    )

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
    result = project.capture(project.recorded("claude-stumble.jsonl"), "claude", "--dry-run")
    assert (len(result["candidates"]), result["written"]) == (1, False)
    assert project.learnings() == []
    assert not (project.root / ".orbit/state/log/events.jsonl").exists()


def test_a_rejected_turn_teaches_nothing(project: Project) -> None:
    rejected = stumble(project.root).ask("No, that is wrong: leave nox alone.").rows
    stopped = stumble(project.root).ask("[Request interrupted by user]").rows
    thanked = stumble(project.root).ask("No problem, thanks.").rows
    assert project.capture(project.transcript(rejected))["candidates"] == []
    assert project.capture(project.transcript(stopped))["candidates"] == []
    assert len(project.capture(project.transcript(thanked))["candidates"]) == 1


def test_results_are_paired_with_calls_by_id(project: Project) -> None:
    rows = stumble(project.root).rows
    calls = [row for row in rows if row["type"] == "assistant"]
    results = [
        row for row in rows if row["type"] == "user" and isinstance(row["message"]["content"], list)
    ]
    crossed = [rows[0], *calls, *reversed(results)]
    assert (
        project.capture(project.transcript(crossed))["candidates"] == []
    )  # it worked first, and failed then
    crossed = [rows[0], *calls, *results]
    assert len(project.capture(project.transcript(crossed))["candidates"]) == 1


def test_subagents_are_captured_too(project: Project) -> None:
    main = project.transcript(
        Talk(project.root).ask("Look.").call("Read", {"file_path": "README.md"}).rows
    )
    folder = main.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    rows = [{**row, "isSidechain": True, "agentId": "a1"} for row in stumble(project.root).rows]
    (folder / "agent-a1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert len(project.capture(main)["candidates"]) == 1


def test_a_session_of_another_folder_teaches_nothing(project: Project, tmp_path: Path) -> None:
    result = project.capture(project.transcript(stumble(tmp_path / "elsewhere").rows))
    assert result["transcripts"][0]["skipped"] == "the session was in another folder"
    assert result["candidates"] == []


def test_time_promotes_only_if_configured(project: Project) -> None:
    name = project.capture(project.recorded("claude-stumble.jsonl"))["candidates"][0]["id"]
    other = project.capture(project.recorded("codex-stumble.jsonl"), "codex")["candidates"][0]["id"]
    project.orbit("reject", other, "--reason", "no")
    person, now = Author("Ada", "human"), datetime.now(UTC)

    def due(days: float, author: Author = person) -> list[str]:
        registry = Registry.open(project.root)
        records = registry.collection.records
        return [
            entry.id
            for entry in promote_due(
                registry.workspace, records, author, now + timedelta(days=days)
            )
        ]

    assert due(400) == []
    configure(project.root, "\ncapture:\n  auto_promote_days: 7\n")
    assert due(6.9) == []
    assert list(project.json("queue")["due"]) == [name]
    assert project.json("promote", "--due") == []
    with pytest.raises(Exception, match="an agent may not"):
        due(7.1, Author("claude", "agent"))
    current = (project.root / "noxfile.py").read_text("utf-8")
    (project.root / "noxfile.py").write_text("", "utf-8")
    assert due(7.1) == []  # it is stale: somebody has to look
    (project.root / "noxfile.py").write_text(current, "utf-8")
    assert due(7.1) == [name]
    promoted = project.json("show", name)
    assert promoted["status"] == "active"
    assert promoted["approval"]["approved_by"] == "auto-promotion"
    assert project.json("show", other)["status"] == "rejected"


def test_time_promotes_none_of_two_conflicting_learnings(project: Project) -> None:
    for transcript, agent in (("claude-stumble.jsonl", "claude"), ("codex-stumble.jsonl", "codex")):
        project.capture(project.recorded(transcript), agent)
    configure(project.root, "\ncapture:\n  auto_promote_days: 7\n")
    registry, later = Registry.open(project.root), datetime.now(UTC) + timedelta(days=8)
    assert (
        promote_due(registry.workspace, registry.collection.records, Author("Ada", "human"), later)
        == []
    )
    assert project.json("queue")["due"] == {}
    assert {entry["provenance"]["subject"] for entry in project.learnings()} == {"run:test"}


def test_capture_at_session_end_needs_a_setting(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORBIT_PROGRAMS", "on")
    path, told_file = project.recorded("claude-stumble.jsonl"), tmp_path / "told"
    ended = {"reason": "exit", "transcript_path": str(path)}
    config = project.root / ".orbit/config.yaml"
    base = config.read_text("utf-8")
    assert capture(str(project.root), "claude", str(path)) is False
    assert project.orbit("capture", "--at-session-end", "--from", "claude", str(path)) == ""
    assert project.learnings() == []

    os.mkfifo(told_file)
    program = (
        f"import sys; open({str(told_file)!r}, 'w').write(sys.stdin.read()); "
        f"print('{{\"candidates\": []}}')"
    )
    words = json.dumps([sys.executable, "-c", program])
    config.write_text(f"{base}\ncapture:\n  at_session_end: true\n  command: {words}\n", "utf-8")
    pipe = os.open(
        told_file, os.O_RDWR
    )  # held open at both ends, so that nobody waits for the other to come
    try:
        project.hook("SessionEnd", SESSION, **ended)
        ready, _, _ = select.select(
            [pipe], [], [], PATIENCE
        )  # a process of its own asks once it is through
        assert ready
        assert f'"session": "{SESSION}"' in os.read(pipe, 1 << 16).decode()
    finally:
        os.close(pipe)


def test_a_lesson_is_found_by_slug_prefix_or_id(project: Project) -> None:
    name = project.capture(project.recorded("claude-stumble.jsonl"))["candidates"][0]["id"]
    (listed,) = project.json("lessons", "list")
    assert listed["slug"].startswith("tests-run-with-nox")
    assert project.json("lessons", "show", listed["slug"])["id"] == name
    for wrong in ("../tests-run-with-nox", ".orbit/x", "~/x", "no-such-lesson"):
        assert "lesson" in project.orbit(
            "lessons", "show", wrong, code=1 if wrong == "no-such-lesson" else 2
        )
    assert "has 4 characters or more" in project.orbit("lessons", "show", "tes", code=1)
    assert project.json("lessons", "promote", "tests-run")[0]["status"] == "active"
    assert project.json("lessons", "stale") == []
    (project.root / "noxfile.py").write_text("", "utf-8")
    assert [entry["id"] for entry in project.json("lessons", "stale")] == [name]
    assert project.json("lessons", "rm", name)[0]["status"] == "retired"
    assert project.json("lessons", "list") == []
