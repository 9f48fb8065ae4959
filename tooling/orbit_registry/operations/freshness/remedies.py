"""What a person can do about a stale record."""

from shlex import quote

from orbit_registry.model.freshness import Cause, Freshness
from orbit_registry.model.record import Record


def remedies(record: Record, freshness: Freshness) -> list[str]:
    """Return the commands for a stale record, the likeliest first."""
    kind, verify_it = record.kind, f"orbit verify {record.id}"
    closed = [
        to
        for to in kind.verbs.values()
        if to in record.status.to and kind.status(to).phase == "closed"
    ]
    because = " --reason WHY" if closed and kind.is_rejection(kind.status(closed[-1])) else ""
    closing = [f"orbit {kind.name} {kind.verb_of(to)} {record.id}{because}" for to in closed[-1:]]

    if freshness.cause is Cause.EXPIRED:
        return [*closing, f"{verify_it} --expires DATE"]

    unhashed = [
        f"--remove-input {quote(reason.subject)}"
        for reason in freshness.reasons
        if reason.cause is Cause.FINGERPRINT and (reason.is_gone or reason.is_unreadable)
    ]
    without = [" ".join((verify_it, *unhashed))] if unhashed else []
    moved = any(
        reason.cause is Cause.ANCHOR and reason.subject == "scope.paths"
        for reason in freshness.reasons
    )
    renames: list[str] = []
    if moved:
        renames.append("orbit check --fix")
        dead = "".join(f" --remove-path {quote(glob)}" for glob in record.scope.paths)
        renames.append(f"orbit {kind.name} update {record.id} --path GLOB{dead}")

    sources = [
        reason for reason in freshness.reasons if kind.in_file and reason.cause is Cause.SOURCE
    ]
    where = " --path FILE" if any(reason.is_unreadable for reason in sources) else ""
    refresh = f"orbit refresh {record.id}{where}" if sources else verify_it
    if not (freshness.is_gone or unhashed):
        without.append(refresh)
    return [*renames, *without, *closing]
