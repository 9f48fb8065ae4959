"""`orbit retro` and `orbit ensure`: what a run came to, and whatever a producer says again and again, kept once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click

from orbit_registry.cli.fields import fields_from, shared_options, text_from
from orbit_registry.cli.kind_group import kind_group
from orbit_registry.cli.output import emit, format_option
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.render.records import record_data
from orbit_registry.retro.ensure import REFUSED, EnsureRequest, EnsureResult, counts, ensure, read_entries
from orbit_registry.retro.failures import target_of
from orbit_registry.retro.form import TRIGGERS, Retro, read_outcome, read_retro, trigger_of
from orbit_registry.retro.gather import GatheredRetro, gather
from orbit_registry.retro.keep import RetroResult, record_retro

WOULD = "nothing is written: so it would be; ids are chosen when it is"
_PARTS = ("worked", "struggled", "durable", "recommend")
group = kind_group("retro")
group.help = """Look back on a run: keep what came of its targets, and a learning that waits for each finding.

\b
orbit retro --loop L-17 --project shop --from retro.md
orbit retro --session s-4 --outcome story:shop:S-1=failed,attempts=3,reason="no browser" \\
  --struggled "The sandbox has no browser; ask for one before the plan"
orbit retro --session 5b0c1f1e --dry-run
orbit retro --incident F-bb6pz
orbit retro list

