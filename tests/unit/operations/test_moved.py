"""Decisions follow their documents to a new name by one command."""

import pytest

from orbit_registry.checks import engine
from orbit_registry.errors import UnsafePathError, UsageError
from orbit_registry.operations.adr import NewAdr
from orbit_registry.operations.document_moves import follow_moves
from orbit_registry.registry import Registry

LOG = "# Decisions\n\n## ADR-1: One\n\nStatus: accepted\n\nCost: a.\n\n## ADR-2: Two\n\nStatus: accepted\n\nCost: b.\n"
ONE = "# One\n\n## Status\n\nAccepted\n\n## Decision\n\nA.\n\n## Consequences\n\nCost: b.\n"


def paths(registry: Registry) -> dict[str, str]:
    registry.refresh()
    return {record.id: record.source.path for record in registry.records.of_kind("adr") if record.source is not None}


def missing(registry: Registry) -> list[str]:
    """Return which records the gate finds without a document."""
    return [str(finding.record) for finding in engine.run(registry.workspace).diagnostics if finding.code == "ORB703"]


def test_a_renamed_log_is_followed(registry: Registry) -> None:
    root = registry.workspace.root
    (root / "DECISIONS.md").write_text(LOG)
    Registry.import_from(root)
    (root / "DECISIONS.md").rename(root / "LOG.md")
    registry = Registry.open(root)
    assert missing(registry) == ["ADR-0001", "ADR-0002"]

    would = registry.backfill(moves=[("DECISIONS.md", "LOG.md")], dry_run=True)
    assert ([outcome.record for outcome in would.of("changed")], missing(registry)) == (
        ["ADR-0001", "ADR-0002", None], ["ADR-0001", "ADR-0002"],
    )  # fmt: skip
    done = registry.backfill(moves=[("DECISIONS.md", "LOG.md")])
    assert done.outcomes == would.outcomes
    registry = Registry.open(root)
    assert (paths(registry), missing(registry)) == ({"ADR-0001": "LOG.md", "ADR-0002": "LOG.md"}, [])
    assert registry.add_adr(NewAdr("Three")).document == "LOG.md"
    with pytest.raises(UsageError, match=r"no decision has its text in DECISIONS\.md"):
        follow_moves(registry.workspace, [("DECISIONS.md", "LOG.md")])


def test_a_renamed_folder_takes_its_decisions_along(registry: Registry) -> None:
    root = registry.workspace.root
    (root / "docs/adr").mkdir(parents=True)
    for number in (1, 2, 3):
        (root / f"docs/adr/000{number}-a.md").write_text(ONE)
    registry.backfill()
    (root / "docs/adr").rename(root / "docs/decisions")
    (root / "docs/decisions/0002-a.md").unlink()
    (root / "docs/adr").mkdir()
    (root / "docs/adr/0003-a.md").write_text(ONE)

    report = registry.backfill(moves=[("docs/adr/", "./docs/decisions")])
    assert paths(registry) == {
        "ADR-0001": "docs/decisions/0001-a.md", "ADR-0002": "docs/adr/0002-a.md", "ADR-0003": "docs/adr/0003-a.md",
    }  # fmt: skip
    remaining = {str(outcome.record): outcome.reason for outcome in report.of("left")}
    assert remaining["ADR-0003"].startswith("docs/adr/0003-a.md still has it; ")
    assert remaining["ADR-0002"].startswith("docs/decisions/0002-a.md: no such file")


def test_a_document_of_another_decision_is_no_new_home(registry: Registry) -> None:
    root = registry.workspace.root
    (root / "docs/adr").mkdir(parents=True)
    for number in (1, 2):
        (root / f"docs/adr/000{number}-a.md").write_text(ONE)
    registry.backfill()
    (root / "docs/adr/0001-a.md").unlink()
    report = registry.backfill(moves=[("docs/adr/0001-a.md", "docs/adr/0002-a.md")])
    assert [outcome.reason.partition(";")[0] for outcome in report.outcomes] == [
        "docs/adr/0002-a.md is the document of ADR-0002 already"
    ]
    with pytest.raises(UsageError, match="is not there"):
        registry.backfill(moves=[("docs/adr/0001-a.md", "docs/adr/0009-a.md")])
    with pytest.raises(UnsafePathError):
        registry.backfill(moves=[("docs/adr/0001-a.md", "../else.md")])
