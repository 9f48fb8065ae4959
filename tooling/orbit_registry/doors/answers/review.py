"""`review` and `queue`: what needs a person's attention."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from orbit_registry.checks.review import review as reviewing
from orbit_registry.checks.review.notices import of_queue, send_notices
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.records import clean
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.blocks import Block, Table
from orbit_registry.doors.render.records import freshness_data, head_data, record_data, short_table
from orbit_registry.errors import UsageError, plural
from orbit_registry.lifecycle.built import Built, State
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.operations.snooze import snooze as put_off
from orbit_registry.registry import Registry

MOST_LISTED = 10
"""So many records of each section are listed."""
MOST_QUEUED = 50
"""So many records a tool lists at once."""
STATES = (State.PROPOSED, State.NO_TRACE, State.TAKEN_BACK)
COLUMNS = ("id", "kind", "status", "since", "digest", "by", "title")
ANSWER_REVIEW = (
    "orbit show ID says why; then orbit adr amend ID, orbit verify ID, or orbit review --snooze ID"
)
Section = tuple[str, Sequence[Record], str]


@operation("queue", is_hidden=True, tool="queue", lists=True)
def queue(
    call: Call, kind: str | None = None, counts: bool = False, notifies: bool = False
) -> Answer:
    """List what waits for review, the longest waiting first.

    orbit queue --kind rule
    orbit queue --count
    ORBIT_NOTIFY_URLS=slack://… orbit queue --notify

    Args:
        kind --kind: Only of this kind.
        counts --count: Print only the number.
        notifies --notify: Send what is new to ORBIT_NOTIFY_URLS.
    """
    registry = call.registry
    name = kind_name(registry, kind)
    records = registry.collection.records
    waiting = reviewing.queue(records, name)
    if call.caller is not None:
        return _queue_of_agent(waiting)

    notes = []
    if notifies:
        notes.append(f"{send_notices(registry.workspace, 'queue', of_queue(waiting))} told")

    of_kind = Counter(record.kind.name for record in waiting)
    data: dict[str, object] = {"count": len(waiting), "kinds": dict(of_kind)}
    if counts:
        return Answer(data, str(len(waiting)), notes=notes)

    waiting = registry.whole(waiting)
    unknown = reviewing.without_status(records, name)
    times = reviewing.due_times(registry.workspace, records)
    due = [record for record in waiting if record.id in times]
    data["unknown"] = len(unknown)
    data["records"] = [record_data(record) for record in waiting]
    data["due"] = {record.id: format_time(times[record.id]) for record in due}
    data["digests"] = {record.id: record.digest for record in waiting}
    table = Table(COLUMNS, [_queue_row(record) for record in waiting])
    return Answer(
        data,
        [table] if waiting else "nothing waits for review",
        _first_steps(waiting),
        notes,
        remarks=[*_unknown_remarks(unknown)],
    )


def _queue_of_agent(waiting: Sequence[Record]) -> Answer:
    listed = [clean(record) for record in waiting[:MOST_QUEUED]]
    data = {"count": len(waiting), "records": [head_data(record) for record in listed]}
    return Answer(data, short_table(listed) or "nothing waits for review")


def _queue_row(record: Record) -> Sequence[str]:
    return (
        record.id,
        record.kind.name,
        record.status.name,
        (record.text("created_at") or "")[:10],
        record.digest,
        record.author,
        record.title,
    )


def _first_steps(waiting: Sequence[Record]) -> list[str]:
    if not waiting:
        return []

    first = waiting[0]
    return [
        f"orbit show {first.id}",
        f"orbit accept {first.id} --expect {first.digest}",
        f"orbit reject {first.id} --reason WHY",
    ]


def _unknown_remarks(unknown: Sequence[Record]) -> Iterator[str]:
    silent, unclear = reviewing.by_evidence(unknown)
    if silent:
        command = reviewing.approval_command(silent)
        yield f"no status stated for {plural(len(silent), 'record')}: `{command}`"
    if unclear:
        yield f"status not understood for {plural(len(unclear), 'record')}: `orbit review`"


@operation("review", job="Review", lists=True)
def review(
    call: Call, kind: str | None = None, snooze: str | None = None, until: str | None = None
) -> Answer:
    """List what needs a person's attention.

    The sections are: waiting for review, no status stated, status not understood,
    proposed but built, accepted but no trace, built and taken back, review due,
    may no longer hold, failed.

    orbit review
    orbit review --kind learning
    orbit review --snooze ADR-0012 --until 2027-09

    Args:
        kind --kind: Only records of this kind.
        snooze ID: Put the review of this record off.
        until DAY: To when: 2027-09; in six months if not given.
    """
    if until is not None and snooze is None:
        raise UsageError("--until says to when --snooze puts a review off", hint="add --snooze ID")

    registry = call.registry
    if snooze is not None:
        record = put_off(registry.refresh(), snooze, until, call.author())
        text = f"{record.id} is to be looked at again from {record.text('review_by')} on"
        return Answer(record_data(record), [text, f"  {record.path}"])

    name = kind_name(registry, kind)
    records = registry.collection.records
    chosen = [record for record in records if name in (None, record.kind.name)]
    whole = [record for record in registry.records if name in (None, record.kind.name)]
    waiting = registry.whole(reviewing.queue(records, name))
    unknown = reviewing.without_status(records, name)
    silent, unclear = reviewing.by_evidence(unknown)
    due = registry.due_reviews(whole)
    due_records = [record for record in whole if record.path in due]
    by_path = registry.freshness(chosen)
    stale = [
        record for record in chosen if record.path in by_path and record.phase != "pending"
    ]  # what waits never held
    of_kinds = reviewing.sections(registry.workspace.kinds, chosen, datetime.now(UTC))
    in_code = _in_code(registry, name)
    by_state = {state: _in_state(in_code, chosen, state) for state in STATES}
    approve = reviewing.approval_command(silent)
    sections: list[Section] = [
        ("Waiting for review", waiting, "orbit accept ID, or orbit reject ID --reason WHY"),
        ("No status stated", silent, approve),
        ("Status not understood", unclear, "orbit show ID, then orbit accept ID"),
        *_sections_of_code(by_state),
        ("Review due", due_records, ANSWER_REVIEW),
        ("May no longer hold", stale, "orbit stale"),
    ]
    data: dict[str, object] = {
        "waiting": [{**record_data(record), "digest": record.digest} for record in waiting],
        "unknown": [*map(record_data, unknown)],
        "due": [record_data(record, due[record.path]) for record in due_records],
    }
    data["stale"] = [freshness_data(record, by_path[record.path]) for record in stale]
    for section, listed in of_kinds:
        sections.append((section["title"], listed, section["command"]))
        data[section["key"]] = [record_data(record) for record in listed]

    data["built"] = {state.value: _built_rows(by_state[state], in_code) for state in STATES}
    following = [f"orbit show {record.id}" for record in waiting[:1]]
    following += [approve] if silent else []
    following += [f"orbit show {record.id}" for record in (*unclear[:1], *due_records[:1])]
    following += ["orbit stale"] if stale else []
    text = "\n".join(map(str, _section_lines(sections))).rstrip()
    return Answer(data, text or "nothing needs attention", following)


def kind_name(registry: Registry, word: str | None) -> str | None:
    """Return the kind that a person names; None if none is named."""
    if word is None:
        return None

    return registry.workspace.kinds.named(word).name


def _section_lines(sections: Sequence[Section]) -> Iterator[Block]:
    for title, listed, command in sections:
        if not listed:
            continue

        yield f"{title} ({len(listed)}): {command}"
        yield short_table(listed[:MOST_LISTED])
        if len(listed) > MOST_LISTED:
            yield f"… and {len(listed) - MOST_LISTED} more"
        yield ""


def _sections_of_code(by_state: Mapping[State, Sequence[Record]]) -> Iterator[Section]:
    yield (
        "Proposed, but built",
        by_state[State.PROPOSED],
        "orbit show ID, then orbit accept ID",
    )
    yield "Accepted, no trace in the code", by_state[State.NO_TRACE], "orbit show ID"
    yield (
        "Built, then taken back",
        by_state[State.TAKEN_BACK],
        "orbit adr deprecate ID, or orbit adr supersede OLD NEW",
    )


def _in_code(registry: Registry, kind: str | None) -> Mapping[str, Built]:
    with_documents = [each.name for each in registry.workspace.kinds if each.in_document]
    if kind in (None, *with_documents):
        return registry.built()

    return {}


def _in_state(
    in_code: Mapping[str, Built], records: Sequence[Record], state: State
) -> list[Record]:
    judged = [record for record in records if record.path in in_code]
    return [record for record in judged if in_code[record.path].state is state]


def _built_rows(
    records: Sequence[Record], in_code: Mapping[str, Built]
) -> list[Mapping[str, object]]:
    return [{**record_data(record), "built": in_code[record.path].as_data()} for record in records]