A target that failed after being tried is left alone from then on, as by `orbit fail`; one that was completed or
requeued may be tried again. The same retro again changes nothing. What is below the noise bar is not kept.
A run with nothing told of it is gathered: from the event log, from failures, and from the transcripts of its sessions.
"""
group.invoke_without_command = True
group.no_args_is_help = False


def _retro(
    ctx: click.Context, loop: str | None, session: str | None, incident: str | None, project: str, source: str | None,
    title: str, summary: str, date: str, outcomes: Sequence[str], paths: Sequence[str], tags: Sequence[str],
    pending: bool, dry_run: bool, output: str, **lists: Sequence[str],
) -> None:  # fmt: skip
    if ctx.invoked_subcommand is not None:
        return
    named = {kind: name for kind, name in zip(TRIGGERS, (loop, session, incident), strict=True) if name}
    if not (named or source or outcomes or summary or any(lists.values())):
        click.echo(ctx.get_help())
        return
    if len(named) > 1:
        raise UsageError("a retro looks back on one thing", hint=f"give one of --{', --'.join(named)}")
    parts: dict[str, Any] = {
        name: tuple(" ".join(one.split()) for one in lists[part]) for name, part in zip(_FIELDS, _PARTS, strict=True)
    }
    given = Retro(
        trigger=next((trigger_of(kind, name, project) for kind, name in named.items()), None),
        date=date,
        title=" ".join(title.split()),
        summary=" ".join(summary.split()),
        outcomes=tuple(map(read_outcome, outcomes)),
        **parts,
    )
    told = read_retro(text_from(source), _place(source)) if source is not None else Retro()
    told, given = _of_one_run(told, given, project, _place(source))
    registry = open_registry()
    found: GatheredRetro | None = None
    if given.trigger and not (source or outcomes or summary or paths or tags or any(lists.values())):
        found = gather(registry.workspace, registry.collection.records, given.trigger)
        told = found.retro
        for warning in found.warnings:
            click.echo(visible(f"warning: {warning}"), err=True)
    scope = {"paths": list(paths), "tags": list(tags)}
    kept = record_retro(
        registry.workspace, told.joined(given), registry.author(), datetime.now(UTC), pending=pending, scope=scope,
        gathered=found, dry_run=dry_run,
    )  # fmt: skip
    written = kept.record is not None and not dry_run
    following = [f"orbit show {kept.record.id}", "orbit queue --kind learning"] if kept.record and written else []
    text = "\n".join([_text(kept), *([WOULD] if dry_run else [])])
    emit(output, {**_data(kept), "dry_run": dry_run}, text, ok=kept.outcome != REFUSED, next_commands=following)
    if kept.outcome == REFUSED:
        raise click.exceptions.Exit(1)


_FIELDS = ("worked", "struggled", "durable_behavior", "recommendations")
group.callback = click.pass_context(_retro)
group.params = [
    click.Option(["--loop"], metavar="ID", help="The loop that it looks back on."),
    click.Option(["--session"], metavar="ID", help="The session that it looks back on."),
    click.Option(["--incident"], metavar="ID", help="The incident that it looks back on."),
    click.Option(["--project"], default="", help="The project that it belongs to, where there are several."),
    click.Option(["--from", "source"], metavar="FILE", help="What it says, as Markdown or JSON; - is stdin."),
    click.Option(["--title"], default="", help="What stands for it; what became of the targets if not given."),
    click.Option(["--summary"], default="", help="What happened, in one line."),
    click.Option(["--date"], default="", help="When it ended, a day or a moment; now if not given."),
    click.Option(["--outcome", "outcomes"], multiple=True, metavar="TARGET=RESULT[,attempts=N][,tool=T][,reason=WHY]",
                 help="What became of a target: completed, failed, skipped or requeued; may be given often."),
    click.Option(["--worked"], multiple=True, help="What worked; may be given often, as the next three."),
    click.Option(["--struggled"], multiple=True, help="What did not."),
    click.Option(["--durable"], multiple=True, help="What is done otherwise from now on, in other work too."),
    click.Option(["--recommend"], multiple=True, help="What should change: skills, tools, plans."),
    click.Option(["--path", "paths"], multiple=True, metavar="GLOB", help="Files that the findings apply to."),
    click.Option(["--tag", "tags"], multiple=True, help="Topic that the findings apply to."),
    click.Option(["--pending"], is_flag=True, help="Leave the retro for review too, as an agent's is."),
    click.Option(["--dry-run"], is_flag=True, help="Say what would come of it, write nothing."),
]  # fmt: skip
group = format_option(group)


def _of_one_run(told: Retro, given: Retro, project: str, where: str) -> tuple[Retro, Retro]:
    """Return a text's retro and that of the flags, both of one run: the project that one of them names is the other's.

    Raises:
        UsageError: they are of two runs.
    """
    written = told.trigger
    if written is None:
        return told, given
    flag = given.trigger or replace(written, project=project)
    if (written.type, written.id) != (flag.type, flag.id) or (
        written.project and flag.project and written.project != flag.project
    ):
        raise UsageError(f"{where} is of {written}, not of {flag}", hint="leave one of them out")
    run = replace(written, project=written.project or flag.project)
    return replace(told, trigger=run), replace(given, trigger=run)


def _place(source: str | None) -> str:
    return "the standard input" if source == "-" else str(source)


def _data(kept: RetroResult) -> dict[str, object]:
    return {
        "outcome": kept.outcome,
        "why": kept.reason or None,
        "retro": record_data(kept.record) if kept.record is not None else None,
        "findings": [one.as_data() for one in kept.findings],
        "counts": counts(kept.findings),
        "opened": [{"id": one.id, "target": str(target_of(one))} for one in kept.opened],
        "cleared": [{"id": one.id, "target": str(target_of(one))} for one in kept.cleared],
        "notes": list(kept.notes),
    }


def _text(kept: RetroResult) -> str:
    if kept.record is None:
        return f"nothing was written: {kept.reason}"
    lines = [f"{kept.record.id} {kept.outcome}  {kept.record.title}\n  {kept.record.path}"]
    lines += [f"  {kept.reason}"] if kept.reason else []
    lines += [_line(one) for one in kept.findings]
    lines += [f"{target_of(one)} is left alone: {one.id}" for one in kept.opened]
    lines += [f"{target_of(one)} may be tried again: {one.id}" for one in kept.cleared]
    return "\n".join([*lines, *(f"note: {one}" for one in kept.notes)])


def _line(one: EnsureResult) -> str:
    name = one.record.id if one.record is not None else one.entry.key or one.entry.kind
    said = one.record.title if one.record is not None and not one.reason else one.reason
    place = f"line {one.entry.line}: " if one.entry.line and one.outcome == REFUSED else ""
    return f"{place}{name} {one.outcome}  {said}"


@click.command("ensure", params=[*shared_options()])
@click.argument("kind", required=False, default="")
@click.option("--key", default="", help="What you call it: the same key is the same record from then on.")
@click.option("--title", help="Its headline: the summary of a learning, the title of others.")
@click.option("--body-file", metavar="FILE", help="Read its long text from a file; - is stdin.")
@click.option("--status", default="", help="The status it is to have, where its kind and you may.")
@click.option("--pending", is_flag=True, help="Leave what is new for review, as an agent's is.")
@click.option("--dry-run", is_flag=True, help="Say what would come of it, write nothing.")
@click.option("--batch", metavar="FILE", help="One JSON object a line, each with `key` and fields; - is stdin.")
@format_option
def ensure_command(
    kind: str, key: str, title: str | None, body_file: str | None, status: str, pending: bool, dry_run: bool,
    batch: str | None, output: str, **values: Any,
) -> None:  # fmt: skip
    """Make a record stand once, however often you say it: inserted, updated or unchanged.

    For whatever produces records by itself: discoveries, decisions of a meeting, results of a pitch. What a person
    rejected is not written again, an agent changes nothing that is in force, and one entry of a batch that is refused
    does not hinder the others.

    \b
    orbit ensure learning --key meeting/7/1 --title "Name each lock" --path "src/**"
    orbit ensure --batch - --pending < found.jsonl
    """
    registry = open_registry()
    workspace = registry.workspace
    faults: list[UsageError] = []
    if batch is not None:
        if key or title or body_file:
            raise UsageError("--batch says everything in its lines", hint="leave --key, --title and --body-file out")
        read = [*read_entries(text_from(batch).splitlines(), kind)]
        entries = [one for one in read if isinstance(one, EnsureRequest)]
        faults = [one for one in read if isinstance(one, UsageError)]
    else:
        if not kind or not key:
            raise UsageError(
                "of which kind, and by which key", hint="orbit ensure learning --key meeting/7/1 --title …"
            )
        known = workspace.kinds[kind]
        fields = fields_from(known, values)
        fields |= {known.headline: title} if title is not None else {}
        prose = "body" if known.in_document else known.prose
        fields |= {prose: text_from(body_file)} if body_file is not None else {}
        entries = [EnsureRequest(kind, key, fields, status)]
    found = ensure(workspace, entries, registry.author(), pending=pending, dry_run=dry_run)
    refused = [one for one in found if one.outcome == REFUSED]
    said = counts(found)
    said[REFUSED] += len(faults)
    entries_data = [one.as_data() for one in found]
    data = {"counts": said, "entries": entries_data, "faults": [one.message for one in faults], "dry_run": dry_run}
    shown = [_line(one) for one in found] if len(found) <= _MOST_LINES else [_line(one) for one in refused]
    counted = ", ".join(f"{count} {name}" for name, count in said.items() if count)
    total = [counted or "no line holds an entry"] if len(found) != 1 or faults else []
    following = [f"orbit show {one.record.id}" for one in found[:3] if one.record is not None and not dry_run]
    would = [WOULD] if dry_run else []
    text = "\n".join([*shown, *(f"{one.message}; {one.hint}" for one in faults), *total, *would])
    emit(output, data, text, ok=not (refused or faults), next_commands=following)
    if refused or faults:
        raise click.exceptions.Exit(1)


_MOST_LINES = 50
