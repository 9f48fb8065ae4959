"""What an import makes of documents that were read: which of their decisions get records, how these
are linked, and what a person is asked. It reads and writes nothing.
"""

import posixpath
import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import chain

from orbit_registry.formats.adr.classifier import NOTHING_DECIDED, NUMBERED_REASONS, PLACE_REASONS
from orbit_registry.formats.adr.decision import with_date_order
from orbit_registry.formats.adr.file_names import (
    GENERIC_NAMES,
    number_of_path,
    own_folders,
    owning_folder,
)
from orbit_registry.formats.adr.front_matter import BROKEN, KEY_TWICE
from orbit_registry.formats.adr.model import FOLDER, AdrDocument, is_same_title, title_key
from orbit_registry.formats.adr.problems import (
    BLANK_TITLE,
    DATE_PROBLEMS,
    UNNAMED,
    UNREAD_ID,
    UNSURE_RELATION,
    stated_statuses,
)
from orbit_registry.formats.adr.vocabulary import date_orders
from orbit_registry.formats.untrusted import cut
from orbit_registry.judgements.in_force import read_together
from orbit_registry.judgements.status_evidence import StatusEvidence, status_evidence
from orbit_registry.model.ids import sequence_id
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.document_facts import Candidate, NumberedDecision
from orbit_registry.operations.import_report import (
    UNKNOWN,
    UNSTATED,
    Outcome,
    link_command,
    reason_for_none,
    replaced_question,
    with_step,
)
from orbit_registry.operations.link_targets import (
    Edge,
    RecordLocation,
    Targets,
    Unresolved,
    location_of,
    other_links,
    read_edges,
)
from orbit_registry.repository.documents import Document, heading_of

_QUOTED = 60  # characters of a value that a report quotes
_ASKED = (BROKEN, "adr-status-twice", KEY_TWICE, UNSURE_RELATION, UNREAD_ID, BLANK_TITLE)
"""Codes of the problems of a document that the report asks about."""
_LISTED = "a line of a list whose decision has a file for itself; nothing to do"
_YEARS = range(1990, 2100)
_FEW_DECISIONS = 2
"""Decisions in a folder, from which on what is numbered as they are and states a status is one."""


@dataclass(frozen=True, slots=True)
class Registry:
    """The records that there are before an import."""

    records: RecordSet
    decisions: Mapping[str, Record]
    """The decisions by id."""
    numbers: AbstractSet[int]
    """Numbers in use, also by a record that can't be read."""
    missing: AbstractSet[str]
    """Documents of records that are not there."""
    design: str
    """The folder of features, each of which may have its own log."""
    by_path: Mapping[str, Sequence[Record]]
    by_legacy: Mapping[str, Sequence[Record]]

    def lost_with_title(self, title: str) -> Iterator[Record]:
        """Yield the records of that title whose document is not there."""
        key = title_key(title)
        for path in sorted(self.missing):
            for record in self.by_path[path]:
                if title_key(record.title) == key and is_same_title(record.title, title):
                    yield record


@dataclass(slots=True)
class Decisions:
    """The decisions in some documents: those without a record, those with one, and what becomes
    of the other documents.
    """

    new: list[Candidate] = field(default_factory=list)
    present: list[tuple[Record, Candidate]] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)


@dataclass(slots=True)
class Links:
    """The edges that documents state, those that lead to no record, and what is asked of them."""

    edges: list[Edge] = field(default_factory=list)
    unresolved: dict[str, list[Unresolved]] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)


