"""Commands of docs/reference/proof.md."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.doors.cli.main import run
from orbit_registry.registry import Registry

PAGE = (Path(__file__).parents[3] / "docs/reference/proof.md").read_text("utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.strip()
]


@pytest.fixture
def project(git_repo: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace one stands in, with the tag,
    the neighbour and the file that the page speaks of.
    """
    Registry.init(git_repo)
    Registry.open(git_repo).add(
        "learning", {"summary": "Look before you leap", "scope": {"paths": ["README.md"]}}
    )
    git(git_repo, "add", "-A")
    git(git_repo, "commit", "-q", "-m", "Begin a registry")
    git(git_repo, "tag", "v1.0")
    shutil.copytree(git_repo, git_repo.parent / "project")
    commit = '{"commit": "a1", "date": "2099-01-01", "subject": "Later", "files": ["README.md"]}\n'
    (git_repo / "history.jsonl").write_text(commit, "utf-8")
    monkeypatch.chdir(git_repo)
    return git_repo


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_run(
    project: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    program, *arguments = shlex.split(command, comments=True)
    assert program == "orbit"
    assert run(arguments) == 0
    assert capsys.readouterr().out.strip()


def test_the_page_has_all_commands() -> None:
    assert {shlex.split(command, comments=True)[1] for command in COMMANDS} == {
        "prove",
        "replay",
        "stats",
        "doctor",
    }
