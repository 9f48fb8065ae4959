"""`orbit pitch`: what could be done next, ranked and explained, and a person's verdict on it."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from orbit_registry.briefs.pitch import Pitch, verdict
from orbit_registry.briefs.pitch import pitch as pitched
from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.review import line
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.workspace.author import Review


@click.command("pitch")
@click.argument("decision", type=click.Choice(["approve", "reject"]), required=False, metavar="[approve|reject]")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="At most so many.")
@click.option("--by", metavar="WHO", help="Who decides; whoever runs this if not given.")
@click.option("--reason", metavar="WHY", help="Why; kept in the decision, and in the failure that a rejection opens.")
@format_option
def pitch(
    decision: str | None, name: str | None, limit: int, by: str | None, reason: str | None, output: str
) -> None:  # fmt: skip
    """Rank what could be done next: proposed decisions, and the work items of `brief.sources.work_items`.

    What failed is left out while it is left alone; what is near to it ranks lower, what is near to something that
    worked ranks higher, and nothing is pitched where no loop can be started. `approve` and `reject` keep a person's
    verdict: a decision gets its status, and what is rejected is left alone for a while.

    \b
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
            raise UsageError("--by and --reason belong to a verdict", hint="orbit pitch reject ID --reason WHY")
        found = pitched(registry.workspace, registry.collection.records, now, limit)
        for warning in found.warnings:
            click.echo(visible(f"warning: {warning}"), err=True)
        first = [f"orbit pitch approve {found.pitched[0].candidate.id}"] if found.pitched else []
        emit(output, found.as_data(), _text(found), next_commands=first)
        return
    review = Review(line(by, "--by"), line(reason, "--reason"))
    record = verdict(registry.workspace, name, registry.author(), review, now, approved=decision == "approve")
    word = "approved" if decision == "approve" else "rejected"
    status = record.status.name if record is not None else None
    data = {"id": record.id if record is not None else name, "verdict": word, "status": status}
    left = "" if decision == "approve" else "; it is left alone for 7 days"
    emit(output, data, f"{data['id']} {word}{left}" + (f"\n  {record.path}" if record is not None else ""))


def _text(found: Pitch) -> str:
    lines = [found.reason] if found.reason else []
    for place, one in enumerate(found.pitched, 1):
        lines.append(f"{place}. {one.candidate.id}  {one.candidate.title}  ({one.score:g})")
        lines += [f"     {weight:+g}  {name}: {why}" for name, weight, why in one.factors]
    lines += [f"left out: {one.id}  {one.title}\n     {why}" for one, why in found.left_out]
    return "\n".join(lines)
