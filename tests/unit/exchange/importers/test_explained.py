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


def test_the_number_is_that_of_the_whole_folder(project: Path) -> None:
    # Alone, this document would be ADR-0001 and its link would lead nowhere.
    adrs = project / "docs/adr"
    (adrs / "0001-two-queues.md").write_text("# Two queues\n\nStatus: accepted\n", encoding="utf-8")
    text = "# No queue\n\nStatus: Superseded by ADR-0007\n\n## Decision\n\nThat.\n"
    (adrs / "no-queue.md").write_text(text, encoding="utf-8")
    explanation = Registry.explain_import(adrs / "no-queue.md")

    assert [outcome.record for outcome in explanation.outcomes] == ["ADR-0008"]
    assert "  with the other documents of docs/adr:" in explanation.text().splitlines()
    assert explanation.as_data()["folder"] == "docs/adr"

    report = Registry.import_from(project, dry_run=True)
    numbers = {outcome.source: outcome.record for outcome in report.of("taken")}
    assert numbers["docs/adr/no-queue.md"] == "ADR-0008"


def test_an_entry_of_a_log_gets_the_number_of_the_whole_folder(project: Path) -> None:
    entries = ("## D7: Use a bus", "Status: accepted", "## D9: Use rails", "Status: accepted")
    log = "\n\n".join(("# Decisions", *entries, ""))
    (project / "docs/adr/DECISIONS.md").write_text(log, encoding="utf-8")
    explanation = Registry.explain_import(project / "docs/adr/DECISIONS.md")
    report = Registry.import_from(project, dry_run=True)

    records = [outcome.record for outcome in explanation.outcomes if outcome.what == "taken"]
    expected = [each.record for each in report.of("taken") if "DECISIONS" in each.source]
    assert records == expected != []


def test_a_folder_is_not_explained(project: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        Registry.explain_import(project / "docs")
