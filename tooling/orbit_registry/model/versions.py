"""Owns what a record is worth to who asks for some versions of a project; it compares sets and orders no versions."""

from __future__ import annotations

from collections.abc import Collection

UNVERSIONED = "unversioned"
"""What a record says that is meant for no version; one that says nothing is the same."""
EXACT, SUPERSET, SUBSET, PARTIAL, UNSTATED = 1.0, 0.95, 0.85, 0.75, 0.70


def version_factor(own: Collection[str], asked: Collection[str]) -> float:
    """Return what a record for some versions is worth to who asks for others; 0 where no version is shared."""
    held, wanted = frozenset(own) or {UNVERSIONED}, frozenset(asked)
    if not wanted or held == wanted:
        return EXACT
    if UNVERSIONED in held:
        return UNSTATED
    if held > wanted:
        return SUPERSET
    if held < wanted:
        return SUBSET
    return PARTIAL if held & wanted else 0.0
