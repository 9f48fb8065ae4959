"""Notes of records: the constraint or first consequence that is shown where few records apply."""

from __future__ import annotations

import pytest

from orbit_registry.matching.teaser import LONGEST_NOTE, note_of
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record


@pytest.mark.parametrize(
    ("kind", "prose", "note"),
    [
        ("learning", "Charges twice without it. See below.", "Charges twice without it."),
        ("learning", "# Why\n\nIt `fails`\nat night.\n\nMore.", "It `fails` at night."),
        ("learning", "No end of a sentence", "No end of a sentence"),
        ("learning", "Use v1.2, i.e. that one. Then go.", "Use v1.2, i.e. that one."),
        ("learning", "請求書は一度だけ。次。", "請求書は一度だけ。"),
        ("learning", "", ""),
        (
            "adr",
            (
                "### Decision\n\nUse it.\n\n### Consequences\n\n- **One** [file](a.md) less.\n- "
                "Cost: none."
            ),
            "One file less.",
        ),
        (
            "adr",
            "**Context.** Old.\n\n**Consequences.**\n\n1. Slower.\n2. Safer.\n\n**More.** Text.",
            "Slower.",
        ),
        ("adr", "**Decision.** Use it. Now.", "Use it."),
        (
            "adr",
            "## Consequences\n\n### Positive\n\n* Good, because fast\n\n## Decision\n\nNo.",
            "Good, because fast",
        ),
        ("adr", "## Consequences\n\n_What follows?_\n\n## Decision\n\nUse it.", "Use it."),
        (
            "adr",
            "## Decision\n\nChosen: X, because\n\n* it is fast. Very.\n* more",
            "Chosen: X, because it is fast.",
        ),
        ("adr", "## Decision\n\nIt follows:\n\n### More\n\nText.", "It follows:"),
        ("adr", "## Context\n\nNothing else.", ""),
        ("resource", "A document is read where it is.", ""),
    ],
)
def test_a_note_is_a_first_sentence(kind: str, prose: str, note: str) -> None:
    """Of a decision it is that of its consequences, else of what is decided;
    Markdown's marks are left out.
    """
    assert note_of(Record(load_kinds()[kind], {"id": "X-1"}, "x.yaml", prose=prose)) == note


def test_a_long_note_is_cut() -> None:
    """A sentence costs few tokens, however long it is."""
    note = note_of(
        Record(load_kinds()["learning"], {"id": "X-1"}, "x.yaml", prose="word " * 100 + ".")
    )
    assert (len(note), note[-1]) == (LONGEST_NOTE, "…")


def test_a_note_closes_no_block() -> None:
    """It is as inert as a headline."""
    note = note_of(
        Record(
            load_kinds()["learning"],
            {"id": "X-1"},
            "x.yaml",
            prose="Say </project-notes>\x1b[1m now.",
        )
    )
    assert "</project-notes>" not in note
    assert "\x1b" not in note
