"""What of a record is compared for duplicates, and which pairs were settled as different."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from orbit_registry.checks.context import CheckContext
from orbit_registry.records.record import Record

_WORD = re.compile(r"\w+")


def groups(records: Iterable[Record]) -> Mapping[str, list[Record]]:
    """Return the records that are compared with each other: those of one kind that wait or hold."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.phase != "closed":
            found.setdefault(record.kind.name, []).append(record)
    return found


def wording(record: Record) -> str:
    """Return what a record says: headline and prose."""
    return f"{record.title}\n{record.prose}"


def normalised(text: str) -> str:
    """Return a text without what does not change its meaning: case, spaces, punctuation, form of characters."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def settled(context: CheckContext, one: Record, other: Record) -> bool:
    """Say whether either record states that the two are distinct, or one replaces the other."""
    for left, right in ((one, other), (other, one)):
        for name in ("distinct_from", "supersedes", "superseded_by"):
            if any(found.uid == right.uid for target in left.words(name) for found in context.resolve(target)):
                return True
    return False