def decisions_in(
    documents: Sequence[Document],
    registry: Registry,
    by_name: Collection[str],
    sidecars: Mapping[str, tuple[str, str]],
) -> Decisions:
    """Return the decisions in documents. `by_name` are those that the user named; `sidecars` have
    the status of a silent document, and the file next to it that states it.
    """
    decisions = Decisions()
    neighbours = {*_among_decisions(documents, registry), *_requests(documents, by_name)}
    for document in documents:
        is_named = document.path in by_name and document.file.skipped_reason in PLACE_REASONS
        is_known = document.path in registry.by_path or document.path in neighbours
        entries = document.entries if is_named or is_known else document.file.entries

        decisions.outcomes += _unnamed_sections(document)
        if not entries:
            reason = reason_for_none(document.file)
            decisions.outcomes.append(Outcome("left", document.path, None, reason))

        read = [_with_sidecar(entry, sidecars.get(document.path)) for entry in entries]
        _sort_entries(document, read, registry, decisions)

    _leave_out_chapters(decisions, registry, by_name)
    _leave_out_lists(decisions, registry)
    _drop_years(decisions)
    _order_dates(decisions)
    return decisions


def _among_decisions(documents: Sequence[Document], registry: Registry) -> set[str]:
    """Return numbered documents with a status in a folder of decisions: tickets and tests don't
    count.
    """
    sure = Counter(posixpath.dirname(path) for path in registry.by_path if number_of_path(path))
    doubted: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        folder, file = posixpath.dirname(document.path), document.file
        if document.path in registry.by_path or not number_of_path(document.path):
            continue

        if file.format == "file":
            sure[folder] += 1
        elif file.skipped_reason == NOTHING_DECIDED and _states_status(file.candidate):
            doubted[folder].append(document.path)

    among: set[str] = set()
    for folder, paths in doubted.items():
        if sure[folder] >= _FEW_DECISIONS and 2 * sure[folder] >= len(paths):
            among.update(paths)

    return among


def _requests(documents: Sequence[Document], by_name: Collection[str]) -> set[str]:
    """Return numbered documents in a folder that the user named which say why, and who wrote them
    or when: requests for comments state no status, and often nothing that is called a decision.
    """
    folders = tuple(f"{name}/" for name in by_name)
    by_folder: dict[str, list[str]] = defaultdict(list)

    for document in documents:
        is_numbered = document.file.skipped_reason in NUMBERED_REASONS
        if (
            is_numbered
            and document.path.startswith(folders)
            and _is_request(document.file.candidate)
        ):
            by_folder[_series_folder(document.path)].append(document.path)

    series = (paths for paths in by_folder.values() if len(paths) >= _FEW_DECISIONS)
    return {*chain.from_iterable(series)}


def _is_request(entry: AdrDocument | None) -> bool:
    if entry is None or not any(section.key == "context" for section in entry.sections):
        return False

    return bool(entry.deciders or entry.date_raw)


def _series_folder(path: str) -> str:
    """Return the folder of a series that a document is in: above the one that it has for itself."""
    folder = posixpath.dirname(path)
    stem = posixpath.splitext(posixpath.basename(path))[0]
    is_own = stem.lower() in GENERIC_NAMES or posixpath.basename(folder) == stem
    if is_own:
        return posixpath.dirname(folder)

    return folder


def _states_status(entry: AdrDocument | None) -> bool:
    return entry is not None and entry.status != "unknown"


def _unnamed_sections(document: Document) -> Iterator[Outcome]:
    for problem in document.file.problems:
        if problem.code == UNNAMED and problem.position is not None:
            position = f"{document.path}:{problem.position.line}"
            yield Outcome("left", position, None, f"{problem.message}; {problem.hint}")


def _with_sidecar(entry: AdrDocument, sidecar: tuple[str, str] | None) -> AdrDocument:
    """Return a silent decision with the status that a file next to it states: it is not read, so
    a person is asked.
    """
    if sidecar is None or entry.status != "unknown" or entry.status_raw.strip():
        return entry

    status, file = sidecar
    return replace(entry, status_raw=cut(status, _QUOTED), status_syntax=f"the file {file}")


