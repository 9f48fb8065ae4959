"""A package of others adds to Orbit by what its metadata names: it is found at every door."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.files import commit, make_workspace, write, write_learning

INSTALLED = Path(__file__).parents[1] / "cases/extras/installed"
PROGRAM = """\
import contextlib, io, json, sys
sys.dont_write_bytecode = True
from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.cli.main import run
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.registry import Registry
results = {}
for words in json.loads(sys.argv[1]):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        run(words)
    results[words[0]] = out.getvalue()
registry = Registry.open(".")
results["python"] = registry.weigh("L-7k3fq").text()
results["tool"] = reply("weigh", {"id": "L-7k3fq"}, Caller("agent", "s"), lambda: registry).text
print(json.dumps(results))
"""
COMMANDS = (
    ["help", "--all"],
    ["weigh", "L-7k3fq"],
    ["check", "--format", "json"],
    ["sample", "--help"],
    ["scales"],
    ["query", "SELECT grams FROM weights"],
    ["export", "rules", "--agent", "scales"],
    ["import", "--from", "weights", "."],
    ["site", "build"],
)
HEAVY = "Weigh each record before you carry it up the stairs"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what the doors answer in a project, where such a package is installed."""
    root = tmp_path_factory.mktemp("installed") / "repo"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    make_workspace(root)
    write_learning(root, "7k3fq", summary=HEAVY)
    write(root, "src/app.py", "x = 1\n")
    commit(root)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(COMMANDS)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(INSTALLED)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    results["page"] = (root / "site/weights/index.html").read_text("utf-8")
    results["twin"] = (root / "site/weights/index.md").read_text("utf-8")
    (rule,) = (root / ".scales").iterdir()
    results["rule"] = rule.read_text("utf-8")
    return results


def test_an_operation_is_at_every_door(answers: dict[str, str]) -> None:
    assert "weigh " in answers["help"]
    weight = f"L-7k3fq weighs {len(HEAVY)} g"
    assert answers["weigh"].startswith(weight)
    assert answers["python"] == weight
    assert answers["tool"].startswith(weight)


def test_a_check_is_run_by_the_gate(answers: dict[str, str]) -> None:
    assert "ORB198" in [row["code"] for row in json.loads(answers["check"])["diagnostics"]]


def test_a_kind_has_its_commands(answers: dict[str, str]) -> None:
    assert "Write, list and change samples." in answers["sample"]


def test_a_command_is_in_the_help_and_runs(answers: dict[str, str]) -> None:
    assert "Show the scales." in answers["help"]
    assert answers["scales"] == "from 0 to 100 g\n"


def test_a_table_is_in_the_snapshot(answers: dict[str, str]) -> None:
    assert str(len(HEAVY)) in answers["query"]


def test_a_page_is_on_the_site(answers: dict[str, str]) -> None:
    assert f"<li>L-7k3fq: {len(HEAVY)} g</li>" in answers["page"]
    assert f"- L-7k3fq: {len(HEAVY)} g" in answers["twin"]


def test_an_exporter_and_an_importer_are_found(answers: dict[str, str]) -> None:
    assert answers["rule"].startswith("applies: src/**\n")
    assert "nothing weighs anything" in answers["import"]


def test_a_package_that_cannot_be_loaded_is_named(git_repo: Path, tmp_path: Path) -> None:
    write(
        tmp_path, "broken-1.dist-info/entry_points.txt", "[orbit_registry.extras]\na = broken:x\n"
    )
    write(tmp_path, "broken.py", "import nothing_like_that\n")
    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry", "--help"],
        cwd=git_repo,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "error: could not load broken:x, which adds to Orbit" in done.stderr
    assert "correct or uninstall the package broken" in done.stderr


