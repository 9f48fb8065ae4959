"""Records for decisions that documents hold: each record points at its document, which stays
unchanged.

An import takes four steps, and this module takes them in their order:

1. `read`: the text and the path of a document become facts, each with the place that states it.
   `formats.adr.reader` reads one document.
2. `plan`: the facts and the registry become outcomes, and the files that would be written.
   `document_plan` sorts the decisions, `document_facts` numbers them, `link_targets` links them.
3. `apply`: the files of a plan are written as one step of the journal.
4. `report`: the outcomes become what people read: `import_report`, and `import_notes` with what to
   do next.

`orbit import FILE --explain` prints what each step makes of one document.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial

from orbit_registry.errors import InvalidRecordError, OrbitError, UsageError
from orbit_registry.formats.adr.options import rejected_data
from orbit_registry.formats.position import Span
from orbit_registry.model.ids import new_uid
from orbit_registry.model.record import Record
from orbit_registry.operations.document_choice import choose
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
from orbit_registry.operations.import_notes import Project, report
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
from orbit_registry.workspace.git_log import dates_of
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import Workspace, refuse_empty_path

OnStep = Callable[[str, int, int], None]
"""Gets what is done next, how much of it is done, and how much there is."""
_NAMED = 3  # rejected options that a report names


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a user asks of an import."""

    by_name: Collection[str] = ()
    """Documents that the user named."""
    assume: str | None = None
    """The status of decisions whose document states none."""
    dry_run: bool = False
    on_step: OnStep = lambda step, done, of: None
    remembered: Mapping[str, str] = field(default_factory=dict)
    """Ids that decisions had elsewhere (`number_candidates`)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The documents that could be read, and why others could not."""

    documents: Sequence[Document]
    outcomes: Sequence[Outcome]


@dataclass(frozen=True, slots=True)
class Plan:
    """The files that an import writes, and what becomes of each document."""

    changes: Sequence[FileChange]
    outcomes: Sequence[Outcome]


def import_documents(workspace: Workspace, within: str, order: Order) -> TakeoverReport:
    """Make a record for each decision that has none, in the documents at a path from the root."""
    choice = choose(workspace, within)
    outcomes = adopt(workspace, choice.documents, order)
    project = Project.of(workspace, within, choice.dropped)
    return report(within, (*choice.left, *outcomes), project, dry_run=order.dry_run)


def adopt(workspace: Workspace, paths: Iterable[str], order: Order) -> Sequence[Outcome]:
    """Make a record for each decision at some paths that has none."""
    with nullcontext() if order.dry_run else writing(workspace):
        reading = read(workspace, paths, order.on_step)
        if not order.dry_run and acting_role() == "agent":  # before numbers are taken
            refuse_for_agent(workspace, plan(workspace, reading, order, take_numbers=False).changes)

        adoption = plan(workspace, reading, order, take_numbers=not order.dry_run)
        if not order.dry_run:
            apply(workspace, adoption)

    return adoption.outcomes


def backfill(
    workspace: Workspace, paths: Sequence[str] = (), *, moves: PathMoves = (), dry_run: bool = False
) -> TakeoverReport:
    """Make records for decisions written by hand,
    or with `moves` let records follow renamed documents.
    """
    if moves:
        return follow_moves(workspace, moves, dry_run=dry_run)

    documents = set() if paths else {*decision_paths(workspace)}
    for path in paths:
        refuse_empty_path(path)
        here = inside(workspace.root, path)
        if not here.exists():
            hint = "name a document or a folder, from the project's root"
            raise UsageError(f"{path} is not there", hint=hint)

        below = here.rglob("*.md") if here.is_dir() else [here]
        documents.update(map(workspace.relative, below))

    outcomes = adopt(workspace, documents, Order(by_name=paths, dry_run=dry_run))
    if not paths:  # most documents of a folder that hold no decision are no news
        outcomes = [each for each in outcomes if each.what != "left" or each.record is not None]

    return TakeoverReport("documents", ", ".join(paths) or ".", dry_run, tuple(outcomes))


