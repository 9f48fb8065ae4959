"""Examples of docs/reference/brief.md."""

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.doors.cli.main import run
from orbit_registry.registry import Registry
from orbit_registry.workspace.config import read_config

pytestmark = pytest.mark.usefixtures("programs_on")

PAGE = Path(__file__).parents[2] / "docs/reference/brief.md"


def blocks(language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.fixture
def project(git_repo: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Stand in a workspace that has the task of the page and a learning for all;
    return that one's id.
    """
    Registry.init(git_repo)
    monkeypatch.chdir(git_repo)
    Path("task.json").write_text(blocks("json")[0], "utf-8")
    Path("src").mkdir()
    Path("src/app.py").write_text("", "utf-8")
    git(git_repo, "add", "src/app.py")
    scope = {"paths": ["src/**"], "tags": ["sql"]}
    return (
        Registry.open(git_repo)
        .add("learning", {"summary": "Redis forgets a cache at a restart", "scope": scope})
        .id
    )


def test_the_commands_of_the_page_run(
    project: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 3
    for line in lines:
        stdin_text, _, command = line.rpartition(" | ")
        words = shlex.split(command.replace(' --session "$SESSION"', ""))
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin_text.encode()), "utf-8")
        )
        assert (words[0], run(words[1:])) == ("orbit", 0)
        printed = capsys.readouterr().out
        assert printed.startswith("## System Context\n\n<project-notes>\n")
        assert f"- [{project}] Redis forgets a cache at a restart" in printed.splitlines()


@pytest.mark.parametrize("number", [0, 1])
def test_the_python_of_the_page_runs(project: str, number: int) -> None:
    message = io.StringIO()
    with contextlib.redirect_stdout(message):
        exec(compile(blocks("python")[number], str(PAGE), "exec"), {})
    assert message.getvalue().count(f"- [{project}] ") == 1
    assert ("none today" in message.getvalue()) is (number == 1)


def test_the_settings_of_the_page_are_valid(tmp_path: Path) -> None:
    for block in blocks("yaml"):
        file = tmp_path / "config.yaml"
        file.write_text(f"format: orbit-registry\nschema_version: 1\n{block}", "utf-8")
        assert read_config(file).raw.keys() & {"learnings_config", "tasks"}