def test_an_edit_of_its_check_counts_in_the_next_run(git_repo: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    shutil.copytree(INSTALLED, installed)
    make_workspace(git_repo)
    write_learning(git_repo, "7k3fq", summary=HEAVY)
    commit(git_repo)

    def codes() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "orbit_registry", "check", "--format", "json"],
            cwd=git_repo,
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            check=False,
        )
        return [row["code"] for row in json.loads(done.stdout)["diagnostics"]]

    assert "ORB198" in codes()
    checks = installed / "weights/checks.py"
    checks.write_text(checks.read_text("utf-8").replace("> 40", "> 400"), "utf-8")
    assert "ORB198" not in codes()


CLASHES = {
    "operation": ("operations.py", '"weigh", job', '"show", job', ["show", "ADR-0001"], "`show`"),
    "tool": ("operations.py", 'tool="weigh"', 'tool="show"', ["show", "ADR-0001"], "`show`"),
    "check": ("checks.py", "ORB198", "ORB101", ["check"], "`ORB101`"),
    "kind": ("kinds/sample/kind.yaml", "samples", "adrs", ["check"], "'adr' already has that name"),
    "exporter": (
        "exporter.py",
        '"scales"',
        '"claude"',
        ["export", "rules", "--agent", "codex"],
        "`claude`",
    ),
    "importer": ("importer.py", '"weights"', '"documents"', ["import", "."], "`documents`"),
    "page": ("__init__.py", '"weights": Page', '"health": Page', ["site", "build"], "`health`"),
    "table": (
        "__init__.py",
        '"weights": Table',
        '"records": Table',
        ["sync", "--rebuild"],
        "`records`",
    ),
    "command": ("__init__.py", '"scales": C', '"check": C', ["help", "--all"], "`check`"),
}
"""By seam: the file of a package, what it says there, a name that is taken in its place, the
command that refuses, and the name that it says.
"""


@pytest.mark.parametrize("seam", CLASHES)
def test_no_package_replaces_what_is_there(git_repo: Path, tmp_path: Path, seam: str) -> None:
    file, before, after, command, name = CLASHES[seam]
    installed = tmp_path / "installed"
    shutil.copytree(INSTALLED, installed)
    changed = installed / "weights" / file
    text = changed.read_text("utf-8")
    assert before in text
    changed.write_text(text.replace(before, after, 1), "utf-8")
    assert name in refused(git_repo, installed, *command)


@pytest.mark.parametrize(
    "text", ["raise ValueError('no')", "raise SystemExit(0)", "extra = {}", "def"]
)
def test_a_package_that_fails_never_makes_the_gate_green(
    git_repo: Path, tmp_path: Path, text: str
) -> None:
    installed = tmp_path / "installed"
    shutil.copytree(INSTALLED, installed)
    (installed / "weights/__init__.py").write_text(text, "utf-8")
    assert "weights" in refused(git_repo, installed)


LATE = {
    "module of checks": ("checks.py", '"""A check of the gate."""', "raise SystemExit(0)"),
    "check": ("checks.py", '    """A title is too heavy."""', "    raise SystemExit(0)"),
}
"""By what fails when it runs: the file of a package, what it says there, and what fails."""


@pytest.mark.parametrize("part", LATE)
def test_what_a_package_runs_never_makes_the_gate_green(
    git_repo: Path, tmp_path: Path, part: str
) -> None:
    file, before, after = LATE[part]
    installed = tmp_path / "installed"
    shutil.copytree(INSTALLED, installed)
    changed = installed / "weights" / file
    changed.write_text(changed.read_text("utf-8").replace(before, after, 1), "utf-8")
    make_workspace(git_repo)
    write_learning(git_repo, "7k3fq", summary=HEAVY)
    code, _, errors = command_of(git_repo, installed, "check")
    assert code in (2, 3)
    assert "weights" in errors


def refused(root: Path, installed: Path, *words: str) -> str:
    """Return why a command refuses to run."""
    make_workspace(root)
    code, output, errors = command_of(root, installed, *(words or ("check",)))
    assert code == 2, output + errors
    return errors


def command_of(root: Path, installed: Path, *words: str) -> tuple[int, str, str]:
    """Return the exit code of a command, what it printed, and its errors."""
    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry", *words],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
