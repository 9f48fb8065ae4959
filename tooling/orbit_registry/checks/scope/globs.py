"""Whose scope is looked at, and what counts as broad; shared by the checks of this family."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.matching import parsed
from orbit_registry.records.record import Record
from orbit_registry.text.glob_syntax import Glob

FEWEST_FILES = 20
"""In a smaller project a share of the files says nothing."""
SHARE = 0.2


def applying(context: CheckContext) -> Iterator[Record]:
    """Yield the records whose scope matters: those that wait or hold, and have globs."""
    return (record for record in context.records if record.phase != "closed" and record.scope.paths)


def valid_globs(record: Record) -> list[tuple[int, Glob]]:
    """Return the globs of a record that can be read, with their places in its list."""
    read = ((index, parsed(text)) for index, text in enumerate(record.scope.paths))
    return [(index, glob) for index, glob in read if isinstance(glob, Glob)]
