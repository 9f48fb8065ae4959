"""`retro`: what came of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from orbit_loop.answers.ensure import WOULD, entry_line
from orbit_loop.answers.failures import target_line
from orbit_loop.retro.ensure import REFUSED, counts
from orbit_loop.retro.failures import Target
from orbit_loop.retro.form import Retro, outcome_from, read_retro, trigger_of
from orbit_loop.retro.gather import GatheredRetro, gather
from orbit_loop.retro.keep import RetroResult, record_retro
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.inputs import STANDARD_INPUT, text_from
from orbit_registry.doors.answers.table import operation
from orbit_registry.doors.render.records import record_data
from orbit_registry.errors import UsageError
from orbit_registry.model.record import Record
from orbit_registry.repository.guard import refuse_secrets


@operation("retro", job="Learn from work", tool="retro", writes=True)
def retro(
    call: Call,
    loop: str | None = None,
    session: str | None = None,
    incident: str | None = None,
    project: str = "",
    source: str | None = None,
    title: str = "",
    summary: str = "",
    date: str = "",
    outcomes: tuple[Any, ...] = (),
    worked: tuple[str, ...] = (),
    struggled: tuple[str, ...] = (),
    durable_behavior: tuple[str, ...] = (),
    recommendations: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    pending: bool = False,
    dry_run: bool = False,
) -> Answer:
    """Write down what came of a run.

    It keeps the result of each target, and makes a learning that waits for review of each finding.

    orbit retro --loop L-17 --project shop --from retro.md
    orbit retro --session s-4 --outcome story:shop:S-1=failed,attempts=3,reason="no browser" \\
      --struggled "The sandbox has no browser; ask for one before the plan"
    orbit retro --session 5b0c1f1e --dry-run
    orbit retro --incident F-bb6pz
    orbit retro list

    A target that failed after an attempt is marked as failed, as by `orbit fail`; a completed or
    requeued one may be tried again. The same retro again changes nothing. A retro below the noise
    bar is not kept. Without findings and outcomes, the retro is gathered from the event log,
    failures, and the transcripts of the run's sessions.

    Args:
        loop ID: The loop that it is about.
        session ID: The session that it is about.
        incident ID: The incident that it is about.
        project: Its project, if there are several.
        source --from FILE: Its text, as Markdown or JSON; - is stdin.
        title: Its title; else the results of the targets.
        summary: What happened, in one line.
        date: When the run ended; now if not given.
        outcomes TARGET=RESULT[,attempts=N][,tool=T][,reason=WHY]: Result of a target: completed,
            failed, skipped or requeued; repeatable.
        worked --worked: What worked; repeatable, as the next three.
        struggled --struggled: What did not work.
        durable_behavior --durable: What will be done differently from now on.
        recommendations --recommend: What should change: skills, tools, plans.
        paths GLOB: Files that the findings apply to.
        tags: Topic that the findings apply to.
        pending: Let the retro wait for review, as an agent's does.
        dry_run: Print what would happen; write nothing.
    """
    typed = Retro(
        trigger=_run({"loop": loop, "session": session, "incident": incident}, project),
        date=date,
        title=_line(title),
        summary=_line(summary),
        outcomes=tuple(map(outcome_from, outcomes)),
        worked=_lines(worked),
        struggled=_lines(struggled),
        durable_behavior=_lines(durable_behavior),
        recommendations=_lines(recommendations),
    )
    if call.caller is not None:
        texts = [summary, *worked, *struggled, *durable_behavior, *recommendations]
        refuse_secrets("", {"retro": texts, "outcomes": list(outcomes)})

    has_scope = bool(paths or tags)
    read, typed, gathered = _sources(call, typed, source, project, gathers=not has_scope)
    result = record_retro(
        call.workspace,
        read.joined(typed),
        call.author(),
        datetime.now(UTC),
        pending=pending or call.caller is not None,
        scope={"paths": list(paths), "tags": list(tags)},
        gathered=gathered,
        dry_run=dry_run,
    )
    return _answer(result, gathered, dry_run=dry_run)


def _run(runs: Mapping[str, str | None], project: str) -> Target | None:
    """Return the one run that is named."""
    names = {kind: name for kind, name in runs.items() if name}
    if len(names) > 1:
        hint = f"give one of --{', --'.join(names)}"
        raise UsageError("a retro looks back on one thing", hint=hint)

    for kind, name in names.items():
        return trigger_of(kind, name, project)

    return None


def _sources(
    call: Call, typed: Retro, source: str | None, project: str, *, gathers: bool
) -> tuple[Retro, Retro, GatheredRetro | None]:
    """Return what a file says, what was typed, and what the log has of a run of which nothing was
    typed.
    """
    if source is not None:
        where = "the standard input" if source == STANDARD_INPUT else source
        return *_one_run(read_retro(text_from(source), where), typed, project, where), None

    is_bare = typed == Retro(typed.trigger, typed.date, typed.title)
    if typed.trigger is None or not (gathers and is_bare):
        return Retro(), typed, None

    gathered = gather(call.workspace, call.registry.collection.records, typed.trigger)
    return gathered.retro, typed, gathered


def _answer(result: RetroResult, gathered: GatheredRetro | None, *, dry_run: bool) -> Answer:
    following = []
    if result.record is not None and not dry_run:
        following = [f"orbit show {result.record.id}", "orbit review --kind learning"]

    text = _text(result)
    if dry_run and result.record is not None:
        text += f"\n{WOULD}"

    data = {**_data(result), "dry_run": dry_run}
    notes = [f"warning: {warning}" for warning in gathered.warnings] if gathered else []
    return Answer(data, text, following, notes, ok=result.outcome != REFUSED)


def _line(text: str) -> str:
    return " ".join(text.split())


def _lines(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(_line, texts))


def _one_run(read: Retro, written: Retro, project: str, where: str) -> tuple[Retro, Retro]:
    """Return what was read and what was written with the same run, the project of which either may
    name.
    """
    trigger = read.trigger
    if trigger is None:
        return read, written

    other = written.trigger or replace(trigger, project=project)
    is_same = (trigger.type, trigger.id) == (other.type, other.id)
    has_two_projects = trigger.project and other.project and trigger.project != other.project
    if not is_same or has_two_projects:
        message = f"{where} is of {trigger}, not of {other}"
        raise UsageError(message, hint="leave one of them out")

    run = replace(trigger, project=trigger.project or other.project)
    return replace(read, trigger=run), replace(written, trigger=run)


def _data(result: RetroResult) -> dict[str, object]:
    """Return the outcome of a retro as data."""
    findings = [finding.as_data() for finding in result.findings]
    return {
        "outcome": result.outcome,
        "why": result.reason or None,
        "retro": result.record and record_data(result.record),
        "findings": findings,
        "counts": counts(result.findings),
        "opened": list(map(_target_data, result.opened)),
        "cleared": list(map(_target_data, result.cleared)),
        "notes": list(result.notes),
    }


def _target_data(failure: Record) -> dict[str, object]:
    return {"id": failure.id, "target": target_line(failure)}


def _text(result: RetroResult) -> str:
    """Return the outcome of a retro as text."""
    if result.record is None:
        lines = [f"no retro was written: {result.reason}"]
    else:
        lines = [f"{result.record.id} {result.outcome}  {result.record.title}"]
        lines.append(f"  {result.record.path}")
        if result.reason:
            lines.append(f"  {result.reason}")

    lines += map(entry_line, result.findings)
    lines += [f"{target_line(failure)} is left alone: {failure.id}" for failure in result.opened]
    for failure in result.cleared:
        lines.append(f"{target_line(failure)} may be tried again: {failure.id}")

    lines += [f"note: {note}" for note in result.notes]
    return "\n".join(lines)
