"""`orbit audit`: what a history decided and no record explains."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.files import commit, make_workspace, write


@pytest.fixture
def project(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A history of five commits: what is gone, what comes again and what a record names."""
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    make_workspace(git_repo)
    write(git_repo, "src/app.py", "x = 1\n")
    write(git_repo, "requirements.txt", "flask\n")
    commit(git_repo, "Begin")
    write(git_repo, "requirements.txt", "flask\npika\nmongoengine-plus\n")
    commit(git_repo, "Send messages")
    write(git_repo, "requirements.txt", "flask\n")
    commit(git_repo, "Send none")
    write(git_repo, "requirements.txt", "flask\npika\ncelery\n")
    commit(git_repo, "Send again\n\nIt was wanted.")
    orbit(git_repo, "adr", "new", "Use Celery for background work")
    commit(git_repo, "Decide")
    return git_repo


def _audit(root: Path, *words: str) -> dict[str, Any]:
    answer = json.loads(orbit(root, "audit", *words, "--format", "json"))
    data: dict[str, Any] = answer["data"]
    return data


def test_it_lists_what_is_there_and_no_record_names(project: Path) -> None:
    before = subprocess.run(["git", "status", "--short"], cwd=project, capture_output=True)
    data = _audit(project)
    assert [row["names"] for row in data["candidates"]] == [["Flask"], ["RabbitMQ"]]
    _, row = data["candidates"]
    assert [each["subject"] for each in row["commits"]] == ["Send messages", "Send again"]
    assert row["command"] == "orbit adr new --title 'Use RabbitMQ for messages' --uses pika"
    assert (data["read"], data["total"], data["more"]) == (6, 6, 0)

    text = orbit(project, "audit")
    assert "new dependency: pika (requirements.txt:2)" in text
    assert "and 1 later commit" in text
    after = subprocess.run(["git", "status", "--short"], cwd=project, capture_output=True)
    assert before.stdout == after.stdout


def test_a_merge_is_one_step(project: Path) -> None:
    subprocess.run(["git", "switch", "-qc", "side"], cwd=project, check=True)
    for name in ("first", "second"):
        write(project, f"{name}.txt", "x")
        write(project, "compose.yaml", f"services:\n  {name}:\n    image: mongo:7\n")
        commit(project, name)

    subprocess.run(["git", "switch", "-q", "-"], cwd=project, check=True)
    words = ["git", "merge", "-q", "--no-ff", "-m", "Merge side", "side"]
    subprocess.run(words, cwd=project, check=True)
    rows = [row for row in _audit(project)["candidates"] if row["names"] == ["MongoDB"]]
    assert [each["subject"] for each in rows[0]["commits"]] == ["Merge side"]


def test_what_was_not_read_is_said(project: Path, tmp_path: Path) -> None:
    data = _audit(project, "--commits", "2")
    assert [row["names"] for row in data["candidates"]] == [["RabbitMQ"]]
    assert data["begins_after"] is not None
    assert "`orbit audit --commits 6` reads all" in orbit(project, "audit", "--commits", "2")

    shallow = tmp_path / "shallow"
    words = ["git", "clone", "-q", "--depth", "1", f"file://{project}", str(shallow)]
    subprocess.run(words, check=True)
    assert "`git fetch --unshallow`" in orbit(shallow, "audit")
    assert _audit(shallow)["is_shallow"]


@pytest.mark.parametrize("words", [["audit"], ["diff", "main"]], ids=" ".join)
def test_without_git_it_says_so(words: list[str], tmp_path: Path) -> None:
    make_workspace(tmp_path)
    message = orbit(tmp_path, *words, code=1)
    assert message.splitlines() == [
        "error: there is no git repository here",
        "  hint: run it in a work tree of git, or make one: `git init`",
    ]


def test_a_checkout_of_another_user_is_refused_with_the_remedy(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    message = orbit(project, "audit", code=1)
    assert message.startswith("error: git refuses to read this checkout")
    assert "safe.directory" in message
