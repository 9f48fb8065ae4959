"""Review: what waits for a person, and their verdict on it, kept in the record and in the event log; it prints nothing.

Which status a verdict sets stands in the kind's table, so that every kind with pending records is reviewed alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from orbit_registry.errors import RefusedError
from orbit_registry.hook.events import APPROVED, REJECTED
from orbit_registry.model.freshness import created_at
from orbit_registry.model.kind import Phase
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations import lifecycle
from orbit_registry.operations.freshness.evaluate import standing
from orbit_registry.workspace.author import Author, Review
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.workspace import Workspace

_PARTICIPLES: dict[Phase, str] = {"live": "promoted", "closed": "rejected"}
TRUSTED = ("user", "test")
"""Sources of what may come into force by time, where that is turned on; never text of the web or of a program."""
_EVENTS = {"approved": APPROVED, "rejected": REJECTED}


def queue(records: RecordSet, kind: str | None = None) -> list[Record]:
    """Return the records that wait for a verdict: kinds in the order of briefs, in each the longest waiting first.

    A status that a source does not state is no suggestion of anybody: `without_status` counts those.
    """
    waiting = [record for record in records if record.status.waits and kind in (None, record.kind.name)]
    return sorted(
        waiting,
        key=lambda record: (record.kind.brief.get("place", 0), record.text("created_at") or "", record.sort_key),
    )


def without_status(records: Iterable[Record], kind: str | None = None) -> list[Record]:
    """Return the records whose source states no status that is known: nobody is asked for a verdict on them."""
    return [
        record
        for record in records
        if record.phase == "pending" and not record.status.waits and kind in (None, record.kind.name)
    ]


def approval_command(records: Sequence[Record]) -> str:
    """Return the command that brings into force the records whose source states no status; empty without any."""
    for record in records:
        kind, status = record.kind, record.status
        verb = next((verb for verb, to in kind.verbs.items() if kind.status(to).phase == "live"), None)
        start = f"orbit {kind.name} {verb or 'list'} --status {status.name}"
        return f"{start} --dry-run" if verb else start
    return ""


def decide(workspace: Workspace, record: Record, phase: Phase, author: Author, review: Review) -> Record:
    """Give a record that waits the status by which its kind approves (`live`) or rejects (`closed`).

    Raises:
        RefusedError: it does not wait, its kind has no such status, or an agent may not decide.
    """
    status = record.status
    if record.phase != "pending":
        hint = f"`orbit show {record.id}` says who decided; `orbit queue` lists what waits"
        raise RefusedError(f"{record.id} is {status.name} and does not wait for review", hint=hint)
    to = record.kind.next_status(status, phase)
    if to is None:
        message = f"a {record.kind.label.lower()} that is {status.name} can't be {_PARTICIPLES[phase]}"
        raise RefusedError(message, hint=record.kind.transitions_help(status, record.id))
    return transition(workspace, record, to, author, review)


def transition(
    workspace: Workspace,
    record: Record,
    to: str,
    author: Author,
    review: Review | None = None,
    *,
    dry_run: bool = False,
) -> Record:
    """Give a record another status, and write the event where that was a verdict; see `lifecycle.transition`."""
    result = lifecycle.transition(workspace, record.id, to, author, review, dry_run=dry_run)
    verdict = lifecycle.verdict(record, to)
    if verdict and not dry_run and result.approval != record.approval:
        write_event(workspace, _EVENTS[verdict], [result.id], {"by": result.approval[f"{verdict}_by"]})
    return result


@dataclass(frozen=True, slots=True)
class Wait:
    """When time alone may bring something captured into force; `why_not` where it never may."""

    record: Record
    due_at: datetime | None
    why_not: str = ""


def waits(workspace: Workspace, records: Iterable[Record]) -> list[Wait]:
    """Return what was captured and waits, and when `promote_due` may promote it: never, unless days are set for that.

    Only what rests on a person's word or on the outcome of a command counts as trusted. What stands in the place of
    another record changes that one too, and of two records about one subject at most one is right: both are a
    person's to say. `records` are all there are.
    """
    days = int(workspace.config.setting("capture", "auto_promote_days"))
    captured = [
        (record, provenance) for record in records
        if record.phase != "closed" and isinstance(provenance := record.data.get("provenance"), Mapping)
    ]  # fmt: skip
    subjects = Counter(provenance["subject"] for _, provenance in captured if provenance.get("subject"))
    results = []
    for record, provenance in captured:
        if record.phase != "pending":
            continue
        source = str(provenance.get("source"))
        why_not = "capture.auto_promote_days is 0" if not days else ""
        if source not in TRUSTED:
            why_not = f"its source is {source}"
        elif any(link.rel == "amends" for link in record.links):
            why_not = "it stands in the place of another"
        elif subjects[provenance.get("subject")] > 1:
            why_not = "another record is about the same subject"
        results.append(Wait(record, None if why_not else created_at(record) + timedelta(days=days), why_not))
    return results


def promote_due(workspace: Workspace, records: Iterable[Record], author: Author, now: datetime) -> list[Record]:
    """Bring into force what was captured, comes from a trusted source and was not turned down for the set days.

    What has become stale by then wants to be looked at, which time does not.

    Raises:
        RefusedError: an agent asks.
    """
    due = [wait.record for wait in waits(workspace, records) if wait.due_at is not None and wait.due_at <= now]
    stale = standing(workspace, due, now).freshness if due else {}
    days = workspace.config.setting("capture", "auto_promote_days")
    review = Review("auto-promotion", f"not turned down in {days} days")
    return [decide(workspace, record, "live", author, review) for record in due if record.path not in stale]
