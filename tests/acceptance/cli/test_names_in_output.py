"""What commands print of hostile names: no line is a command to a runner of CI."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.files import commit, make_workspace, write, write_learning

from orbit_registry.doors.cli.main import run
from orbit_registry.formats.untrusted import shown

CASES: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases/names_in_output.yaml").read_text("utf-8")
)
COMMAND = re.compile(r"(?m)^\s*::|##\[|\x1b|\u2028|\r(?!\n)")


@pytest.fixture
def project(git_repo: Path, git: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_workspace(git_repo)
    for number, title in enumerate(("One", *CASES["titles"])):
        write_learning(git_repo, number, summary=title)

    commit(git_repo, "Base")
    git(git_repo, "checkout", "-qb", "work")
    for name in CASES["names"]:
        write(git_repo, f".orbit/learnings/{name}/learning.yaml", "a: b\n")
        write(git_repo, f"src/{name}.py", "x = 1\n")
    write(git_repo, "src/a.py", "x = 1\n")
    commit(git_repo, "Change")
    monkeypatch.chdir(git_repo)
    return git_repo


def test_no_command_prints_a_command_to_a_runner(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for words in CASES["commands"]:
        for name in CASES["names"] if "NAME" in words else [""]:
            run([word.replace("NAME", f"src/{name}.py") for word in words])
            captured = capfd.readouterr()
            for text in (captured.out, captured.err):
                assert COMMAND.search(text) is None, (words, text)


@pytest.mark.parametrize("text", CASES["harmless"])
def test_a_harmless_text_is_shown_unchanged(text: str) -> None:
    assert shown(text) == text
