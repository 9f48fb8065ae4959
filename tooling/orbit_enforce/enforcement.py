"""Checks of decisions in code (10xx): what `enforce` finds by records' own checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orbit_registry.checks.check import passed_on
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.rewriting import follow_moves
from orbit_registry.model.diagnostic import Diagnostic, Severity

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
