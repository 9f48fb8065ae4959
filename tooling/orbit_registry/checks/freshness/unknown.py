"""ORB802: an input of a record's fingerprint has no hash to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.freshness import Found, Input, inputs_of
from orbit_registry.records.record import Record


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each input that is not there, can't be read, can't be told here, or was never hashed."""
    for record in context.resting:
        for index, entry in enumerate(inputs_of(record)):
            said = _said(record, entry, context.sight.inputs.get(entry.input))
            if said is not None:  # places cost a reading of the file
                where = context.at(record, "freshness", "fingerprint", index, "input")
                message, weight, hint = said
                yield CHECK.at(where, message, severity=weight, hint=hint, record=record)


def _said(record: Record, entry: Input, found: Found | None) -> tuple[str, Severity, str] | None:
    """Return what is wrong with an input, how much it weighs and what to do; None where nothing is."""
    if found is not None and found.is_untold:
        return f"`{entry.input}` {found.problem}", Severity.NOTE, "run it in a git work tree"
    if found is not None and found.problem is not None:
        hint = f"correct the input, or take it out: `orbit verify {record.id} --remove-input {quote(entry.input)}`"
        return f"`{entry.input}` {found.problem}", Severity.WARNING, hint
    if entry.hash is None:
        message = f"`{entry.input}` has no hash, so that no change of it is noticed"
        return message, Severity.NOTE, f"`orbit verify {record.id}` writes it"
    return None


CHECK = Check(
    "ORB802",
    "unknown-input",
    Severity.WARNING,
    "What a record was verified against is not there, can't be read, or has no hash.",
    "correct the input, or take it out: `orbit verify ID --remove-input INPUT`",
    run,
)
