"""Checks of decisions in code (10xx): what `enforce` finds by records' own checks, and what a
change brings back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from orbit_registry.checks.check import check, passed_on
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.rewriting import follow_moves
from orbit_registry.errors import plural
from orbit_registry.formats.position import Position
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.workspace.workspace import CONFIG

if TYPE_CHECKING:
    from orbit_enforce.added import Added, AddedName
    from orbit_registry.formats.adr.model import RejectedOption
    from orbit_registry.model.record import Record

_CODES = (
    (
        "ORB1001",
        "invalid-check",
        Severity.ERROR,
        "A check in a record can't be used.",
        "correct the named field",
    ),
    (
        "ORB1002",
        "unproven-check",
        Severity.ERROR,
        "An example of a check is missing or does not hold.",
        "add texts under `passes:` and `fails:` that show what it finds",
    ),
    (
        "ORB1003",
        "blind-check",
        Severity.WARNING,
        "A check looks at no file, or leaves out files that are not there.",
        "correct the globs under `in:` and `except:`",
    ),
    (
        "ORB1004",
        "check-not-run",
        Severity.ERROR,
        "A check of a record was not run, so nothing is known.",
        "install what it needs, or leave the file out with `except:`",
    ),
    (
        "ORB1005",
        "decision-broken",
        Severity.ERROR,
        "A file breaks a decision, by a check that the record states.",
        "change the code, or write the reason there: `orbit: allow ID because …`",
    ),
    (
        "ORB1006",
        "allow-without-reason",
        Severity.ERROR,
        "A comment allows a broken decision and says no reason.",
        "add the reason: `orbit: allow ID because …`",
    ),
    (
        "ORB1007",
        "unused-allow",
        Severity.WARNING,
        "A comment allows something that no check finds.",
        "remove the comment, or correct the id",
    ),
    (
        "ORB1008",
        "check-weakened",
        Severity.ERROR,
        "A change breaks a check of its base that it weakens, ends or moves files out of.",
        "leave the check unchanged, or weaken it in a separate change",
    ),
    (
        "ORB1009",
        "reference-off",
        Severity.WARNING,
        "A rule of another program, named by a record, is off.",
        "switch the rule on, or correct its name",
    ),
    (
        "ORB1010",
        "evidence-stale",
        Severity.NOTE,
        "A replay says nothing of its check any more, or has fields without effect.",
        "replay it: `orbit enforce replay ID/CHECK`",
    ),
)


_FIELD = "checks"
_FIXES = {"ORB1003": follow_moves}


def _enforced(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield what the checks of records report; a fix can follow globs that git saw move."""
    for row in context.enforced:
        moves = context.moves.get(row.location.path, ()) if row.code in _FIXES else ()
        new = [move for move in moves if move.new is not None and move.field == _FIELD]
        if not new:
            yield row
            continue

        moved = ", ".join(f"`{move.old}` to `{move.new}`" for move in new)
        hint = f"git saw files move, {moved}: `orbit check --fix` follows them"
        yield replace(row, hint=hint, fixable=True)


CHECKS = tuple(passed_on(*code, _enforced, _FIXES.get(code[0])) for code in _CODES)


@check("ORB1020", Severity.WARNING, "leave it out, or propose a decision that supersedes this one")
def rejected_option(context: CheckContext) -> Iterator[Diagnostic]:
    """A change adds an import or a dependency that a live decision ruled out."""
    additions: Added | None = context.added
    if additions is None or not any(additions):
        return

    from orbit_registry.search.rejected import ruled_out  # its words take 10 ms to load

    added = additions.names
    names = [row.name for row in added]
    records = [*context.with_options()]
    known: set[tuple[int, str]] = set()
    for number, record, option in ruled_out(records, names):
        known.add((number, record.uid))
        yield _ruled_out(added[number], record, option)

    if any(record.rejected for record in records):
        yield from _unread(additions)
    if context.options_before is None:
        return

    # The base judges too: a change may not take back what rules out what it adds.
    before = [*context.options_before()]
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
