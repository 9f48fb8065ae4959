"""Runs checks over a context and puts what they find in order; it reads and writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from orbit_registry.checks.catalogue import all_checks
from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic


def run_checks(
    context: CheckContext, select: Collection[str] | None = None, checks: Iterable[Check] | None = None
) -> list[Diagnostic]:
    """Return what the checks find, ordered by place; `select` names codes, None means all but the ignored ones.

    An error inside a check is a bug of ours and is not caught: it ends the run.
    """
    ignored = frozenset(context.config.setting("checks", "ignore"))
    wanted = [
        check
        for check in (all_checks() if checks is None else checks)
        if (check.code in select if select is not None else check.code not in ignored)
    ]
    found = {diagnostic for check in wanted for diagnostic in check.run(context)}
    return sorted(found, key=lambda diagnostic: diagnostic.sort_key)
