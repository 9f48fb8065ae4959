"""`orbit retro`, `ensure`, `note`, `fail`, `clear` and `capture`: what a piece of work taught."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from orbit_loop.capture.run import EVENTS, READERS, CaptureResult, transcripts_of
from orbit_loop.capture.run import capture as captured
from orbit_loop.retro import failures
from orbit_loop.retro.ensure import REFUSED, EnsureRequest, counts, ensure, read_entries
from orbit_loop.retro.form import TRIGGERS, Retro, read_outcome, read_retro, trigger_of
from orbit_loop.retro.gather import GatheredRetro, gather
from orbit_loop.retro.keep import record_retro
from orbit_loop.retro.note import NoteRequest
from orbit_loop.retro.note import note as noted
from orbit_registry.cli.fields import evidence_from, fields_from, shared_options, text_from
from orbit_registry.cli.kind import kind_group
from orbit_registry.cli.output import emit, format_option, open_registry, progress_display
from orbit_registry.cli.records import line
from orbit_registry.cli.writer import say
from orbit_registry.errors import UsageError, plural
from orbit_registry.hook.events import CLEARED, NOTE_SKIPS, REQUEUED
from orbit_registry.registry import Registry
from orbit_registry.render.records import record_data
from orbit_registry.render.work import (
    entry_line,
    failure_text,
    note_data,
    note_text,
    retro_data,
    retro_text,
)
from orbit_registry.workspace.event_log import LogScan, log_files, logged_events

WOULD = "nothing was written; ids are chosen when it is"
group = kind_group("retro")
group.help = """Write down what came of a run.

It keeps the result of each target, and makes a learning that waits for review of each finding.

orbit retro --loop L-17 --project shop --from retro.md
orbit retro --session s-4 --outcome story:shop:S-1=failed,attempts=3,reason="no browser" \\
  --struggled "The sandbox has no browser; ask for one before the plan"
orbit retro --session 5b0c1f1e --dry-run
orbit retro --incident F-bb6pz
orbit retro list

