"""`pitch`: what could be done next."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated

from orbit_loop.pitch import Pitch, verdict
from orbit_loop.pitch import pitch as pitched
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.arguments import Form
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError
from orbit_registry.workspace.author import Review


@operation("pitch", job="Learn from work", writes=True)
def pitch(
    call: Call,
    decision: Annotated[str | None, Form(enum=("approve", "reject"))] = None,
    name: str | None = None,
    limit: Annotated[int, Form(minimum=1, maximum=100)] = 5,
    by: str | None = None,
    reason: str | None = None,
) -> Answer:
    """Rank what could be done next, and explain the order.

    Candidates are proposed decisions and the work items of `brief.sources.work_items`. A target
    that failed is left out for a while; similar ones rank lower. `approve` and `reject` keep a
    person's verdict.

    orbit pitch
    orbit pitch approve ADR-0007
    orbit pitch reject story:shop:S-4 --reason "not before the sandbox has a browser"

    Args:
        decision [approve|reject]: The verdict on a candidate.
        name [ID]: The candidate.
        limit: At most this many.
        by WHO: Who decides; you if not given.
        reason WHY: Why; the decision or the failure keeps it.
    """
    if decision is not None and name is not None:
        return _decided(call, name, Review(_line(by), _line(reason)), decision == "approve")
    if decision is not None:
        raise UsageError(f"{decision} what", hint=f"orbit pitch {decision} ADR-0007")
    if name is not None:
        hint = f"orbit pitch approve {name}, or orbit pitch reject {name} --reason WHY"
        raise UsageError(f"no verdict on {name}: approve or reject", hint=hint)
    if by or reason:
        hint = "orbit pitch reject ID --reason WHY"
        raise UsageError("--by and --reason belong to a verdict", hint=hint)

    records = call.registry.collection.records
    result = pitched(call.workspace, records, datetime.now(UTC), limit)
    following = []
    if result.pitched:
        following = [f"orbit pitch approve {result.pitched[0].candidate.id}"]

    notes = [f"warning: {warning}" for warning in result.warnings]
    return Answer(result.as_data(), "\n".join(_lines(result)), following, notes)


def _decided(call: Call, name: str, review: Review, approved: bool) -> Answer:
    if not approved and not review.reason:
        review = Review(review.by, _asked_reason(call))

    now = datetime.now(UTC)
    record = verdict(call.workspace, name, call.author(), review, now, approved=approved)
    word = "approved" if approved else "rejected"
    data = {"id": name, "verdict": word, "status": None}
    where = ""
    if record is not None:
        data |= {"id": record.id, "status": record.status.name}
        where = f"\n  {record.path}"

    consequence = "" if approved else "; it is left alone for 7 days"
    return Answer(data, f"{data['id']} {word}{consequence}{where}")


def _asked_reason(call: Call) -> str:
    if call.person is None:
        hint = '--reason "the linter says so already"'
        raise UsageError("a rejection needs a reason", hint=hint)
    return _line(call.person.answer("Why"))


def _line(text: str | None) -> str:
    if text is not None and not text.strip():
        hint = 'say it in words: --reason "the linter says so already"'
        raise UsageError("--by or --reason is empty", hint=hint)
    return " ".join((text or "").split())


def _lines(result: Pitch) -> Iterator[str]:
    if result.reason:
        yield result.reason

    for position, entry in enumerate(result.pitched, 1):
        candidate = entry.candidate
        yield f"{position}. {candidate.id}  {candidate.title}  ({entry.score:g})"
        for name, weight, reason in entry.factors:
            yield f"     {weight:+g}  {name}: {reason}"

    for candidate, reason in result.left_out:
        yield f"left out: {candidate.id}  {candidate.title}\n     {reason}"
