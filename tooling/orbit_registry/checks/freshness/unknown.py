"""ORB802: an input of a record's fingerprint has no hash to compare with."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.context import CheckContext
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.freshness import inputs_of


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each input that is not there, can't be read, can't be told here, or was never hashed."""
    for record in context.resting:
        for index, entry in enumerate(inputs_of(record)):
            found = context.sight.inputs.get(entry.input)
            where = context.at(record, "freshness", "fingerprint", index, "input")
            drop = f"`orbit verify {record.id} --remove-input '{entry.input}'`"
            if found is not None and found.problem is not None:
                weight = Severity.NOTE if found.is_untold else Severity.WARNING
                hint = "run it in a git work tree" if found.is_untold else f"correct the input, or take it out: {drop}"
                yield CHECK.at(where, f"`{entry.input}` {found.problem}", severity=weight, hint=hint, record=record)
            elif entry.hash is None:
                message = f"`{entry.input}` has no hash, so that no change of it is noticed"
                hint = f"`orbit verify {record.id}` writes it"
                yield CHECK.at(where, message, severity=Severity.NOTE, hint=hint, record=record)


CHECK = Check(
    "ORB802",
    "unknown-input",
    Severity.WARNING,
    "What a record was verified against is not there, can't be read, or has no hash.",
    "correct the input, or take it out: `orbit verify ID --remove-input INPUT`",
    run,
)
