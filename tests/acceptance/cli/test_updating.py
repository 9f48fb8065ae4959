"""Updating at the command line: what isn't named stays, and nothing that is wrong gets into a file."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.model.kind import Kind, load_kinds


@pytest.fixture
def file(shell: Any) -> Path:
    """Return the learning's file, with a comment and a field that only a person knows."""
    result = Path(shell.root) / f".orbit/learnings/{shell.learning}/learning.yaml"
    result.write_text(result.read_text("utf-8") + "x-own: 1 # mine\n", "utf-8")
    return result


def test_a_dry_run_is_a_diff_that_git_applies(shell: Any, file: Path) -> None:
    """It changes nothing, and says what would."""
    before = file.read_bytes()

    code, out, _ = shell("learning", "update", shell.learning, "--summary", "Look twice", "--dry-run")

    assert (code, file.read_bytes()) == (0, before)
    assert "-summary: Look before you leap\n+summary: Look twice\n" in out
    subprocess.run(["git", "apply"], input=out, cwd=shell.root, text=True, check=True)
    assert "summary: Look twice\n" in file.read_text("utf-8")


@pytest.mark.parametrize("kind", list(load_kinds()), ids=lambda kind: kind.name)
def test_every_command_that_is_named_for_a_status_is_one(shell: Any, kind: Kind) -> None:
    """Whatever a record is, the commands that would change it can be asked for help."""
    ways = " ".join(kind.transitions_help(status, "ID") for status in kind.statuses.values())
    names = sorted(set(re.findall(r"`orbit ([a-z]+ [a-z]+) ID(?: --with NEW)?`", ways)))
    assert ways.count("`") == 2 * len(re.findall(r"`orbit [a-z]+ [a-z]+ ID(?: --with NEW)?`", ways))
    assert names
    assert [command for command in names if shell(*command.split(), "--help")[0]] == []
