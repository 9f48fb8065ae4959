"""An agent is one file: it is offered, installed and answered without another edit."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import orbit_registry

CASE = Path(__file__).parent.parent / "cases/agents/madeup.py"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package that has the made-up agent's file."""
    folder = tmp_path_factory.mktemp("site")
    source = Path(orbit_registry.__file__).parent
    shutil.copytree(source, folder / "orbit_registry")
    shutil.copy(CASE, folder / "orbit_registry/agents/madeup.py")
    return folder


@pytest.fixture
def orbit(site: Path, git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return what runs `orbit` of the copy in a repository with a workspace."""
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("ORBIT_HOOK_DEADLINE_MS", "60000")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "orbit_registry.doors.cli.main", *arguments]
        return subprocess.run(command, cwd=git_repo, capture_output=True, text=True, check=True)

    run("init", "--yes")
    return run


def test_help_offers_a_made_up_agent(orbit: Run) -> None:
    assert "madeup" in orbit("hook", "install", "--help").stdout


def test_a_made_up_agent_gets_the_hook(orbit: Run, git_repo: Path) -> None:
    state = json.loads(orbit("hook", "install", "madeup", "--dry-run", "--format", "json").stdout)[
        "data"
    ]
    assert state["path"] == str(git_repo / ".madeup/hooks.json")
    assert "launch.py madeup" in state["diff"]
    assert not (git_repo / ".madeup").exists()


def test_the_hook_answers_a_made_up_agent(orbit: Run, site: Path, git_repo: Path) -> None:
    (git_repo / "src").mkdir()
    (git_repo / "src/a.py").touch()
    orbit("learning", "add", "--summary", "Mind the gap", "--path", "src/**", "--yes")
    orbit("sync")
    launch = [
        sys.executable,
        "-I",
        "-S",
        "-E",
        str(site / "orbit_registry/hook/launch.py"),
        "madeup",
    ]
    payload = json.dumps({"moment": "edit", "where": str(git_repo), "file": "src/a.py"})
    done = subprocess.run(
        launch, input=payload, cwd=git_repo, capture_output=True, text=True, check=True
    )
    assert "Mind the gap" in json.loads(done.stdout)["note"]