def importer(workspace: Workspace) -> Author:
    """Return the author of imported records: the one who runs the command,
    with the role `import`.
    """
    return Author(current_author(workspace.git).name, "import")


def read(workspace: Workspace, paths: Iterable[str], on_step: OnStep) -> Reading:
    """Return the documents at some paths as read, in the order in which decisions get numbers:
    those of the main folder keep theirs where another folder has the same.
    """
    main = f"{workspace.config.adr.folder}/"
    ordered = sorted(set(paths), key=lambda path: (not path.startswith(main), path))
    documents: list[Document] = []
    outcomes: list[Outcome] = []
    for number, path in enumerate(ordered):
        on_step("reading the documents", number, len(ordered))
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
            documents.append(document)

    return Reading(documents, outcomes)


def plan(workspace: Workspace, reading: Reading, order: Order, *, take_numbers: bool) -> Plan:
    """Return what becomes of documents that were read. `take_numbers`: under a lock, so that no
    other run gets these numbers.
    """
    registry = _registry(workspace)
    sidecars = dict(statuses_next_to(workspace, reading.documents))
    decisions = decisions_in(reading.documents, registry, order.by_name, sidecars)
    outcomes = [*reading.outcomes, *decisions.outcomes]

    kind = workspace.kinds["adr"]
    take = partial(new_ids, workspace, kind, dry_run=not take_numbers)
    numbered = number_candidates(
        decisions.new, registry.numbers, kind.prefix, registry.design, take, order.remembered
    )
    links = links_of(numbered, decisions.present, registry, workspace.git.web_addresses())
    outcomes += links.outcomes

    table = dict(tabulate(links.edges))
    for record_id, rejected in _unlisted_options(decisions, outcomes):
        table[record_id] = {**table.get(record_id, {}), "rejected": rejected}

    changes = [*_new_records(workspace, numbered, table, links, outcomes, order.assume)]
    old_ids = sorted(table.keys() - {decision.id for decision in numbered})
    changes += _changed_records(workspace, registry, old_ids, table, links, outcomes)
    outcomes += one_sided(registry, numbered, _records_of(workspace, changes))
    changes += config_changes(workspace, [decision.candidate for decision in numbered], outcomes)
    return Plan(changes, outcomes)


def apply(workspace: Workspace, adoption: Plan) -> None:
    """Write the files of a plan as one step, which a failure leaves undone."""
    write_step(workspace, "adopt", adoption.changes, taken_over=True)


def _registry(workspace: Workspace) -> Registry:
    kind = workspace.kinds["adr"]
    records = read_collection(workspace).records
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


def _new_records(
    workspace: Workspace,
    numbered: Sequence[NumberedDecision],
    table: FieldsByRecord,
    links: Links,
    outcomes: list[Outcome],
    assume: str | None,
) -> Iterator[FileChange]:
    kind = workspace.kinds["adr"]
    author = importer(workspace)
    uids: set[str] = set()
    history = dates_of(workspace.git, [decision.candidate.path for decision in numbered])
    for decision in numbered:
        candidate = decision.candidate
        uid = uid_of(candidate)
        uid = new_uid() if uid in uids else uid
        uids.add(uid)

        fields = document_fields(decision)
        fields.update(document_dates(candidate.entry, history.get(candidate.path)))
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
    if unresolved:
        return {**data, UNRESOLVED: unresolved}

    return data


def _edge_text(entry: object) -> str:
    if isinstance(entry, dict):
        return f"{entry.get('rel')} {entry.get('to')}"

    return ""


def _records_of(workspace: Workspace, changes: Iterable[FileChange]) -> dict[str, Record]:
    kind = workspace.kinds["adr"]
    records: dict[str, Record] = {}
    for change in changes:
        data = data_in(change.after)
        if data is not None:
            records[change.path] = record_of(data, kind, change.path)

    return records


def _message(error: OrbitError) -> str:
    if error.hint:
        return f"{error.message}; {error.hint}"

    return error.message
