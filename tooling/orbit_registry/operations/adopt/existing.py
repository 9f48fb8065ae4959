"""Says which decisions of documents have a record already, and which must not get one now; it writes nothing."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from orbit_registry.errors import OrbitError
from orbit_registry.formats.adr.assembly import with_date_order
from orbit_registry.formats.adr.classifier import NOTHING_DECIDED, PLACE_REASONS
from orbit_registry.formats.adr.file_names import number_of_path, own_folders, owning_folder
from orbit_registry.formats.adr.model import AdrDocument, AdrFile
from orbit_registry.formats.adr.reader import UNNAMED
from orbit_registry.formats.adr.vocabulary import date_orders
from orbit_registry.model.ids import sequence_id, sequence_number
from orbit_registry.model.kind import Kind
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.adopt.ids import Candidate
from orbit_registry.operations.adopt.next_steps import reason_of_error, with_step
from orbit_registry.operations.import_report import Outcome
from orbit_registry.repository.documents import Document, heading_of
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_text
from orbit_registry.workspace.workspace import Workspace

NO_ENTRY = (
    "none of its headings is a decision with a number or a date, such as `## ADR-1: Title` or `## 2026-04-01: Title`"
)
"""Why a log has nothing to adopt."""
_FEW = 2
"""Decisions in a folder, from which on what is numbered as they are and states a status is one too."""
_DIGITS = re.compile(r"\d{1,9}")


@dataclass(slots=True)
class ExistingRecords:
    """What the records there are already stand for."""

    records: Mapping[str, Record]
    numbers: set[int]
    by_path: dict[str, list[Record]] = field(default_factory=dict)
    by_legacy: dict[str, list[Record]] = field(default_factory=dict)
    reread: list[tuple[Record, Candidate]] = field(default_factory=list)
    """Records whose documents were read again, with what these say now."""


def existing_records(workspace: Workspace, kind: Kind, records: RecordSet) -> ExistingRecords:
    """Return what the records of a kind stand for; a folder whose record can't be read takes its number too."""
    existing = ExistingRecords({record.id: record for record in records if record.kind.name == kind.name}, set())
    for pending in (False, True):
        try:
            names = [entry.name for entry in workspace.folder_of(kind, pending=pending).iterdir()]
        except OSError:
            continue
        numbers = (sequence_number(name, kind.prefix) for name in names)
        existing.numbers.update(number for number in numbers if number is not None)
    for record in existing.records.values():
        if record.source is not None:
            existing.by_path.setdefault(record.source.path, []).append(record)
        for name in record.legacy_ids:
            existing.by_legacy.setdefault(name, []).append(record)
    return existing


def candidates_of(
    workspace: Workspace,
    paths: Sequence[str],
    existing: ExistingRecords,
    outcomes: list[Outcome],
    by_name: Collection[str],
) -> list[Candidate]:
    """Return the decisions at `paths` that get a record; what becomes of the others goes into `outcomes`.

    In a document that somebody chose `by_name`, or a record names, decisions are not doubted for where it stands.
    """
    documents = list(_documents(workspace, paths, outcomes))
    beside = _among_decisions(documents, existing)
    candidates: list[Candidate] = []
    for document in documents:
        path, file = document.path, document.file
        outcomes += _unnamed_sections(document)
        is_named = path in by_name and file.skipped_reason in PLACE_REASONS
        is_sure = is_named or path in existing.by_path or path in beside
        entries = document.entries if is_sure else file.entries
        if not entries:
            outcomes.append(Outcome("left", path, None, reason_for_none(file)))
        by_entry = _records_by_entry(document, existing.by_path.get(path, ()))
        headings: set[str | None] = set()
        for entry in entries:
            candidate = Candidate(document, entry)
            there = _outcome_if_present(workspace, candidate, by_entry, existing)
            name = heading_of(entry, file.format)
            twice = name is not None and name in headings
            headings.add(name)
            record = by_entry.get(entry.span.start)
            if record is not None:
                existing.reread.append((record, candidate))
            if there is not None:
                outcomes.append(there)
            elif twice:
                mend = "renumber one" if entry.number else "give one of them another title"
                reason = f"the log holds {name} twice, and a record could not tell them apart; {mend}"
                outcomes.append(Outcome("left", candidate.label, None, reason))
            else:
                candidates.append(candidate)
    return _with_folder_dates(list(_without_chapters(candidates, existing, by_name, outcomes)), existing)


def _with_folder_dates(candidates: Sequence[Candidate], existing: ExistingRecords) -> list[Candidate]:
    """Return the decisions, with the dates that others of their folder settle."""
    peers = (*candidates, *(candidate for _, candidate in existing.reread))
    orders = date_orders((posixpath.dirname(peer.path), peer.entry.date_raw) for peer in peers)
    return [
        Candidate(undated.document, with_date_order(undated.entry, orders.get(posixpath.dirname(undated.path))))
        for undated in candidates
    ]


