"""Finds the checks: every module of the family packages that states `CHECK` or `CHECKS`; no table to edit."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from orbit_registry.checks import content, documents, duplicates, files, freshness, ids, links, loop, scope
from orbit_registry.checks.check import Check

FAMILIES: tuple[ModuleType, ...] = (files, ids, links, content, scope, duplicates, documents, freshness, loop)


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check, in the order of codes."""
    return tuple(sorted((check for family in FAMILIES for check in _checks_in(family)), key=lambda check: check.code))


def check_of(code: str) -> Check | None:
    """Return the check with a code."""
    return next((check for check in all_checks() if check.code == code), None)


def _checks_in(family: ModuleType) -> Iterator[Check]:
    for found in pkgutil.iter_modules(family.__path__, f"{family.__name__}."):
        module = importlib.import_module(found.name)
        one = getattr(module, "CHECK", None)
        for check in getattr(module, "CHECKS", (one,) if one is not None else ()):
            if not isinstance(check, Check):
                raise TypeError(f"{found.name}: {check!r} is not a check")
            yield check
