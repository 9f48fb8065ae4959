"""`orbit import FILE --explain` prints every step, and writes nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.errors import UsageError
from orbit_registry.registry import Registry

TEXT = """---
status: accepted
supersedes: [ADR-0001]
---

# Use one queue

## Context

Why.

## Decision

That.
"""


@pytest.fixture
def project(tmp_path: Path, git: Callable[..., str]) -> Path:
    (tmp_path / "docs/adr").mkdir(parents=True)
    (tmp_path / "docs/adr/0007-one-queue.md").write_text(TEXT, encoding="utf-8")
    git(tmp_path, "init", "-q")
    Registry.init(tmp_path)
    return tmp_path


def test_each_step_is_explained(project: Path) -> None:
    explanation = Registry.explain_import(project / "docs/adr/0007-one-queue.md")
    lines = [line.strip() for line in explanation.text().splitlines()]

    assert "line 2    status: accepted (front-matter)" in lines
    assert "line 3    supersedes: ADR-0001 (front-matter)" in lines
    assert "status    accepted: the status `accepted`" in lines
    assert "taken      docs/adr/0007-one-queue.md → ADR-0007" in lines
    assert explanation.as_data()["skipped"] is None
    assert not (project / ".orbit/adrs").exists()


def test_a_folder_is_not_explained(project: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        Registry.explain_import(project / "docs")
