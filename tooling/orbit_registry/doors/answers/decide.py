"""`accept`, `reject` and `retire`: what a person decides about records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from orbit_registry.checks.review import review
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.kinds import has_verbs
from orbit_registry.doors.answers.notes import visibility_of
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.blocks import Block
from orbit_registry.doors.render.records import details_text, record_data, record_text
from orbit_registry.errors import OrbitError, UsageError, plural
from orbit_registry.formats.untrusted import escaped_line, inert_line
from orbit_registry.judgements.status_evidence import evidence_of
from orbit_registry.model.freshness import FRESH
from orbit_registry.model.kind import Phase
from orbit_registry.model.record import Record
from orbit_registry.repository.codec import list_in
from orbit_registry.workspace.author import Review

if TYPE_CHECKING:
    from orbit_registry.lifecycle.touches import Touch
    from orbit_registry.matching.visibility import Visibility

MOST_NAMED = 5
"""So many records are named in text."""
Move = Callable[[str], tuple[Record, Record]]
"""Takes an id; returns the record before and after a decision."""
FOLLOWING = ("orbit check", "orbit review")


@operation("accept", job="Review", line="Accept records that wait for review.", writes=True)
def accept(
    call: Call,
    any_ids: tuple[str, ...] = (),
    of_status: str | None = None,
    dry_run: bool = False,
    by: str | None = None,
    reason: str | None = None,
    expect: str | None = None,
    yes: bool = False,
    due: bool = False,
) -> Answer:
    """Accept records that wait for review, of any kind.

    At a terminal the whole record is shown first, and exactly that text is accepted. If a record is
    accepted already, nothing changes.

    orbit accept ADR-0012
    orbit accept R-7k3fq --expect 3f0c9a4be21d7780
    orbit accept --status unknown --dry-run
    orbit accept --due

    Args:
        any_ids [ID]...: The records.
        of_status --status STATUS: Accept all records with a status that no person decided: unknown.
        dry_run: Print what would change; change nothing.
        by WHO: Who accepts; you if not given.
        reason WHY: Why; the record keeps it.
        expect DIGEST: Only if the record has this digest, which `show` and `review` print.
        yes: Do not ask; else a terminal shows the record first.
        due: Accept what was captured and not rejected for capture.auto_promote_days.
    """
    if sum((due, bool(any_ids), of_status is not None)) != 1:
        raise UsageError(
            "give ids, --status or --due: one of them", hint="`orbit review` lists what waits"
        )
    if due and expect is not None:
        raise UsageError("--expect is of one record", hint="name its id")
    if due:
        return _accept_due(call, dry_run=dry_run)

    notes: list[str] = []
    if of_status is not None:
        records = call.registry.collection.records
        pending = [each for each in records if each.phase == "pending" and not each.status.waits]
        any_ids, notes = undecided(pending, of_status)

    decision = decision_of(by, reason)
    silent = yes or dry_run or of_status is not None
    move = _deciding(call, "live", reviewed_by(call, any_ids, decision, expect, silent), dry_run)
    answer = moved_answer(call, any_ids, move, dry_run=dry_run, empty=f"nothing is {of_status}")
    return replace(answer, notes=[*notes, *answer.notes])


@operation("reject", job="Review", writes=True)
def reject(
    call: Call,
    any_ids: tuple[str, ...],
    reason: str | None = None,
    by: str | None = None,
    dry_run: bool = False,
    yes: bool = False,
) -> Answer:
    """Reject records that wait for review.

    The files stay, so that the same text is not proposed again. If a record is rejected already,
    nothing changes.

    orbit reject R-7k3fq --reason "the linter says so already"

    Args:
        any_ids ID...: The records.
        reason WHY: Why; the record keeps it. A terminal asks for it.
        by WHO: Who rejects; you if not given.
        dry_run: Print what would change; change nothing.
        yes -y --yes: Do not ask for a reason.
    """
    decision = decision_of(by, reason)
    reviewed = rejected_by(call, decision, asks=not (yes or dry_run))
    move = _deciding(call, "closed", reviewed, dry_run)
    return moved_answer(call, any_ids, move, dry_run=dry_run)


@operation("retire", job="Review", writes=True)
def retire(
    call: Call,
    any_ids: tuple[str, ...],
    reason: str | None = None,
    by: str | None = None,
    dry_run: bool = False,
    yes: bool = False,
) -> Answer:
    """Retire records that no longer hold.

    The files stay. A decision becomes deprecated. If another record replaces it, write so:
    `orbit adr supersede OLD --with NEW`.

    orbit retire L-7k3fq
    orbit retire L-7k3fq --reason "the parser closes the file itself now"

    Args:
        any_ids ID...: The records.
        reason WHY: Why; the record keeps it.
        by WHO: Who retires; you if not given.
        dry_run: Print what would change; change nothing.
        yes -y --yes: Do not ask for a reason.
    """
    registry, author = call.registry, call.author()
    decision = decision_of(by, reason)

    def move(any_id: str) -> tuple[Record, Record]:
        record = registry.get(any_id)
        retired = review.retire(registry.workspace, record, author, decision, dry_run=dry_run)
        return record, retired

    return moved_answer(call, any_ids, move, dry_run=dry_run, following=FOLLOWING[:1])


@operation("set status", is_command=False, of_kind=has_verbs, writes=True)
def set_status(
    call: Call,
    status: str,
    any_ids: tuple[str, ...],
    by: str | None = None,
    reason: str | None = None,
    expect: str | None = None,
    yes: bool = False,
    of_status: str | None = None,
    dry_run: bool = False,
) -> Answer:
    """Give records one of the statuses of their kind.

    Args:
        status: The status.
        any_ids ID...: The records.
        by WHO: Who decides; you if not given.
        reason WHY: Why; the record keeps it.
        expect DIGEST: Only if the record has this digest, which `show` and `review` print.
        yes -y --yes: Do not ask: a terminal shows what is accepted, and asks why on a rejection.
        of_status --status: All records with this status.
        dry_run: Print what would change; change nothing.

    Of a kind:
        Set the status to {status}.

        orbit {kind} {verb} {id}{example}
    """
    registry = call.registry
    decision = decision_of(by, reason)
    if (of_status is None) == (not any_ids):
        kind = "KIND" if call.kind is None else call.kind.name
        raise UsageError("name ids, or give --status", hint=f"`orbit {kind} list` has the ids")

    notes: list[str] = []
    if of_status is not None:
        records = registry.collection.records
        chosen = [*records] if call.kind is None else records.of_kind(call.kind.name)
        any_ids, notes = undecided(chosen, of_status)

    silent = yes or dry_run or of_status is not None
    accepted = reviewed_by(call, any_ids, decision, expect, silent)
    rejected = rejected_by(call, decision, asks=not (yes or dry_run))

    def move(any_id: str) -> tuple[Record, Record]:
        record = registry.get(call.of_kind(any_id))
        target = record.kind.status(status)
        reviewed = decision
        if record.kind.is_rejection(target):
            reviewed = rejected(record)
        elif target.phase == "live":
            reviewed = accepted(record)

        return record, registry.transition(any_id, status, reviewed, dry_run=dry_run)

    answer = moved_answer(
        call, any_ids, move, dry_run=dry_run, empty=f"nothing is {of_status}", following=()
    )
    return replace(answer, notes=[*notes, *answer.notes])


def _accept_due(call: Call, *, dry_run: bool) -> Answer:
    registry = call.registry
    records, now = registry.collection.records, datetime.now(UTC)
    done = review.promote_due(registry.workspace, records, call.author(), now, dry_run=dry_run)
    becomes = "would be" if dry_run else "is"
    lines: list[Block] = []
    for record in done:
        lines.append(f"{record.id} {becomes} {record.status.name}  {record.title}")
        if not dry_run:
            lines.append(f"  {record.path}")

    return Answer([*map(record_data, done)], lines or "nothing is due", FOLLOWING[1:])


def undecided(records: Sequence[Record], status: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the ids of the records with a status that no person decided, where no document says
    otherwise, and notes that name the others.
    """
    silent, unclear = review.by_evidence([each for each in records if each.status.name == status])
    notes = [f"left: {record.id}: {evidence_of(record)}" for record in unclear[:MOST_NAMED]]
    if len(unclear) > MOST_NAMED:
        notes.append(f"left: {len(unclear) - MOST_NAMED} more: `orbit review` lists them")

    return tuple(record.id for record in silent), notes


