"""Checks of decisions in code (10xx): checks of records that were not run, and what a change brings
back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from orbit_registry.checks.check import check, passed_on
from orbit_registry.checks.context import CheckContext
from orbit_registry.errors import plural
from orbit_registry.formats.position import Position
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.workspace.workspace import CONFIG

if TYPE_CHECKING:
    from orbit_registry.checks.added import Added, AddedName
    from orbit_registry.formats.adr.rejected_option import RejectedOption
    from orbit_registry.model.record import Record

check_not_run = passed_on(
    "ORB1004",
    "check-not-run",
    Severity.ERROR,
    "A check of a record was not run, so nothing is known.",
    "install what it needs, or leave the file out with `except:`",
    lambda context: context.enforced,
)


@check("ORB1020", Severity.WARNING, "leave it out, or propose a decision that supersedes this one")
def rejected_option(context: CheckContext) -> Iterator[Diagnostic]:
    """A change adds an import or a dependency that a live decision ruled out."""
    if context.added is None or not any(context.added):
        return

    from orbit_registry.search.rejected import ruled_out  # its words take 10 ms to load

    added = context.added.names
    names = [row.name for row in added]
    records = [*context.filled()]
    known: set[tuple[int, str]] = set()
    for number, record, option in ruled_out(records, names):
        known.add((number, record.uid))
        yield _ruled_out(added[number], record, option)

    if any(record.rejected for record in records):
        yield from _unread(context.added)
    if context.filled_before is None:
        return

    # The base judges too: a change may not take back what rules out what it adds.
    before = [*context.filled_before()]
    for number, record, option in ruled_out(before, names):
        if (number, record.uid) in known:
            continue

        finding = _ruled_out(added[number], record, option)
        successor = _successor(record, before, records)
        if successor is not None:
            message = f"{finding.message}; {successor.id} of this change replaces that decision"
            yield replace(finding, message=message, severity=Severity.NOTE)
            continue

        message = f"{finding.message}; this change takes that back"
        yield replace(finding, message=message)


def _unread(added: Added) -> Iterator[Diagnostic]:
    """Yield what was not looked at for what decisions ruled out."""
    for path in added.unread:
        message = "it can't be read, so nothing is known of what it adds"
        hint = "save it as a text of at most 5 MB that its own tool can parse, and not as a link"
        yield rejected_option.at(Location(path), message, severity=Severity.NOTE, hint=hint)

    if added.left_out:
        message = (
            f"of this change {plural(added.left_out, 'file was', 'files were')} not read for what "
            "decisions ruled out; its manifests were"
        )
        hint = "split the change, or look through its imports"
        yield rejected_option.at(Location(CONFIG), message, severity=Severity.NOTE, hint=hint)


def _ruled_out(added: AddedName, record: Record, option: RejectedOption) -> Diagnostic:
    reason = f": {option.reason}" if option.reason else ""
    message = f"`{added.name}` was ruled out by {record.id}, {record.title}{reason}"
    where = Location(added.path, Position(added.line))
    related = (Location(record.path, None),)
    return rejected_option.at(where, message, record, related=related)


def _successor(record: Record, before: Iterable[Record], after: Iterable[Record]) -> Record | None:
    """Return the decision that a change accepts in the place of another one."""
    accepted_before = {other.uid for other in before if other.phase == "live"}
    for other in after:
        is_new = other.phase == "live" and other.uid not in accepted_before
        if is_new and record.id in other.supersedes:
            return other

    return None
