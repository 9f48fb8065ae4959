"""`list`: records in short."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import (
    DOCUMENTS,
    GENERAL,
    TOOL,
    Count,
    Form,
    Phase,
    Status,
)
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.kinds import any_kind
from orbit_registry.doors.answers.notes import unknown_notes
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render import records as render
from orbit_registry.doors.render.blocks import Block
from orbit_registry.errors import UsageError, did_you_mean, listed, plural
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.lifecycle.built import Built, State
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.repository.codec import unread_files
from orbit_registry.repository.guard import redacted

USUAL_PAGE = 50
"""So many records a tool lists at once."""


def clean(record: Record) -> Record:
    """Return a record without secrets; call it before the text is shortened."""

    return redacted(record, without_secrets)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the fields of a record must say for a list to have it."""

    status: Sequence[str]
    phases: Sequence[str]
    tags: Sequence[str]
    labels: Sequence[str]
    legacy_id: str | None
    feature: str | None
    task: str | None
    since: str | None

    def conditions(self, call: Call) -> Iterator[Callable[[Record], bool]]:
        """Yield the conditions that are asked for, those that are quickly answered first."""
        is_tagged = call.workspace.config.is_tagged
        if self.status:
            yield lambda record: record.status.name in self.status
        if self.phases:
            yield lambda record: record.phase in self.phases
        if self.tags:
            yield lambda record: is_tagged(record.tags, self.tags)
        if self.labels:
            yield lambda record: {*self.labels} <= {*record.words("labels")}
        if self.feature is not None:
            yield lambda record: record.text("feature") == self.feature
        if self.task is not None:
            yield lambda record: self.task in (*record.words("tasks"), *record.scope.tasks)
        if self.legacy_id is not None:
            records = call.registry.collection.records.with_former_name(self.legacy_id)
            former = {record.path for record in records}
            yield lambda record: record.path in former
        if self.since is not None:
            earliest = _day(self.since)
            yield lambda record: str(record.data["updated_at"]) >= earliest


@operation(
    "list",
    job="Find",
    line="List records of every kind.",
    of_kind=any_kind,
    tool="list",
    lists=True,
)
def list_records(
    call: Call,
    kind: Annotated[str | None, GENERAL] = None,
    kind_option: Annotated[str | None, GENERAL] = None,
    status: tuple[Status, ...] = (),
    phases: tuple[Phase, ...] = (),
    everything: bool = False,
    tags: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
    legacy_id: str | None = None,
    is_due: bool = False,
    feature: str | None = None,
    task: str | None = None,
    sort: Annotated[str, Form(enum=render.ORDERS)] = "id",
    since: str | None = None,
    limit: Count | None = None,
    built: Annotated[tuple[State, ...], DOCUMENTS] = (),
    offset: Annotated[int, TOOL] = 0,
) -> Answer:
    """List records of every kind, or of one.

    orbit list
    orbit list --all --sort updated
    orbit list --since 2026-11-01 --limit 20

    Args:
        kind [KIND]: Only records of this kind.
        kind_option --kind KIND: Only records of this kind.
        status --status: Only with this status, closed ones too.
        phases: pending: waits for review; live; closed.
        everything --all: List closed records too.
        tags: Only with this scope tag.
        labels: Only with this label.
        legacy_id NAME: Only the record with this earlier name: project/ADR-006.
        is_due --due: Only those to be looked at again.
        feature: Only of this feature.
        task: Only of this task.
        sort: By votes (recent ones weigh more), last change, or id.
        since DATE: Only changed on or after this day: 2026-11-01.
        limit: At most this many.
        built: Only decisions that the code follows (yes), or has no trace of (no).
        offset: Number of records to skip.

    Of a kind:
        List {kinds}.

        orbit {kind} list
        orbit {kind} list --all --sort updated
        orbit {kind} list --since 2026-11-01 --limit 20
    """
    registry = call.registry
    kinds = registry.workspace.kinds
    word = kind_option if kind is None else kind
    only = call.kind or (None if word is None else kinds.named(word))
    _refuse_unknown_status(status, [only] if only else kinds)

    records = registry.collection.records
    matching = records.of_kind(only.name) if only else list(records)
    wanted = Wanted(status, phases, tags, labels, legacy_id, feature, task, since)
    for fits in wanted.conditions(call):
        matching = list(filter(fits, matching))

    due = registry.due_reviews() if is_due else {}
    in_code = registry.built() if built else {}
    if is_due:
        matching = [record for record in matching if record.path in due]
    if built:
        states = {path for path, verdict in in_code.items() if verdict.state in built}
        matching = [record for record in matching if record.path in states]

    closed_too = everything or status or phases or legacy_id is not None
    chosen = [record for record in matching if closed_too or record.phase != "closed"]
    ordered = render.in_order(chosen, sort)
    if call.caller is not None:
        return _page(call, ordered, offset, limit or USUAL_PAGE)

    answer = _listed(ordered[:limit], _table(ordered[:limit], only, sort), due, in_code)
    hidden = len(matching) - len(chosen)
    if hidden:
        closed = f"{plural(hidden, 'closed record')} not listed: --all lists all"
        answer = replace(answer, text=[answer.text[0], closed, *answer.text[1:]])

    features = [feature] if feature else []
    notes = unknown_notes(registry, tag=tags, label=labels, feature=features)
    return replace(answer, notes=notes)


