"""`fail` and `clear`: targets that are not to be tried again for a while."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

from orbit_loop.retro import failures
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Count, Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.record_fields import evidence_from
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError, plural
from orbit_registry.hook.events import CLEARED, REQUEUED
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.evaluate import refuse_missing_evidence
from orbit_registry.repository.guard import refuse_secrets


@operation("fail", job="Write", tool="fail", writes=True)
def fail(
    call: Call,
    target: str,
    reason: str | None = None,
    attempts: Count | None = None,
    ttl_days: Annotated[int | None, Form(minimum=0, maximum=36_500)] = None,
    paths: tuple[str, ...] = (),
    evidence: tuple[str, ...] = (),
    check: bool = False,
    dry_run: bool = False,
) -> Answer:
    """Mark a target that failed, so that it is not retried.

    TARGET is type:project:id, or type:id. Use it after the last attempt. A second call starts the
    time again.

    orbit fail story:shop:S-1 --attempts 3 --reason "the sandbox has no browser"
    orbit fail story:shop:S-1 --check || echo "leave it"

    Args:
        target TARGET: What failed: type:project:id, or type:id.
        reason WHY: Why it failed.
        attempts N: Number of attempts so far; one more if not given.
        ttl_days DAYS: For how many days; 0: for ever.
        paths GLOB: Show it to agents that work on these files.
        evidence --evidence KIND:REF: Evidence: external:INC-42, task:T-1, …
        check: Write nothing; exit 1 while the target is marked as failed.
        dry_run: Print what would be written; write nothing.
    """
    subject = failures.read_target(target)
    now = datetime.now(UTC)
    if check:
        options = (reason, attempts, ttl_days, paths, evidence)
        if any(option not in (None, ()) for option in options):
            raise UsageError("--check writes nothing", hint="leave the other options out")
        return _checked(call, subject, now)

    if not (reason or "").strip():
        hint = 'say why: --reason "the sandbox has no browser"'
        raise UsageError("--reason is missing", hint=hint)

    fields: dict[str, object] = {"reason": reason, "attempts": attempts, "ttl_days": ttl_days}
    if paths:
        fields["scope"] = {"paths": list(paths)}
    if evidence:
        fields["evidence"] = [evidence_from(reference) for reference in evidence]
        refuse_missing_evidence(call.workspace, fields["evidence"])
    if call.caller is not None:
        refuse_secrets("", fields)

    record, is_new = failures.fail(
        call.workspace, subject, fields, call.author(), now, dry_run=dry_run
    )
    data = {**failures.state(record, now), "new": is_new, "dry_run": dry_run}
    outcome = record.path
    following = [f"orbit fail {subject} --check", f"orbit clear {subject}"]
    if dry_run:
        following = []
        outcome = f"would write {'a failure' if is_new else record.path}; nothing is written"

    lines = [state_text(data), f"  {outcome}"]
    if record.status.waits and record.globs and not dry_run:
        lines.append(f"  no edit shows it before a person accepts it: orbit accept {record.id}")

    return Answer(data, "\n".join(lines), following, record_ids=[record.id])


def _checked(call: Call, target: failures.Target, now: datetime) -> Answer:
    existing = failures.open_failure(call.registry.collection.records, target, now)
    if existing is None:
        free = {"target": str(target), "holds": False}
        return Answer(free, state_text(free))

    data = failures.state(existing, now)
    return Answer(data, state_text(data), [f"orbit clear {target}"], ok=False)


@operation("clear", job="Write", writes=True)
def clear(call: Call, target: str, requeued: bool = False) -> Answer:
    """Let a failed target be tried again.

    orbit clear story:shop:S-1

    Args:
        target TARGET: What failed: type:project:id, or type:id.
        requeued: Log that it is requested again, not that it succeeded.
    """
    now = datetime.now(UTC)
    event = REQUEUED if requeued else CLEARED
    subject = failures.read_target(target)
    record = failures.clear(call.workspace, subject, call.author(), now, event)
    data = failures.state(record, now)
    text = f"{subject} may be tried again; {record.id} keeps what was\n  {record.path}"
    return Answer(data, text)


def target_line(record: Record) -> str:
    """Return the target of a failure as a person types it."""
    return str(failures.target_of(record))


def state_text(data: Mapping[str, object]) -> str:
    """Return whether a target may be tried, as text."""
    if not data["holds"]:
        return f"{data['target']} may be tried"

    until = "until it is cleared"
    if data["until"]:
        until = f"until {str(data['until'])[:16].replace('T', ' ')} UTC"

    tried = plural(int(str(data["attempts"])), "time")
    return f"{data['target']} failed {tried} and is left alone {until}: {data['reason']}"
