"""`orbit pitch`: what could be done next."""

from datetime import UTC, datetime

import click

from orbit_loop.pitch import Pitch, verdict
from orbit_loop.pitch import pitch as pitched
from orbit_registry.cli.output import emit, format_option, open_registry
from orbit_registry.cli.records import line, with_reason
from orbit_registry.cli.writer import say
from orbit_registry.errors import UsageError
from orbit_registry.workspace.author import Review


@click.command("pitch")
@click.argument(
    "decision", type=click.Choice(["approve", "reject"]), required=False, metavar="[approve|reject]"
)
@click.argument("name", metavar="[ID]", required=False)
@click.option(
    "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="At most this many."
)
@click.option("--by", metavar="WHO", help="Who decides; you if not given.")
@click.option("--reason", metavar="WHY", help="Why; the decision or the failure keeps it.")
@format_option
def pitch(
    decision: str | None,
    name: str | None,
    limit: int,
    by: str | None,
    reason: str | None,
    output: str,
) -> None:
    """Rank what could be done next, and explain the order.

    Candidates are proposed decisions and the work items of `brief.sources.work_items`. A target
    that failed is left out for a while; similar ones rank lower. `approve` and `reject` keep a
    person's verdict.

    orbit pitch
    orbit pitch approve ADR-0007
    orbit pitch reject story:shop:S-4 --reason "not before the sandbox has a browser"
    """
    registry = open_registry()
    now = datetime.now(UTC)
    if decision is None or name is None:
        if decision is not None:
            raise UsageError(f"{decision} what", hint=f"orbit pitch {decision} ADR-0007")

        if by or reason:
            raise UsageError(
                "--by and --reason belong to a verdict", hint="orbit pitch reject ID --reason WHY"
            )

        result = pitched(registry.workspace, registry.collection.records, now, limit)
        for warning in result.warnings:
            say(f"warning: {warning}", err=True)

        first = [f"orbit pitch approve {result.pitched[0].candidate.id}"] if result.pitched else []
        emit(output, result.as_data(), _pitch_text(result), next_commands=first)
        return

    review = Review(line(by, "--by"), line(reason, "--reason"))
    review = with_reason(review, output) if decision == "reject" else review
    record = verdict(
        registry.workspace, name, registry.author(), review, now, approved=decision == "approve"
    )
    word = "approved" if decision == "approve" else "rejected"
    status = record.status.name if record is not None else None
    data = {"id": record.id if record is not None else name, "verdict": word, "status": status}

    consequence = "" if decision == "approve" else "; it is left alone for 7 days"
    emit(
        output,
        data,
        f"{data['id']} {word}{consequence}" + (f"\n  {record.path}" if record is not None else ""),
    )


def _pitch_text(result: Pitch) -> str:
    lines = [result.reason] if result.reason else []
    for position, entry in enumerate(result.pitched, 1):
        lines.append(
            f"{position}. {entry.candidate.id}  {entry.candidate.title}  ({entry.score:g})"
        )
        lines += [f"     {weight:+g}  {name}: {reason}" for name, weight, reason in entry.factors]

    lines += [
        f"left out: {candidate.id}  {candidate.title}\n     {reason}"
        for candidate, reason in result.left_out
    ]
    return "\n".join(lines)
