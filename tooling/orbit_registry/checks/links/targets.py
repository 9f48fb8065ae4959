"""ORB301: a record points at a record that isn't there."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext, binding
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record

Pointer = tuple[str | int, ...]
_NAMING = frozenset({"supersedes", "superseded_by", "distinct_from", "links", "evidence", "x-unresolved"})


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each id in a link, a supersession, `distinct_from` or evidence that names no record, or several."""
    for record in context.records:
        if _NAMING.isdisjoint(record.data):
            continue
        yield from _unresolved(context, record)
        for pointer, words, target in _named(record):
            if not context.is_id(target) or target in context.broken:
                continue
            found = context.resolve(target)
            weight = binding(record, Severity.ERROR, Severity.WARNING)
            where = context.at(record, *pointer)
            if not found:
                message = f"{words} {target}, and no record has that id"
                yield CHECK.at(where, message, severity=weight, record=record)
            elif len({one.uid for one in found}) > 1 and not context.records.with_id(target):
                message = f"{words} {target}, which can mean {', '.join(one.id for one in found)}"
                hint = "write the id of the one that is meant"
                places = [context.at(one, "id") for one in found]
                yield CHECK.at(where, message, severity=weight, hint=hint, record=record, related=places)


def _unresolved(context: CheckContext, record: Record) -> Iterator[Diagnostic]:
    """Yield what a document says of others that its adoption could not resolve."""
    left = record.data.get("x-unresolved")
    for index, entry in enumerate(left) if isinstance(left, list) else ():
        if isinstance(entry, dict):
            said = f"its document says `{str(entry.get('rel', '')).replace('_', ' ')} {entry.get('to', '')}`"
            listed = entry.get("candidates")
            which = f"can mean {', '.join(map(str, listed))}" if isinstance(listed, list) else "is no record here"
            where = context.at(record, "x-unresolved", index)
            hint = "where it is one of ours, say so in `supersedes`, `superseded_by` or `links`; then remove the line"
            yield CHECK.at(where, f"{said}, which {which}", severity=Severity.NOTE, hint=hint, record=record)


def _named(record: Record) -> Iterator[tuple[Pointer, str, str]]:
    for name, words in (
        ("supersedes", "it says that it replaces"),
        ("superseded_by", "it says that it is replaced by"),
        ("distinct_from", "it says that it is not the same as"),
    ):
        for index, target in enumerate(record.words(name)):
            yield (name, index), words, target
    for index, link in enumerate(record.links):
        yield ("links", index, "to"), f"it has a link ({link.rel}) to", link.to
    for index, (kind, reference) in enumerate(record.evidence):
        if kind == "record":
            yield ("evidence", index, "reference"), "its evidence is", reference


CHECK = Check(
    "ORB301",
    "dangling-link",
    Severity.ERROR,
    "A record points at a record that is not there.",
    "correct the id, or remove the line; `orbit list` shows the ids there are",
    run,
)