def line(value: str | None, option: str) -> str:
    """Return an option's text in one line; empty if not given."""
    if value is not None and not value.strip():
        hint = f'say it in words: {option} "the linter says so already"'
        raise UsageError(f"{option} is empty", hint=hint)

    return " ".join((value or "").split())


def decision_of(by: str | None, reason: str | None) -> Review:
    """Return who decides and why, as options give them."""
    return Review(line(by, "--by"), line(reason, "--reason"))


Reviewed = Callable[[Record], Review]


def reviewed_by(
    call: Call, any_ids: Sequence[str], decision: Review, expect: str | None, silent: bool
) -> Reviewed:
    """Return a function that reviews a record,
    bound to the expected digest or to what a terminal showed.
    """
    if expect is not None and (len(any_ids) != 1 or not expect.strip()):
        raise UsageError(
            "--expect is the digest of one record", hint="name one id, or take them one by one"
        )

    bound = replace(decision, expected=(expect or "").strip())
    person = None if silent or expect else call.person

    def reviewed(record: Record) -> Review:
        if person is None or not record.is_undecided:
            return bound

        text = record_text(record, FRESH) + details_text(record)
        person.confirm(text, f"Accept {record.id}?")
        return replace(bound, expected=record.digest)

    return reviewed


def rejected_by(call: Call, decision: Review, *, asks: bool = True) -> Reviewed:
    """Return a function that rejects a record;
    a missing reason is asked for once, if the record can be rejected.
    """
    answers: list[str] = [decision.reason] if decision.reason or not asks else []

    def reviewed(record: Record) -> Review:
        if not any(record.kind.is_rejection(record.kind.status(to)) for to in record.status.to):
            return decision
        if not answers:
            answers.append(_why(call))
        return replace(decision, reason=answers[0])

    return reviewed


