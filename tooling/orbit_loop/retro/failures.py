"""Failures: targets that failed and are not to be tried again for a while."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from orbit_registry.errors import RecordNotFoundError, RefusedError, UsageError
from orbit_registry.formats.untrusted import cut
from orbit_registry.hook.events import CLEARED, FAILED
from orbit_registry.model.freshness import expires_at
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.operations import edits, lifecycle
from orbit_registry.repository.codec import mapping_in
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import create_record, draft_record
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.event_log import write_event
from orbit_registry.workspace.workspace import Workspace

KIND = "failure"
LONGEST_TITLE = 200
PROTECTED_TYPES = frozenset(("schedule", "watchdog"))
"""Targets that run the loop itself: without them nothing would run again."""
_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,99}\Z")
_FORM = "write it as type:project:id or type:id: story:shop:S-1, adr:ADR-0042"


@dataclass(frozen=True, slots=True)
class Target:
    """What was tried: type, project ("" for none) and id."""

    type: str
    project: str
    id: str

    def __str__(self) -> str:
        return ":".join(filter(None, (self.type, self.project, self.id)))

    def as_data(self) -> dict[str, str]:
        """Return the target as a record's field."""
        data = {"type": self.type, "project": self.project, "id": self.id}
        return {name: value for name, value in data.items() if value or name != "project"}


def read_target(text: str) -> Target:
    """Parse a target such as `story:shop:S-1`."""
    kind, _, qualified_id = text.partition(":")
    project, _, name = qualified_id.rpartition(":")
    if (
        not _TYPE.match(kind)
        or not name.strip()
        or (qualified_id.startswith(":"))
        or any(map(str.isspace, text))
    ):
        raise UsageError(f"{text[:100]!r} is not a target", hint=_FORM)

    return Target(kind, project, name)


def target_from(value: object) -> Target:
    """Return the target in a record's field."""
    fields: Mapping[str, object] = value if isinstance(value, Mapping) else {}
    return Target(
        str(fields.get("type", "")), str(fields.get("project", "")), str(fields.get("id", ""))
    )


def target_of(record: Record) -> Target:
    """Return the target of a record."""
    return target_from(record.data["target"])


def open_failures(records: Iterable[Record], now: datetime) -> Iterator[Record]:
    """Yield the live, unexpired failures."""
    for record in records:
        if record.kind.name == KIND and record.phase == "live":
            end = expires_at(record)
            if end is None or end > now:
                yield record


def open_failure(records: Iterable[Record], target: Target, now: datetime) -> Record | None:
    """Return the open failure of a target; None if it may be tried."""
    return next(
        (record for record in open_failures(records, now) if target_of(record) == target), None
    )


def fail(
    workspace: Workspace,
    target: Target,
    fields: Mapping[str, object],
    author: Author,
    now: datetime,
    *,
    dry_run: bool = False,
    verb: str = "failed:",
) -> tuple[Record, bool]:
    """Record a failure of a target, or update the open one;
    return the record and whether it is new.
    """
    if target.type in PROTECTED_TYPES:
        hint = "keep what it runs from being tried: story:shop:S-1"
        raise RefusedError(f"{target} runs the work itself and can't be left alone", hint=hint)

    updates = {name: value for name, value in fields.items() if value is not None}
    existing = open_failure(read_collection(workspace).records, target, now)
    if existing is None:
        updates = {
            "attempts": 1,
            **updates,
            "title": _title(target, verb, updates),
            "target": target.as_data(),
        }
        record = _first(workspace, target, updates, author, now, dry_run=dry_run)
    else:
        is_reviewed = existing.role == "human" or existing.status.pushed
        if author.role == "agent" and is_reviewed:  # a person wrote or accepted its text
            updates = {name: value for name, value in updates.items() if name == "attempts"}
        record = _again(workspace, existing, target, updates, now, verb, dry_run=dry_run)
        if author.role == "human" and record.status.waits and not dry_run:
            confirmed = record.kind.initial["human"]
            record = lifecycle.transition(workspace, record.id, confirmed, author)

    if not dry_run:
        details = {"target": str(target), "attempts": record.data.get("attempts", 1)}
        write_event(workspace, FAILED, [record.id], details)

    return record, existing is None


def _first(
    workspace: Workspace,
    target: Target,
    fields: Mapping[str, object],
    author: Author,
    now: datetime,
    *,
    dry_run: bool,
) -> Record:
    kind = workspace.kinds[KIND]
    if dry_run:
        return draft_record(workspace, kind, author, fields)[1]

    def admit(_: Record) -> None:  # another process may have recorded it meanwhile
        if other := open_failure(read_collection(workspace).records, target, now):
            raise RefusedError(
                f"{other.id} says so of {target} since just now", hint="run the command again"
            )

    return create_record(workspace, kind, author, fields, admit)


def _again(
    workspace: Workspace,
    existing: Record,
    target: Target,
    updates: Mapping[str, object],
    now: datetime,
    verb: str,
    *,
    dry_run: bool,
) -> Record:
    """Add one more attempt to a failure, with what is new about it."""

    def again(data: dict[str, object]) -> dict[str, object]:
        tried = data.get("attempts")
        attempts = tried + 1 if isinstance(tried, int) else 1
        verified = {**mapping_in(data, "freshness"), "verified_at": format_time(now)}
        changed = {**data, "attempts": attempts, **updates, "freshness": verified}
        for name in {"links", "evidence"} & updates.keys():
            changed[name] = _united(data.get(name), updates[name])

        return {**changed, "title": _title(target, verb, changed)}

    if dry_run:
        return edits.plan_change(workspace, existing.id, again)[0]

    return edits.change_fields(workspace, existing.id, again)


def clear(
    workspace: Workspace, target: Target, author: Author, now: datetime, event: str = CLEARED
) -> Record:
    """Close the open failure of a target; `event` names the cause in the log."""
    existing = open_failure(read_collection(workspace).records, target, now)
    if existing is None:
        message = f"nothing keeps {target} from being tried"
        raise RecordNotFoundError(message, hint="`orbit failure list --all` shows every failure")
    record = lifecycle.transition(workspace, existing.id, CLEARED, author)
    write_event(workspace, event, [record.id], {"target": str(target)})
    return record


def _united(current: object, more: object) -> list[object]:
    listed = [*current] if isinstance(current, list) else []
    added = more if isinstance(more, list) else []
    return listed + [entry for entry in added if entry not in listed]


def _title(target: Target, verb: str, fields: Mapping[str, object]) -> str:
    return cut(f"{target} {verb} {' '.join(str(fields.get('reason', '')).split())}", LONGEST_TITLE)


def state(record: Record, now: datetime) -> dict[str, object]:
    """Return a failure's target, attempts, reason, whether it is open, and until when."""
    end = expires_at(record)
    return {
        "target": str(target_of(record)),
        "id": record.id,
        "holds": any(open_failures([record], now)),
        "attempts": record.data.get("attempts", 1),
        "reason": record.text("reason"),
        "until": None if end is None else format_time(end.astimezone(UTC)),
    }