A target that failed after an attempt is marked as failed, as by `orbit fail`; a completed or
requeued one may be tried again. The same retro again changes nothing. A retro below the noise bar
is not kept. Without findings and outcomes, the retro is gathered from the event log, failures, and
the transcripts of the run's sessions.
"""
group.invoke_without_command = True
group.no_args_is_help = False


def _retro(
    ctx: click.Context,
    loop: str | None,
    session: str | None,
    incident: str | None,
    project: str,
    source: str | None,
    title: str,
    summary: str,
    date: str,
    outcomes: Sequence[str],
    paths: Sequence[str],
    tags: Sequence[str],
    pending: bool,
    dry_run: bool,
    output: str,
    **lists: Sequence[str],
) -> None:
    if ctx.invoked_subcommand is not None:
        return

    trigger = {
        kind: name for kind, name in zip(TRIGGERS, (loop, session, incident), strict=True) if name
    }
    if not (trigger or source or outcomes or summary or any(lists.values())):
        say(ctx.get_help())
        return

    if len(trigger) > 1:
        raise UsageError(
            "a retro looks back on one thing", hint=f"give one of --{', --'.join(trigger)}"
        )

    parts: dict[str, Any] = {
        name: tuple(" ".join(sentence.split()) for sentence in sentences)
        for name, sentences in lists.items()
    }
    from_options = Retro(
        trigger=next((trigger_of(kind, name, project) for kind, name in trigger.items()), None),
        date=date,
        title=" ".join(title.split()),
        summary=" ".join(summary.split()),
        outcomes=tuple(map(read_outcome, outcomes)),
        **parts,
    )

    read = read_retro(text_from(source), _source_name(source)) if source is not None else Retro()
    read, from_options = _one_run(read, from_options, project, _source_name(source))
    registry = open_registry()
    gathered: GatheredRetro | None = None

    if from_options.trigger and not (
        source or outcomes or summary or paths or tags or any(lists.values())
    ):
        gathered = gather(registry.workspace, registry.collection.records, from_options.trigger)
        read = gathered.retro
        for warning in gathered.warnings:
            say(f"warning: {warning}", err=True)

    scope = {"paths": list(paths), "tags": list(tags)}
    result = record_retro(
        registry.workspace,
        read.joined(from_options),
        registry.author(),
        datetime.now(UTC),
        pending=pending,
        scope=scope,
        gathered=gathered,
        dry_run=dry_run,
    )
    is_written = result.record is not None and not dry_run
    shows = (
        [f"orbit show {result.record.id}", "orbit review --kind learning"]
        if result.record and is_written
        else []
    )

    text = "\n".join([retro_text(result), *([WOULD] if dry_run else [])])
    data = {**retro_data(result), "dry_run": dry_run}
    emit(output, data, text, ok=result.outcome != REFUSED, next_commands=shows)


group.callback = click.pass_context(_retro)
group.params = [
    click.Option(["--loop"], metavar="ID", help="The loop that it is about."),
    click.Option(["--session"], metavar="ID", help="The session that it is about."),
    click.Option(["--incident"], metavar="ID", help="The incident that it is about."),
    click.Option(["--project"], default="", help="Its project, if there are several."),
    click.Option(
        ["--from", "source"], metavar="FILE", help="Its text, as Markdown or JSON; - is stdin."
    ),
    click.Option(["--title"], default="", help="Its title; else the results of the targets."),
    click.Option(["--summary"], default="", help="What happened, in one line."),
    click.Option(["--date"], default="", help="When the run ended; now if not given."),
    click.Option(
        ["--outcome", "outcomes"],
        multiple=True,
        metavar="TARGET=RESULT[,attempts=N][,tool=T][,reason=WHY]",
        help="Result of a target: completed, failed, skipped or requeued; repeatable.",
    ),
    click.Option(["--worked"], multiple=True, help="What worked; repeatable, as the next three."),
    click.Option(["--struggled"], multiple=True, help="What did not work."),
    click.Option(
        ["--durable", "durable_behavior"],
        multiple=True,
        help="What will be done differently from now on.",
    ),
    click.Option(
        ["--recommend", "recommendations"],
        multiple=True,
        help="What should change: skills, tools, plans.",
    ),
    click.Option(
        ["--path", "paths"], multiple=True, metavar="GLOB", help="Files that the findings apply to."
    ),
    click.Option(["--tag", "tags"], multiple=True, help="Topic that the findings apply to."),
    click.Option(
        ["--pending"], is_flag=True, help="Let the retro wait for review, as an agent's does."
    ),
    click.Option(["--dry-run"], is_flag=True, help="Print what would happen; write nothing."),
]
group = format_option(group)


def _one_run(read: Retro, from_options: Retro, project: str, where: str) -> tuple[Retro, Retro]:
    trigger = read.trigger
    if trigger is None:
        return read, from_options

    flag = from_options.trigger or replace(trigger, project=project)
    if (trigger.type, trigger.id) != (flag.type, flag.id) or (
        trigger.project and flag.project and trigger.project != flag.project
    ):
        raise UsageError(f"{where} is of {trigger}, not of {flag}", hint="leave one of them out")

    run = replace(trigger, project=trigger.project or flag.project)
    return replace(read, trigger=run), replace(from_options, trigger=run)


def _source_name(source: str | None) -> str:
    return "the standard input" if source == "-" else str(source)


@click.command("ensure", params=[*shared_options()])
@click.argument("kind", required=False, default="")
@click.option("--kind", "named_kind", default="", metavar="KIND", help="The same as KIND.")
@click.option("--key", default="", help="Your name for it; the same key is the same record.")
@click.option("--title", help="Its headline: the summary of a learning, the title of others.")
@click.option("--body-file", metavar="FILE", help="Read its long text from a file; - is stdin.")
@click.option("--status", default="", help="Its status, if the kind and you may set it.")
@click.option("--pending", is_flag=True, help="Let new records wait for review, as an agent's do.")
@click.option("--dry-run", is_flag=True, help="Print what would happen; write nothing.")
@click.option(
    "--batch",
    metavar="FILE",
    help="One JSON object a line, each with `key` and fields; - is stdin.",
)
@format_option
def ensure_command(
    kind: str,
    named_kind: str,
    key: str,
    title: str | None,
    body_file: str | None,
    status: str,
    pending: bool,
    dry_run: bool,
    batch: str | None,
    output: str,
    **values: Any,
) -> None:
    """Insert or update a program's record by its key.

    It is for programs that report things again and again: discoveries, minutes, results. A rejected
    record is not written again, an agent changes no live record, and one refused line of a batch
    does not stop the others.

    orbit ensure learning --key meeting/7/1 --title "Name each lock" --path "src/**"
    orbit ensure --batch - --pending < found.jsonl
    """
    if kind and named_kind and kind != named_kind:
        raise UsageError(
            f"{kind!r} and --kind {named_kind!r} are two kinds", hint="leave one of them out"
        )

    kind = kind or named_kind
    registry = open_registry()
    workspace = registry.workspace
    faults: list[UsageError] = []
    if batch is not None:
        if key or title or body_file:
            raise UsageError(
                "--batch says everything in its lines",
                hint="leave --key, --title and --body-file out",
            )

        read = [*read_entries(text_from(batch).splitlines(), kind)]
        entries = [entry for entry in read if isinstance(entry, EnsureRequest)]
        faults = [fault for fault in read if isinstance(fault, UsageError)]
    else:
        if not kind or not key:
            raise UsageError(
                "of which kind, and by which key",
                hint="orbit ensure learning --key meeting/7/1 --title …",
            )

        record_kind = workspace.kinds[kind]
        fields = fields_from(record_kind, values)
        fields |= {record_kind.headline: title} if title is not None else {}
        prose = "body" if record_kind.in_document else record_kind.prose
        fields |= {prose: text_from(body_file)} if body_file is not None else {}
        entries = [EnsureRequest(kind, key, fields, status)]

    results = ensure(workspace, entries, registry.author(), pending=pending, dry_run=dry_run)
    refused = [entry for entry in results if entry.outcome == REFUSED]
    totals = counts(results)
    totals[REFUSED] += len(faults)
    entries_data = [entry.as_data() for entry in results]

    messages = [fault.message for fault in faults]
    data = {"counts": totals, "entries": entries_data, "faults": messages, "dry_run": dry_run}
    listed = [entry_line(entry) for entry in (results if len(results) <= _MOST_LINES else refused)]
    counted = ", ".join(f"{count} {name}" for name, count in totals.items() if count)
    total = [counted or "no line holds an entry"] if len(results) != 1 or faults else []

    following = [
        f"orbit show {entry.record.id}"
        for entry in results[:3]
        if entry.record is not None and not dry_run
    ]

    would = [WOULD] if dry_run else []
    text = "\n".join(
        [*listed, *(f"{fault.message}; {fault.hint}" for fault in faults), *total, *would]
    )
    emit(output, data, text, ok=not (refused or faults), next_commands=following)


_MOST_LINES = 50


@click.command("note")
@click.argument("text", required=False, default="")
@click.option(
    "--attempts",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How often it was tried.",
)
@click.option("--errors", is_flag=True, help="There were errors on the way.")
@click.option(
    "--failed", is_flag=True, help="It was given up; writes a learning labelled unsolved."
)
@click.option(
    "--skip-reason", type=click.Choice(list(NOTE_SKIPS)), help="Why there is nothing to note."
)
@click.option("--task", help="The task of the work.")
@click.option("--path", "paths", multiple=True, metavar="GLOB", help="Files of the work.")
@click.option("--tag", "tags", multiple=True, help="Topic of the work.")
@click.option(
    "--turn", default="", help="The turn: its id, or a word that names it in its session."
)
@click.option("--tools", type=click.IntRange(min=0), help="How many tools the turn used.")
@click.option("--heartbeat", is_flag=True, help="A timer started the turn.")
@click.option("--evidence", default="", metavar="A,B", help="Evidence: commits, files, runs.")
@format_option
def note(
    text: str,
    attempts: int,
    errors: bool,
    failed: bool,
    skip_reason: str | None,
    task: str | None,
    paths: tuple[str, ...],
    tags: tuple[str, ...],
    turn: str,
    tools: int | None,
    heartbeat: bool,
    evidence: str,
    output: str,
) -> None:
    """Note how a piece of work went.

    After more than one attempt it suggests a learning, a script as proof, perhaps a rule.

    orbit note "Uploads fail without a retry key" --attempts 3 --errors
    orbit note --skip-reason no-new-information
    orbit note "Deploys need the token of the bot" --turn 12 --tools 3 --evidence 4f1c2d9,deploy.log
    """
    registry = open_registry()
    references = tuple(
        dict.fromkeys(reference.strip() for reference in evidence.split(",") if reference.strip())
    )
    request = NoteRequest(
        text,
        attempts,
        errors,
        failed,
        skip_reason or "",
        task or "",
        paths,
        tags,
        turn,
        tools,
        heartbeat,
        references,
    )
    result = noted(registry.workspace, registry.collection.records, request, registry.author())
    data = note_data(request, result)

    unsolved = result.unsolved
    following = (
        [f"orbit show {unsolved.id}"]
        if unsolved is not None
        else [ask.command for ask in result.asks]
    )
    emit(output, data, note_text(request, result), next_commands=following)


TARGET = click.argument("target", metavar="TARGET")


@click.command("fail")
@TARGET
@click.option("--reason", metavar="WHY", help="Why it failed.")
@click.option(
    "--attempts",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of attempts so far; one more if not given.",
)
@click.option(
    "--ttl-days",
    type=click.IntRange(0, 36_500),
    metavar="DAYS",
    help="For how many days; 0: for ever.",
)
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="GLOB",
    help="Show it to agents that work on these files.",
)
@click.option(
    "--evidence", multiple=True, metavar="KIND:REF", help="Evidence: external:INC-42, task:T-1, …"
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 1 while the target is marked as failed."
)
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@format_option
def fail(
    target: str,
    reason: str | None,
    attempts: int | None,
    ttl_days: int | None,
    paths: tuple[str, ...],
    evidence: tuple[str, ...],
    check: bool,
    dry_run: bool,
    output: str,
) -> None:
    """Mark a target that failed, so that it is not retried.

    TARGET is type:project:id, or type:id. Use it after the last attempt. A second call starts the
    time again.

    orbit fail story:shop:S-1 --attempts 3 --reason "the sandbox has no browser"
    orbit fail story:shop:S-1 --check || echo "leave it"
    """
    target_read = failures.read_target(target)
    now = datetime.now(UTC)
    if check:
        if reason is not None or attempts is not None or ttl_days is not None or paths or evidence:
            raise UsageError("--check writes nothing", hint="leave the other options out")

        existing = failures.open_failure(Registry.open().collection.records, target_read, now)
        data = (
            failures.state(existing, now)
            if existing
            else {"target": str(target_read), "holds": False}
        )

        following = [f"orbit clear {target_read}"] if existing else []
        emit(output, data, failure_text(data), ok=existing is None, next_commands=following)
        return

    if not line(reason, "--reason"):
        raise UsageError(
            "--reason is missing", hint='say why: --reason "the sandbox has no browser"'
        )

    registry = open_registry()
    fields: dict[str, object] = {"reason": reason, "attempts": attempts, "ttl_days": ttl_days}
    if paths:
        fields["scope"] = {"paths": list(paths)}
    if evidence:
        fields["evidence"] = [evidence_from(reference) for reference in evidence]

    record, is_new = failures.fail(
        registry.workspace, target_read, fields, registry.author(), now, dry_run=dry_run
    )
    data = {**failures.state(record, now), "new": is_new, "dry_run": dry_run}
    following = (
        [] if dry_run else [f"orbit fail {target_read} --check", f"orbit clear {target_read}"]
    )
    outcome = (
        f"would write {'a failure' if is_new else record.path}; nothing is written"
        if dry_run
        else record.path
    )
    emit(output, data, f"{failure_text(data)}\n  {outcome}", next_commands=following)


@click.command("clear")
@TARGET
@click.option(
    "--requeued", is_flag=True, help="Log that it is requested again, not that it succeeded."
)
@format_option
def clear(target: str, requeued: bool, output: str) -> None:
    """Let a failed target be tried again.

    orbit clear story:shop:S-1
    """
    registry = open_registry()
    now = datetime.now(UTC)
    event = REQUEUED if requeued else CLEARED
    record = failures.clear(
        registry.workspace, failures.read_target(target), registry.author(), now, event
    )
    data = failures.state(record, now)
    emit(
        output,
        data,
        f"{data['target']} may be tried again; {record.id} keeps what was\n  {record.path}",
    )


@click.command("capture")
@click.option(
    "--from",
    "agent",
    type=click.Choice([*READERS, EVENTS]),
    help="The agent of the transcript; events: all sessions of the event log.",
)
@click.argument(
    "path", required=False, type=click.Path(dir_okay=False, exists=True, path_type=Path)
)
@click.option("--dry-run", is_flag=True, help="Print the candidates; write nothing.")
@click.option(
    "--at-session-end",
    is_flag=True,
    hidden=True,
    help="Called by a hook: run only if the configuration allows it.",
)
@format_option
def capture(
    agent: str | None, path: Path | None, dry_run: bool, at_session_end: bool, output: str
) -> None:
    """Find learnings in the transcript of a session.

    It finds commands of this project that failed and what worked in their place, repeated searches,
    habits of the session, and corrections in the user's words. Candidates wait for review. Without
    PATH it reads the newest transcript.

    orbit capture --dry-run
    orbit capture --from codex ~/.codex/sessions/2026/11/20/rollout-….jsonl
    """
    registry = open_registry()
    workspace = registry.workspace
    if at_session_end and workspace.config.setting("capture", "at_session_end") is not True:
        return

    sessions: set[str] = set()
    if agent == EVENTS:
        files = [path] if path is not None else log_files(workspace.state)
        sessions = {
            event.session.partition(".")[0]
            for event in logged_events(files, time.time(), LogScan())
            if event.session
        }

    transcripts = transcripts_of(
        workspace, agent or "", path.absolute() if path is not None else None, sessions
    )
    megabytes = sum(file.stat().st_size for _, file in transcripts) // 1_000_000
    learnings = registry.records.of_kind("learning")
    with progress_display() as show:
        result = captured(
            workspace,
            learnings,
            transcripts,
            dry_run=dry_run,
            on_progress=lambda done: show("MB read", done // 1_000_000, megabytes),
        )

    for warning in result.warnings:
        say(f"warning: {warning}", err=True)

    data = {
        "transcripts": [read.as_data() for read in result.reads],
        "candidates": [
            {
                **record_data(candidate.record),
                "instead_of": candidate.instead_of.id if candidate.instead_of else None,
            }
            for candidate in result.candidates
        ],
        "left": dict(result.skipped),
        "written": not dry_run,
    }
    ids = [candidate.record.id for candidate in result.candidates]
    following = (
        []
        if dry_run or not ids
        else [f"orbit show {ids[0]}", f"orbit accept {ids[0]}", "orbit review"]
    )
    emit(output, data, "\n".join(_capture_lines(result, dry_run=dry_run)), next_commands=following)


def _capture_lines(result: CaptureResult, *, dry_run: bool) -> Iterator[str]:
    for read in result.reads:
        skipped = f"; {read.skipped}" if read.skipped else ""
        yield (
            f"{read.agent}: {plural(read.session.turns, 'turn')} in {read.size / 1e6:.1f} "
            f"MB{skipped}"
        )

        if read.broken:
            yield f"  {plural(read.broken, 'line')} can't be read"

    for candidate in result.candidates:
        instead = (
            f", in the place of {candidate.instead_of.id}, which is stale"
            if candidate.instead_of
            else ""
        )

        waits = "would wait" if dry_run else "waits"
        yield f"{'' if dry_run else candidate.record.id + '  '}{candidate.record.title}"
        yield f"  {waits} for review{instead}"

    for skipped, count in sorted(result.skipped.items()):
        yield f"left out: {plural(count, 'finding')}: {skipped}"

    if not result.candidates and not result.skipped:
        yield "nothing was found that is worth keeping"
