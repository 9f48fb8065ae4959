"""`orbit note`, `fail` and `clear`: how a piece of work went, and what is not to be tried again for a while."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import click

from orbit_registry.cli.fields import evidence_from
from orbit_registry.cli.output import emit, format_option, plural
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.review import line
from orbit_registry.errors import UsageError
from orbit_registry.hook.events import CLEARED, NOTE_SKIPS, REQUEUED
from orbit_registry.registry import Registry
from orbit_registry.render.records import record_data
from orbit_registry.retro import failures
from orbit_registry.retro.failures import target_of
from orbit_registry.retro.note import NoteRequest, NoteResult
from orbit_registry.retro.note import note as noted


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
    said = NoteRequest(
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
        "asks": [asdict(ask) for ask in found.asks],
        "known": [{"id": one.id, "title": one.title} for one in found.similar],
        "unsolved": record_data(found.unsolved) if found.unsolved is not None else None,
        "failure": record_data(found.failure) if found.failure is not None else None,
    }
    emit(output, data, _text(said, found), next_commands=_next(found))


def _next(found: NoteResult) -> list[str]:
    if found.unsolved is not None:
        return [f"orbit show {found.unsolved.id}"]
    return [ask.command for ask in found.asks]


def _text(said: NoteRequest, found: NoteResult) -> str:
    lines = []
    if found.unsolved is not None:
        lines.append(f"{found.unsolved.id} says that this is unsolved\n  {found.unsolved.path}")
    if found.failure is not None:
        lines.append(f"{found.failure.id} keeps {target_of(found.failure)} from being tried\n  {found.failure.path}")
    if found.asks:
        how = f"{said.attempts} attempts" if said.attempts > 1 else "errors on the way"
        lines.append(f"{how}: let the next one be spared them")
        lines += [f"  {ask.kind}: {ask.reason}\n    {ask.command}" for ask in found.asks]
    lines += [f"known already: {one.id}  {one.title}" for one in found.similar]
    return "\n".join(lines)


TARGET = click.argument("target", metavar="TARGET")


@click.command("fail")
@TARGET
@click.option("--reason", metavar="WHY", help="Why it failed, for whoever would try it next.")
@click.option(
    "--attempts",
    type=click.IntRange(min=1),
    metavar="N",
    help="How often it was tried, all in all; once more if not given.",
)
@click.option(
    "--ttl-days", type=click.IntRange(0, 36_500), metavar="DAYS", help="For how long, 7 days if not given; 0: for ever."
)
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Show it to agents that work on these files.")
@click.option("--evidence", multiple=True, metavar="KIND:REF", help="Where it is told of: external:INC-42, task:T-1, …")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 while a failure of the target holds.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@format_option
def fail(
    target: str, reason: str | None, attempts: int | None, ttl_days: int | None, paths: tuple[str, ...],
    evidence: tuple[str, ...], check: bool, dry_run: bool, output: str,
) -> None:  # fmt: skip
    """Keep a target that failed from being tried again; TARGET is type:project:id, or type:id.

    Say it after the last attempt, not of what was never tried. While it holds, saying it again begins its time anew.

    \b
    orbit fail story:shop:S-1 --attempts 3 --reason "the sandbox has no browser"
    orbit fail story:shop:S-1 --check || echo "leave it"
    """
    wanted = failures.read_target(target)
    now = datetime.now(UTC)
    if check:
        if reason is not None or attempts is not None or ttl_days is not None or paths or evidence:
            raise UsageError("--check writes nothing", hint="leave the other options out")
        held = failures.open_failure(Registry.open().collection.records, wanted, now)
        data = failures.state(held, now) if held else {"target": str(wanted), "holds": False}
        emit(output, data, _said(data), ok=held is None, next_commands=[f"orbit clear {wanted}"] if held else [])
        if held is not None:
            raise click.exceptions.Exit(1)
        return
    if not line(reason, "--reason"):
        raise UsageError("--reason is missing", hint='say why: --reason "the sandbox has no browser"')
    registry = open_registry()
    fields: dict[str, object] = {"reason": reason, "attempts": attempts, "ttl_days": ttl_days}
    if paths:
        fields["scope"] = {"paths": list(paths)}
    if evidence:
        fields["evidence"] = [evidence_from(one) for one in evidence]
    record, is_new = failures.fail(registry.workspace, wanted, fields, registry.author(), now, dry_run=dry_run)
    data = {**failures.state(record, now), "new": is_new, "dry_run": dry_run}
    following = [] if dry_run else [f"orbit fail {wanted} --check", f"orbit clear {wanted}"]
    place = f"would write {'a failure' if is_new else record.path}; nothing is written" if dry_run else record.path
    emit(output, data, f"{_said(data)}\n  {place}", next_commands=following)


@click.command("clear")
@TARGET
@click.option("--requeued", is_flag=True, help="It is asked for again; the log says so, and not that it succeeded.")
@format_option
def clear(target: str, requeued: bool, output: str) -> None:
    """Let a target that failed be tried again: it succeeded by now, or what stood in its way is gone.

    \b
    orbit clear story:shop:S-1
    """
    registry = open_registry()
    now = datetime.now(UTC)
    event = REQUEUED if requeued else CLEARED
    record = failures.clear(registry.workspace, failures.read_target(target), registry.author(), now, event)
    data = failures.state(record, now)
    emit(output, data, f"{data['target']} may be tried again; {record.id} keeps what was\n  {record.path}")


def _said(data: dict[str, object]) -> str:
    if not data["holds"]:
        return f"{data['target']} may be tried"
    until = f"until {str(data['until'])[:16].replace('T', ' ')} UTC" if data["until"] else "until it is cleared"
    tried = plural(int(str(data["attempts"])), "time")
    return f"{data['target']} failed {tried} and is left alone {until}: {data['reason']}"
