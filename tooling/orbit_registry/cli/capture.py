"""`orbit capture`: leaves for review what the transcript of a session teaches; says what it found and what it left."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click

from orbit_registry.capture.run import EVENTS, READERS, CaptureResult, transcripts_of
from orbit_registry.capture.run import capture as captured
from orbit_registry.cli.output import emit, format_option, plural, progress
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import visible
from orbit_registry.render.records import record_data
from orbit_registry.workspace.event_log import LogScan, log_files, logged_events


@click.command("capture")
@click.option(
    "--from",
    "agent",
    type=click.Choice([*READERS, EVENTS]),
    help="Whose transcript it is; events: of every session in the event log.",
)
@click.argument("path", required=False, type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what would be left for review, write nothing.")
@click.option(
    "--at-session-end", is_flag=True, hidden=True, help="A hook asks: do it only if the configuration says so."
)
@format_option
def capture(agent: str | None, path: Path | None, dry_run: bool, at_session_end: bool, output: str) -> None:
    """Learn from the transcript of a session; what it finds waits for review.

    Found are ways of this project that failed and the ones that worked instead, what was looked for again and again,
    and habits that the session shows. Without PATH it is the newest transcript of this project.

    \b
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
            said.session.partition(".")[0] for said in logged_events(files, time.time(), LogScan()) if said.session
        }
    wanted = transcripts_of(workspace, agent or "", path.absolute() if path is not None else None, sessions)
    size = sum(one.stat().st_size for _, one in wanted)
    show = progress("MB read:", size // 1_000_000)
    tell = None if show is None else lambda done: show(done // 1_000_000)
    found = captured(workspace, registry.records.of_kind("learning"), wanted, dry_run=dry_run, tell=tell)
    if show is not None:
        click.echo("", err=True)
    for warning in found.warnings:
        click.echo(visible(f"warning: {warning}"), err=True)
    data = {
        "transcripts": [one.as_data() for one in found.reads],
        "candidates": [
            {**record_data(one.record), "instead_of": one.instead_of.id if one.instead_of else None}
            for one in found.candidates
        ],
        "left": dict(found.skipped),
        "written": not dry_run,
    }
    ids = [one.record.id for one in found.candidates]
    following = [] if dry_run or not ids else [f"orbit show {ids[0]}", f"orbit promote {ids[0]}", "orbit queue"]
    emit(output, data, "\n".join(_lines(found, dry_run=dry_run)), next_commands=following)


def _lines(found: CaptureResult, *, dry_run: bool) -> Iterator[str]:
    for read in found.reads:
        why = f"; {read.skipped}" if read.skipped else ""
        yield f"{read.agent}: {plural(read.session.turns, 'turn')} in {read.size / 1e6:.1f} MB{why}"
        if read.broken:
            yield f"  {plural(read.broken, 'line')} can't be read"
    for one in found.candidates:
        place = f", in the place of {one.instead_of.id}, which is stale" if one.instead_of else ""
        said = "would wait" if dry_run else "waits"
        yield f"{'' if dry_run else one.record.id + '  '}{one.record.title}"
        yield f"  {said} for review{place}"
    for why, count in sorted(found.skipped.items()):
        yield f"left out: {plural(count, 'finding')}: {why}"
    if not found.candidates and not found.skipped:
        yield "nothing was found that is worth keeping"
