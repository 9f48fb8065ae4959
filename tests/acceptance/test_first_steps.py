"""The first commands of a newcomer: "Get started", the README and the first guides, run with the
built wheel.

`ORBIT_BIN` names the folder with the programs: that of the environment into which `nox -s build`
installs the wheel.
"""

import os
import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = os.environ.get("ORBIT_BIN")  # read before the tests put such variables away
GET_STARTED, README, GUIDES = ROOT / "docs/get-started.md", ROOT / "README.md", ROOT / "docs/guides"
LAYOUTS = {
    "importer": ("src/importer/read.py",),
    "decisions": ("docs/adr/0041-use-python.md", "docs/adr/0042-use-redis.md"),
    "flask": (
        "pyproject.toml",
        "src/flask/__init__.py",
        "src/flask/app.py",
        "tests/test_basic.py",
        "docs/index.rst",
    ),
}
DECISION = "# {}\n\n## Context\n\nx\n\n## Decision\n\nx\n\n## Consequences\n\n- Cost: x\n"
"""A decision that states no status."""
ID = re.compile(r"\b[A-Z]+-[0-9a-z]{5}\b")
SHIPPED = (
    "hook install opencode --dry-run",
    "hook install generic --dry-run",
    "hook install claude --scope project --dry-run",
    "export skills --dry-run",
    "brief --agent tester",
)
"""Commands that read data files of the package: a plugin, scripts, skills, a table of agents."""
SECONDS = 60
"""The most processor time of a page."""


def scripts(page: Path) -> list[str]:
    """Return the blocks of commands of a page,
    without those of programs that a test does not have.
    """
    text = page.read_text("utf-8")
    if page is README:
        text = text.partition("## Five minutes")[2].partition("\n## Read on")[0]

    blocks: list[str] = re.findall(r"(?ms)^```(?:sh)?\n(.*?)^```", text)
    left = [re.sub(r"(?m)^(?:uv|pipx|pip|duckdb) .*\n", "", block) for block in blocks]
    return [block for block in left if "orbit " in block]


def commands(page: Path) -> list[str]:
    return [
        line for block in scripts(page) for line in block.splitlines() if line.startswith("orbit ")
    ]


@pytest.fixture(scope="session")
def programs() -> Path:
    """Return the folder with the programs of the wheel."""
    if BIN is None:
        pytest.skip("needs the wheel: `nox -s build` makes it and runs these pages")
    return Path(BIN)


@pytest.fixture
def project(tmp_path: Path, git_repo: Path) -> Callable[[str], Path]:
    """Return what makes a repository of a layout."""

    def make(layout: str) -> Path:
        for name in LAYOUTS[layout]:
            (git_repo / name).parent.mkdir(parents=True, exist_ok=True)
            text = DECISION.format(Path(name).stem) if name.endswith(".md") else ""
            (git_repo / name).write_text(text, "utf-8")
        subprocess.run(["git", "add", "."], cwd=git_repo, check=True)
        subprocess.run(["git", "commit", "--quiet", "-m", "Begin"], cwd=git_repo, check=True)
        return git_repo

    return make


def run_page(page: Path, root: Path, programs: Path) -> str:
    """Run the blocks of a page in a project, with the ids that the commands printed,
    and return their output.
    """
    output, ids = "", {}
    for block in scripts(page):
        text = ID.sub(lambda match: ids.get(match[0].partition("-")[0], match[0]), block)
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                "PATH": f"{programs}:{os.environ['PATH']}",
                "HOME": str(root.parent / "home"),
            },
        )
        assert result.returncode == 0, f"{text}{result.stdout}{result.stderr}"
        output += result.stdout
        ids.update({name.partition("-")[0]: name for name in ID.findall(result.stdout)})
    return output


@pytest.mark.parametrize(
    ("page", "layout"),
    [(GET_STARTED, "importer"), (README, "importer"), (README, "flask")],
    ids=["get started", "README", "README in flask"],
)
def test_the_first_commands_run(
    project: Callable[[str], Path], programs: Path, page: Path, layout: str
) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    root = project(layout)
    output = run_page(page, root, programs)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert page is README or (root / "site/index.html").is_file()
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < SECONDS
    assert "Store sessions in PostgreSQL" in output.partition("<project-notes>")[2]


def test_the_guide_of_sql_runs(programs: Path, tmp_path: Path) -> None:
    subprocess.run([programs / "orbit", "init", "--demo", tmp_path / "demo"], check=True)
    run_page(GUIDES / "sql.md", tmp_path / "demo", programs)
    assert (tmp_path / "demo/knowledge.duckdb").is_file()


def test_the_guide_of_adopting_runs(project: Callable[[str], Path], programs: Path) -> None:
    root = project("decisions")
    output = run_page(GUIDES / "adopt.md", root, programs)
    assert "docs/adr/0042-use-redis.md → ADR-0042" in output
    assert "Accepted" in (root / "docs/adr/0042-use-redis.md").read_text("utf-8")


def test_the_first_page_has_twelve_commands_at_most() -> None:
    assert len(commands(GET_STARTED)) < 12  # and one that installs


def test_the_wheel_has_its_data_files(git_repo: Path, programs: Path) -> None:
    orbit = programs / "orbit"
    for words in ("init --yes", *SHIPPED):
        result = subprocess.run(
            [orbit, *words.split()], cwd=git_repo, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
