"""A command killed at any of its file operations leaves a valid store,
and running it again finishes.
"""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.doors.cli.main import run
from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry
from orbit_registry.workspace.author import Author

MOST_OPERATIONS = 200


def seeded(repo: Path) -> Path:
    """Make a workspace with two decisions in one log, a learning, and a pending one with a vote."""
    Registry.init(repo)
    registry = Registry.open(repo)
    for title in ("First", "Second"):
        registry.add_adr(
            NewAdr(title, feature="f", style="log", body="### Decision\n\nYes.\n\n- Cost: some.")
        )
    registry.add("learning", {"summary": "Look before you leap", "scope": {"paths": ["src/**"]}})
    waiting = registry.add(
        "learning", {"summary": "Think twice before you vote"}, Author("bot", "agent")
    )
    row = {
        "learning_id": waiting.id,
        "voter_model": "m",
        "voted_at": "2026-01-01T00:00:00Z",
        "task_id": "T",
    }
    (repo / waiting.folder / "votes.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    return repo


def learning_id(repo: Path, phase: str) -> str:
    """Return the id of the only learning in a phase."""
    return next(
        record.id
        for record in Registry.open(repo).records.of_kind("learning")
        if record.phase == phase
    )


LEARNING = "the learning's id"
WAITING = "the waiting learning's id"
PHASES = {LEARNING: "live", WAITING: "pending"}
COMMANDS = {
    "adr add, log": ["adr", "add", "--title", "Third", "--feature", "f", "--style", "log", "--yes"],
    "adr add, file": ["adr", "add", "--title", "Third", "--style", "file", "--yes"],
    "adr supersede": ["adr", "supersede", "ADR-0001", "--with", "ADR-0002"],
    "adr amend": ["adr", "amend", "ADR-0001", "--task", "T-1", "--text", "Holds for logs too."],
    "learning add": ["learning", "add", "--summary", "Measure twice", "--yes"],
    "learning vote": ["learning", "vote", LEARNING, "--task", "T-1"],
    "learning promote": ["learning", "promote", WAITING],
}


def errors(repo: Path) -> list[str]:
    outcome = Registry.open(repo).check()
    return [
        f"{diagnostic.location} {diagnostic.code} {diagnostic.message}"
        for diagnostic in outcome.diagnostics
        if diagnostic.severity.value == "error"
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_kill_at_any_file_operation_leaves_a_valid_store(
    git_repo: Path, tmp_path: Path, command: str, run_killed: Any
) -> None:
    original = seeded(git_repo)
    before = {record.id: record.data for record in Registry.open(original).collection.records}
    for nth in range(1 + list(COMMANDS).index(command), MOST_OPERATIONS, 12):
        repo = Path(shutil.copytree(original, tmp_path / f"killed-{nth}"))
        arguments = [
            learning_id(repo, PHASES[word]) if word in PHASES else word
            for word in COMMANDS[command]
        ]
        killed = run_killed(partial(run, arguments), nth, repo)

        registry = Registry.open(repo)
        assert list(registry.collection.problems) == []
        assert set(before) <= {record.id for record in registry.collection.records}
        registry.recover()
        assert errors(repo) == []
        assert [
            path for path in repo.rglob(".tmp-*") if not {"cache", ".git"} & {*path.parts}
        ] == []
        added = set(before) < {record.id for record in Registry.open(repo).collection.records}
        # the record was there already: adding it again would make a second one, which the gate
        # refuses
        if not added:
            assert not run_killed(partial(run, arguments), MOST_OPERATIONS, repo)
        registry.recover()
        assert errors(repo) == []
        assert leftovers(repo) == []
        shutil.rmtree(repo)
        if not killed:
            assert nth > 2
            return
    pytest.fail("the command never ended")


def leftovers(repo: Path) -> list[str]:
    return [path.name for path in (repo / ".git/orbit/journal").glob("*")]
