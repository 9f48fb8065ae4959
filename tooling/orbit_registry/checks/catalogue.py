"""Finds the checks, each `Check` that a module of `families` states, and runs them; it reads and writes nothing."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterable
from functools import cache

from orbit_registry.checks import families
from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check, in the order of codes."""
    names = (one.name for one in pkgutil.iter_modules(families.__path__, f"{families.__name__}."))
    stated = [value for name in names for value in vars(importlib.import_module(name)).values()]
    several = (one for value in stated if isinstance(value, tuple) for one in value)
    return tuple(sorted((one for one in (*stated, *several) if isinstance(one, Check)), key=lambda check: check.code))


def check_of(code: str) -> Check | None:
    """Return the check with a code."""
    return next((check for check in all_checks() if check.code == code), None)


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
