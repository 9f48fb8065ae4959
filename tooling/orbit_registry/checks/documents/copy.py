"""ORB713: the copy of a text is not what was taken over."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Location, Severity


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each record with a copy that was changed by hand, or by a merge."""
    for record in context.records:
        source = record.source
        if (
            not record.kind.in_file
            or source is None
            or not record.prose
            or not {"file", "content_hash"} <= {*record.data}
        ):
            continue
        found = hashlib.sha256(record.prose.encode("utf-8", "surrogateescape")).hexdigest()
        if record.text("content_hash") != f"sha256:{found}":
            message = f"the copy that {record.id} keeps is not the text that was taken over"
            path = record.text("path")
            hint = f"`orbit refresh {record.id}` takes {path} over again" if path else "bring the copy back from git"
            yield CHECK.at(Location(source.path), message, hint=hint, record=record)


CHECK = Check(
    "ORB713",
    "changed-copy",
    Severity.WARNING,
    "The copy of a text is not what was taken over.",
    "change the file that it was taken from and refresh the record, or bring the copy back from git",
    run,
)
