"""ORB801: an input of a record's fingerprint is not what it was when the record was verified."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.freshness import inputs_of


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each input whose hash is another one now."""
    for record in context.resting:
        for index, entry in enumerate(inputs_of(record)):
            found = context.sight.inputs.get(entry.input)
            if found is not None and found.hash is not None and entry.hash not in (None, found.hash):
                message = f"`{entry.input}` has changed since {record.id} was verified"
                hint = f"read it again: `orbit verify {record.id}` where it still holds, else correct or retire it"
                where = context.at(record, "freshness", "fingerprint", index, "hash")
                yield CHECK.at(where, message, hint=hint, record=record)


CHECK = Check(
    "ORB801",
    "changed-input",
    Severity.WARNING,
    "What a record was verified against has changed.",
    "read it again: `orbit verify ID` where it still holds, else correct or retire it",
    run,
)
