"""`orbit queue`, `orbit promote`, `orbit reject`: review of what waits, of every kind; its table says what is set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import click

from orbit_registry.cli.output import emit, format_option, plural, say_refusals, warn_of_unread
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.records import binding_options, bound
from orbit_registry.errors import OrbitError, UsageError
from orbit_registry.model.kind import Phase
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.registry import Registry
from orbit_registry.render.records import record_data, table
from orbit_registry.review import review
from orbit_registry.workspace.author import Review


@click.command("queue")
@click.option("--kind", help="Only of this kind.")
@click.option("--count", "counts", is_flag=True, help="Print how many wait, no more.")
@click.option("--notify", "notifies", is_flag=True, help="Tell what is new in it to ORBIT_NOTIFY_URLS.")
@format_option
def queue(kind: str | None, counts: bool, notifies: bool, output: str) -> None:
    """List what waits for a person's review, of every kind, the longest waiting first.

    \b
    orbit queue --kind rule
    orbit queue --count
    ORBIT_NOTIFY_URLS=slack://… orbit queue --notify
    """
    registry = Registry.open()
    if kind is not None:
        registry.workspace.kinds[kind]
    waiting = review.queue(registry.collection.records, kind)
    if notifies:
        from orbit_registry.exporters.notify import notify, of_queue

        click.echo(f"{notify(registry.workspace, 'queue', of_queue(waiting))} told", err=True)
    of_kind = Counter(record.kind.name for record in waiting)
    unknown = review.without_status(registry.collection.records, kind)
    data: dict[str, object] = {"count": len(waiting), "kinds": dict(of_kind)}
    if counts:
        emit(output, data, str(len(waiting)))
        return
    waiting = registry.whole(waiting)
    rows = [
        (record.id, record.kind.name, record.status.name, (record.text("created_at") or "")[:10], record.digest,
         record.author, record.title)
        for record in waiting
    ]  # fmt: skip
    waits = review.waits(registry.workspace, registry.collection.records)
    ids = {record.id for record in waiting}
    due = {one.record.id: one.due_at for one in waits if one.due_at is not None and one.record.id in ids}
    first = waiting[0] if waiting else None
    following = [] if first is None else [
        f"orbit show {first.id}", f"orbit promote {first.id} --expect {first.digest}",
        f"orbit reject {first.id} --reason WHY",
    ]  # fmt: skip
    emit(
        output,
        {
            **data,
            "unknown": len(unknown),
            "records": [record_data(record) for record in waiting],
            "due": {name: format_time(at) for name, at in due.items()},
            "digests": {record.id: record.digest for record in waiting},
        },
        table(("id", "kind", "status", "since", "digest", "by", "title"), rows) or "nothing waits for review",
        next_commands=following,
    )
    if unknown and output == "text":
        click.echo(
            f"the status of {plural(len(unknown), 'record')} is unknown: `{review.approval_command(unknown)}`", err=True
        )
    warn_of_unread(registry)


@click.command("promote")
@click.argument("any_ids", metavar="ID...", nargs=-1)
@click.option("--by", metavar="WHO", help="Who approves; whoever runs this if not given.")
@click.option("--reason", metavar="WHY", help="Why; kept in the record.")
@binding_options
@click.option("--due", is_flag=True, help="What was captured and not turned down for capture.auto_promote_days.")
@format_option
def promote(
    any_ids: Sequence[str], by: str | None, reason: str | None, expect: str | None, yes: bool, due: bool, output: str
) -> None:
    """Bring what waits for review into force: a suggested rule, a candidate, a proposed decision.

    At a terminal it is shown whole, and comes into force as it was shown.

    \b
    orbit promote R-7k3fq --by "Ada Lovelace"
    orbit promote R-7k3fq --expect 3f0c9a4be21d7780
    orbit promote --due
    """
    if due == bool(any_ids):
        both = "give ids or --due, not both" if due else "name ids, or give --due"
        raise UsageError(both, hint="`orbit queue` lists what waits")
    if due:
        if expect is not None:
            raise UsageError("--expect is of one record", hint="name its id")
        _promote_due(output)
        return
    said = Review(line(by, "--by"), line(reason, "--reason"))
    _decide(any_ids, "live", bound(any_ids, said, expect, yes, output), output)


@click.command("reject")
@click.argument("any_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--reason", metavar="WHY", required=True, help="Why; kept in the record.")
@click.option("--by", metavar="WHO", help="Who rejects; whoever runs this if not given.")
@format_option
def reject(any_ids: Sequence[str], reason: str, by: str | None, output: str) -> None:
    """Turn down what waits for review; the record stays, closed, so that the same is not proposed again.

    \b
    orbit reject R-7k3fq --reason "the linter says so already"
    """
    said = Review(line(by, "--by"), line(reason, "--reason"))
    _decide(any_ids, "closed", lambda _: said, output)


def _decide(any_ids: Sequence[str], phase: Phase, reviewed: Callable[[Record], Review], output: str) -> None:
    registry = open_registry()
    author = registry.author()
    decided: list[Record] = []
    refused: list[OrbitError] = []
    for any_id in any_ids:
        try:
            record = registry.get(any_id)
            decided.append(review.decide(registry.workspace, record, phase, author, reviewed(record)))
        except OrbitError as error:
            refused.append(error)
    text = "\n".join(f"{record.id} is {record.status.name}  {record.title}\n  {record.path}" for record in decided)
    data = [record_data(record) for record in decided]
    if refused:
        say_refusals(output, data if decided else None, text, refused)
    registry.refresh()
    left = len(review.queue(registry.collection.records))
    emit(output, data, text, next_commands=["orbit check", *(["orbit queue"] if left else [])])
    if left and output == "text":
        click.echo(f"{plural(left, 'record')} left: orbit queue", err=True)


def _promote_due(output: str) -> None:
    registry = open_registry()
    done = review.promote_due(registry.workspace, registry.collection.records, registry.author(), datetime.now(UTC))
    text = "\n".join(f"{record.id} is {record.status.name}  {record.title}\n  {record.path}" for record in done)
    emit(output, [record_data(record) for record in done], text or "nothing is due", next_commands=["orbit queue"])


def line(said: str | None, option: str) -> str:
    """Return an option's text in one line; empty where it was not given.

    Raises:
        UsageError: it was given, and says nothing.
    """
    if said is not None and not said.strip():
        raise UsageError(f"{option} is empty", hint=f'say it in words: {option} "the linter says so already"')
    return " ".join((said or "").split())
