"""ORB406: a secret in a record or its document."""

from __future__ import annotations

from collections.abc import Iterator

from orbit_registry.checks.check import Check
from orbit_registry.checks.content.strings import strings_of
from orbit_registry.checks.context import CheckContext
from orbit_registry.checks.spelling import Spelling
from orbit_registry.records.diagnostic import Diagnostic, Severity
from orbit_registry.records.record import Record
from orbit_registry.text.secrets import NEEDLES, find_secrets


def run(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield each secret in any text of a record; the secret itself is never shown."""
    held = [record for record in context.records if not record.kind.in_record or _may_hold(context, record)]
    for record in Spelling(held).suspects(NEEDLES):
        for text in strings_of(record):
            for suspect in find_secrets(text.value):
                length = suspect.end - suspect.start
                message = f"{text.name} of {record.id} holds a secret: {suspect.kind}, {length} characters"
                yield CHECK.at(text.place(context, record, suspect.start), message, record=record)


def _may_hold(context: CheckContext, record: Record) -> bool:
    return context.unkept is None or record.path in context.unkept


CHECK = Check(
    "ORB406",
    "secret",
    Severity.ERROR,
    "A record or its document holds a secret.",
    "withdraw the secret where it is valid, then remove it here; git keeps the old text in its history",
    run,
)
