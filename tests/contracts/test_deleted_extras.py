"""Each extra can be deleted: the core does what it did, and says what a record now lacks."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.files import commit, make_workspace, write, write_record

from orbit_registry.seams import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
TOOLING = ROOT / "tooling"
RETRO = ROOT / "tests/cases/site/kinds/dot_orbit/retros/RT-4w81q"
PATHS = """\
import sys
sys.path[:] = [each for each in sys.path if each != {tooling!r}]
"""
"""What each process without an extra starts with: the checkout is not looked at."""
PROGRAM = """\
import contextlib, io, json, sys
from orbit_registry.doors.cli.main import run
results = {}
for words in json.loads(sys.argv[1]):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run(words)
    results[" ".join(words)] = [code, out.getvalue()]
print(json.dumps(results))
"""
HELP = ("--help", "help --all", "learning --help", "events --help")
COMMANDS = (
    *HELP,
    "check --format json",
    "show ADR-0001",
    "doctor",
    "site build",
    "snapshot export out.duckdb",
)
QUICK = ("tests/unit/model/test_kind.py", "tests/unit/repository/test_ids.py")
"""Tests of the core that read kinds, records and the configuration."""
BODY = "## Context\n\nA.\n\n## Decision\n\nSo.\n\n## Consequences\n\n- Cost: a server.\n"
CHECK = {"id": "no-mysql", "text": {"words": ["mysqldb"]}, "passes": ["x"], "fails": ["mysqldb"]}


def without(extra: str, folder: Path) -> dict[str, str]:
    """Make the package without an extra; return the environment in which it is the only one."""
    tooling = folder / "tooling"
    tooling.mkdir(parents=True)
    (folder / "site-overrides").symlink_to(ROOT / "site-overrides")
    for package in ("orbit_registry", *SHIPPED):
        if package != extra:
            (tooling / package).symlink_to(TOOLING / package)

    write(tooling, "sitecustomize.py", PATHS.format(tooling=str(TOOLING)))
    return {**os.environ, "PYTHONPATH": str(tooling)}


@pytest.fixture
def project(git_repo: Path) -> Path:
    """Return a project with a decision that states a check, and a retro."""
    make_workspace(git_repo)
    write_record(
        git_repo,
        ".orbit/adrs/ADR-0001/adr.yaml",
        title="Use PostgreSQL",
        status="accepted",
        date="2026-01-01",
        checks=[CHECK],
    )
    write(git_repo, ".orbit/adrs/ADR-0001/body.md", BODY)
    shutil.copytree(RETRO, git_repo / ".orbit/retros" / RETRO.name)
    write(git_repo, "src/app.py", "import mysqldb\n")
    commit(git_repo)
    return git_repo


def ended(environment: dict[str, str], folder: Path, *words: str) -> str:
    """Run Python to its end, and return what it printed."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


Answers = Mapping[str, tuple[int, str]]


def answers(project: Path, environment: dict[str, str], commands: Sequence[str]) -> Answers:
    """Return the exit code of each command, and what it printed."""
    words = json.dumps([command.split() for command in commands])
    printed = ended(environment, project, "-c", PROGRAM, words).splitlines()[-1]
    return {name: (code, text) for name, (code, text) in json.loads(printed).items()}


def helped(found: Answers) -> int:
    """Return how long the help is."""
    return sum(len(text) for name, (_, text) in found.items() if "help" in name)


def needs(found: Answers) -> list[str]:
    """Return what the gate says of records that a package is missing for."""
    rows = json.loads(found["check --format json"][1])["diagnostics"]
    return [row["code"] for row in rows if "install" in (row["hint"] or "")]


def files_of(project: Path) -> dict[str, str]:
    files = (project / ".orbit").glob("[ar]*/*/*.yaml")
    return {file.name: file.read_text("utf-8") for file in files}


LACKS = {"orbit_enforce": ["ORB1004"], "orbit_loop": ["ORB111"]}
"""What the gate reports of the records of the project, by the package that they need."""


@pytest.fixture(scope="module")
def whole_help(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Return how long the help is where no extra is deleted."""
    return helped(answers(tmp_path_factory.mktemp("whole"), dict(os.environ), HELP))


@pytest.mark.parametrize("extra", SHIPPED)
def test_the_core_works_without_an_extra(
    extra: str, project: Path, tmp_path: Path, whole_help: int
) -> None:
    before = files_of(project)
    found = answers(project, without(extra, tmp_path / "without"), COMMANDS)
    codes = {name: code for name, (code, _) in found.items()}
    has_events = extra != "orbit_measure"
    assert codes == dict.fromkeys(COMMANDS, 0) | {"events --help": 0 if has_events else 2}
    assert helped(found) < whole_help
    assert needs(found) == LACKS.get(extra, [])
    assert files_of(project) == before


@pytest.mark.parametrize("extra", SHIPPED)
def test_tests_of_the_core_pass_without_an_extra(extra: str, tmp_path: Path) -> None:
    environment = without(extra, tmp_path / "without")
    ended(environment, ROOT, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICK)


def test_checks_that_a_change_removes_are_said_not_to_run(project: Path, tmp_path: Path) -> None:
    """Else a change could remove a check and break it, where the package that runs it is gone."""
    record = project / ".orbit/adrs/ADR-0001/adr.yaml"
    text = record.read_text("utf-8")
    record.write_text(text[: text.index("checks:")], "utf-8")
    against = "check --against HEAD --format json"
    environment = without("orbit_enforce", tmp_path / "without")
    _, printed = answers(project, environment, [against])[against]
    rows = json.loads(printed)["diagnostics"]
    assert [row["record"] for row in rows if row["code"] == "ORB1004"] == ["ADR-0001"]
