"""Finds the checks, each that a module of a family states as `CHECK` or in `CHECKS`, and runs them; it has no table."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache
from types import ModuleType

from orbit_registry.checks import content, documents, duplicates, files, freshness, ids, links, loop, scope
from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic

FAMILIES: tuple[ModuleType, ...] = (files, ids, links, content, scope, duplicates, documents, freshness, loop)


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check, in the order of codes."""
    return tuple(sorted((check for family in FAMILIES for check in _checks_in(family)), key=lambda check: check.code))


def check_of(code: str) -> Check | None:
    """Return the check with a code."""
    return next((check for check in all_checks() if check.code == code), None)


def run_checks(context: CheckContext, checks: Iterable[Check] | None = None) -> list[Diagnostic]:
    """Return what the checks find, ordered by place; all but the ignored ones.

    An error inside a check is a bug of ours and is not caught: it ends the run.
    """
    ignored = frozenset(context.config.setting("checks", "ignore"))
    wanted = [check for check in (all_checks() if checks is None else checks) if check.code not in ignored]
    found = {diagnostic for check in wanted for diagnostic in check.run(context)}
    return sorted(found, key=lambda diagnostic: diagnostic.sort_key)


def _checks_in(family: ModuleType) -> Iterator[Check]:
    for found in pkgutil.iter_modules(family.__path__, f"{family.__name__}."):
        module = importlib.import_module(found.name)
        one = getattr(module, "CHECK", None)
        for check in getattr(module, "CHECKS", (one,) if one is not None else ()):
            if not isinstance(check, Check):
                raise TypeError(f"{found.name}: {check!r} is not a check")
            yield check
