"""What every test shares: a home of its own, no network, and real git repositories;
no test data lives here.
"""

import gc
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A busy machine is no bug, and thirty examples find what a hundred do; where CI is set, they are
# the same each time.
settings.register_profile("orbit", deadline=None, max_examples=30)
settings.register_profile("many", deadline=None, max_examples=500, derandomize=False)
settings.load_profile("orbit")

# Without compiled modules each program that a test starts compiles the package anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# What pytest keeps is never garbage: looking through it as often as usual takes a tenth of the
# time.
gc.set_threshold(20_000, 20, 100)

ROOT = Path(__file__).resolve().parent.parent
CORPORA = ROOT.parent / "shared" / "corpora"
NO_CORPORA = "needs the shared collections: they are not beside this checkout"
CLOSED_PROXY = "http://127.0.0.1:9"

Git = Callable[..., str]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let whoever runs the tests keep the pictures that a browser takes of the site's pages."""
    parser.addoption(
        "--screenshots", metavar="FOLDER", help="keep a picture of every page of the site"
    )


QUICK = (
    "contracts",
    "unit/checks",
    "unit/formats",
    "unit/hook",
    "unit/model",
    "unit/search",
    "unit/workspace",
    "unit/repository/test_ids.py",
    "unit/repository/test_baseline.py",
    "unit/repository/test_votes.py",
    "unit/snapshot/test_publication.py",
    "unit/site/test_sanitize.py",
    "acceptance/test_gate.py",
)
"""Folders and files of tests that a change most often breaks, or where a fault hurts most: ids, the
baseline, the order of votes, what is published, and the gate.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests, and those of golden files."""
    places = [str(ROOT / "tests" / name) for name in QUICK]
    quick = tuple(name if name.endswith(".py") else name + os.sep for name in places)
    golden = str(ROOT / "tests" / "golden") + os.sep
    for item in items:
        if str(item.path).startswith(quick):
            item.add_marker("quick")
        if str(item.path).startswith(golden):
            item.add_marker("golden")


NEED = re.compile(r"Skipped: needs ([^:]+)")
"""How the reason begins why a test is skipped that needs what a machine may lack,
or another session brings.
"""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what the skipped tests need; their reasons follow."""
    needs = Counter[str]()
    for report in terminalreporter.stats.get("skipped", []):
        need = NEED.match(report.longrepr[2])
        needs[need[1] if need else "for other reasons"] += 1
    parts = [
        f"{need} ({count} {'test' if count == 1 else 'tests'})"
        for need, count in needs.most_common()
    ]
    if parts:
        terminalreporter.write_line(f"left out: {', '.join(parts)}")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case after the start of a long text:
    the name goes into a variable that every child process gets.
    """
    return f"{val[:40]!a}…" if isinstance(val, str | bytes) and len(val) > 80 else None


def _environment(home: Path) -> dict[str, str]:
    """Return the variables that keep a test, and the programs it starts, inside `home`."""
    return {
        "HOME": str(home),
        "USER": "",
        "USERNAME": "",
        "PATH": os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"])),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Ada Example",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada Example",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "ORBIT_ACTOR": "human",
        "http_proxy": CLOSED_PROXY,
        "https_proxy": CLOSED_PROXY,
        "no_proxy": "127.0.0.1,localhost",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "PYTHONPATH": str(ROOT / "tests/python"),
        "COMPILED_TEMPLATES": str(home / "templates"),
    }


def _leaks(name: str) -> bool:
    """Say whether a variable of the developer's shell would change what a test sees."""
    pinned = name.startswith(("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_", "GIT_TERMINAL_"))
    agents = {"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"}
    return (name.startswith(("ORBIT_", "GIT_")) and not pinned) or name in agents


@pytest.fixture(scope="session", autouse=True)
def closed_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Move the home to a temporary folder and let no connection leave this machine;
    yields that home.
    """
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(
        "[init]\n\tdefaultBranch = main\n\ttemplateDir =\n[gc]\n\tauto = 0\n[maintenance]\n"
        "\tauto = false\n"
        "[core]\n\tfsync = none\n",
        "utf-8",
    )
    (home / "templates").mkdir()
    connect = socket.socket.connect

    def connect_here(self: socket.socket, address: tuple[Any, ...] | str) -> None:
        if self.family != socket.AF_UNIX and address[0] not in {"127.0.0.1", "::1", "localhost"}:
            raise ConnectionRefusedError(f"a test tried to reach {address!r}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if _leaks(name)]:
            patch.delenv(name)
        for name, value in _environment(home).items():
            patch.setenv(name, value)
        patch.setattr(socket.socket, "connect", connect_here)
        patch.chdir(
            home
        )  # a test that forgets where it is must not find this repository's own records
        yield home


@pytest.fixture(scope="session")
def git() -> Git:
    """Run git in a folder, `git(repo, "log", "-1")`, and return what it printed."""

    def run(folder: Path, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
        )
        return done.stdout

    return run


@pytest.fixture(scope="session")
def _first_commit(tmp_path_factory: pytest.TempPathFactory, git: Git) -> Path:
    """Make one repository with one commit, for `git_repo` to copy."""
    repo = tmp_path_factory.mktemp("template") / "repo"
    repo.mkdir()
    git(repo, "init", "-q")
    (repo / "README.md").write_text("# A project\n", "utf-8")
    git(repo, "add", "README.md")
    git(repo, "commit", "-q", "-m", "Start")
    return repo


@pytest.fixture
def git_repo(_first_commit: Path, tmp_path: Path) -> Path:
    """Return a real git repository of this test's own, with one commit on branch main."""
    return Path(shutil.copytree(_first_commit, tmp_path / "repo"))


@pytest.fixture
def programs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every program run that a configuration names, as somebody who set the environment so."""
    monkeypatch.setenv("ORBIT_PROGRAMS", "on")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of real collections, where it stands beside this checkout."""
    if not CORPORA.is_dir():
        pytest.skip(NO_CORPORA)
    return CORPORA


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[None]:
    """Run a test as a user whom permissions bind, also where the superuser runs the suite;
    no program is started.
    """
    if os.geteuid() != 0:
        yield
        return
    above = Path(tempfile.gettempdir()).resolve()
    for folder in (tmp_path.resolve(), *tmp_path.resolve().parents):
        if folder.is_relative_to(above) and folder != above:
            folder.chmod(folder.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
