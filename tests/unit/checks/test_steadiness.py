"""Files that change between the look at them and the reading: what comes of that is never remembered as theirs.

Another process that keeps what it read takes away what this one would have gone by, and so each file is read again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from orbit_registry.checks.inputs import Inputs, take
from orbit_registry.checks.load import run
from orbit_registry.registry import Registry
from orbit_registry.store.workspace import CACHE, open_workspace

Learning = Callable[..., Path]


def looked(root: Path) -> Inputs:
    """Return what a run looks at where an earlier one kept what it had read, and another process keeps its own now."""
    Registry.open(root).check()
    inputs = take(open_workspace(root), None, datetime.now(UTC))
    (root / CACHE / "records.values").unlink()
    return inputs


def test_a_record_that_goes_while_it_is_looked_at_is_not_remembered_as_broken(
    workspace: Path, learning: Learning
) -> None:
    """A run in the midst of a checkout says what it saw; once the file is back, the next one says nothing of it."""
    file = learning("L-7k3fq", "Parse dates strictly")
    text = file.read_text("utf-8")
    inputs = looked(workspace)
    file.unlink()
    result, may_be_remembered = run(inputs)
    assert [one.code for one in result.diagnostics] == ["ORB101"]
    assert not may_be_remembered

    file.write_text(text, "utf-8")
    assert Registry.open(workspace).check().diagnostics == ()


def test_a_record_that_changes_while_it_is_looked_at_is_not_remembered(workspace: Path, learning: Learning) -> None:
    """What it says meanwhile is nothing that its hash stands for."""
    file = learning("L-7k3fq", "Parse dates strictly")
    text = file.read_text("utf-8")
    inputs = looked(workspace)
    file.write_text(text.replace("status: active", "status: gone"), "utf-8")
    assert not run(inputs)[1]

    file.write_text(text, "utf-8")
    assert Registry.open(workspace).check().diagnostics == ()


def test_a_text_that_goes_while_it_is_looked_at_is_not_remembered(workspace: Path) -> None:
    """A document whose citations lead nowhere is not remembered as one without any."""
    file = workspace / "docs" / "plan.md"
    file.parent.mkdir()
    file.write_text("See ADR-0099.\n", "utf-8")
    before = Registry.open(workspace).check(everything=True).diagnostics
    assert [one.code for one in before] == ["ORB305"]
    inputs = take(open_workspace(workspace), None, datetime.now(UTC))
    file.rename(file.with_suffix(".away"))
    assert not run(inputs)[1]

    file.with_suffix(".away").rename(file)
    assert Registry.open(workspace).check(everything=True).diagnostics == before
