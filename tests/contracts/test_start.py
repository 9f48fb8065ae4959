"""What a start costs: each door loads what it needs and nothing that only other doors need."""

import subprocess
import sys
from pathlib import Path

import pytest

from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace

HEAVY = (
    "duckdb",
    "_duckdb",
    "mkdocs",
    "rich",
    "jsonschema",
    "referencing",
    "ruamel",
    "markdown_it",
    "nh3",
    "filelock",
)
HEAVY += ("jsonschema_rs", "ryaml", "click", "mcp", "anyio")


def loaded_by(arguments: list[str], folder: Path, among: tuple[str, ...] = HEAVY) -> set[str]:
    """Return which of some modules, by default heavy ones,
    a run of the command line has loaded when it ends.
    """
    program = (
        "import sys\n"
        "from orbit_registry.doors.cli.main import run\n"
        f"code = run({arguments!r})\n"
        f"print('loaded', *[name for name in {among!r} if name in sys.modules])\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    setup_workspace(tmp_path, load_kinds())
    return tmp_path


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], []])
def test_saying_what_it_is_loads_the_command_line_alone(
    workspace: Path, arguments: list[str]
) -> None:
    assert loaded_by(arguments, workspace) == {"click"}


@pytest.mark.parametrize("arguments", [["list"], ["list", "learning", "--format", "json"]])
def test_listing_loads_the_fast_readers_alone(workspace: Path, arguments: list[str]) -> None:
    assert loaded_by(arguments, workspace) == {"click", "ryaml"}
