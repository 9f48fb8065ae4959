"""Makes records for decisions that stand in documents: the documents stay as they are, and each record points at one.

What a document says goes into its record as written; what it does not say is not made up. Reading documents and
resolving what they say of each other happens here; which files are worth reading is the caller's to decide.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.errors import InvalidRecordError, OrbitError
from orbit_registry.formats.adr.assembly import DATE_PROBLEMS
from orbit_registry.formats.adr.model import FOLDER
from orbit_registry.model.ids import new_uid, sequence_id, sequence_number
from orbit_registry.model.kind import Kind
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.adopt.config_update import config_changes
from orbit_registry.operations.adopt.document_moves import follow_moves
from orbit_registry.operations.adopt.edges import (
    UNRESOLVED,
    Edge,
    EdgeTable,
    RecordLocation,
    Targets,
    Unresolved,
    location_of,
    read_edges,
    tabulate,
)
from orbit_registry.operations.adopt.existing import ExistingRecords, candidates_of, existing_records
from orbit_registry.operations.adopt.fields import document_dates, document_fields, document_uid
from orbit_registry.operations.adopt.ids import Candidate, NumberedDecision, number_candidates
from orbit_registry.operations.adopt.next_steps import UNKNOWN, with_step
from orbit_registry.operations.import_report import Outcome, PathMoves, TakeoverReport
from orbit_registry.repository.documents import decision_paths
from orbit_registry.repository.guard import refuse_for_agent, write_step
from orbit_registry.repository.ids import allocate, claims_folder, seen_numbers
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import new_data, prepare_edit, record_path, render, validated, writing
from orbit_registry.workspace.author import Author, acting_role, current_author
from orbit_registry.workspace.files import inside
from orbit_registry.workspace.git import dates_of
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace

STEP_LIMIT = 40_000_000
_NO_STATUS = f"the document states no status, {UNKNOWN}"
_QUOTED = 60
"""Characters of a status that a report quotes."""


@dataclass(frozen=True, slots=True)
class AdoptionPlan:
    """The files that an adoption writes, and what becomes of each document."""

    changes: tuple[FileChange, ...]
    outcomes: tuple[Outcome, ...]


def plan_adoption(
    workspace: Workspace,
    paths: Iterable[str],
    records: RecordSet,
    author: Author,
    *,
    by_name: Collection[str],
    dry_run: bool,
    assume: str | None = None,
) -> AdoptionPlan:
    """Return what adopting the documents at `paths` (from the root) means; without `dry_run` new numbers are taken.

    `assume` is the status of a decision whose document states none; `unknown` if not given.

    The caller holds the write lock unless `dry_run` is set.
    """
    kind = workspace.kinds["adr"]
    existing = existing_records(workspace, kind, records)
    outcomes: list[Outcome] = []
    candidates = candidates_of(workspace, sorted(set(paths)), existing, outcomes, by_name)

    def take(count: int, avoid: Collection[int]) -> list[str]:
        return new_numbers(workspace, kind, count, avoid, dry_run=dry_run)

    numbered = number_candidates(candidates, existing.numbers, kind.prefix, workspace.config.design, take)
    edges, unresolved = _edges(workspace, existing, numbered, outcomes)
    table = tabulate(edges)
    changes = [*_new_records(workspace, kind, author, numbered, table, unresolved, outcomes, assume)]
    new_ids = {decision.id for decision in numbered}
    changes += _changed_records(workspace, existing, edges, table, new_ids, outcomes)
    outcomes += (_implied(record, edge) for record, edge in table.implied)
    changes += config_changes(workspace, [decision.candidate for decision in numbered], outcomes)
    return AdoptionPlan(tuple(changes), tuple(outcomes))


def adopt(
    workspace: Workspace,
    paths: Iterable[str],
    *,
    by_name: Collection[str] = (),
    command: str = "orbit adr backfill",
    author: Author | None = None,
    dry_run: bool = False,
    assume: str | None = None,
) -> tuple[Outcome, ...]:
    """Make a record for each decision at `paths` that has none; a second call changes nothing.

    Everything is one recoverable step: after a kill the next writer finishes it. `by_name` are the documents that
    somebody named one by one, `command` is what a person has to run where an agent may not.

    Raises:
        RefusedError: an agent runs it, and a decision is in force; nothing was written.
        WriteError: the disk refused; what was written is taken back.
    """
    who = author or importer(workspace)

    def plan(*, dry_run: bool) -> AdoptionPlan:
        records = read_collection(workspace).records
        return plan_adoption(workspace, paths, records, who, by_name=by_name, dry_run=dry_run, assume=assume)

    if dry_run:
        return plan(dry_run=True).outcomes
    with writing(workspace):
        if (author.role if author else acting_role()) == "agent":  # before numbers are taken
            changes = plan(dry_run=True).changes
            refuse_for_agent(workspace, changes, author=author, hint=f"a person runs `{command}`")
        done = plan(dry_run=False)
        for step in in_steps(done.changes):
            write_step(workspace, "adopt", step, author=author, taken_over=True)
        return done.outcomes


def backfill(
    workspace: Workspace,
    paths: Sequence[str] = (),
    *,
    moves: PathMoves = (),
    author: Author | None = None,
    dry_run: bool = False,
) -> TakeoverReport:
    """Make records for decisions that were written by hand, in the documents named or in all there are.

    With `moves` none is made: records follow the documents that were renamed, see `moved.follow`.

    Raises:
        RefusedError: an agent runs it, and a decision is in force; nothing was written.
        UnsafePathError: a path leads out of the root.
    """
    if moves:
        return follow_moves(workspace, moves, author=author, dry_run=dry_run)
    documents = list(decision_paths(workspace)) if not paths else []
    for path in paths:
        here = inside(workspace.root, path)
        below = sorted(here.rglob("*.md")) if here.is_dir() else [here]
        documents += (workspace.relative(file) for file in below)
    command = " ".join(("orbit adr backfill", *(shlex.quote(path) for path in paths)))
    outcomes = adopt(workspace, sorted(set(documents)), by_name=paths, command=command, author=author, dry_run=dry_run)
    if not paths:
        outcomes = tuple(outcome for outcome in outcomes if outcome.what != "left" or outcome.record is not None)
    return TakeoverReport("documents", ", ".join(paths) or ".", dry_run, outcomes)


def importer(workspace: Workspace) -> Author:
    """Return the author of records that were taken over: whoever runs the command, as an import."""
    return Author(current_author(workspace.git).name, "import")


def in_steps(changes: Sequence[FileChange], limit: int = STEP_LIMIT) -> Iterator[list[FileChange]]:
    """Yield the changes in as few steps as the journal's size allows."""
    step: list[FileChange] = []
    size = 0
    for change in changes:
        weight = len(change.before or "") + len(change.after or "") + 200
        if step and size + weight > limit:
            yield step
            step, size = [], 0
        step.append(change)
        size += weight
    if step:
        yield step


