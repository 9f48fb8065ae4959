"""Records for decisions that documents hold: each record points at its document, which stays
unchanged.

An import reads documents (`formats.adr.reader`), plans what becomes of them (`document_plan`),
writes the records here as one step, and reports (`import_report`).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from orbit_registry.errors import InvalidRecordError, OrbitError
from orbit_registry.formats.adr.options import rejected_data
from orbit_registry.formats.position import Span
from orbit_registry.model.ids import new_uid
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.document_facts import (
    NumberedDecision,
    document_dates,
    document_fields,
    number_candidates,
    uid_of,
)
from orbit_registry.operations.document_moves import config_changes, follow_moves
from orbit_registry.operations.document_plan import (
    Decisions,
    Links,
    Registry,
    decisions_in,
    is_unstated,
    links_of,
    one_sided,
    outcomes_of,
)
from orbit_registry.operations.import_report import (
    Outcome,
    PathMoves,
    TakeoverReport,
    reason_of_error,
)
from orbit_registry.operations.link_targets import UNRESOLVED, FieldsByRecord, tabulate
from orbit_registry.operations.metadata_files import statuses_next_to
from orbit_registry.repository.codec import data_in, list_in, record_of
from orbit_registry.repository.documents import Document, decision_paths, entry_span
from orbit_registry.repository.guard import refuse_for_agent, write_step
from orbit_registry.repository.ids import new_ids, numbers_of_folders
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import (
    new_data,
    prepare_edit,
    record_path,
    render,
    validated,
    writing,
)
from orbit_registry.workspace.author import Author, acting_role, current_author
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.git import dates_of
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace

OnStep = Callable[[str, int, int], None]
"""Gets what is done next, how much of it is done, and how much there is."""
_NAMED = 3  # rejected options that a report names


@dataclass(frozen=True, slots=True)
class AdoptionPlan:
    """The files that an adoption writes, and what becomes of each document."""

    changes: tuple[FileChange, ...]
    outcomes: tuple[Outcome, ...]


def adopt(
    workspace: Workspace,
    paths: Iterable[str],
    *,
    by_name: Collection[str],
    dry_run: bool,
    assume: str | None = None,
    on_step: OnStep = lambda step, done, of: None,
    remembered: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Outcome, ...]:
    """Make a record for each decision at `paths` that has none; `by_name` are documents that the
    user named, `on_step` gets how many are read, and `remembered` has the ids that decisions had
    elsewhere (`number_candidates`).
    """
    author = importer(workspace)

    def plan(*, dry_run: bool) -> AdoptionPlan:
        return plan_adoption(
            workspace,
            paths,
            read_collection(workspace).records,
            author,
            by_name=by_name,
            dry_run=dry_run,
            assume=assume,
            on_step=on_step,
            remembered=remembered,
        )

    if dry_run:
        return plan(dry_run=True).outcomes

    with writing(workspace):
        if acting_role() == "agent":  # before numbers are taken
            refuse_for_agent(workspace, plan(dry_run=True).changes)

        done = plan(dry_run=False)
        write_step(workspace, "adopt", done.changes, taken_over=True)
        return done.outcomes


def backfill(
    workspace: Workspace, paths: Sequence[str] = (), *, moves: PathMoves = (), dry_run: bool = False
) -> TakeoverReport:
    """Make records for decisions written by hand,
    or with `moves` let records follow renamed documents.
    """
    if moves:
        return follow_moves(workspace, moves, dry_run=dry_run)

    documents = list(decision_paths(workspace)) if not paths else []
    for path in paths:
        here = inside(workspace.root, path)
        below = sorted(here.rglob("*.md")) if here.is_dir() else [here]
        documents += (workspace.relative(file) for file in below)

    outcomes = adopt(workspace, sorted(set(documents)), by_name=paths, dry_run=dry_run)
    if not paths:  # most documents of a folder that hold no decision are no news
        outcomes = tuple(
            outcome for outcome in outcomes if outcome.what != "left" or outcome.record is not None
        )

    return TakeoverReport("documents", ", ".join(paths) or ".", dry_run, outcomes)


def importer(workspace: Workspace) -> Author:
    """Return the author of imported records: the one who runs the command,
    with the role `import`.
    """
    return Author(current_author(workspace.git).name, "import")


def plan_adoption(
    workspace: Workspace,
    paths: Iterable[str],
    records: RecordSet,
    author: Author,
    *,
    by_name: Collection[str],
    dry_run: bool,
    assume: str | None = None,
    on_step: OnStep = lambda step, done, of: None,
    remembered: Mapping[str, str] = MappingProxyType({}),
) -> AdoptionPlan:
    """Return what adopting the documents at `paths` means;
    without `dry_run` it takes numbers under a lock.
    """
    kind = workspace.kinds["adr"]
    registry = _registry(workspace, kind, records)
    outcomes: list[Outcome] = []
    ordered = _main_folder_first(workspace, paths)
    documents = list(_documents(workspace, ordered, outcomes, on_step))
    sidecars = dict(statuses_next_to(workspace, documents))

    decisions = decisions_in(documents, registry, by_name, sidecars)
    outcomes += decisions.outcomes

    take = partial(new_ids, workspace, kind, dry_run=dry_run)
    numbered = number_candidates(
        decisions.new, registry.numbers, kind.prefix, registry.design, take, remembered
    )
    links = links_of(numbered, decisions.present, registry, workspace.git.web_addresses())
    outcomes += links.outcomes

    table = dict(tabulate(links.edges))
    for record_id, rejected in _unlisted_options(decisions, outcomes):
        table[record_id] = {**table.get(record_id, {}), "rejected": rejected}

    changes = [*_new_records(workspace, kind, author, numbered, table, links, outcomes, assume)]
    old_ids = sorted(table.keys() - {decision.id for decision in numbered})
    changes += _changed_records(workspace, registry, old_ids, table, links, outcomes)
    outcomes += one_sided(registry, numbered, _records_of(changes, kind))
    changes += config_changes(workspace, [decision.candidate for decision in numbered], outcomes)
    return AdoptionPlan(tuple(changes), tuple(outcomes))


def _registry(workspace: Workspace, kind: Kind, records: RecordSet) -> Registry:
    decisions = {record.id: record for record in records.of_kind(kind.name)}
    by_path: dict[str, list[Record]] = defaultdict(list)
    by_legacy: dict[str, list[Record]] = defaultdict(list)
    for record in decisions.values():
        if record.source is not None:
            by_path[record.source.path].append(record)

        for name in record.legacy_ids:
            by_legacy[name].append(record)

    missing = frozenset(path for path in by_path if not (workspace.root / path).exists())
    numbers = numbers_of_folders(workspace, kind)
    design = workspace.config.design
    return Registry(records, decisions, numbers, missing, design, dict(by_path), dict(by_legacy))


def _main_folder_first(workspace: Workspace, paths: Iterable[str]) -> list[str]:
    """Return the paths in the order in which decisions get numbers: those of the main folder keep
    theirs where another folder has the same.
    """
    main = f"{workspace.config.adr.folder}/"
    return sorted(set(paths), key=lambda path: (not path.startswith(main), path))


def _documents(
    workspace: Workspace, paths: Sequence[str], outcomes: list[Outcome], on_step: OnStep
) -> Iterator[Document]:
    for number, path in enumerate(paths):
        on_step("reading the documents", number, len(paths))
        if not path.isprintable():
            reason = "its name has characters that can't be written; rename it"
            outcomes.append(Outcome("left", repr(path)[1:-1], None, reason, is_unread=True))
            continue

        try:
            text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
        except OrbitError as error:
            reason = reason_of_error(error, path, f"{workspace.root}{os.sep}")
            outcomes.append(Outcome("left", path, None, reason, is_unread=True))
            continue

        document = Document(path, text)
        if document.file is not None:  # read now, while it counts
            yield document


def _new_records(
    workspace: Workspace,
    kind: Kind,
    author: Author,
    numbered: Sequence[NumberedDecision],
    table: FieldsByRecord,
    links: Links,
    outcomes: list[Outcome],
    assume: str | None,
) -> Iterator[FileChange]:
    uids: set[str] = set()
    history = dates_of(workspace.git, [decision.candidate.path for decision in numbered])
    for decision in numbered:
        candidate = decision.candidate
        uid = uid_of(candidate)
        uid = new_uid() if uid in uids else uid
        uids.add(uid)

        fields = document_fields(decision)
        fields.update(document_dates(candidate.entry.date, history.get(candidate.path)))
        fields.update(table.get(decision.id, {}))
        fields[UNRESOLVED] = [edge.as_data() for edge in links.unresolved.get(decision.id, ())]
        if assume is not None and is_unstated(candidate):
            fields["status"] = assume

        path = record_path(workspace, kind, decision.id)
        text = render(workspace, kind, new_data(kind, decision.id, uid, author, fields), path)
        try:
            validated(text, kind, path)
        except InvalidRecordError as error:
            reason = f"its record would be invalid: {_message(error)}"
            outcomes.append(Outcome("left", candidate.label, None, reason, is_unread=True))
            continue

        outcomes += outcomes_of(decision, assume)
        yield FileChange(path, None, text)


def _unlisted_options(
    decisions: Decisions, outcomes: list[Outcome]
) -> Iterator[tuple[str, list[object]]]:
    """Yield the options that documents reject, of records that have no list of them yet."""
    if acting_role() == "agent":  # a person states what is rejected
        return

    for record, candidate in decisions.present:
        if "rejected" in record.data or record.phase != "live":
            continue

        span = Span(*entry_span(candidate.entry))
        rejected = rejected_data(candidate.document.text, span)
        if rejected:
            names = ", ".join(str(option["option"]) for option in rejected[:_NAMED])
            more = f" and {len(rejected) - _NAMED} more" if len(rejected) > _NAMED else ""
            reason = f"its document rejects {names}{more}; the record lists that now, correct it"
            outcomes.append(Outcome("changed", candidate.label, record.id, reason))
            yield record.id, [*rejected]


def _changed_records(
    workspace: Workspace,
    registry: Registry,
    old_ids: Sequence[str],
    table: FieldsByRecord,
    links: Links,
    outcomes: list[Outcome],
) -> Iterator[FileChange]:
    """Yield the changes of existing records that new decisions are linked with."""
    resolved: dict[str, set[str]] = defaultdict(set)
    for edge in links.edges:
        resolved[edge.stated_by].add(edge.as_written)

    for record_id in old_ids:
        record = registry.decisions[record_id]
        edit = partial(_with_edges, table[record_id], resolved[record_id])
        try:
            change, _ = prepare_edit(workspace, record, edit)
        except InvalidRecordError as error:
            reason = f"it can't be linked back: {_message(error)}"
            outcomes.append(Outcome("left", record.path, record_id, reason))
            continue

        if change.before != change.after:
            yield change


def _with_edges(
    added: Mapping[str, Sequence[object]], resolved: Collection[str], data: dict[str, object]
) -> dict[str, object]:
    for name, entries in added.items():
        current = list_in(data, name)
        data[name] = current + [entry for entry in entries if entry not in current]

    unresolved = [entry for entry in list_in(data, UNRESOLVED) if _edge_text(entry) not in resolved]
    data.pop(UNRESOLVED, None)
    return {**data, UNRESOLVED: unresolved} if unresolved else data


def _edge_text(entry: object) -> str:
    return f"{entry.get('rel')} {entry.get('to')}" if isinstance(entry, dict) else ""


def _records_of(changes: Iterable[FileChange], kind: Kind) -> dict[str, Record]:
    records: dict[str, Record] = {}
    for change in changes:
        data = data_in(change.after)
        if data is not None:
            records[change.path] = record_of(data, kind, change.path)

    return records


def _message(error: OrbitError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