def _documents(workspace: Workspace, paths: Iterable[str], outcomes: list[Outcome]) -> Iterator[Document]:
    """Yield the documents that can be read."""
    for path in paths:
        if not path.isprintable():
            outcomes.append(
                Outcome("left", repr(path)[1:-1], None, "its name has characters that can't be written; rename it")
            )
            continue
        try:
            yield Document(path, read_text(inside(workspace.root, path), limit=DOCUMENT_LIMIT))
        except OrbitError as error:
            outcomes.append(Outcome("left", path, None, reason_of_error(error, path, f"{workspace.root}{os.sep}")))


def _among_decisions(documents: Sequence[Document], existing: ExistingRecords) -> set[str]:
    """Return the numbered documents that state a status and stand among decisions: tickets and tests don't."""
    sure = Counter(posixpath.dirname(path) for path in existing.by_path if number_of_path(path))
    doubted: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        folder, file = posixpath.dirname(document.path), document.file
        if document.path in existing.by_path or not number_of_path(document.path):
            continue
        if file.format == "file":
            sure[folder] += 1
        elif file.skipped_reason == NOTHING_DECIDED and file.candidate and file.candidate.status != "unknown":
            doubted[folder].append(document.path)
    among = (paths for folder, paths in doubted.items() if sure[folder] >= _FEW and 2 * sure[folder] >= len(paths))
    return {path for paths in among for path in paths}


def _without_chapters(
    candidates: Sequence[Candidate], existing: ExistingRecords, by_name: Collection[str], outcomes: list[Outcome]
) -> Iterator[Candidate]:
    """Yield the decisions less those that are chapters of another: they stand in the folder it has for itself."""
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
    """Yield the sections of a log that may be meant as entries, each with its line and what makes it one."""
    for problem in document.file.problems:
        if problem.code == UNNAMED and problem.position is not None:
            position = f"{document.path}:{problem.position.line}"
            yield Outcome("left", position, None, f"{problem.message}; {problem.hint}")


def _records_by_entry(document: Document, records: Iterable[Record]) -> dict[int, Record]:
    """Return the record of each entry that has one, by the entry's place; a file's one decision is at its start."""
    entries = document.entries
    numbers: dict[int, AdrDocument] = {}
    titles: dict[str, AdrDocument] = {}
    for entry in entries:
        if entry.number and entry.number.isdigit():
            numbers.setdefault(int(entry.number), entry)
        titles.setdefault(entry.title, entry)
    by_entry: dict[int, Record] = {}
    for record in records:
        heading = record.source.heading if record.source else None
        if len(entries) == 1 and (heading is None or document.file.format != "log"):
            by_entry[entries[0].span.start] = record
            continue
        digits = _DIGITS.search(heading or "")
        entry_found = (numbers.get(int(digits[0])) if digits else None) or titles.get(heading or "")
        if entry_found is not None:
            by_entry[entry_found.span.start] = record
    return by_entry


def _outcome_if_present(
    workspace: Workspace, candidate: Candidate, by_entry: Mapping[int, Record], existing: ExistingRecords
) -> Outcome | None:
    """Return why a decision needs no record, or must not get one now."""
    record = by_entry.get(candidate.entry.span.start)
    if record is not None:
        return Outcome("present", candidate.label, record.id, "")
    name = candidate.local_name
    if name is not None and name in existing.by_legacy:
        ids = ", ".join(other.id for other in existing.by_legacy[name])
        return Outcome("present", candidate.label, ids, f"{name} is an earlier name of {ids}")
    if candidate.number is None or candidate.is_local(workspace.config.design):
        return _renamed(candidate, existing) if candidate.in_log else None
    number = sequence_id("ADR-", candidate.number)
    same = existing.records.get(number)
    if same is None and candidate.number in existing.numbers:
        return Outcome(
            "left", candidate.label, number, f"the record {number} can't be read; mend it first: `orbit check`"
        )
    if same is None or same.title.casefold().split() != candidate.entry.title.casefold().split():
        return None
    if same.source is None:
        reason = f"{same.id} keeps its prose in {same.body_path}; a decision has one home, so drop one of the two"
        return Outcome("left", candidate.label, same.id, reason)
    if not (workspace.root / same.source.path).exists():
        step = f"`orbit adr backfill --moved {shlex.quote(same.source.path)} {shlex.quote(candidate.path)}`"
        reason = f"it looks like the document of {same.id}, which named {same.source.path}; {step} corrects that"
        return Outcome("left", candidate.label, same.id, reason)
    if candidate.in_log:
        reason = f"{same.id} stands in {same.source.path} too, with the same title; remove one of the two entries"
        return Outcome("left", candidate.label, same.id, reason)
    return None


def _renamed(candidate: Candidate, existing: ExistingRecords) -> Outcome | None:
    """Return the record that had an entry's local number in another log, with the same title: a feature was renamed."""
    local = f"/ADR-{candidate.entry.number}"
    title = candidate.entry.title.casefold().split()
    for name, records in existing.by_legacy.items():
        same = next((record for record in records if record.title.casefold().split() == title), None)
        if same is not None and name.endswith(local):
            old = same.source.path if same.source is not None else same.body_path
            step = f"`orbit adr backfill --moved {shlex.quote(old)} {shlex.quote(candidate.path)}`"
            reason = f"{same.id} has this title, was {name} and named {old}; where that was renamed, {step} corrects it"
            return Outcome("left", candidate.label, same.id, reason)
    return None
