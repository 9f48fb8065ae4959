"""Finds the checks, each a name of a module in `families`, alone or in a tuple, and runs them; it has no table."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache

from orbit_registry.checks import families
from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.store.codec import HIDING, hides_record


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check, in the order of codes."""
    return tuple(sorted(_stated(), key=lambda check: check.code))


def check_of(code: str) -> Check | None:
    """Return the check with a code."""
    return next((check for check in all_checks() if check.code == code), None)


def run_checks(context: CheckContext, checks: Iterable[Check] | None = None) -> list[Diagnostic]:
    """Return what the checks find, ordered by place; all but the ignored ones.

    A file that holds no record is named all the same: every answer leaves it out and refers to the gate.
    An error inside a check is a bug of ours and is not caught: it ends the run.
    """
    ignored = frozenset(context.config.setting("checks", "ignore"))
    wanted = [check for check in (all_checks() if checks is None else checks) if check.code not in ignored - HIDING]
    found = (diagnostic for check in wanted for diagnostic in check.run(context))
    named = {diagnostic for diagnostic in found if diagnostic.code not in ignored or hides_record(diagnostic)}
    return sorted(named, key=lambda diagnostic: diagnostic.sort_key)


def _stated() -> Iterator[Check]:
    for found in pkgutil.iter_modules(families.__path__, f"{families.__name__}."):
        for value in vars(importlib.import_module(found.name)).values():
            yield from (one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Check))
