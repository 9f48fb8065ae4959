"""Review queue: pending records, verdicts on them, and promotion by time."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from orbit_registry.errors import RefusedError
from orbit_registry.hook.events import APPROVED, REJECTED
from orbit_registry.judgements.status_evidence import evidence_of
from orbit_registry.model.freshness import created_at, expires_at
from orbit_registry.model.kind import KindTable, Phase
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.freshness.evaluate import evaluate_freshness
from orbit_registry.workspace.author import Author, Review
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.workspace import Workspace

_PARTICIPLES: dict[Phase, str] = {"live": "promoted", "closed": "rejected"}
TRUSTED = ("user", "test")  # sources of records that time may promote; never the web or a program
_EVENTS = {"approved": APPROVED, "rejected": REJECTED}


def waiting(records: RecordSet) -> int:
    """Return how many records no person has decided about."""
    return sum(1 for record in records if record.status.waits)


def queue(records: RecordSet, kind: str | None = None) -> list[Record]:
    """Return the records that wait for a verdict:
    by the kinds' order in briefs, the longest waiting first.
    """
    waiting = [
        record for record in records if record.status.waits and kind in (None, record.kind.name)
    ]
    return sorted(
        waiting,
        key=lambda record: (
            record.kind.brief.get("place", 0),
            record.text("created_at") or "",
            record.sort_key,
        ),
    )


def without_status(records: Iterable[Record], kind: str | None = None) -> list[Record]:
    """Return the records whose source states no known status; they wait for no verdict."""
    return [
        record
        for record in records
        if record.phase == "pending"
        and not record.status.waits
        and kind in (None, record.kind.name)
    ]


def by_evidence(records: Iterable[Record]) -> tuple[list[Record], list[Record]]:
    """Return the records whose documents state no status, and those that state an unknown one."""
    silent: list[Record] = []
    unclear: list[Record] = []
    for record in records:
        (silent if evidence_of(record).is_silent else unclear).append(record)

    return silent, unclear


def approval_command(records: Sequence[Record]) -> str:
    """Return the command that makes records without a status live; empty without any."""
    for record in records:
        kind, status = record.kind, record.status
        if not kind.approving_verb:
            return f"orbit {kind.name} list --status {status.name}"
        return f"orbit accept --status {status.name} --dry-run"
    return ""


def decide(
    workspace: Workspace,
    record: Record,
    phase: Phase,
    author: Author,
    review: Review,
    *,
    dry_run: bool = False,
) -> Record:
    """Approve (`live`) or reject (`closed`) a pending record;
    the same verdict again changes nothing.
    """
    status = record.status
    is_so = record.phase == phase and not record.is_undecided
    if is_so and (phase == "live" or record.kind.is_rejection(status)):
        return transition(workspace, record, status.name, author, review, dry_run=dry_run)
    if not record.is_undecided:
        hint = f"`orbit show {record.id}` says who decided; `orbit review` lists what waits"
        raise RefusedError(f"{record.id} is {status.name} and does not wait for review", hint=hint)

    to = record.kind.next_status(status, phase)
    if to is None:
        message = (
            f"a {record.kind.label.lower()} that is {status.name} can't be {_PARTICIPLES[phase]}"
        )
        raise RefusedError(message, hint=record.kind.transitions_help(status, record.id))

    return transition(workspace, record, to, author, review, dry_run=dry_run)


def retire(
    workspace: Workspace,
    record: Record,
    author: Author,
    review: Review | None = None,
    *,
    dry_run: bool = False,
) -> Record:
    """Close a live record that no longer holds; one that is retired already does not change."""
    kind = record.kind
    closed = [to for to in kind.verbs.values() if kind.status(to).phase == "closed"]
    retired = [to for to in closed if not kind.is_rejection(kind.status(to))]
    if record.status.name in retired:
        return record

    to = next((to for to in retired if to in record.status.to), None)
    if record.phase != "live" or to is None:
        message = f"{record.id} is {record.status.name} and can't be retired"
        raise RefusedError(message, hint=kind.transitions_help(record.status, record.id))

    return transition(workspace, record, to, author, review, dry_run=dry_run)


def transition(
    workspace: Workspace,
    record: Record,
    to: str,
    author: Author,
    review: Review | None = None,
    *,
    dry_run: bool = False,
) -> Record:
    """Set a record's status, and log the event if that was a verdict;
    see `lifecycle.transition`.
    """
    from orbit_registry.operations import (
        lifecycle,
    )  # brings ruamel, which the queue and the site do without

    result = lifecycle.transition(workspace, record.id, to, author, review, dry_run=dry_run)
    verdict = lifecycle.review_outcome(record, to)
    if verdict and not dry_run and result.approval != record.approval:
        write_event(
            workspace, _EVENTS[verdict], [result.id], {"by": result.approval[f"{verdict}_by"]}
        )

    return result


def sections(
    kinds: KindTable, records: Sequence[Record], now: datetime
) -> list[tuple[Mapping[str, str], list[Record]]]:
    """Return the sections that kinds have in `orbit review`: live records that are not expired."""
    rows = []
    for kind in kinds:
        if not kind.review:
            continue

        listed = []
        for record in records:
            if record.kind.name != kind.name or record.phase != "live":
                continue

            end = expires_at(record)
            if end is None or end > now:
                listed.append(record)

        rows.append((kind.review, listed))

    return rows


def due_times(workspace: Workspace, records: Iterable[Record]) -> dict[str, datetime]:
    """Return when `promote_due` may promote captured records that are pending; `records` are all
    there are.

    Only a person's word or the outcome of a command is trusted. A replacement of another record, or
    one of two records about one subject, is for a person to decide.
    """
    days = int(workspace.config.setting("capture", "auto_promote_days"))
    if not days:
        return {}

    captured: list[tuple[Record, Mapping[str, object]]] = []
    subjects: Counter[object] = Counter()
    for record in records:
        provenance = record.data.get("provenance")
        if record.phase == "closed" or not isinstance(provenance, Mapping):
            continue

        captured.append((record, provenance))
        if provenance.get("subject"):
            subjects[provenance["subject"]] += 1

    times = {}
    for record, provenance in captured:
        is_trusted = provenance.get("source") in TRUSTED
        if record.phase != "pending" or not is_trusted or record.linked("amends"):
            continue

        if subjects[provenance.get("subject")] < 2:
            times[record.id] = created_at(record) + timedelta(days=days)

    return times


def promote_due(
    workspace: Workspace,
    records: Iterable[Record],
    author: Author,
    now: datetime,
    *,
    dry_run: bool = False,
) -> list[Record]:
    """Promote captured records of a trusted source that were not rejected in time,
    and are not stale.
    """
    times = due_times(workspace, listed := list(records))
    due = [record for record in listed if record.id in times and times[record.id] <= now]
    stale = evaluate_freshness(workspace, due, now).freshness if due else {}
    days = workspace.config.setting("capture", "auto_promote_days")
    review = Review("auto-promotion", f"not turned down in {days} days")

    return [
        decide(workspace, record, "live", author, review, dry_run=dry_run)
        for record in due
        if record.path not in stale
    ]
