"""Records for decisions that documents hold:
each record points at its document, which stays unchanged.
"""

from __future__ import annotations

import os
import posixpath
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from orbit_registry.errors import InvalidRecordError, OrbitError
from orbit_registry.formats.adr.classifier import NOTHING_DECIDED, PLACE_REASONS
from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    number_of_path,
    own_folders,
    owning_folder,
)
from orbit_registry.formats.adr.front_matter import KEY_TWICE, read_front_matter, read_toml
from orbit_registry.formats.adr.model import FOLDER, AdrDocument, AdrFile, is_same_title, title_key
from orbit_registry.formats.adr.reader import (
    BLANK_TITLE,
    DATE_PROBLEMS,
    UNNAMED,
    UNREAD_ID,
    UNSURE_RELATION,
    stated_statuses,
    with_date_order,
)
from orbit_registry.formats.adr.vocabulary import date_orders, field_of
from orbit_registry.formats.position import Span
from orbit_registry.formats.untrusted import cut
from orbit_registry.judgements.in_force import read_together
from orbit_registry.judgements.status_evidence import StatusEvidence, status_evidence
from orbit_registry.model.ids import new_uid, sequence_id
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.document_facts import (
    Candidate,
    NumberedDecision,
    document_dates,
    document_fields,
    document_uid,
    number_candidates,
)
from orbit_registry.operations.document_moves import config_changes, follow_moves
from orbit_registry.operations.import_report import (
    UNKNOWN,
    UNSTATED,
    Outcome,
    PathMoves,
    TakeoverReport,
    link_command,
    reason_of_error,
    replaced_question,
    with_step,
)
from orbit_registry.operations.link_targets import (
    UNRESOLVED,
    Edge,
    FieldsByRecord,
    RecordLocation,
    Targets,
    Unresolved,
    location_of,
    other_links,
    read_edges,
    tabulate,
)
from orbit_registry.repository.codec import data_in, list_in, record_of
from orbit_registry.repository.documents import Document, decision_paths, heading_of
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

_QUOTED = 60  # characters of a status that a report quotes
_ASKED = ("adr-status-twice", KEY_TWICE, UNSURE_RELATION, UNREAD_ID, BLANK_TITLE)
"""Codes of the problems of a document that the report asks about."""


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
    """Return what adopting the documents at `paths` means;
    without `dry_run` it takes numbers under a lock.
    """
    kind = workspace.kinds["adr"]
    existing = existing_records(workspace, kind, records)
    outcomes: list[Outcome] = []
    # its decisions keep their numbers where another folder has the same
    main = f"{workspace.config.adr.folder}/"
    ordered = sorted(set(paths), key=lambda path: (not path.startswith(main), path))
    candidates = candidates_of(workspace, ordered, existing, outcomes, by_name)

    take = partial(new_ids, workspace, kind, dry_run=dry_run)
    numbered = number_candidates(
        candidates, existing.numbers, kind.prefix, workspace.config.design, take
    )
    edges, unresolved = _edges(workspace, existing, numbered, outcomes)
    table = tabulate(edges)
    changes = [
        *_new_records(workspace, kind, author, numbered, table, unresolved, outcomes, assume)
    ]

    adopted = {decision.id for decision in numbered}
    changes += _changed_records(workspace, existing, edges, table, adopted, outcomes)
    outcomes += _one_sided(kind, records, numbered, changes)
    changes += config_changes(workspace, [decision.candidate for decision in numbered], outcomes)
    return AdoptionPlan(tuple(changes), tuple(outcomes))


