"""A record's prose as sections, wherever it stands: the entry of its document, or `body.md` beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orbit_registry.checks.context import CheckContext
from orbit_registry.records.record import Record

if TYPE_CHECKING:
    from orbit_registry.text.adr import AdrDocument

_NAMED = "docs/adr/0001-prose.md"
"""A name that lets a bare body be read as one decision."""


def decision_of(context: CheckContext, record: Record) -> AdrDocument | None:
    """Return a decision's entry, or its `body.md` read as one; None where it has no text."""
    home = context.homes.get(record.path)
    if home is not None:
        return home[1]
    if not record.prose.strip():
        return None
    from orbit_registry.text.adr import read_document

    entries = read_document(record.prose, _NAMED).entries
    return entries[0] if len(entries) == 1 else None


def text_of(context: CheckContext, record: Record) -> str:
    """Return the text that the spans of `decision_of` count in."""
    home = context.homes.get(record.path)
    return home[0].text if home is not None else record.prose
