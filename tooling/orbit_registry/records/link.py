"""Owns the closed vocabulary of links between records, and the inverse of each; it resolves no target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """An edge from one record to another record, or to a name no record has yet."""

    rel: str
    to: str