def _why(call: Call) -> str:
    if call.person is None or "CI" in os.environ:
        raise UsageError("a rejection needs a reason", hint='--reason "the linter says so already"')
    return " ".join(call.person.answer("Why").split())


def _deciding(call: Call, phase: Phase, reviewed: Reviewed, dry_run: bool) -> Move:
    registry, author = call.registry, call.author()

    def move(any_id: str) -> tuple[Record, Record]:
        record = registry.get(any_id)
        decision = reviewed(record)
        decided = review.decide(
            registry.workspace, record, phase, author, decision, dry_run=dry_run
        )
        return record, decided

    return move


@dataclass(slots=True)
class _Moved:
    """What a decision about records did, and what those that hold now touch."""

    pairs: list[tuple[Record, Record]] = field(default_factory=list)
    judged: Mapping[str, Visibility] = field(default_factory=dict)
    touched: dict[str, Sequence[Touch]] = field(default_factory=dict)

    def accepted(self) -> list[Record]:
        return [record for _, record in self.pairs if record.phase == "live"]


def moved_answer(
    call: Call,
    any_ids: Sequence[str],
    move: Move,
    *,
    dry_run: bool = False,
    empty: str = "",
    following: Sequence[str] = FOLLOWING,
) -> Answer:
    """Move records one by one, and answer with each of them, and with each refusal.

    Of a few that hold now it says where agents are shown them, of more how many are overlooked.
    """
    moved = _Moved()
    refused: list[OrbitError] = []
    for any_id in any_ids:
        try:
            moved.pairs.append(move(any_id))
        except OrbitError as error:
            refused.append(error)

    lines: list[Block] = [*_moved_lines(moved, dry_run), *_stopped_lines(moved)]
    notes: list[str] = []
    is_judged = bool(moved.accepted()) and not dry_run
    if is_judged:
        moved.judged, notes = visibility_of(call.registry, moved.accepted())
        _add_touched(call, moved)
        lines += [*_visible_lines(moved), *_touched_lines(moved)]

    rows = [_row(moved, record) if is_judged else record_data(record) for _, record in moved.pairs]
    data = None if refused and not rows else rows
    if not refused and not lines:
        lines = [empty]
    return Answer(data, lines, following, notes, refused=refused)


