"""A change that looks like a decision which no record explains: `orbit diff` and the comment."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write

COMPOSE = "services:\n  mq:\n    image: rabbitmq:3\n"


@pytest.fixture
def project(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_workspace(git_repo)
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    write(git_repo, "requirements.txt", "flask\n")
    write(git_repo, "src/app.py", "import flask\n")
    commit(git_repo)
    return git_repo


def _unwritten(project: Path) -> list[dict[str, Any]]:
    answer = json.loads(orbit(project, "diff", "HEAD", "--format", "json"))
    rows: list[dict[str, Any]] = answer["data"]["unwritten"]
    return rows


def test_each_door_names_it_until_a_record_does(project: Path) -> None:
    write(project, "requirements.txt", "flask\npika\nmypy\n")
    write(project, "compose.yaml", COMPOSE)
    (row,) = _unwritten(project)
    assert row["names"] == ["RabbitMQ"]
    assert row["files"] == [
        {"path": "requirements.txt", "line": 2},
        {"path": "compose.yaml", "line": 3},
    ]

    command = "orbit adr new --title 'Use RabbitMQ for messages' --uses pika --path compose.yaml"
    assert row["command"] == command
    assert command in orbit(project, "diff", "HEAD")
    assert f"`{command}`" in orbit(project, "diff", "HEAD", "--format", "markdown")

    orbit(project, *shlex.split(command)[1:])
    assert _unwritten(project) == []


def test_a_commit_and_the_work_tree_are_judged_alike(project: Path) -> None:
    write(project, "requirements.txt", "flask\npika\n")
    in_work_tree = _unwritten(project)
    commit(project)
    answer = json.loads(orbit(project, "diff", "HEAD~1..HEAD", "--format", "json"))
    assert answer["data"]["unwritten"] == in_work_tree
    assert _unwritten(project) == []


def test_a_hostile_name_stays_one_word_of_the_command(project: Path) -> None:
    write(project, "package.json", '{"dependencies": {"a\'; rm -rf ~ #`|": "1"}}')
    (row,) = _unwritten(project)
    assert shlex.split(row["command"]) == [
        *("orbit", "adr", "new", "--title", "Use a'; rm -rf ~ #`|"),
        *("--uses", "a'; rm -rf ~ #`|"),
    ]


def test_a_file_that_no_program_could_read_is_passed_over(project: Path) -> None:
    write(project, "package.json", "{ broken")
    write(project, "compose.yaml", "services: [\n")
    (project / "pyproject.toml").write_bytes(b"\0\xff")
    assert _unwritten(project) == []
