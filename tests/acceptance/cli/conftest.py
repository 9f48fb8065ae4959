"""What the tests of the command line share:
a shell in a repository with two decisions and a learning.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from tests.files import write

from orbit_registry.doors.cli.main import run
from orbit_registry.model.diagnostic import ENVELOPE_SCHEMA

ENVELOPE = Draft202012Validator(json.loads(ENVELOPE_SCHEMA.read_text("utf-8")))
BODY = "## Context\n\nWhy.\n\n## Decision\n\nWhat.\n\n## Consequences\n\n- Cost: time.\n"


SCHEMAS = Path(__file__).parents[3] / "docs/schemas"
ANSWERS = json.loads((SCHEMAS / "answers.schema.json").read_text("utf-8"))
PUBLISHED = Registry().with_resources(
    (file.name, Resource.from_contents(json.loads(file.read_text("utf-8"))))
    for file in SCHEMAS.glob("*.json")
)


def answer(command: str) -> Draft202012Validator:
    there = f"answers.schema.json#/commands/{command.replace(' ', '%20')}"
    return Draft202012Validator({"$ref": there}, registry=PUBLISHED)


class Shell:
    """Runs `orbit` in the folder one stands in, in this process."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capsys = capsys
        self.learning = ""
        self.body = str(root.parent / "body.md")
        Path(self.body).write_text(BODY, "utf-8")

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = run(list(arguments))
        printed = self.capsys.readouterr()
        return code, printed.out, printed.err

    def json(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Run a command with `--format json`; its whole output has to be one envelope."""
        code, out, _ = self(*arguments, "--format", "json")
        envelope = json.loads(out)
        assert list(ENVELOPE.iter_errors(envelope)) == []
        names = (" ".join(arguments[:count]) for count in (2, 1))
        command = next((name for name in names if name in ANSWERS["commands"]), None)
        if command is not None and envelope["data"] is not None:
            assert list(answer(command).iter_errors(envelope["data"])) == []
        return code, envelope

    def data(self, *arguments: str) -> Any:
        return self.json(*arguments)[1]["data"]

    def learn(self, summary: str, *arguments: str) -> str:
        return str(self.data("learning", "add", "--summary", summary, *arguments)["id"])


@pytest.fixture(scope="session")
def _seeded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Make one repository with two decisions and a learning, for `shell` to copy."""
    repo = tmp_path_factory.mktemp("seeded") / "repo"
    repo.mkdir()
    write(repo, "src/app.py", "x = 1\n")
    here, body, former = (
        Path.cwd(),
        ("--body-file", "-"),
        ("--legacy-id", "project-learnings/ADR-006"),
    )
    os.chdir(repo)
    try:
        subprocess.run(["git", "init", "-q"], check=True)
        for arguments in (
            ["init", "--yes"],
            ["adr", "add", "--title", "Use SQLite", *former, "--path", "src/**", *body],
            ["adr", "add", "--title", "Use Postgres instead", "--legacy-id", "site/ADR-006", *body],
            [
                "learning",
                "add",
                "--summary",
                "Look before you leap",
                "--tag",
                "care",
                "--evidence",
                "task:T-1",
            ],
        ):
            done = subprocess.run(
                [sys.executable, "-m", "orbit_registry.doors.cli.main", *arguments],
                input=BODY,
                capture_output=True,
                text=True,
                check=True,
            )
        subprocess.run(["git", "add", "-A"], check=True)
        subprocess.run(["git", "commit", "-qm", "Seed"], check=True)
    finally:
        os.chdir(here)
    return repo, done.stdout.split()[0]


@pytest.fixture
def shell(
    _seeded: tuple[Path, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shell:
    root = Path(shutil.copytree(_seeded[0], tmp_path / "repo"))
    monkeypatch.chdir(root)
    result = Shell(root, capsys)
    result.learning = _seeded[1]
    return result


@pytest.fixture
def bare_shell(
    git_repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(git_repo)
    return Shell(git_repo, capsys)
