"""What of a record is compared for duplicates, and which pairs were settled as different."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from orbit_registry.checks.content.prompts import is_prompt, prompts_of
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.record import Record

_FORM = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:[-*+][ \t]+)?[*_]{0,2}(?:Status|Date|Deciders|Tags)[*_]{0,2}[ \t]*:)")


def groups(records: Iterable[Record]) -> Mapping[str, list[Record]]:
    """Return the records that are compared with each other: those of one kind that wait or hold."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.phase != "closed":
            found.setdefault(record.kind.name, []).append(record)
    return found


def wording(record: Record) -> str:
    """Return what a record says: headline and prose, without the headings, header lines and prompts all share."""
    if not record.kind.in_document:
        return f"{record.title}\n{record.prose}"
    known = prompts_of(record.kind.folder, True)
    said = [line for line in record.prose.split("\n") if not _FORM.match(line) and not is_prompt(line, known)]
    return "\n".join((record.title, *said))


def settled(context: CheckContext, one: Record, other: Record) -> bool:
    """Say whether the two state that they are distinct or that one replaces the other, or share one text anyway."""
    homes = [context.homes.get(record.path) for record in (one, other)]
    if homes[0] is not None and homes[0] == homes[1]:
        return True
    for left, right in ((one, other), (other, one)):
        for name in ("distinct_from", "supersedes", "superseded_by"):
            if any(found.uid == right.uid for target in left.words(name) for found in context.resolve(target)):
                return True
    return False


def blamed_first(context: CheckContext, one: Record, other: Record) -> tuple[Record, Record]:
    """Return the pair with the record first that a finding is about: the one that changed, else the later one."""
    first, second = sorted((one, other), key=lambda record: record.sort_key)
    return (first, second) if context.is_changed(first) and not context.is_changed(second) else (second, first)
