"""ADR documents as values, in every usual format, and edits that change nothing but what they are about."""

from orbit_registry.formats.adr.model import AdrDocument, AdrFile, Fact, Rel, Relation, Section, Status
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.status_line import normalise_status
from orbit_registry.formats.adr.templates import new_document, template_from
from orbit_registry.formats.adr.writer import (
    add_amendment,
    add_entry,
    fitted,
    heading_like,
    insert_entry,
    lowered,
    refuse_restated,
    remove_entry,
    set_date,
    set_number,
    set_status,
    set_title,
    split_gap,
)

__all__ = [
    "AdrDocument",
    "AdrFile",
    "Fact",
    "Rel",
    "Relation",
    "Section",
    "Status",
    "add_amendment",
    "add_entry",
    "fitted",
    "heading_like",
    "insert_entry",
    "lowered",
    "new_document",
    "normalise_status",
    "read_document",
    "refuse_restated",
    "remove_entry",
    "set_date",
    "set_number",
    "set_status",
    "set_title",
    "split_gap",
    "template_from",
]
