"""Duplicates among real learnings: copies are caught, neighbours let be, opposites told apart."""

import contextlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orbit_registry.registry import Registry

SCRIPT = Path(__file__).parents[1] / "bench/scripts/duplicates.py"


@pytest.fixture(scope="module")
def rows(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    source = corpora / "orbit-2026-07/dot_orbit"
    root = tmp_path_factory.mktemp("corpus")
    shutil.copytree(source, root / ".orbit")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    with contextlib.chdir(root):  # an import goes to the workspace around the current folder
        Registry.import_from(root)
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], cwd=root, check=True, capture_output=True, text=True
    )
    table: dict[str, dict[str, int]] = json.loads(done.stdout)
    return table


@pytest.mark.parametrize("sort", ["dropped", "reordered"])
def test_copies_are_caught(rows: dict[str, dict[str, int]], sort: str) -> None:
    row = rows[sort]

    assert row["refused"] / sum(row.values()) >= 0.97


def test_neighbours_are_let_be(rows: dict[str, dict[str, int]]) -> None:
    """At most one in 100 of the learnings that people wrote would have been refused."""
    row = rows["itself"]

    assert sum(row.values()) == 50
    assert row["refused"] / sum(row.values()) <= 0.01


@pytest.mark.parametrize("sort", ["negation", "number"])
def test_opposites_are_warned_about(rows: dict[str, dict[str, int]], sort: str) -> None:
    """One negation or one number changed: never refused as if it were the same,
    never let pass in silence.
    """
    assert rows[sort]["warned"] == sum(rows[sort].values()) > 0
