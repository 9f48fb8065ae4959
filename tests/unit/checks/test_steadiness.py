"""Files that change between the look at them and the reading: what comes of that is never remembered as theirs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from orbit_registry.checks.context import collect_inputs
from orbit_registry.checks.engine import run_uncached
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import open_workspace


def test_a_text_that_goes_while_it_is_looked_at_is_not_remembered(workspace: Path) -> None:
    """A document whose citations lead nowhere is not remembered as one without any."""
    file = workspace / "docs" / "plan.md"
    file.parent.mkdir()
    file.write_text("See ADR-0099.\n", "utf-8")
    before = Registry.open(workspace).check(everything=True).diagnostics
    assert [one.code for one in before] == ["ORB305"]
    inputs = collect_inputs(open_workspace(workspace), None, datetime.now(UTC))
    file.rename(file.with_suffix(".away"))
    assert not run_uncached(inputs)[1]

    file.with_suffix(".away").rename(file)
    assert Registry.open(workspace).check(everything=True).diagnostics == before
