"""`orbit propose`: changes of skills and records, as proposals that wait for a person."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from orbit_loop import consolidate as consolidation
from orbit_loop import proposals
from orbit_loop.proposals import recommended, record_drafts
from orbit_measure.report import effect
from orbit_registry.cli.output import emit, format_option, open_registry
from orbit_registry.errors import UsageError, plural
from orbit_registry.registry import Registry
from orbit_registry.repository.skills import read_skills
from orbit_registry.workspace.event_log import LogScan, log_files, logged_events


@click.command("propose")
@click.argument("any_ids", metavar="[ID]...", nargs=-1)
@click.option(
    "--consolidate", is_flag=True, help="Propose rules for themes, and retiring unused learnings."
)
@click.option("--dry-run", is_flag=True, help="Print what would be proposed; write nothing.")
@format_option
def propose(any_ids: Sequence[str], consolidate: bool, dry_run: bool, output: str) -> None:
    """Propose changes of skills and records.

    A learning that adds to a skill becomes a diff that waits for approval; if a skill contradicts
    it, a note waits. Without ID, recorded retros and errors that records describe are used too.
    Nothing is proposed twice.

    orbit propose --dry-run
    orbit accept P-7k3fq && orbit apply P-7k3fq
    orbit propose --consolidate --dry-run
    """
    registry = open_registry()
    if consolidate:
        if any_ids:
            raise UsageError("--consolidate looks at all learnings", hint="leave the ids out")
        _consolidate(registry, dry_run, output)
        return

    records = registry.collection.records
    ids = [_learning(registry, any_id) for any_id in any_ids]
    skills, problems = read_skills(registry.workspace)
    history = proposals.ProposalHistory.from_records(records)
    workspace = registry.workspace
    more = [] if ids else recommended(workspace, records)
    drafts = proposals.skill_drafts(records, skills, history, ids, more)

    if not ids:
        drafts += record_drafts(
            workspace, records, logged_events(log_files(workspace.state), time.time(), LogScan())
        )

    author = registry.author()
    proposed_records, waiting = proposals.write_proposals(
        workspace, drafts, history, author, dry_run=dry_run
    )
    data = {
        "proposals": [proposed.as_data() for proposed in proposed_records],
        "waiting": [{"path": path, "for": decided or None} for path, decided in waiting.items()],
        "skills": [skill.path for skill in skills],
        "problems": problems,
        "dry_run": dry_run,
    }
    lines = [line for proposed in proposed_records for line in _proposal_lines(proposed)]
    lines += [
        f"{path}: more waits until {decided or 'the first'} is decided"
        for path, decided in waiting.items()
    ]
    lines += [f"left out: {problem}" for problem in problems]

    no_skill = "" if skills else ": no skill was found in skills/ or an agent's own folder"
    nothing = f"there is nothing to propose{no_skill}"
    first = next(
        (proposed.record.id for proposed in proposed_records if proposed.record is not None), None
    )
    following = (
        [f"orbit show {first}", f"orbit accept {first}"]
        if first
        else ["orbit review --kind proposal"]
    )

    text = "\n".join(lines if proposed_records or waiting else [nothing, *lines])
    emit(output, data, text, next_commands=following)


def _learning(registry: Registry, any_id: str) -> str:
    record = registry.get(any_id)
    if record.kind.name != consolidation.LEARNING or record.phase == "closed":
        message = (
            f"{record.id} is not an open learning: {record.kind.label.lower()}, "
            f"{record.status.name}"
        )
        raise UsageError(message, hint="`orbit learning list` shows those there are")
    return record.id


def _consolidate(registry: Registry, dry_run: bool, output: str) -> None:
    workspace, records = registry.workspace, registry.records
    live = [record for record in records.of_kind(consolidation.LEARNING) if record.phase == "live"]
    clusters = consolidation.without_derived(consolidation.clusters(live), records)
    report = effect(workspace)
    unneeded = consolidation.retirement_candidates(records, report, datetime.now(UTC))
    drafts = consolidation.retirements(workspace, records, unneeded)

    author, history = registry.author(), proposals.ProposalHistory.from_records(records)
    proposed = [
        None if dry_run else consolidation.propose_cluster(workspace, cluster, author)
        for cluster in clusters
    ]
    offered, _ = proposals.write_proposals(workspace, drafts, history, author, dry_run=dry_run)
    opposites, _ = proposals.write_proposals(
        workspace, consolidation.contradictions(live), history, author, dry_run=dry_run
    )
    note = (
        None
        if consolidation.is_long_enough(report)
        else (
            f"what was never shown is not known: the event log spans {report.days:.0f} days and "
            f"{plural(report.sessions, 'session')}, "
            f"and {consolidation.SHOWN_DAYS} and {consolidation.SHOWN_SESSIONS} are "
            f"needed"
        )
    )

    data = {
        "clusters": [
            {"id": record.id if record is not None else None, **cluster.as_data()}
            for cluster, record in zip(clusters, proposed, strict=True)
        ],
        "retirements": [retirement.as_data() for retirement in offered],
        "contradictions": [opposite.as_data() for opposite in opposites],
        "learnings": len(live),
        "note": note,
        "dry_run": dry_run,
    }

    lines: list[str] = []
    for cluster, record in zip(clusters, proposed, strict=True):
        name = record.id if record is not None else "would propose"
        alike = f"{cluster.likeness:.0%} alike: {', '.join(cluster.shared)}"
        lines.append(f"{name}  {cluster.kind}  of {len(cluster.members)}, {alike}")
        lines += [f"  {member.id}  {member.title}" for member in cluster.members]

    for offer in (*offered, *opposites):
        name = offer.record.id if offer.record is not None else "would propose"
        lines.append(f"{name}  {offer.draft.title}\n  {offer.draft.reason}")

    lines.append(note or "")
    nothing = f"nothing to consolidate among {plural(len(live), 'learning')}"
    text = "\n".join(filter(None, lines)) if clusters or offered or opposites else nothing
    emit(output, data, text, next_commands=["orbit review", "orbit check"])


def _proposal_lines(proposed: proposals.Proposed) -> list[str]:
    draft = proposed.draft
    body = draft.diff if draft.diff else draft.reason
    head = (
        f"{proposed.record.id if proposed.record is not None else 'would propose'}  "
        f"{draft.drift}  {draft.title}"
    )
    return [head, *(f"  {line}" for line in body.rstrip("\n").split("\n")), ""]
