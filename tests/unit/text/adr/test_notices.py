"""A status that stands in a notice alone is adopted where it is clear, and never made up."""

from __future__ import annotations

import pytest

from orbit_registry.text.adr import read_document, set_status

BODY = "\n\n## Context\n\nA.\n\n## Decision\n\nB.\n"
OTHER = "[ADR-2](0002-x.md)"


@pytest.mark.parametrize(
    ("notice", "status", "successor"),
    [
        (f"> [!NOTE]\n> Superseded by {OTHER}", "superseded", "0002-x.md"),
        (f"> [!WARNING]\n> This ADR has been superseded by {OTHER}.", "superseded", "0002-x.md"),
        ("> [!CAUTION]\n>\n> This decision is now deprecated, because nobody used it.", "deprecated", None),
        ("> [!NOTE]\n> **Accepted**", "accepted", None),
        ("> [!NOTE] Rejected\n> Too dear.", "rejected", None),
        ('!!! warning "Deprecated"\n    The queue is gone.', "deprecated", None),
        ('!!! warning "Superseded by ADR-0002"', "superseded", "ADR-0002"),
        (f"!!! warning\n    This ADR has been superseded by {OTHER}", "superseded", "0002-x.md"),
        (f":::warning\nThe decision was replaced by {OTHER}\n:::", "superseded", "0002-x.md"),
        (":::caution[Deprecated]\nSee the manual.\n:::", "deprecated", None),
        ("## Status\n\n> [!WARNING]\n> Superseded by ADR-0002", "superseded", "ADR-0002"),
        (f"Status: accepted\n\n> [!NOTE]\n> This ADR has been superseded by {OTHER}", "superseded", "0002-x.md"),
        ("> [!NOTE]\n> The library is deprecated.", "unknown", None),
        ('!!! warning "Deprecated API"\n    Of the library.', "unknown", None),
        ("> [!NOTE]\n> This may be superseded by ADR-0002.", "unknown", None),
        ("> [!NOTE]\n> This ADR is superseded by ADR-0002 for mobile clients only.", "unknown", None),
        ("> [!NOTE]\n> This ADR is no longer accepted by everybody.", "unknown", None),
        ("> [!NOTE]\n> Removed: the old endpoint.", "unknown", None),
        ("> [!NOTE]\n> Accepted\n\n> [!WARNING]\n> Deprecated", "unknown", None),
        ("Status: accepted\n\n> [!WARNING]\n> Deprecated", "accepted", None),
    ],
)
def test_a_notice_states_a_status(notice: str, status: str, successor: str | None) -> None:
    """Of GitHub, MkDocs and Docusaurus, as a title or a sentence about the decision; two that differ say none."""
    entry = read_document(f"# Use X\n\n{notice}{BODY}", "docs/adr/0001-x.md").entries[0]
    told = next((one.target_raw for one in entry.relations if one.rel == "superseded_by"), None)
    assert (entry.title, entry.status, told) == ("Use X", status, successor)


@pytest.mark.parametrize(
    ("notice", "after"),
    [
        ("> [!WARNING]\n> Deprecated: nobody used it.", "> [!WARNING]\n> Accepted: nobody used it."),
        ("!!! warning\n    This ADR is deprecated.", "!!! warning\n    This ADR is accepted."),
    ],
)
def test_a_new_status_takes_the_place_of_the_one_in_the_notice(notice: str, after: str) -> None:
    """The word changes, in its own case, and nothing else."""
    text = f"# Use X\n\n{notice}{BODY}"
    entry = read_document(text, "docs/adr/0001-x.md").entries[0]
    assert set_status(text, entry, "accepted") == f"# Use X\n\n{after}{BODY}"


def test_a_remark_goes_with_the_mark_of_its_notice() -> None:
    """Where a decision comes into force again, no empty notice stays."""
    text = f"# Use X\n\nStatus: accepted\n\n> [!WARNING]\n> Superseded by {OTHER}{BODY}"
    entry = read_document(text, "docs/adr/0001-x.md").entries[0]
    assert set_status(text, entry, "accepted") == f"# Use X\n\nStatus: accepted{BODY}"
