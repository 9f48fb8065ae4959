"""`orbit note`: says how a piece of work went, and prints what that asks for; silent where there is nothing to ask."""

from __future__ import annotations

import click

from orbit_registry.answers.records import record_data
from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import open_registry
from orbit_registry.loop.failures import target_of
from orbit_registry.loop.note import Contribution, Noted
from orbit_registry.loop.note import note as noted
from orbit_registry.push.events import NOTE_SKIPS


@click.command("note")
@click.argument("text", required=False, default="")
@click.option("--attempts", type=click.IntRange(min=1), default=1, show_default=True, help="How often it was tried.")
@click.option("--errors", is_flag=True, help="Errors were met on the way.")
@click.option("--failed", is_flag=True, help="It was given up: leaves a learning of low confidence, labelled unsolved.")
@click.option("--skip-reason", type=click.Choice(list(NOTE_SKIPS)), help="Why there is nothing to tell.")
@click.option("--task", help="The task it was done in.")
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Files it was about.")
@click.option("--tag", "tags", multiple=True, help="Topic it was about.")
@click.option("--turn", default="", help="The turn that is noted: its id, or a word that names it in its session.")
@click.option("--tools", type=click.IntRange(min=0), help="How many tools the turn used.")
@click.option("--heartbeat", is_flag=True, help="Something woke the turn by the clock.")
@click.option("--evidence", default="", metavar="A,B", help="What it rests on: commits, files, runs.")
@format_option
def note(
    text: str, attempts: int, errors: bool, failed: bool, skip_reason: str | None, task: str | None,
    paths: tuple[str, ...], tags: tuple[str, ...], turn: str, tools: int | None, heartbeat: bool, evidence: str,
    output: str,
) -> None:  # fmt: skip
    """Say how a piece of work went; more than one attempt asks for a learning, a script as proof, perhaps a rule.

    \b
    orbit note "Uploads fail without a retry key" --attempts 3 --errors
    orbit note --skip-reason no-new-information
    orbit note "Deploys need the token of the bot" --turn 12 --tools 3 --evidence 4f1c2d9,deploy.log
    """
    registry = open_registry()
    named = tuple(dict.fromkeys(one.strip() for one in evidence.split(",") if one.strip()))
    said = Noted(
        text, attempts, errors, failed, skip_reason or "", task or "", paths, tags, turn, tools, heartbeat, named
    )
    found = noted(registry.workspace, registry.collection.records, said, registry.author())
    data = {
        "attempts": attempts,
        "errors": errors,
        "failed": failed,
        "skip_reason": found.skip_reason or None,
        "turn": found.turn or None,
        "evidence": list(named),
        "asks": [ask.as_data() for ask in found.asks],
        "known": [{"id": one.id, "title": one.title} for one in found.known],
        "unsolved": record_data(found.unsolved) if found.unsolved is not None else None,
        "failure": record_data(found.failure) if found.failure is not None else None,
    }
    emit(output, data, _text(said, found), next_commands=_next(found))


def _next(found: Contribution) -> list[str]:
    if found.unsolved is not None:
        return [f"orbit show {found.unsolved.id}"]
    return [ask.command for ask in found.asks]


def _text(said: Noted, found: Contribution) -> str:
    lines = []
    if found.unsolved is not None:
        lines.append(f"{found.unsolved.id} says that this is unsolved\n  {found.unsolved.path}")
    if found.failure is not None:
        lines.append(f"{found.failure.id} keeps {target_of(found.failure)} from being tried\n  {found.failure.path}")
    if found.asks:
        how = f"{said.attempts} attempts" if said.attempts > 1 else "errors on the way"
        lines.append(f"{how}: let the next one be spared them")
        lines += [f"  {ask.kind}: {ask.why}\n    {ask.command}" for ask in found.asks]
    lines += [f"known already: {one.id}  {one.title}" for one in found.known]
    return "\n".join(lines)
