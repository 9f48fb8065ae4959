"""Says why a record may no longer hold, and which commands make sense then; whether it holds is not decided here."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from orbit_registry.records.freshness import Cause, Freshness
from orbit_registry.records.record import Record


def freshness_data(record: Record, freshness: Freshness) -> dict[str, object]:
    """Return what is derived for a record as JSON shows it."""
    return {
        "id": record.id,
        "kind": record.kind.name,
        "title": record.title,
        "path": record.path,
        "state": freshness.state.value,
        "cause": freshness.cause.value if freshness.cause else None,
        "reasons": reasons_data(freshness),
        "do": remedies(record, freshness),
    }


def reasons_data(freshness: Freshness) -> list[Mapping[str, object]]:
    """Return why a record is not fresh as JSON shows it."""
    return [
        {"cause": one.cause.value, "subject": one.subject, "message": one.message, "gone": one.is_gone}
        for one in freshness.reasons
    ]


def remedies(record: Record, freshness: Freshness) -> list[str]:
    """Return the commands that make sense for a record that is not fresh, the likeliest first."""
    verify_it = f"orbit verify {record.id}"
    verbs = record.kind.verbs.items()
    closing = [f"orbit {record.kind.name} {verb} {record.id}" for verb, to in verbs if _closes(record, to)][-1:]
    if freshness.cause is Cause.EXPIRED:
        return [*closing, f"{verify_it} --expires DATE"]
    unhashed = [
        f"--remove-input {quote(one.subject)}"
        for one in freshness.reasons
        if one.cause is Cause.FINGERPRINT and (one.is_gone or one.is_unreadable)
    ]
    without = [" ".join((verify_it, *unhashed))] if unhashed else []
    moved = any(one.cause is Cause.ANCHOR and one.subject == "scope.paths" for one in freshness.reasons)
    renames = ["orbit learning prune --fix-renames"] if moved and record.kind.name == "learning" else []
    taken = record.kind.in_file and any(one.cause is Cause.SOURCE for one in freshness.reasons)
    again = [] if freshness.is_gone or unhashed else [f"orbit refresh {record.id}" if taken else verify_it]
    return [*renames, *without, *again, *closing]


def _closes(record: Record, to: str) -> bool:
    return to in record.status.to and record.kind.status(to).phase == "closed"
