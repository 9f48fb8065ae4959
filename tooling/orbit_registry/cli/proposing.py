"""`orbit propose`, `orbit apply`: what learnings would change elsewhere, and putting in what was approved."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from orbit_registry.analytics.report import effect
from orbit_registry.cli.output import emit, format_option, plural
from orbit_registry.cli.places import open_registry
from orbit_registry.cli.terminal import visible
from orbit_registry.errors import UsageError
from orbit_registry.formats.diff import digest_of
from orbit_registry.registry import Registry
from orbit_registry.render.records import record_data
from orbit_registry.repository.skills import read_skills
from orbit_registry.review import consolidate as consolidation
from orbit_registry.review import proposals
from orbit_registry.review.proposals import recommended, record_drafts
from orbit_registry.workspace.event_log import LogScan, log_files, logged_events


@click.command("propose")
@click.argument("any_ids", metavar="[ID]...", nargs=-1)
@click.option("--consolidate", is_flag=True, help="Propose rules for themes, and the retirement of what nobody needs.")
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would be proposed.")
@format_option
def propose(any_ids: Sequence[str], consolidate: bool, dry_run: bool, output: str) -> None:
    """Propose what learnings in force, or those that are named, would change in the project's skills.

    What adds to a page is kept as a diff that waits for approval; where a page says otherwise, or rests on what no
    longer holds, a note waits. Without an ID, retros that are recorded are asked too, for skills and for records, and
    errors that came outside of a record's scope. What was proposed before is not proposed again.

    \b
    orbit propose --dry-run
    orbit promote P-7k3fq && orbit apply P-7k3fq
    orbit propose --consolidate --dry-run
    """
    registry = open_registry()
    if consolidate:
        if any_ids:
            raise UsageError("--consolidate looks at all learnings", hint="leave the ids out")
        _consolidate(registry, dry_run, output)
        return
    records = registry.collection.records
    ids = [_learning(registry, one) for one in any_ids]
    skills, problems = read_skills(registry.workspace)
    known = proposals.ProposalHistory.of(records)
    workspace = registry.workspace
    more = [] if ids else recommended(workspace, records)
    drafts = proposals.skill_drafts(records, skills, known, ids, more)
    if not ids:
        drafts += record_drafts(workspace, records, logged_events(log_files(workspace.state), time.time(), LogScan()))
    found, waiting = proposals.write_proposals(registry.workspace, drafts, known, registry.author(), dry_run=dry_run)
    data = {
        "proposals": [one.as_data() for one in found],
        "waiting": [{"path": path, "for": one or None} for path, one in waiting.items()],
        "skills": [skill.path for skill in skills],
        "problems": problems,
        "dry_run": dry_run,
    }
    lines = [line for one in found for line in _said(one)]
    lines += [f"{path}: more waits until {one or 'the first'} is decided" for path, one in waiting.items()]
    lines += [f"left out: {problem}" for problem in problems]
    nothing = "there is nothing to propose" + (
        "" if skills else ": no skill was found in skills/ or an agent's own folder"
    )
    first = next((one.record.id for one in found if one.record is not None), None)
    following = [f"orbit show {first}", f"orbit promote {first}"] if first else ["orbit queue --kind proposal"]
    emit(output, data, "\n".join(lines) if found or waiting else "\n".join([nothing, *lines]), next_commands=following)


def _learning(registry: Registry, any_id: str) -> str:
    """Return the id of a learning that is not closed.

    Raises:
        UsageError: it is something else, or closed.
    """
    record = registry.get(any_id)
    if record.kind.name != consolidation.LEARNING or record.phase == "closed":
        said = f"{record.id} is no learning that waits or holds: {record.kind.label.lower()}, {record.status.name}"
        raise UsageError(said, hint="`orbit learning list` shows those there are")
    return record.id


def _consolidate(registry: Registry, dry_run: bool, output: str) -> None:
    """Propose what learnings come to together, and which may go."""
    workspace, records = registry.workspace, registry.records
    live = [one for one in records.of_kind(consolidation.LEARNING) if one.phase == "live"]
    found = consolidation.without_derived(consolidation.clusters(live), records)
    usage = consolidation.Usage.of(effect(workspace))
    drafts = consolidation.retirements(
        workspace, records, consolidation.retirement_candidates(records, usage, datetime.now(UTC))
    )
    author = registry.author()
    made = [None if dry_run else consolidation.propose_cluster(workspace, one, author) for one in found]
    offered, _ = proposals.write_proposals(
        workspace, drafts, proposals.ProposalHistory.of(records), author, dry_run=dry_run
    )
    note = None if usage.is_enough else (
        f"what was never shown is not known: the event log spans {usage.days:.0f} days and {usage.sessions} sessions, "
        f"and {consolidation.SHOWN_DAYS} and {consolidation.SHOWN_SESSIONS} are needed"
    )  # fmt: skip
    data = {
        "clusters": [
            {"id": record.id if record is not None else None, **one.as_data()}
            for one, record in zip(found, made, strict=True)
        ],
        "retirements": [one.as_data() for one in offered],
        "learnings": len(live),
        "note": note,
        "dry_run": dry_run,
    }
    lines: list[str] = []
    for one, record in zip(found, made, strict=True):
        name = record.id if record is not None else "would propose"
        lines.append(f"{name}  {one.kind}  of {len(one.members)}, {one.likeness:.0%} alike: {', '.join(one.shared)}")
        lines += [f"  {member.id}  {member.title}" for member in one.members]
    for offer in offered:
        name = offer.record.id if offer.record is not None else "would propose"
        lines.append(f"{name}  {offer.draft.title}\n  {offer.draft.reason}")
    lines.append(note or "")
    text = "\n".join(filter(None, lines)) if found or offered else f"nothing to consolidate among {len(live)} learnings"
    emit(output, data, text, next_commands=["orbit queue", "orbit check"])


def _said(one: proposals.Proposed) -> list[str]:
    draft = one.draft
    body = draft.diff if draft.diff else draft.reason
    head = f"{one.record.id if one.record is not None else 'would propose'}  {draft.drift}  {draft.title}"
    return [head, *(f"  {line}" for line in body.rstrip("\n").split("\n")), ""]


@click.command("apply")
@click.argument("any_id", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Write nothing; print the diff, or why it does not fit.")
@click.option("--expect", metavar="DIGEST", help="Only if it makes the diff that --dry-run printed this digest for.")
@click.option("--yes", is_flag=True, help="Ask nothing; at a terminal the diff is shown before.")
@format_option
def apply(any_id: str, dry_run: bool, expect: str | None, yes: bool, output: str) -> None:
    """Put an approved proposal into its file: all of it, or nothing where it does not fit any more.

    What it says has to be what was approved.

    \b
    orbit apply P-7k3fq --dry-run
    orbit apply P-7k3fq --expect 3f0c9a4be21d7780
    """
    registry = open_registry()
    workspace, author = registry.workspace, registry.author()
    if not (dry_run or expect or yes) and output == "text" and sys.stdin.isatty():
        record, diff = proposals.apply(workspace, any_id, author, dry_run=True)
        click.echo(visible(diff))
        click.confirm(f"Put this into {proposals.path_of(record)}?", abort=True, err=True)
        expect = digest_of(diff)
    record, diff = proposals.apply(workspace, any_id, author, dry_run=dry_run, expected=(expect or "").strip())
    path = proposals.path_of(record)
    changed = sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in diff.split("\n") if line)
    head = f"{record.id} would change {path}" if dry_run else f"{record.id} is {record.status.name} to {path}"
    digest = digest_of(diff)
    data = {"proposal": record_data(record), "path": path, "diff": diff, "digest": digest, "applied": not dry_run}
    following = [f"orbit apply {record.id} --expect {digest}"] if dry_run else ["git diff", "orbit check"]
    text = f"{head}: {plural(changed, 'line')}, digest {digest}\n\n{diff}".rstrip("\n")
    emit(output, data, text, next_commands=following)