def _listed(
    records: Sequence[Record], table: str, due: Mapping[str, Due], in_code: Mapping[str, Built]
) -> Answer:
    """Return records with what is due and what is in the code, where those were looked for."""
    text: list[Block] = [table]
    rows = []
    for record in records:
        row = render.record_data(record, due.get(record.path))
        if in_code:
            row["built"] = in_code[record.path].as_data()
        rows.append(row)

    text += [f"{record.id}: {due[record.path]}" for record in records if due]
    text += [f"{record.id}: {in_code[record.path].line}" for record in records if in_code]
    return Answer(rows, text)


def _table(records: Sequence[Record], kind: Kind | None, sort: str) -> str:
    if kind is None:
        return render.short_table(records) or "no records"

    columns = list(kind.columns)
    if sort == "votes" and kind.voted:
        columns.append("votes")
    return render.records_table(records, columns)


def _page(call: Call, records: Sequence[Record], offset: int, limit: int) -> Answer:
    """Return records in short, as many as an agent reads at once."""
    page = [clean(record) for record in records[offset : offset + limit]]
    after = max(len(records) - offset - len(page), 0)
    problems = call.registry.collection.problems
    unread = unread_files(problems)

    text: list[Block] = [render.short_table(page) or "no records"]
    if after:
        text.append(f"and {after} more: offset {offset + limit}")
    if unread:
        text.append(f"{render.unread_text(problems)}; run `orbit check`")

    rows = []
    for record in page:
        rows.append({**render.head_data(record), "updated_at": record.text("updated_at")})

    return Answer(
        {"records": rows, "omitted": after, "unread": unread[:20]},
        text,
        next=[f"orbit show {record.id}" for record in page[:1]],
        record_ids=[record.id for record in page],
    )


def _day(text: str) -> str:
    """Return a day as the files have it, if it is one."""
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        hint = "write the day as in `--since 2026-11-01`"
        raise UsageError(f"`{text[:40]}` is not a day", hint=hint) from None


def _refuse_unknown_status(statuses: Sequence[str], kinds: Iterable[Kind]) -> None:
    words: dict[str, None] = {}
    for kind in kinds:
        words.update(dict.fromkeys(kind.statuses))

    for status in statuses:
        if status not in words:
            hint = f"{did_you_mean(status, words, '`')}one of {listed(list(words), 8)}"
            raise UsageError(f"no record can have the status `{status}`", hint=hint)
