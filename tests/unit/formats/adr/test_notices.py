"""A notice that a decision was superseded is read where it names the successor."""

from __future__ import annotations

import pytest

from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.writer import set_status

BODY = "\n\n## Context\n\nA.\n\n## Decision\n\nB.\n"
OTHER = "[ADR-2](0002-x.md)"


@pytest.mark.parametrize(
    ("notice", "successor"),
    [
        (f"> [!NOTE]\n> Superseded by {OTHER}", "0002-x.md"),
        (f"> [!WARNING]\n> This ADR has been superseded by {OTHER}.", "0002-x.md"),
        ('!!! warning "Superseded by ADR-0002"', "ADR-0002"),
        (f"!!! warning\n    This ADR has been superseded by {OTHER}", "0002-x.md"),
        (f":::warning\nThe decision was replaced by {OTHER}\n:::", "0002-x.md"),
        ("## Status\n\n> [!WARNING]\n> Superseded by ADR-0002", "ADR-0002"),
        (f"Status: accepted\n\n> [!NOTE]\n> This ADR has been superseded by {OTHER}", "0002-x.md"),
        ("> [!NOTE]\n> This may be superseded by ADR-0002.", None),
        ("> [!NOTE]\n> This ADR is superseded by ADR-0002 for mobile clients only.", None),
    ],
)
def test_a_notice_names_the_successor(notice: str, successor: str | None) -> None:
    """Of GitHub, MkDocs and Docusaurus; what may be, or holds for a part, supersedes nothing."""
    entry = read_document(f"# Use X\n\n{notice}{BODY}", "docs/adr/0001-x.md").entries[0]
    target = next((relation.target_raw for relation in entry.relations if relation.rel == "superseded_by"), None)
    assert (entry.title, entry.status, target) == ("Use X", "superseded" if successor else "unknown", successor)


def test_a_remark_goes_with_the_mark_of_its_notice() -> None:
    """Where a decision comes into force again, no empty notice stays."""
    text = f"# Use X\n\nStatus: accepted\n\n> [!WARNING]\n> Superseded by {OTHER}{BODY}"
    entry = read_document(text, "docs/adr/0001-x.md").entries[0]
    assert set_status(text, entry, "accepted") == f"# Use X\n\nStatus: accepted{BODY}"