def adopt(
    workspace: Workspace,
    paths: Iterable[str],
    *,
    by_name: Collection[str],
    dry_run: bool,
    assume: str | None = None,
) -> tuple[Outcome, ...]:
    """Make a record for each decision at `paths` that has none;
    `by_name` are documents that the user named.
    """
    author = importer(workspace)

    def plan(*, dry_run: bool) -> AdoptionPlan:
        records = read_collection(workspace).records
        return plan_adoption(
            workspace, paths, records, author, by_name=by_name, dry_run=dry_run, assume=assume
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
    if not paths:
        outcomes = tuple(
            outcome for outcome in outcomes if outcome.what != "left" or outcome.record is not None
        )

    return TakeoverReport("documents", ", ".join(paths) or ".", dry_run, outcomes)


def importer(workspace: Workspace) -> Author:
    """Return the author of imported records: the one who runs the command,
    with the role `import`.
    """
    return Author(current_author(workspace.git).name, "import")


def _edges(
    workspace: Workspace,
    existing: ExistingRecords,
    numbered: Sequence[NumberedDecision],
    outcomes: list[Outcome],
) -> tuple[list[Edge], dict[str, list[Unresolved]]]:
    old = [location_of(record) for record in existing.records.values()]
    new = [
        RecordLocation(
            decision.id, decision.candidate.path, decision.candidate.number, decision.legacy_ids
        )
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
        for record, candidate in (
            *((decision.id, decision.candidate) for decision in numbered),
            *adopted,
        )
        for edge in read_edges(record, candidate.path, candidate.entry, targets)
        if isinstance(edge, Edge) and edge.rel == "supersedes"
    }

    edges: list[Edge] = []
    unresolved: dict[str, list[Unresolved]] = {}
    for decision in numbered:
        candidate = decision.candidate
        for edge in read_edges(decision.id, candidate.path, candidate.entry, targets, successions):
            if isinstance(edge, Edge):
                edges.append(edge)
                continue

            unresolved.setdefault(decision.id, []).append(edge)
            why = with_step(edge.reason)
            if edge.candidates:
                choice = link_command(decision.id, edge.rel)
                why = f"{edge.reason} ({', '.join(edge.candidates)}); choose: `{choice}`"

            reason = f"not linked: `{edge.rel.replace('_', ' ')} {edge.target}`: {why}"
            outcomes.append(Outcome("changed", candidate.label, decision.id, reason))

    for decision in numbered:
        candidate = decision.candidate
        for key, value, ids in other_links(candidate.path, candidate.entry, targets):
            others = [other for other in ids if other != decision.id]
            if others:
                reason = _other_link(key, value, decision.id, others)
                outcomes.append(Outcome("changed", candidate.label, decision.id, reason))

    new_ids = {decision.id for decision in numbered}
    for record, candidate in adopted:
        found_now = read_edges(record, candidate.path, candidate.entry, targets, successions)
        edges += (
            edge
            for edge in found_now
            if isinstance(edge, Edge) and {edge.subject, edge.target} & new_ids
        )

    return edges, unresolved


def _other_link(key: str, value: str, record: str, others: Sequence[str]) -> str:
    names = ", ".join(others)
    command = f"orbit link {record} related_to {others[0]}"
    return (
        f"`{cut(key, 40)}: {cut(value, _QUOTED)}` names {names}, and Orbit has no link of that "
        f"name; `{command}` makes one"
    )


_OF_PART = "a part of a decision is replaced, so both count"


def _new_records(
    workspace: Workspace,
    kind: Kind,
    author: Author,
    numbered: Sequence[NumberedDecision],
    table: FieldsByRecord,
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
        fields = {
            **document_fields(decision),
            **dates,
            **table.get(decision.id, {}),
            UNRESOLVED: left_open,
        }
        if assume is not None and _is_unstated(candidate):
            fields["status"] = assume

        path = record_path(workspace, kind, decision.id)
        text = render(workspace, kind, new_data(kind, decision.id, uid, author, fields), path)
        try:
            validated(text, kind, path)
        except InvalidRecordError as error:
            outcomes.append(
                Outcome(
                    "left", candidate.label, None, f"its record would be invalid: {_message(error)}"
                )
            )

            continue

        is_partial = any(relation.of_part for relation in candidate.entry.relations)
        remark = _OF_PART if is_partial else ""
        style = candidate.entry.format
        outcomes.append(Outcome("taken", candidate.label, decision.id, remark, style))
        remarks = _remarks(candidate, decision.renumber_reason, assume)
        outcomes += (Outcome("changed", candidate.label, decision.id, remark) for remark in remarks)
        yield FileChange(path, None, text)


def _one_sided(
    kind: Kind,
    records: RecordSet,
    numbered: Sequence[NumberedDecision],
    changes: Sequence[FileChange],
) -> Iterator[Outcome]:
    """Ask about each decision that says it is accepted although another one replaces it."""
    written = {change.path: data_in(change.after) for change in changes}
    new = [record_of(data, kind, path) for path, data in written.items() if data is not None]
    unchanged = [record for record in records if record.path not in written]
    together = RecordSet(read_together([*unchanged, *new]))
    labels = {decision.id: decision.candidate.label for decision in numbered}

    before = {record.path for record in records if record.is_replaced}
    for record in together:
        if not record.is_replaced or record.path in before:
            continue

        later = together.live_successors(record)
        source = record.source.path if record.source is not None else record.path
        reason = replaced_question(record, later)
        yield Outcome("changed", labels.get(record.id, source), record.id, reason)


def _is_unstated(candidate: Candidate) -> bool:
    return _evidence(candidate.entry).is_silent


def _evidence(entry: AdrDocument) -> StatusEvidence:
    return status_evidence(entry.status, entry.status_raw, entry.status_syntax)


def _remarks(
    candidate: Candidate, renumber_reason: str | None, assume: str | None
) -> Iterator[str]:
    entry = candidate.entry

    if renumber_reason:
        yield f"a new number, because {renumber_reason}"

    if _is_unstated(candidate):
        yield (
            f"the document states no status, so it is `{assume}`, as `--assume` says"
            if assume
            else UNSTATED
        )
    elif entry.status == "unknown":
        yield (f"{_evidence(entry)}, {UNKNOWN}: `orbit accept ID` or `reject` ends that")

    yield from _status_remarks(entry)

    if refused := [
        path for fact in entry.facts if fact.key == "refused_paths" for path in fact.values
    ]:
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        step = "`orbit adr update ID --add-path GLOB` adds one"
        yield (
            f"`affects`: {_quoted(refused[0])}{more} left out; a scope takes 200 globs of "
            f"`type: path`; {step}"
        )

    for problem in [problem for problem in entry.problems if problem.code in DATE_PROBLEMS][:1]:
        yield f"{problem.message}, so the record has none; {problem.hint}"

    if entry.format == FOLDER:
        folder = posixpath.dirname(candidate.path)
        yield (
            f"the document states no status; it is `{entry.status}`, as its folder's name "
            f"says: {folder}"
        )


def _status_remarks(entry: AdrDocument) -> Iterator[str]:
    for problem in entry.problems:
        if problem.code in _ASKED and problem.position is not None:
            yield f"line {problem.position.line}: {problem.message}; {problem.hint}"

    others = [
        status
        for status in stated_statuses(entry.facts, entry.format)
        if status not in (entry.status, "superseded")
    ]
    if others and entry.status not in ("superseded", "unknown"):
        yield f"the document states `{entry.status}` and then `{others[0]}`; the first counts"


def _quoted(text: str) -> str:
    return f"`{cut(' '.join(text.split()), _QUOTED)}`"


def _changed_records(
    workspace: Workspace,
    existing: ExistingRecords,
    edges: Sequence[Edge],
    table: FieldsByRecord,
    new_ids: Collection[str],
    outcomes: list[Outcome],
) -> Iterator[FileChange]:
    resolved: dict[str, set[str]] = {}
    for edge in edges:
        resolved.setdefault(edge.stated_by, set()).add(edge.as_written)

    for record_id in sorted(table.keys() - set(new_ids)):
        record = existing.records[record_id]
        edit = partial(_with_edges, table[record_id], resolved.get(record_id, frozenset()))
        try:
            change, _ = prepare_edit(workspace, record, edit)
        except InvalidRecordError as error:
            outcomes.append(
                Outcome(
                    "left", record.path, record_id, f"it can't be linked back: {_message(error)}"
                )
            )

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


def _message(error: OrbitError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message


NO_ENTRY = (
    "no entry is read: an entry is a heading with a number, a date or a status below it, such as "
    "`## ADR-1: Title`, or a row of a table with the columns `Decision` and `Status`"
)
"""Why a log has nothing to adopt."""
# decisions in a folder, from which on what is numbered as they are and states a status is one too
_FEW_DECISIONS = 2


@dataclass(slots=True)
class ExistingRecords:
    """Existing records of a kind, by id, number, path and legacy id."""

    records: Mapping[str, Record]
    numbers: set[int]
    by_path: dict[str, list[Record]] = field(default_factory=dict)
    by_legacy: dict[str, list[Record]] = field(default_factory=dict)
    gone: dict[str, list[Record]] = field(
        default_factory=dict
    )  # records whose document is not there, by `title_key`
    reread: list[tuple[Record, Candidate]] = field(default_factory=list)
    """Records whose documents were read again, with what these say now."""


def existing_records(workspace: Workspace, kind: Kind, records: RecordSet) -> ExistingRecords:
    """Return the existing records of a kind; a folder whose record can't be read still uses its
    number.
    """
    by_id = {record.id: record for record in records.of_kind(kind.name)}
    existing = ExistingRecords(by_id, numbers_of_folders(workspace, kind))
    for record in existing.records.values():
        if record.source is not None:
            existing.by_path.setdefault(record.source.path, []).append(record)
        for name in record.legacy_ids:
            existing.by_legacy.setdefault(name, []).append(record)

    lost = [path for path in existing.by_path if not (workspace.root / path).exists()]
    for record in (record for path in lost for record in existing.by_path[path]):
        existing.gone.setdefault(title_key(record.title), []).append(record)

    return existing


def candidates_of(
    workspace: Workspace,
    paths: Sequence[str],
    existing: ExistingRecords,
    outcomes: list[Outcome],
    by_name: Collection[str],
) -> list[Candidate]:
    """Return the decisions at `paths` that get a record;
    what becomes of the others goes into `outcomes`.
    """
    documents = list(_documents(workspace, paths, outcomes))
    neighbours = _among_decisions(documents, existing)
    candidates: list[Candidate] = []
    for document in documents:
        path, file = document.path, document.file
        outcomes += _unnamed_sections(document)
        is_named = path in by_name and file.skipped_reason in PLACE_REASONS
        is_sure = is_named or path in existing.by_path or path in neighbours
        entries = document.entries if is_sure else file.entries

        if not entries:
            outcomes.append(Outcome("left", path, None, reason_for_none(file)))

        by_entry = {
            entry.span.start: record
            for record in existing.by_path.get(path, ())
            if record.source is not None
            and (entry := document.entry(record.source.heading)) is not None
        }

        headings: set[str | None] = set()
        for entry in entries:
            name = heading_of(entry, file.format)
            candidate = Candidate(document, _with_file_beside(workspace, path, entry))
            record = by_entry.get(entry.span.start)
            there = _outcome_if_present(workspace, candidate, record, existing)

            if record is not None:
                existing.reread.append((record, candidate))

            if there is not None:
                outcomes.append(there)
            elif name is not None and name in headings:
                remedy = "renumber one" if entry.number else "give one of them another title"
                reason = (
                    f"the log holds {name} twice, and a record could not tell them apart; {remedy}"
                )
                outcomes.append(Outcome("left", candidate.label, None, reason))
            else:
                candidates.append(candidate)

            headings.add(name)

    return _with_folder_dates(
        list(_without_chapters(candidates, existing, by_name, outcomes)), existing
    )


_BESIDE = (".yaml", ".yml", ".json", ".toml")
_NAMES_BESIDE = ("metadata", "meta", "adr", "decision", "index")


def _with_file_beside(workspace: Workspace, path: str, entry: AdrDocument) -> AdrDocument:
    """Return a silent decision with the status that a file next to it states: it is not read, so
    a person is asked.
    """
    if entry.status != "unknown" or entry.status_raw.strip():
        return entry

    stem = posixpath.splitext(path)[0]
    folder, _, name = stem.rpartition("/")
    stems = [stem]
    if name.lower() in GENERIC_NAMES and folder:
        stems += [f"{folder}/{other}" for other in _NAMES_BESIDE]

    for other in (f"{each}{suffix}" for each in stems for suffix in _BESIDE):
        if not (workspace.root / other).is_file():
            continue

        status = _status_in(workspace, other)
        if status:
            syntax = f"the file {posixpath.basename(other)}"
            return replace(entry, status_raw=cut(status, _QUOTED), status_syntax=syntax)

    return entry


def _status_in(workspace: Workspace, path: str) -> str:
    """Return the status that a file of metadata states; empty if it states none."""
    try:
        text = read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT)
    except OrbitError:
        return ""

    span = Span(0, len(text))
    read = read_toml if path.endswith(".toml") else read_front_matter
    values = (each.value for each in read(text, span).fields if field_of(each.key) == "status")
    return " ".join(next(values, "").split())


def _with_folder_dates(
    candidates: Sequence[Candidate], existing: ExistingRecords
) -> list[Candidate]:
    peers = (*candidates, *(candidate for _, candidate in existing.reread))
    orders = date_orders((posixpath.dirname(peer.path), peer.entry.date_raw) for peer in peers)
    return [
        Candidate(
            undated.document,
            with_date_order(undated.entry, orders.get(posixpath.dirname(undated.path))),
        )
        for undated in candidates
    ]


def _documents(
    workspace: Workspace, paths: Iterable[str], outcomes: list[Outcome]
) -> Iterator[Document]:
    for path in paths:
        if not path.isprintable():
            outcomes.append(
                Outcome(
                    "left",
                    repr(path)[1:-1],
                    None,
                    "its name has characters that can't be written; rename it",
                )
            )

            continue

        try:
            yield Document(path, read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT))
        except OrbitError as error:
            outcomes.append(
                Outcome(
                    "left", path, None, reason_of_error(error, path, f"{workspace.root}{os.sep}")
                )
            )


def _among_decisions(documents: Sequence[Document], existing: ExistingRecords) -> set[str]:
    """Return numbered documents with a status in a folder of decisions:
    tickets and tests don't count.
    """
    sure = Counter(posixpath.dirname(path) for path in existing.by_path if number_of_path(path))
    doubted: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        folder, file = posixpath.dirname(document.path), document.file

        if document.path in existing.by_path or not number_of_path(document.path):
            continue

        if file.format == "file":
            sure[folder] += 1
        elif (
            file.skipped_reason == NOTHING_DECIDED
            and file.candidate
            and file.candidate.status != "unknown"
        ):
            doubted[folder].append(document.path)

    among = (
        paths
        for folder, paths in doubted.items()
        if sure[folder] >= _FEW_DECISIONS and 2 * sure[folder] >= len(paths)
    )
    return {path for paths in among for path in paths}


def _without_chapters(
    candidates: Sequence[Candidate],
    existing: ExistingRecords,
    by_name: Collection[str],
    outcomes: list[Outcome],
) -> Iterator[Candidate]:
    """Yield the decisions without chapters of another one, which are in that one's own folder."""
    folders = own_folders((*(candidate.path for candidate in candidates), *existing.by_path))
    for candidate in candidates:
        owner = owning_folder(candidate.path, folders) if candidate.path not in by_name else None
        if owner is None:
            yield candidate
        else:
            step = "`orbit import` with the file's own name takes it over too"
            reason = f"a part of the decision that has {owner} for itself; {step}"
            outcomes.append(Outcome("left", candidate.path, None, reason))


def reason_for_none(file: AdrFile) -> str:
    """Return why a document that was read has no decision, and what to do."""
    if file.format == "log":
        return NO_ENTRY
    return with_step(file.skipped_reason or "it holds no decision")


def _unnamed_sections(document: Document) -> Iterator[Outcome]:
    for problem in document.file.problems:
        if problem.code == UNNAMED and problem.position is not None:
            position = f"{document.path}:{problem.position.line}"
            yield Outcome("left", position, None, f"{problem.message}; {problem.hint}")


def _outcome_if_present(
    workspace: Workspace, candidate: Candidate, record: Record | None, existing: ExistingRecords
) -> Outcome | None:
    if record is not None:
        return Outcome("present", candidate.label, record.id, "", candidate.entry.format)

    name = candidate.local_name
    if name is not None and name in existing.by_legacy:
        ids = ", ".join(other.id for other in existing.by_legacy[name])
        return Outcome("present", candidate.label, ids, f"{name} is an earlier name of {ids}")

    for lost in existing.gone.get(title_key(candidate.entry.title), ()):
        if lost.source is not None and is_same_title(lost.title, candidate.entry.title):
            old = lost.source.path
            step = f"`orbit adr backfill --moved {shlex.quote(old)} {shlex.quote(candidate.path)}`"
            reason = (
                f"it looks like the document of {lost.id}, which named {old}; {step} corrects that"
            )
            return Outcome("left", candidate.label, lost.id, reason)

    if candidate.number is None or candidate.is_local(workspace.config.design):
        return None

    number = sequence_id("ADR-", candidate.number)
    same = existing.records.get(number)
    if same is None and candidate.number in existing.numbers:
        return Outcome(
            "left",
            candidate.label,
            number,
            f"the record {number} can't be read; repair it first: `orbit check`",
        )

    if same is None or same.title.casefold().split() != candidate.entry.title.casefold().split():
        return None

    if same.source is None:
        reason = (
            f"{same.id} keeps its prose in {same.body_path}; a decision has one home, so "
            f"drop one of the two"
        )
        return Outcome("left", candidate.label, same.id, reason)

    if candidate.in_log:
        reason = (
            f"{same.id} is in {same.source.path} too, with the same title; remove one of "
            f"the two entries"
        )
        return Outcome("left", candidate.label, same.id, reason)

    return None
