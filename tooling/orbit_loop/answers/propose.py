"""`propose`: changes of skills and records, as proposals that wait for a person."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from orbit_loop import consolidate as consolidation
from orbit_loop import ladder, proposals
from orbit_loop.history import History, history_of
from orbit_loop.proposals import Proposed, recommended, record_drafts
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError, plural
from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.repository.skills import read_skills
from orbit_registry.workspace.event_log import log_files, logged_events

WOULD = "would propose"


@operation("propose", job="Review", writes=True)
def propose(
    call: Call, any_ids: tuple[str, ...] = (), consolidate: bool = False, dry_run: bool = False
) -> Answer:
    """Propose changes of skills and records.

    A learning that adds to a skill becomes a diff that waits for approval; if a skill contradicts
    it, a note waits. Without ID, recorded retros and errors that records describe are used too.
    Nothing is proposed twice.

    orbit propose --dry-run
    orbit accept P-7k3fq && orbit apply P-7k3fq
    orbit propose --consolidate --dry-run

    Args:
        any_ids [ID]...: Learnings; all that hold if not given.
        consolidate: Propose rules for themes, and retiring unused learnings.
        dry_run: Print what would be proposed; write nothing.
    """
    if consolidate and any_ids:
        raise UsageError("--consolidate looks at all learnings", hint="leave the ids out")
    if consolidate:
        return _consolidated(call, dry_run)

    registry = call.registry
    workspace, records = registry.workspace, registry.collection.records
    ids = [_learning(registry, any_id) for any_id in any_ids]
    skills, problems = read_skills(workspace)
    history = proposals.ProposalHistory.from_records(records)
    more = [] if ids else recommended(workspace, records)
    drafts = proposals.skill_drafts(records, skills, history, ids, more)
    broken: list[ladder.Draft] = []
    if not ids:
        failed = _history(call).failed_after
        drafts += record_drafts(workspace, records, failed)
        broken = list(ladder.drafts(records, failed))

    rules = []
    for draft in broken:
        rule = None if dry_run else ladder.write_draft(workspace, draft, call.author())
        rules.append((draft, rule))

    proposed, waiting = proposals.write_proposals(
        workspace, drafts, history, call.author(), dry_run=dry_run
    )
    data = {
        "proposals": [each.as_data() for each in proposed],
        "drafts": [_draft_data(draft, rule) for draft, rule in rules],
        "waiting": [{"path": path, "for": other or None} for path, other in waiting.items()],
        "skills": [skill.path for skill in skills],
        "problems": problems,
        "dry_run": dry_run,
    }

    lines: list[str] = []
    if not (proposed or waiting or rules):
        no_skill = "" if skills else ": no skill was found in skills/ or an agent's own folder"
        lines.append(f"there is nothing to propose{no_skill}")

    for draft, rule in rules:
        lines += _draft_lines(draft, rule)
    for each in proposed:
        lines += _proposal_lines(each)
    for path, other in waiting.items():
        lines.append(f"{path}: more waits until {other or 'the first'} is decided")

    lines += [f"left out: {problem}" for problem in problems]
    records_written = [rule for _, rule in rules] + [each.record for each in proposed]
    written = [record.id for record in records_written if record is not None]
    following = ["orbit review --kind proposal"]
    if written:
        following = [f"orbit show {written[0]}", f"orbit accept {written[0]}"]

    return Answer(data, "\n".join(lines), following)


def _history(call: Call) -> History:
    files = log_files(call.workspace.state)
    return history_of(logged_events(files))


def _draft_data(draft: ladder.Draft, rule: Record | None) -> dict[str, object]:
    return {"id": None if rule is None else rule.id, **draft.as_data()}


def _draft_lines(draft: ladder.Draft, rule: Record | None) -> Iterator[str]:
    name = WOULD if rule is None else rule.id
    yield f"{name}  rule  {draft.record.title}"
    yield f"  {draft.record.id} was shown, and it was broken {draft.times} after that"
    if draft.check is not None:
        yield f"  with a check: {draft.check['fails']} breaks it, {draft.check['passes']} is right"

    yield ""


def _learning(registry: Registry, any_id: str) -> str:
    record = registry.get(any_id)
    if record.kind.name != consolidation.LEARNING or record.phase == "closed":
        kind = record.kind.label.lower()
        message = f"{record.id} is not an open learning: {kind}, {record.status.name}"
        raise UsageError(message, hint="`orbit learning list` shows those there are")
    return record.id


def _proposal_lines(proposed: Proposed) -> Iterator[str]:
    draft = proposed.draft
    name = WOULD if proposed.record is None else proposed.record.id
    yield f"{name}  {draft.drift}  {draft.title}"

    body = draft.diff or draft.reason
    for line in body.rstrip("\n").split("\n"):
        yield f"  {line}"

    yield ""


def _consolidated(call: Call, dry_run: bool) -> Answer:
    workspace, records = call.workspace, call.registry.records
    live = [record for record in records.of_kind(consolidation.LEARNING) if record.phase == "live"]
    clusters = consolidation.without_derived(consolidation.clusters(live), records)
    history = _history(call)
    unneeded = consolidation.retirement_candidates(records, history, datetime.now(UTC))
    drafts = consolidation.retirements(workspace, records, unneeded)

    author, earlier = call.author(), proposals.ProposalHistory.from_records(records)
    written: list[Record | None] = []
    for cluster in clusters:
        record = None
        if not dry_run:
            record = consolidation.propose_cluster(workspace, cluster, author)
        written.append(record)

    offered, _ = proposals.write_proposals(workspace, drafts, earlier, author, dry_run=dry_run)
    opposites, _ = proposals.write_proposals(
        workspace, consolidation.contradictions(live), earlier, author, dry_run=dry_run
    )
    note = None
    if not consolidation.is_long_enough(history):
        sessions = plural(history.sessions, "session")
        note = (
            f"what was never shown is not known: the event log spans {history.days:.0f} days and "
            f"{sessions}, and {consolidation.SHOWN_DAYS} and {consolidation.SHOWN_SESSIONS} are "
            "needed"
        )

    of_clusters = list(zip(clusters, written, strict=True))
    data = {
        "clusters": [
            {"id": None if record is None else record.id, **cluster.as_data()}
            for cluster, record in of_clusters
        ],
        "retirements": [retirement.as_data() for retirement in offered],
        "contradictions": [opposite.as_data() for opposite in opposites],
        "learnings": len(live),
        "note": note,
        "dry_run": dry_run,
    }
    lines = [*_cluster_lines(of_clusters), *_offer_lines([*offered, *opposites])]
    if not lines:
        lines = [f"nothing to consolidate among {plural(len(live), 'learning')}"]
    elif note is not None:
        lines.append(note)

    return Answer(data, "\n".join(lines), ["orbit review", "orbit check"])


def _cluster_lines(
    of_clusters: Sequence[tuple[consolidation.Cluster, Record | None]],
) -> Iterator[str]:
    for cluster, record in of_clusters:
        name = WOULD if record is None else record.id
        alike = f"{cluster.likeness:.0%} alike: {', '.join(cluster.shared)}"
        yield f"{name}  {cluster.kind}  of {len(cluster.members)}, {alike}"
        for member in cluster.members:
            yield f"  {member.id}  {member.title}"


def _offer_lines(offers: Sequence[Proposed]) -> Iterator[str]:
    for offer in offers:
        name = WOULD if offer.record is None else offer.record.id
        yield f"{name}  {offer.draft.title}\n  {offer.draft.reason}"
