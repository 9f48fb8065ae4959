"""Decisions follow their documents to a new name by one command."""

import pytest

from orbit_registry.checks import engine
from orbit_registry.errors import UsageError
from orbit_registry.operations.adr import NewAdr
from orbit_registry.operations.document_moves import follow_moves
from orbit_registry.registry import Registry

LOG = "# Decisions\n\n## ADR-1: One\n\nStatus: accepted\n\nCost: a.\n\n## ADR-2: Two\n\nStatus: accepted\n\nCost: b.\n"


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