def _sort_entries(
    document: Document, entries: Sequence[AdrDocument], registry: Registry, decisions: Decisions
) -> None:
    records = dict(_records_by_start(document, registry))
    headings: set[str | None] = set()
    for entry in entries:
        candidate = Candidate(document, entry)
        record = records.get(entry.span.start)
        heading = heading_of(entry, document.file.format)
        outcome = _outcome_if_known(candidate, record, registry)

        if record is not None:
            decisions.present.append((record, candidate))

        if outcome is not None:
            decisions.outcomes.append(outcome)
        elif heading is not None and heading in headings:
            decisions.outcomes.append(_twice(candidate, heading))
        else:
            decisions.new.append(candidate)

        headings.add(heading)


def _records_by_start(document: Document, registry: Registry) -> Iterator[tuple[int, Record]]:
    for record in registry.by_path.get(document.path, ()):
        entry = document.entry(record.source.heading) if record.source is not None else None
        if entry is not None:
            yield entry.span.start, record


def _twice(candidate: Candidate, heading: str) -> Outcome:
    remedy = "renumber one" if candidate.entry.number else "give one of them another title"
    reason = f"the log holds {heading} twice, and a record could not tell them apart; {remedy}"
    return Outcome("left", candidate.label, None, reason)


def _outcome_if_known(
    candidate: Candidate, record: Record | None, registry: Registry
) -> Outcome | None:
    """Return the outcome of a decision that has a record, or that a record may be about."""
    if record is not None:
        return Outcome("present", candidate.label, record.id, "", candidate.entry.format)

    name = candidate.local_name
    if name is not None and name in registry.by_legacy:
        ids = ", ".join(other.id for other in registry.by_legacy[name])
        return Outcome("present", candidate.label, ids, f"{name} is an earlier name of {ids}")

    lost = next(registry.lost_with_title(candidate.entry.title), None)
    if lost is not None and lost.source is not None:
        old = lost.source.path
        step = f"`orbit adr backfill --moved {shlex.quote(old)} {shlex.quote(candidate.path)}`"
        reason = f"it looks like the document of {lost.id}, which named {old}; {step} corrects that"
        return Outcome("left", candidate.label, lost.id, reason)

    if candidate.number is None or candidate.is_local(registry.design):
        return None

    return _outcome_of_number(candidate, candidate.number, registry)


def _outcome_of_number(candidate: Candidate, number: int, registry: Registry) -> Outcome | None:
    name = sequence_id("ADR-", number)
    same = registry.decisions.get(name)
    if same is None and number in registry.numbers:
        reason = f"the record {name} can't be read; repair it first: `orbit check`"
        return Outcome("left", candidate.label, name, reason)

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


def _leave_out_chapters(decisions: Decisions, registry: Registry, by_name: Collection[str]) -> None:
    """Leave out chapters of a decision that has a folder for itself."""
    paths = [candidate.path for candidate in decisions.new]
    folders = own_folders((*paths, *registry.by_path))
    whole: list[Candidate] = []
    for candidate in decisions.new:
        owner = None if candidate.path in by_name else owning_folder(candidate.path, folders)
        if owner is None:
            whole.append(candidate)
            continue

        step = "`orbit import` with the file's own name takes it over too"
        reason = f"a part of the decision that has {owner} for itself; {step}"
        decisions.outcomes.append(Outcome("left", candidate.path, None, reason))

    decisions.new = whole


def _leave_out_lists(decisions: Decisions, registry: Registry) -> None:
    """Leave out the entries of a list whose decisions have files for themselves."""
    files = [candidate for candidate in decisions.new if not candidate.in_log]
    paths = {*(candidate.path for candidate in files), *registry.by_path}
    same = {(each.number, title_key(each.entry.title)): each.path for each in files}
    others: list[Candidate] = []
    for candidate in decisions.new:
        home = candidate.document.listed_by(candidate.entry)
        if home not in paths or home == candidate.path:
            key = (candidate.number, title_key(candidate.entry.title))
            home = same.get(key) if candidate.in_log and candidate.number is not None else None

        if home is None:
            others.append(candidate)
            continue

        decisions.outcomes.append(Outcome("left", candidate.label, None, _LISTED))

    decisions.new = others