def _row(moved: _Moved, record: Record) -> dict[str, object]:
    row = record_data(record)
    judgement = moved.judged.get(record.path)
    row["visibility"] = None if judgement is None else judgement.as_data()
    if record.kind.in_document:
        row["touches"] = [each.as_data(record) for each in moved.touched.get(record.path, ())]

    return row


def _moved_lines(moved: _Moved, dry_run: bool) -> Iterator[str]:
    changed = []
    for before, after in moved.pairs:
        is_changed = before.status.name != after.status.name
        becomes = "would be" if dry_run else "is"
        word = becomes if is_changed else "is already"
        yield f"{after.id} {word} {after.status.name}  {after.title}"

        evidence = evidence_of(before)
        is_unclear = evidence.statement in ("not understood", "not read")
        if is_changed and (is_unclear or len(evidence.words.split()) > 1):
            yield f"  the status was `{inert_line(evidence.words)}`"
        if is_changed and not dry_run:
            changed.append(after)

    documents = [each.source.path for each in changed if each.source and each.kind.in_document]
    if len(changed) > MOST_NAMED:
        theirs = " and their documents" if documents else ""
        yield f"written: {plural(len(changed), 'record')}{theirs}"
        return

    for path in (*documents, *(record.path for record in changed)):
        yield f"  {path}"


def _stopped_lines(moved: _Moved) -> Iterator[str]:
    """Yield which checks of records no longer run."""
    for before, after in moved.pairs:
        checks = [each for each in list_in(before.data, "checks") if isinstance(each, dict)]
        if checks and before.phase == "live" and after.phase == "closed":
            names = ", ".join(f"{before.id}/{each.get('id')}" for each in checks)
            runs = "its check no longer runs" if len(checks) == 1 else "its checks no longer run"
            yield f"  {runs}: {escaped_line(names)}"


def _visible_lines(moved: _Moved) -> Iterator[str]:
    """Yield where agents are shown records; of many only how many are overlooked."""
    from orbit_registry.matching.visibility import SUGGEST, overlooked

    records = moved.accepted()
    if len(records) > MOST_NAMED:
        missing = len(overlooked(records, moved.judged))
        if missing:
            verb = "is" if missing == 1 else "are"
            yield f"{missing:,} of {len(records):,} {verb} shown at no edit: `{SUGGEST}`"
        return

    for record in records:
        judgement = moved.judged.get(record.path)
        if judgement is None or judgement.is_obvious:
            continue
        if len(records) > 1:
            yield record.id
        for sentence in judgement.lines():
            yield f"  {sentence}"


def _add_touched(call: Call, moved: _Moved) -> None:
    """Add what accepted decisions touch; of many it would be a long list."""
    decisions = [record for record in moved.accepted() if record.kind.in_document]
    for record in decisions if len(decisions) <= MOST_NAMED else ():
        (whole,) = call.registry.whole([record])
        moved.touched[record.path] = call.registry.touches(whole)


def _touched_lines(moved: _Moved) -> Iterator[str]:
    from orbit_registry.doors.render.touched import touches_lines

    for record in moved.accepted():
        touches = moved.touched.get(record.path, ())
        if len(moved.touched) > 1 and touches:
            yield record.id
        for text in touches_lines(record, touches):
            yield f"  {text}"
