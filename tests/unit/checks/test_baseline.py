"""The baseline: what it knows a finding by, and that its file is always the same for the same findings."""

from __future__ import annotations

import pytest

from orbit_registry.formats.position import Position
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.repository.baseline import NEVER_BASELINED, baseline_of


def finding(line: int = 1, message: str = "it is so", code: str = "ORB301") -> Diagnostic:
    """Return a finding."""
    return Diagnostic(code, Severity.ERROR, message, Location("a.md", Position(line)))


@pytest.mark.parametrize("code", sorted(NEVER_BASELINED))
def test_findings_about_this_run_are_never_held(code: str) -> None:
    """What git can't tell, a broken baseline, a promotion: they are said each time."""
    assert len(baseline_of([finding(code=code)])) == 0
