"""Knows the layouts that learnings had in danieljhkim/orbit, by the names in their folder; it reads no file.

learnings/L-0001.yaml, learnings/superseded/L-0001.yaml     the flat form
learnings/L20260517-3/learning.yaml                         a folder a record, ids with the day
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from orbit_registry.errors import RefusedError
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.kind import Kind
from orbit_registry.workspace.workspace import Workspace

LEGACY_LAYOUT = "ORB110"
PLURAL = "learnings"
MIGRATE = "run `orbit learning migrate-layout`; with --dry-run it says what it would do"
_OLD = re.compile(r"L-?\d+(?:-\d+)?\.yaml|L\d{8}-\d+|superseded")


def legacy_names(plural: str, names: Iterable[str]) -> list[str]:
    """Return which names in a kind's folder are those of an older layout."""
    return [name for name in names if _OLD.fullmatch(name)] if plural == PLURAL else []


def legacy_layout_problem(folder: str, names: list[str]) -> Diagnostic:
    """Return the one finding about a folder in an older layout."""
    return Diagnostic(LEGACY_LAYOUT, Severity.ERROR, _message(names), Location(folder), MIGRATE)


def refuse_legacy_layout(workspace: Workspace, kind: Kind) -> None:
    """Raise where a kind's records stand in an older layout: a new one beside them would hide that."""
    if kind.plural == PLURAL:
        try:
            names = legacy_names(kind.plural, sorted(entry.name for entry in os.scandir(workspace.folder_of(kind))))
        except OSError:
            return
        if names:
            raise RefusedError(f".orbit/{kind.plural}: {_message(names)}", hint=MIGRATE)


def _message(names: list[str]) -> str:
    subject = f"{names[0]} stands" if len(names) == 1 else f"{', '.join(names[:3])}{' …' if names[3:] else ''} stand"
    return f"{subject} in an older layout, which is not read"
