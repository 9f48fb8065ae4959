"""Notes of records: what was decided, else the first consequence, shown where few records apply."""

from __future__ import annotations

import pytest

from orbit_registry.matching.teaser import LONGEST_NOTE, note_of
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record


@pytest.mark.parametrize(
    ("kind", "prose", "note"),
    [
        ("learning", "Charges twice without it. See below.", "Charges twice without it."),
        ("learning", "# Why\n\nIt `fails`\nat night.\n\nMore.", "It fails at night."),
        ("learning", "No end of a sentence", "No end of a sentence"),
        ("learning", "Use v1.2, i.e. that one. Then go.", "Use v1.2, i.e. that one."),
        ("learning", "請求書は一度だけ。次。", "請求書は一度だけ。"),
        ("learning", "", ""),
        (
            "adr",
            "### Decision\n\nUse one file.\n\n### Consequences\n\n- **One** [file](a.md) less.",
            "One file less.",
        ),
        (
            "adr",
            "## Consequences\n\n- One less.\n\n## Decision\n\nWe keep `one_file` for each record.",
            "We keep one_file for each record.",
        ),
        (
            "adr",
            "**Context.** Old.\n\n**Consequences.**\n\n1. Slower.\n2. Safer.\n\n**More.** Text.",
            "Slower.",
        ),
        ("adr", "## Context\n\nNothing else.", ""),
        ("resource", "A document is read where it is.", ""),
    ],
)
def test_a_note_is_a_first_sentence(kind: str, prose: str, note: str) -> None:
    """Of a decision it is what was decided, else that of its consequences; Markdown's marks are
    left out.
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