def _drop_years(decisions: Decisions) -> None:
    """Take no year for a number: the folders `2019-a`, `2019-b` and `2020-c` are in no order."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for peer in (*decisions.new, *(candidate for _, candidate in decisions.present)):
        number = number_of_path(peer.path) or ""
        if number and not peer.in_log:
            numbers[_series_folder(peer.path)].append(int(number))

    of_years = {folder for folder, years in numbers.items() if _are_years(years)}
    decisions.new = [
        replace(candidate, entry=replace(candidate.entry, number=None))
        if _series_folder(candidate.path) in of_years and candidate.number in _YEARS
        else candidate
        for candidate in decisions.new
    ]


def _are_years(numbers: Sequence[int]) -> bool:
    """Say whether the numbers of a folder are years: all can be one, and some are the same."""
    is_repeated = len(set(numbers)) < len(numbers)
    return is_repeated and all(number in _YEARS for number in numbers)


def _order_dates(decisions: Decisions) -> None:
    """Read `03/04/2026` in the order that other dates of its folder have."""
    peers = [*decisions.new, *(candidate for _, candidate in decisions.present)]
    orders = date_orders((posixpath.dirname(peer.path), peer.entry.date_raw) for peer in peers)
    decisions.new = [
        replace(
            candidate,
            entry=with_date_order(candidate.entry, orders.get(posixpath.dirname(candidate.path))),
        )
        for candidate in decisions.new
    ]


def links_of(
    numbered: Sequence[NumberedDecision],
    present: Sequence[tuple[Record, Candidate]],
    registry: Registry,
    repositories: Collection[str],
) -> Links:
    """Return the edges that new decisions state, and those of others that lead to new ones."""
    links = Links()
    if not numbered:
        return links

    old = [location_of(record) for record in registry.decisions.values()]
    targets = Targets([*old, *map(_location, numbered)], repositories)
    new = [(decision.id, decision.candidate) for decision in numbered]
    adopted = [
        (record.id, candidate)
        for record, candidate in present
        if record.source is not None and record.source.authority == "document"
    ]
    successions = set(_successions([*new, *adopted], targets))

    for record, candidate in new:
        for edge in read_edges(record, candidate.path, candidate.entry, targets, successions):
            if isinstance(edge, Edge):
                links.edges.append(edge)
            else:
                links.unresolved.setdefault(record, []).append(edge)
                links.outcomes.append(_not_linked(candidate, record, edge))

    for record, candidate in new:
        links.outcomes += _of_unknown_keys(record, candidate, targets)

    new_ids = {record for record, _ in new}
    for record, candidate in adopted:
        for edge in read_edges(record, candidate.path, candidate.entry, targets, successions):
            if isinstance(edge, Edge) and {edge.subject, edge.target} & new_ids:
                links.edges.append(edge)

    return links


def _location(decision: NumberedDecision) -> RecordLocation:
    candidate = decision.candidate
    return RecordLocation(decision.id, candidate.path, candidate.number, decision.legacy_ids)


def _successions(
    decisions: Iterable[tuple[str, Candidate]], targets: Targets
) -> Iterator[tuple[str, str]]:
    for record, candidate in decisions:
        for edge in read_edges(record, candidate.path, candidate.entry, targets):
            if isinstance(edge, Edge) and edge.rel == "supersedes":
                yield edge.subject, edge.target


def _not_linked(candidate: Candidate, record: str, edge: Unresolved) -> Outcome:
    why = with_step(edge.reason)
    if edge.candidates:
        choice = link_command(record, edge.rel)
        why = f"{edge.reason} ({', '.join(edge.candidates)}); choose: `{choice}`"

    reason = f"not linked: `{edge.rel.replace('_', ' ')} {edge.target}`: {why}"
    return Outcome("changed", candidate.label, record, reason)


def _of_unknown_keys(record: str, candidate: Candidate, targets: Targets) -> Iterator[Outcome]:
    for key, value, ids in other_links(candidate.path, candidate.entry, targets):
        others = [other for other in ids if other != record]
        if not others:
            continue

        command = f"orbit link {record} related_to {others[0]}"
        reason = (
            f"`{cut(key, 40)}: {cut(value, _QUOTED)}` names {', '.join(others)}, and Orbit has no "
            f"link of that name; `{command}` makes one"
        )
        yield Outcome("changed", candidate.label, record, reason)


def is_unstated(candidate: Candidate) -> bool:
    """Say whether a document states no status at all."""
    return _evidence(candidate.entry).is_silent


def _evidence(entry: AdrDocument) -> StatusEvidence:
    return status_evidence(entry.status, entry.status_raw, entry.status_syntax)


def outcomes_of(decision: NumberedDecision, assume: str | None) -> Iterator[Outcome]:
    """Yield that a decision is taken, and what a person is asked about it."""
    candidate = decision.candidate
    entry = candidate.entry
    is_partial = any(relation.of_part for relation in entry.relations)
    remark = "a part of a decision is replaced, so both count" if is_partial else ""
    yield Outcome("taken", candidate.label, decision.id, remark, entry.format)

    for question in _questions(decision, assume):
        yield Outcome("changed", candidate.label, decision.id, question)


def _questions(decision: NumberedDecision, assume: str | None) -> Iterator[str]:
    entry = decision.candidate.entry
    if decision.renumber_reason:
        yield f"a new number, because {decision.renumber_reason}"

    evidence = _evidence(entry)
    if evidence.is_silent and assume:
        yield f"the document states no status, so it is `{assume}`, as `--assume` says"
    elif evidence.is_silent:
        yield UNSTATED
    elif entry.status == "unknown":
        yield f"{evidence}, {UNKNOWN}: `orbit accept ID` or `reject` ends that"

    yield from _problems(entry)
    yield from _refused_paths(entry)

    unread = [problem for problem in entry.problems if problem.code in DATE_PROBLEMS]
    if unread:
        yield f"{unread[0].message}, so the record has none; {unread[0].hint}"

    if entry.format == FOLDER:
        folder = posixpath.dirname(decision.candidate.path)
        yield (
            f"the document states no status; it is `{entry.status}`, as its folder's name "
            f"says: {folder}"
        )


def _problems(entry: AdrDocument) -> Iterator[str]:
    for problem in entry.problems:
        if problem.code in _ASKED and problem.position is not None:
            line = "" if problem.code == BROKEN else f"line {problem.position.line}: "
            yield f"{line}{problem.message}; {problem.hint}"

    if entry.status in ("superseded", "unknown"):
        return

    statuses = stated_statuses(entry.facts, entry.format)
    others = [status for status in statuses if status not in (entry.status, "superseded")]
    if others:
        yield f"the document states `{entry.status}` and then `{others[0]}`; the first counts"


def _refused_paths(entry: AdrDocument) -> Iterator[str]:
    refused: list[str] = []
    for fact in entry.facts:
        if fact.key == "refused_paths":
            refused += fact.values

    if refused:
        more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
        first = cut(" ".join(refused[0].split()), _QUOTED)
        yield (
            f"`affects`: `{first}`{more} left out; a scope takes 200 globs of `type: path`; "
            "`orbit adr update ID --add-path GLOB` adds one"
        )


def one_sided(
    registry: Registry, numbered: Sequence[NumberedDecision], written: Mapping[str, Record]
) -> Iterator[Outcome]:
    """Ask about each decision that says it is accepted although another one replaces it. `written`
    are the records of the import by path.
    """
    unchanged = [record for record in registry.records if record.path not in written]
    together = RecordSet(read_together([*unchanged, *written.values()]))
    labels = {decision.id: decision.candidate.label for decision in numbered}
    before = {record.path for record in registry.records if record.is_replaced}
    for record in together:
        if not record.is_replaced or record.path in before:
            continue

        later = together.live_successors(record)
        source = record.source.path if record.source is not None else record.path
        reason = replaced_question(record, later)
        yield Outcome("changed", labels.get(record.id, source), record.id, reason)