def new_numbers(workspace: Workspace, kind: Kind, count: int, avoid: Collection[int], *, dry_run: bool) -> list[str]:
    """Return `count` new ids above every number there is and those of `avoid`; a dry run takes none of them."""
    top = max(avoid, default=0)
    if dry_run:
        claims = claims_folder(workspace) / f"{kind.name}.json"
        top = max(top, *(claim.number for claim in seen_numbers(workspace, kind, claims)), 0)
        return [sequence_id(kind.prefix, top + index + 1) for index in range(count)]
    first = allocate(workspace, kind)[0].id
    number = sequence_number(first, kind.prefix) or 0
    if number > top:
        return [first, *(more.id for more in allocate(workspace, kind, count - 1))][:count]
    # The numbers below the documents' highest are taken too and not given to anyone.
    return [more.id for more in allocate(workspace, kind, top - number + count)][-count:]


# --- what the documents say of each other


def _edges(
    workspace: Workspace, existing: ExistingRecords, numbered: Sequence[NumberedDecision], outcomes: list[Outcome]
) -> tuple[list[Edge], dict[str, list[Unresolved]]]:
    old = [location_of(record) for record in existing.records.values()]
    new = [
        RecordLocation(decision.id, decision.candidate.path, decision.candidate.number, decision.legacy_ids)
        for decision in numbered
    ]
    targets = Targets([*old, *new], workspace.git.web_addresses())
    adopted = [
        (record.id, candidate)
        for record, candidate in (existing.reread if numbered else ())
        if record.source is not None and record.source.authority == "document"
    ]
    successions = {
        (edge.subject, edge.target)
        for record, candidate in (*((decision.id, decision.candidate) for decision in numbered), *adopted)
        for edge in read_edges(record, candidate.path, candidate.entry, targets)
        if isinstance(edge, Edge) and edge.rel == "supersedes"
    }
    edges: list[Edge] = []
    unresolved: dict[str, list[Unresolved]] = {}
    for decision in numbered:
        for statement_found in read_edges(
            decision.id, decision.candidate.path, decision.candidate.entry, targets, successions
        ):
            if isinstance(statement_found, Edge):
                edges.append(statement_found)
                continue
            unresolved.setdefault(decision.id, []).append(statement_found)
            which = f": {', '.join(statement_found.candidates)}" if statement_found.candidates else ""
            statement = f"`{statement_found.rel.replace('_', ' ')} {statement_found.target}` is no link between records"
            reason = f"{statement}: {with_step(statement_found.reason, which)}"
            outcomes.append(Outcome("left", decision.candidate.label, decision.id, reason))
    new_ids = {decision.id for decision in numbered}
    for record, candidate in adopted:
        found_now = read_edges(record, candidate.path, candidate.entry, targets, successions)
        edges += (edge for edge in found_now if isinstance(edge, Edge) and {edge.subject, edge.target} & new_ids)
    return edges, unresolved


