"""Owns the closed vocabulary of links between records, and the inverse of each; it resolves no target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orbit_registry.errors import UsageError, meant

INVERSES: Mapping[str, str] = {
    "supersedes": "superseded_by",
    "amends": "amended_by",
    "extends": "extended_by",
    "derived_from": "source_of",
    "has_script": "script_of",
    "has_doc": "doc_of",
    "proves": "proved_by",
    "contradicts": "contradicted_by",
    "related_to": "related_to",
    "implements": "implemented_by",
    "resolves": "resolved_by",
    "references": "referenced_by",
}
"""Each relation and how it reads from the other end. Supersession is derived from its own fields."""
SUPERSEDES, RELATED = "supersedes", "related_to"
DIRECTIONS = ("in", "out", "both")
"""Which links are walked from a record: those that lead to it, those it states, or both."""


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """An edge from one record to another record, or to a name no record has yet."""

    rel: str
    to: str


def relation(word: str) -> tuple[str, bool]:
    """Return the relation that a word names, and whether the word reads it from its other end (`amended_by`).

    Raises:
        UsageError: there is none; the vocabulary is listed.
    """
    said = word.strip().lower().replace("-", "_").replace(" ", "_")
    if said in INVERSES:
        return said, False
    found = next((rel for rel, inverse in INVERSES.items() if inverse == said), None)
    if found is not None:
        return found, True
    known = [*INVERSES, *INVERSES.values()]
    hint = f"{meant(said, known)}relations: {', '.join(dict.fromkeys(known))}"
    raise UsageError(f"there is no relation {word!r}", hint=hint)
