"""What a new decision touches, at each door, and that what a door prints can be run."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.doors.mcp.tools import LISTED
from orbit_registry.registry import Registry

OLD = """## Context

Reports need joins.

## Decision

Read models live in Postgres, and reports query the read models with SQL.

## Consequences

- Cost: migrations.
"""
NEW = """## Context

Joins are rare.

## Decision

Reports read documents of MongoDB; the read models leave Postgres and SQL.

## Consequences

- Cost: two stores.
"""
DISTANT = """## Context

Artefacts were tampered with.

## Decision

Each artefact has a signature that machines verify.

## Consequences

- Cost: keys.
"""


@pytest.fixture
def project(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with an accepted decision, committed."""
    make_workspace(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    write(git_repo, "old.md", OLD)
    write(git_repo, "new.md", NEW)
    write(git_repo, "distant.md", DISTANT)
    orbit(git_repo, "adr", "new", "Keep read models in Postgres", "--body-file", "old.md")
    commit(git_repo)
    return git_repo


def added(project: Path, *more: str, title: str = "Move read models to MongoDB") -> dict[str, Any]:
    file = more or ("--body-file", "new.md")
    answer = json.loads(orbit(project, "adr", "new", title, *file, "--format", "json"))
    return dict(answer["data"])


def ids(rows: Sequence[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def commands(row: dict[str, Any]) -> dict[str, str]:
    return {step["name"]: step["command"] for step in row["commands"]}


def run_all(project: Path, command: str) -> None:
    for part in command.split(" && "):
        orbit(project, *shlex.split(part)[1:])


@pytest.mark.parametrize("way", ["supersede", "amend", "relate", "distinct"])
@pytest.mark.parametrize("status", ["accepted", "proposed"])
def test_after_each_command_the_decision_is_not_listed(
    project: Path, way: str, status: str
) -> None:
    new = added(project, "--body-file", "new.md", "--status", status)
    (row,) = new["touches"]
    assert row["id"] == "ADR-0001"
    assert row["reasons"]

    run_all(project, commands(row)[way])
    answer = json.loads(orbit(project, "diff", "HEAD", "--format", "json"))
    assert answer["data"]["touches"] == []


def test_a_dry_run_has_no_command_and_writes_nothing(project: Path) -> None:
    new = added(project, "--body-file", "new.md", "--dry-run")
    assert ids(new["touches"]) == ["ADR-0001"]
    assert new["touches"][0]["commands"] == []
    text = orbit(project, "adr", "new", "Move them", "--body-file", "new.md", "--dry-run")
    assert "ADR-0001  Keep read models in Postgres" in text
    assert "supersede" not in text


def test_nothing_is_said_where_nothing_is_close(project: Path) -> None:
    new = added(project, "--body-file", "distant.md", title="Sign releases")
    assert new["touches"] == []
    assert "same question" not in orbit(project, "adr", "accept", new["id"])
    assert "same question" not in orbit(project, "diff", "HEAD")


def test_acceptance_says_it_again(project: Path) -> None:
    new = added(project, "--body-file", "new.md", "--status", "proposed")
    text = orbit(project, "accept", new["id"])
    command = f"orbit adr supersede ADR-0001 --with {new['id']}"
    assert f"it takes its place: `{command}`" in text

    answer = json.loads(orbit(project, "adr", "accept", new["id"], "--format", "json"))
    assert ids(answer["data"][0]["touches"]) == ["ADR-0001"]


def test_the_comment_has_commands_that_can_be_run(project: Path) -> None:
    new = added(project)
    text = orbit(project, "diff", "HEAD")
    assert f"orbit link {new['id']} amends ADR-0001" in text

    comment = orbit(project, "diff", "HEAD", "--format", "markdown")
    assert f"#### What {new['id']} touches" in comment
    command = next(each for each in re.findall("`(.*?)`", comment) if "supersede" in each)
    run_all(project, command)
    assert "superseded" in orbit(project, "show", "ADR-0001")


def test_a_change_that_adopts_many_decisions_is_not_compared(project: Path) -> None:
    for number in range(11):
        title = f"Move read models of part {number} to MongoDB"
        added(project, "--body-file", "new.md", "--distinct-from", "ADR-0001", title=title)

    answer = json.loads(orbit(project, "diff", "HEAD", "--format", "json"))
    assert answer["data"]["touches"] == []


def test_an_agent_is_told_before_and_after_it_proposes(project: Path) -> None:
    fields = {"title": "Move read models to MongoDB", "body": NEW}
    arguments: dict[str, Any] = {"kind": "adr", "fields": fields}
    caller = Caller("claude", "session")

    before = reply("add", arguments, caller, lambda: Registry.open(project))
    again = {**arguments, "confirm": True}
    after = reply("add", again, caller, lambda: Registry.open(project))
    for answer in (before, after):
        data: Any = answer.structured["data"]
        assert ids(data["touches"]) == ["ADR-0001"]
        assert "same question: ADR-0001" in answer.text

    calls = after.text.partition("Say how it relates to each: ")[2].partition("\n")[0]
    for proposed in calls.split("; "):
        name, _, words = proposed.partition(" ")
        assert name in LISTED
        done = reply(name, json.loads(words), caller, lambda: Registry.open(project))
        assert not done.is_error, done.text

    written = Registry.open(project).get("ADR-0002").data
    assert written["links"] == [{"rel": "related_to", "to": "ADR-0001"}]  # the last alternative
    assert written["distinct_from"] == ["ADR-0001"]
