"""`orbit review`, `queue`, `accept`, `reject`, `retire`, `propose` and `apply`:
a person's review.
"""

import copy
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import click

from orbit_registry.cli.kind import note_unclear
from orbit_registry.cli.output import emit, format_option, open_registry, warn_of_unread
from orbit_registry.cli.records import (
    binding_options,
    kind_name,
    line,
    print_moved,
    rejection_of,
    review_of,
)
from orbit_registry.cli.writer import say
from orbit_registry.errors import UsageError, plural
from orbit_registry.lifecycle.built import Built, State
from orbit_registry.model.kind import Phase
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.registry import Registry
from orbit_registry.render.records import freshness_data, record_data, short_table, table
from orbit_registry.review import review
from orbit_registry.review.notices import of_queue, send_notices
from orbit_registry.workspace.author import Review

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
        count = send_notices(registry.workspace, "queue", of_queue(waiting))
        say(f"{count} told", err=True)

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
    of_kinds = review.sections(registry.workspace.kinds, chosen, datetime.now(UTC))

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
        *((section["title"], listed, section["command"]) for section, listed in of_kinds),
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
        **{section["key"]: list(map(record_data, listed)) for section, listed in of_kinds},
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


YES = click.option("--yes", "-y", is_flag=True, help="Do not ask for a reason.")
DRY_RUN = click.option("--dry-run", is_flag=True, help="Print what would change; change nothing.")


@click.command("accept")
@click.argument("any_ids", metavar="ID...", nargs=-1)
@click.option(
    "--status",
    "of_status",
    metavar="STATUS",
    help="Accept all records with a status that no person decided: unknown.",
)
@DRY_RUN
@click.option("--by", metavar="WHO", help="Who accepts; you if not given.")
@click.option("--reason", metavar="WHY", help="Why; the record keeps it.")
@binding_options
@click.option(
    "--due",
    is_flag=True,
    help="Accept what was captured and not rejected for capture.auto_promote_days.",
)
@format_option
def accept(
    any_ids: Sequence[str],
    of_status: str | None,
    dry_run: bool,
    by: str | None,
    reason: str | None,
    expect: str | None,
    yes: bool,
    due: bool,
    output: str,
) -> None:
    """Accept records that wait for review, of any kind.

    At a terminal the whole record is shown first, and exactly that text is accepted. If a record is
    accepted already, nothing changes.

    orbit accept ADR-0012
    orbit accept R-7k3fq --expect 3f0c9a4be21d7780
    orbit accept --status unknown --dry-run
    orbit accept --due
    """
    choices = [due, bool(any_ids), of_status is not None]
    if sum(choices) != 1:
        raise UsageError(
            "give ids, --status or --due: one of them", hint="`orbit review` lists what waits"
        )
    if due and dry_run:
        raise UsageError("--due has no trial", hint="`orbit review` lists what is due")

    if due:
        if expect is not None:
            raise UsageError("--expect is of one record", hint="name its id")
        _promote_due(output)
        return

    reviewed = Review(line(by, "--by"), line(reason, "--reason"))
    silent = yes or dry_run or of_status is not None
    if of_status is not None:
        any_ids = _undecided(of_status)

    decision = review_of(any_ids, reviewed, expect, silent, output)
    _decide(any_ids, "live", decision, output, dry_run=dry_run, empty=f"nothing is {of_status}")


def _undecided(of_status: str) -> list[str]:
    """Return the ids of the records with a status that no person decided, where no document says
    otherwise; the others are named in a note.
    """
    records = open_registry().collection.records
    with_status = [
        record
        for record in records
        if record.status.name == of_status and record.phase == "pending" and not record.status.waits
    ]
    silent, unclear = review.by_evidence(with_status)
    note_unclear(unclear)
    return [record.id for record in silent]


promote = copy.copy(accept)
promote.name = "promote"


@click.command("retire")
@click.argument("any_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", metavar="WHY", help="Why; the record keeps it.")
@click.option("--by", metavar="WHO", help="Who retires; you if not given.")
@DRY_RUN
@YES
@format_option
def retire(
    any_ids: Sequence[str],
    reason: str | None,
    by: str | None,
    dry_run: bool,
    yes: bool,
    output: str,
) -> None:
    """Retire records that no longer hold.

    The files stay. A decision becomes deprecated. If another record replaces it, write so:
    `orbit adr supersede OLD --with NEW`.

    orbit retire L-7k3fq
    orbit retire L-7k3fq --reason "the parser closes the file itself now"
    """
    reviewed = Review(line(by, "--by"), line(reason, "--reason"))
    registry = open_registry()
    author = registry.author()

    def move(any_id: str) -> tuple[Record, Record]:
        record = registry.get(any_id)
        moved = review.retire(registry.workspace, record, author, reviewed, dry_run=dry_run)
        return record, moved

    print_moved(registry, output, any_ids, move, dry_run=dry_run, next_commands=["orbit check"])


@click.command("reject")
@click.argument("any_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", metavar="WHY", help="Why; the record keeps it. A terminal asks for it.")
@click.option("--by", metavar="WHO", help="Who rejects; you if not given.")
@DRY_RUN
@YES
@format_option
def reject(
    any_ids: Sequence[str],
    reason: str | None,
    by: str | None,
    dry_run: bool,
    yes: bool,
    output: str,
) -> None:
    """Reject records that wait for review.

    The files stay, so that the same text is not proposed again. If a record is rejected already,
    nothing changes.

    orbit reject R-7k3fq --reason "the linter says so already"
    """
    rejection = Review(line(by, "--by"), line(reason, "--reason"))
    if yes or dry_run:
        _decide(any_ids, "closed", lambda record: rejection, output, dry_run=dry_run)
        return

    _decide(any_ids, "closed", rejection_of(rejection, output), output)


def _decide(
    any_ids: Sequence[str],
    phase: Phase,
    reviewed: Callable[[Record], Review],
    output: str,
    *,
    dry_run: bool = False,
    empty: str = "",
) -> None:
    registry = open_registry()
    author = registry.author()

    def move(any_id: str) -> tuple[Record, Record]:
        record = registry.get(any_id)
        verdict = reviewed(record)
        moved = review.decide(registry.workspace, record, phase, author, verdict, dry_run=dry_run)
        return record, moved

    print_moved(
        registry,
        output,
        any_ids,
        move,
        dry_run=dry_run,
        empty=empty,
        next_commands=["orbit check", "orbit review"],
    )


def _promote_due(output: str) -> None:
    registry = open_registry()
    done = review.promote_due(
        registry.workspace, registry.collection.records, registry.author(), datetime.now(UTC)
    )
    text = "\n".join(
        f"{record.id} is {record.status.name}  {record.title}\n  {record.path}" for record in done
    )
    emit(
        output,
        [record_data(record) for record in done],
        text or "nothing is due",
        next_commands=["orbit review"],
    )
