"""What a start costs: each door loads what it needs and nothing that only other doors need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orbit_registry.kinds.table import load_kinds
from orbit_registry.store.setup import setup_workspace

HEAVY = ("duckdb", "_duckdb", "mkdocs", "rich", "jsonschema", "referencing", "ruamel", "markdown_it", "nh3", "filelock")
HEAVY += ("detect_secrets", "jsonschema_rs", "ryaml", "click", "mcp", "anyio")


def loaded_by(arguments: list[str], folder: Path, among: tuple[str, ...] = HEAVY) -> set[str]:
    """Return which of some modules, by default heavy ones, a run of the command line has loaded when it ends."""
    program = (
        "import sys\n"
        "from orbit_registry.cli.main import run\n"
        f"code = run({arguments!r})\n"
        f"print('loaded', *[name for name in {among!r} if name in sys.modules])\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return the root of a workspace."""
    setup_workspace(tmp_path, load_kinds())
    return tmp_path


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], []])
def test_saying_what_it_is_loads_the_command_line_alone(workspace: Path, arguments: list[str]) -> None:
    """Version and first page need no record, no schema and no YAML."""
    assert loaded_by(arguments, workspace) == {"click"}


@pytest.mark.parametrize("arguments", [["list"], ["list", "learning", "--format", "json"]])
def test_listing_loads_the_fast_readers_alone(workspace: Path, arguments: list[str]) -> None:
    """Records are read; nothing is composed, explained, locked or asked in SQL."""
    assert loaded_by(arguments, workspace) == {"click", "ryaml"}


@pytest.mark.parametrize("arguments", [["list"], ["list", "--all"]])
def test_what_few_runs_need_waits_for_them(workspace: Path, arguments: list[str]) -> None:
    """Near names are for an id that is not there, temporary files for a checkout that can't be written."""
    assert not loaded_by(arguments, workspace, ("difflib", "tempfile"))


def test_a_configuration_that_sets_something_is_validated(workspace: Path) -> None:
    """Only one that says what `orbit init` writes, and perhaps a name, needs no validator."""
    with (workspace / ".orbit/config.yaml").open("a", encoding="utf-8") as file:
        file.write("project: mine\ninbox: committed\n")

    assert loaded_by(["list"], workspace) == {"click", "jsonschema_rs", "ryaml"}


def test_adding_a_learning_loads_what_writes(workspace: Path) -> None:
    """Neither the snapshot nor the site nor a Markdown parser has to be there to write down what one learned."""
    found = loaded_by(["learning", "add", "--summary", "Look before you leap", "--yes"], workspace)

    assert found <= {"click", "filelock", "jsonschema_rs", "ryaml", "ruamel"}


def test_the_gate_after_one_edit_loads_no_reader_of_documents(workspace: Path) -> None:
    """A learning that changed is validated and compared; no Markdown is parsed, and nothing is edited or explained."""
    loaded_by(["learning", "add", "--summary", "Look before you leap", "--yes"], workspace)
    loaded_by(["check"], workspace)
    (record,) = (workspace / ".orbit/learnings").glob("*/learning.yaml")
    record.write_text(record.read_text("utf-8").replace("before you leap", "twice before you leap"), "utf-8")

    assert loaded_by(["check"], workspace) == {"click", "jsonschema_rs", "ryaml"}


def test_asking_in_sql_loads_no_site(workspace: Path) -> None:
    """Each door keeps to its own libraries."""
    found = loaded_by(["query", "SELECT 1"], workspace)

    assert "_duckdb" in found
    assert not found & {"mkdocs", "nh3", "detect_secrets", "rich"}