# --- what is written


def _new_records(
    workspace: Workspace,
    kind: Kind,
    author: Author,
    numbered: Sequence[NumberedDecision],
    table: EdgeTable,
    unresolved: Mapping[str, Sequence[Unresolved]],
    outcomes: list[Outcome],
    assume: str | None,
) -> Iterator[FileChange]:
    uids: set[str] = set()
    history = dates_of(workspace.git, [decision.candidate.path for decision in numbered])
    for decision in numbered:
        candidate = decision.candidate
        uid = document_uid(decision)
        uid = new_uid() if uid in uids else uid
        uids.add(uid)
        left_open = [edge.as_data() for edge in unresolved.get(decision.id, ())]
        dates = document_dates(candidate.entry.date, history.get(candidate.path))
        is_unstated = candidate.entry.status == "unknown" and not candidate.entry.status_raw.strip()
        fields = {**document_fields(decision), **dates, **table.fields(decision.id), UNRESOLVED: left_open}
        if is_unstated and assume is not None:
            fields["status"] = assume
        path = record_path(workspace, kind, decision.id)
        text = render(workspace, kind, new_data(kind, decision.id, uid, author, fields), path)
        try:
            validated(text, kind, path)
        except InvalidRecordError as error:
            outcomes.append(Outcome("left", candidate.label, None, f"its record would be invalid: {_message(error)}"))
            continue
        outcomes.append(Outcome("taken", candidate.label, decision.id, ""))
        if decision.renumber_reason:
            outcomes.append(
                Outcome("changed", candidate.label, decision.id, f"a new number, because {decision.renumber_reason}")
            )
        if is_unstated:
            reason = f"the document states no status, so it is `{assume}`, as `--assume` says" if assume else _NO_STATUS
            outcomes.append(Outcome("changed", candidate.label, decision.id, reason))
        if candidate.entry.status == "unknown" and candidate.entry.status_raw.strip():
            outcomes.append(
                Outcome("changed", candidate.label, decision.id, _unknown_status(candidate.entry.status_raw))
            )
        unclear = next((problem for problem in candidate.entry.problems if problem.code in DATE_PROBLEMS), None)
        if unclear is not None:
            message = f"{unclear.message}, so the record has none; {unclear.hint}"
            outcomes.append(Outcome("changed", candidate.label, decision.id, message))
        if candidate.entry.format == FOLDER:
            outcomes.append(Outcome("changed", candidate.label, decision.id, _folder_status(candidate)))
        yield FileChange(path, None, text)


def _folder_status(candidate: Candidate) -> str:
    folder = posixpath.dirname(candidate.path)
    return f"the document states no status; it is `{candidate.entry.status}`, as its folder's name says: {folder}"


def _unknown_status(status: str) -> str:
    flat = " ".join(status.split())
    quoted = flat if len(flat) <= _QUOTED else f"{flat[:_QUOTED]}…"
    return f"the status `{quoted}` is none that is known, {UNKNOWN}: `orbit adr accept ID` or `reject` ends that"


def _implied(record: str, edge: Edge) -> Outcome:
    message = f"only the document of {edge.stated_by} says `{edge.as_written.replace('_', ' ')}`; both records hold it"
    return Outcome("changed", edge.stated_by, record, message)


def _changed_records(
    workspace: Workspace,
    existing: ExistingRecords,
    edges: Sequence[Edge],
    table: EdgeTable,
    new_ids: Collection[str],
    outcomes: list[Outcome],
) -> Iterator[FileChange]:
    """Yield the edits of records that were there before and are the other end of an edge."""
    resolved: dict[str, set[str]] = {}
    for edge in edges:
        resolved.setdefault(edge.stated_by, set()).add(edge.as_written)
    for record_id in sorted(table.records() - set(new_ids)):
        record = existing.records[record_id]
        added = table.fields(record_id)

        def edit(
            data: dict[str, object],
            added: Mapping[str, object] = added,
            done: Collection[str] = resolved.get(record_id, frozenset()),
        ) -> dict[str, object]:
            for name, values in added.items():
                current = _list(data.get(name))
                merged = current + [value for value in _list(values) if value not in current]
                if merged != current:
                    data[name] = merged
            still = [entry for entry in _list(data.pop(UNRESOLVED, None)) if _edge_text(entry) not in done]
            return {**data, UNRESOLVED: still} if still else data

        try:
            change, _ = prepare_edit(workspace, record, edit)
        except InvalidRecordError as error:
            outcomes.append(Outcome("left", record.path, record_id, f"it can't be linked back: {_message(error)}"))
            continue
        if change.before != change.after:
            yield change


def _message(error: OrbitError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _edge_text(entry: object) -> str:
    return f"{entry.get('rel')} {entry.get('to')}" if isinstance(entry, dict) else ""
