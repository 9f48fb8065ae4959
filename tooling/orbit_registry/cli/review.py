"""`orbit review`, `queue`, `accept`, `reject`, `retire`, `propose` and `apply`:
a person's review.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime

import click

from orbit_loop.retro.failures import open_failures
from orbit_registry.cli.output import emit, format_option, open_registry, warn_of_unread
from orbit_registry.cli.records import (
    kind_name,
)
from orbit_registry.cli.writer import say
from orbit_registry.errors import UsageError, plural
from orbit_registry.lifecycle.built import Built, State
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.registry import Registry
from orbit_registry.render.records import freshness_data, record_data, short_table, table
from orbit_registry.review import review

MOST_LISTED = 10  # records of each section that `orbit review` lists


@click.command("queue")
@click.option("--kind", help="Only of this kind.")
@click.option("--count", "counts", is_flag=True, help="Print only the number.")
@click.option("--notify", "notifies", is_flag=True, help="Send what is new to ORBIT_NOTIFY_URLS.")
@format_option
def queue(kind: str | None, counts: bool, notifies: bool, output: str) -> None:
    """List what waits for review, the longest waiting first.

    orbit queue --kind rule
    orbit queue --count
    ORBIT_NOTIFY_URLS=slack://… orbit queue --notify
    """
    registry = Registry.open()
    kind = kind_name(registry, kind)
    waiting = review.queue(registry.collection.records, kind)
    if notifies:
        from orbit_notify.notify import notify, of_queue

        say(f"{notify(registry.workspace, 'queue', of_queue(waiting))} told", err=True)

    of_kind = Counter(record.kind.name for record in waiting)
    unknown = review.without_status(registry.collection.records, kind)
    data: dict[str, object] = {"count": len(waiting), "kinds": dict(of_kind)}
    if counts:
        emit(output, data, str(len(waiting)))
        return

    waiting = registry.whole(waiting)
    rows = [
        (
            record.id,
            record.kind.name,
            record.status.name,
            (record.text("created_at") or "")[:10],
            record.digest,
            record.author,
            record.title,
        )
        for record in waiting
    ]

    times = review.due_times(registry.workspace, registry.collection.records)
    first = waiting[0] if waiting else None
    following = (
        []
        if first is None
        else [
            f"orbit show {first.id}",
            f"orbit accept {first.id} --expect {first.digest}",
            f"orbit reject {first.id} --reason WHY",
        ]
    )

    data |= {
        "unknown": len(unknown),
        "records": [record_data(record) for record in waiting],
        "due": {
            record.id: format_time(times[record.id]) for record in waiting if record.id in times
        },
        "digests": {record.id: record.digest for record in waiting},
    }

    text = (
        table(("id", "kind", "status", "since", "digest", "by", "title"), rows)
        or "nothing waits for review"
    )
    emit(output, data, text, next_commands=following)

    silent, unclear = review.by_evidence(unknown)
    if silent and output == "text":
        command = review.approval_command(silent)
        say(f"no status stated for {plural(len(silent), 'record')}: `{command}`", err=True)
    if unclear and output == "text":
        of_records = plural(len(unclear), "record")
        say(f"status not understood for {of_records}: `orbit review`", err=True)

    warn_of_unread(registry)


@click.command("review")
@click.option("--kind", help="Only records of this kind.")
@click.option("--snooze", metavar="ID", help="Put the review of this record off.")
@click.option("--until", metavar="DAY", help="To when: 2027-09; in six months if not given.")
@format_option
def review_command(kind: str | None, snooze: str | None, until: str | None, output: str) -> None:
    """List what needs a person's attention.

    The sections are: waiting for review, no status stated, status not understood,
    proposed but built, accepted but no trace, built and taken back, review due,
    may no longer hold, failed.

    orbit review
    orbit review --kind learning
    orbit review --snooze ADR-0012 --until 2027-09
    """
    if until is not None and snooze is None:
        raise UsageError("--until says to when --snooze puts a review off", hint="add --snooze ID")
    if snooze is not None:
        _snooze(snooze, until, output)
        return

    registry = Registry.open()
    kind = kind_name(registry, kind)
    records = registry.collection.records
    chosen = [record for record in records if kind in (None, record.kind.name)]
    waiting = registry.whole(review.queue(records, kind))

    unknown = review.without_status(records, kind)
    whole = [record for record in registry.records if kind in (None, record.kind.name)]
    due = registry.due_reviews(whole)
    to_look_at = [record for record in whole if record.path in due]
    by_path = registry.freshness(chosen)
    stale = [record for record in chosen if record.path in by_path]
    failed = [
        record
        for record in open_failures(records, datetime.now(UTC))
        if kind in (None, record.kind.name)
    ]

    silent, unclear = review.by_evidence(unknown)
    in_code = registry.built() if kind in (None, *_kinds_with_documents(registry)) else {}
    by_state = {
        state: [record for record in chosen if _is_in_state(in_code, record, state)]
        for state in (State.PROPOSED, State.NO_TRACE, State.TAKEN_BACK)
    }
    sections = (
        ("Waiting for review", waiting, "orbit accept ID, or orbit reject ID --reason WHY"),
        ("No status stated", silent, review.approval_command(silent)),
        ("Status not understood", unclear, "orbit show ID, then orbit accept ID"),
        (
            "Proposed, but built",
            by_state[State.PROPOSED],
            "orbit show ID, then orbit accept ID",
        ),
        ("Accepted, no trace in the code", by_state[State.NO_TRACE], "orbit show ID"),
        (
            "Built, then taken back",
            by_state[State.TAKEN_BACK],
            "orbit adr deprecate ID, or orbit adr supersede OLD NEW",
        ),
        (
            "Review due",
            to_look_at,
            "orbit show ID says why; then orbit adr amend ID, orbit verify ID, "
            "or orbit review --snooze ID",
        ),
        ("May no longer hold", stale, "orbit stale"),
        ("Failed, not tried again", failed, "orbit clear TARGET"),
    )

    lines: list[str] = []
    for title, listed, command in sections:
        if listed:
            lines += [f"{title} ({len(listed)}): {command}", short_table(listed[:MOST_LISTED])]
            lines += (
                [f"… and {len(listed) - MOST_LISTED} more"] if len(listed) > MOST_LISTED else []
            )
            lines.append("")

    data = {
        "waiting": [{**record_data(record), "digest": record.digest} for record in waiting],
        "unknown": [record_data(record) for record in unknown],
        "due": [
            {**record_data(record), "review_due": due[record.path].as_data()}
            for record in to_look_at
        ],
        "stale": [freshness_data(record, by_path[record.path]) for record in stale],
        "failures": [record_data(record) for record in failed],
        "built": {
            state.value: [
                {**record_data(record), "built": in_code[record.path].as_data()}
                for record in by_state[state]
            ]
            for state in by_state
        },
    }

    text = "\n".join(lines).rstrip() or "nothing needs attention"
    following = [f"orbit show {waiting[0].id}"] if waiting else []
    following += [review.approval_command(silent)] if silent else []
    following += [f"orbit show {unclear[0].id}"] if unclear else []
    following += [f"orbit show {to_look_at[0].id}"] if to_look_at else []
    following += ["orbit stale"] if stale else []
    emit(output, data, text, next_commands=following)
    warn_of_unread(registry)


def _kinds_with_documents(registry: Registry) -> list[str]:
    return [kind.name for kind in registry.workspace.kinds if kind.in_document]


def _is_in_state(in_code: Mapping[str, Built], record: Record, state: State) -> bool:
    return record.path in in_code and in_code[record.path].state is state


def _snooze(any_id: str, until: str | None, output: str) -> None:
    record = open_registry().snooze(any_id, until)
    text = f"{record.id} is to be looked at again from {record.text('review_by')} on"
    emit(output, record_data(record), f"{text}\n  {record.path}")
