"""Facts of a decision's document as a record holds them: id, fields and links to other records."""

import hashlib
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import PurePosixPath

from orbit_registry.formats.adr.file_names import GENERIC_NAMES, is_decision_folder, read_name, read_series_name
from orbit_registry.formats.adr.model import AdrDocument, Rel, Relation
from orbit_registry.formats.markdown import is_markdown, path_from_root, split_link
from orbit_registry.formats.untrusted import cut
from orbit_registry.model.ids import SEQUENCE_WIDTH, sequence_id, sequence_number
from orbit_registry.model.record import Record
from orbit_registry.model.votes import format_time
from orbit_registry.repository.documents import LOG_NAME, Document, heading_of

HIGHEST = 999_999
_OF_THE_DAY = re.compile(r"\d{1,3}(?=[-_])")
_PLAIN_SERIES = ("", "adr", "decision")  # what files begin with whose decisions have no name but their number
_ZEROS = re.compile(r"0\d{2,}")
_ONLY_DIGITS = re.compile(r"\d{1,9}\Z")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A decision in a document that no record points at yet."""

    document: Document
    entry: AdrDocument

    @property
    def path(self) -> str:
        """The document, from the root."""
        return self.document.path

    @property
    def in_log(self) -> bool:
        """Say whether the document holds several decisions."""
        return self.document.file.format == "log"

    @property
    def number(self) -> int | None:
        """The number the text gives the decision, where it is one that ids are made of."""
        digits = self.entry.number or ""
        return int(digits) if _ONLY_DIGITS.match(digits) and int(digits) <= HIGHEST else None

    @property
    def label(self) -> str:
        """How a report names it."""
        return f"{self.path} · {self._called}" if self.in_log else self.path

    @property
    def _called(self) -> str | None:
        """What the log's own heading calls an entry: `D1`, `ADR-001`, `4`; its title where it has no number."""
        entry = self.entry
        if entry.heading_span is None or not entry.number_spans:
            return heading_of(entry, "log")
        lead = self.document.text[entry.heading_span.start : entry.number_spans[-1].end]
        return re.sub(r"^[\W_]+", "", lead) or entry.number

    @property
    def feature(self) -> str | None:
        """The folder of a log, which is the feature it belongs to."""
        return posixpath.basename(posixpath.dirname(self.path)) or None if self.in_log else None

    def is_local(self, design: str) -> bool:
        """Say whether the number counts within its own log only."""
        return self.in_log and is_of_feature(self.path, design) and len(self.entry.number or "") < SEQUENCE_WIDTH

    @property
    def local_name(self) -> str | None:
        """The name of a log's entry that is unique among logs: `feature/ADR-001`."""
        return f"{self.feature}/ADR-{self.entry.number}" if self.feature and self.entry.number else None


@dataclass(frozen=True, slots=True)
class NumberedDecision:
    """A candidate with the id and the earlier names it gets."""

    candidate: Candidate
    id: str
    legacy_ids: tuple[str, ...]
    renumber_reason: str | None = None  # why the number in the document did not become the id; empty where it has none


def is_of_feature(path: str, design: str) -> bool:
    """Say whether a document is the log of a feature."""
    return path.startswith(f"{design}/") and posixpath.basename(path) == LOG_NAME


def number_candidates(
    candidates: Sequence[Candidate], used: Collection[int], prefix: str, design: str,
    take: Callable[[int, Collection[int]], list[str]],
) -> list[NumberedDecision]:  # fmt: skip
    """Return every candidate with its id; `take(count, avoid)` gives new ids whose numbers are none of `avoid`."""
    holder: dict[int, Candidate] = {}
    reasons: dict[int, str | None] = {}
    claims: dict[int, int] = defaultdict(int)
    for index, candidate in enumerate(candidates):
        number = candidate.number
        if number is None:
            reasons[index] = "" if candidate.entry.number is None else f"{candidate.entry.number} is not sequential"
            continue
        claims[number] += 1
        if candidate.is_local(design):
            reasons[index] = f"ADR-{candidate.entry.number} counts within its log only"
        elif number in used:
            reasons[index] = f"{sequence_id(prefix, number)} is taken by another record"
        elif number in holder:
            reasons[index] = f"{candidate.entry.number} is also the number of {holder[number].label}, which comes first"
        else:
            holder[number] = candidate
            reasons[index] = None
    renumbered = [index for index, reason in reasons.items() if reason is not None]
    ids = take(len(renumbered), {*used, *holder}) if renumbered else []
    fresh = dict(zip(renumbered, ids, strict=True))
    folders = {posixpath.dirname(candidate.path) for candidate in candidates if not candidate.in_log}
    series = _series_of(candidates)
    numbered = []
    for index, candidate in enumerate(candidates):
        record_id = fresh.get(index) or sequence_id(prefix, candidate.number or 0)
        shared = candidate.number is not None and (claims[candidate.number] > 1 or candidate.number in used)
        names = _legacy_names(candidate, record_id, folders, series, shared=shared)
        numbered.append(NumberedDecision(candidate, record_id, names, reasons[index]))
    return numbered


def _legacy_names(
    candidate: Candidate, record_id: str, folders: Collection[str], series: Collection[tuple[str, str]], *, shared: bool
) -> tuple[str, ...]:
    entry = candidate.entry
    names: list[str] = [*entry.legacy_ids]
    if candidate.in_log:
        if candidate.local_name and f"ADR-{entry.number}" != record_id:
            names.append(candidate.local_name)
    else:
        pure = PurePosixPath(candidate.path)
        folder = posixpath.dirname(candidate.path)
        parents = ("" if parent == PurePosixPath() else str(parent) for parent in pure.parent.parents)
        nested = any(parent in folders for parent in parents)
        if entry.number:
            names.append(entry.number)
            if folder and (nested or shared):
                names.append(f"{posixpath.basename(folder)}/ADR-{entry.number}")
        names += _series_name(pure.stem, entry.number, [code for above, code in series if above == folder])
        names += [fact.raw for fact in entry.facts if fact.key == "number" and fact.style == "front-matter"]
        names += [fact.raw.strip("/ ").rpartition("/")[2] for fact in entry.facts if fact.key == "page"]
        names.append(posixpath.basename(folder) if pure.stem.lower() in GENERIC_NAMES else pure.stem)
    tidy = (re.sub(r"[\s\x00-\x1f\x7f]+", "-", name.strip().strip("\"'`"))[:300] for name in names)
    return tuple(dict.fromkeys(name for name in tidy if name and name != record_id))


def _series_of(candidates: Sequence[Candidate]) -> set[tuple[str, str]]:
    """Two numbers, or one with zeros, are a series: `use-http-404-pages` alone is a title."""
    numbers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for candidate in candidates:
        file_name = read_series_name(PurePosixPath(candidate.path).stem) if not candidate.in_log else None
        if file_name is not None and file_name.number is not None:
            numbers[posixpath.dirname(candidate.path), file_name.lead.lower()].add(file_name.number)
    return {key for key, distinct in numbers.items() if len(distinct) > 1 or any(map(_ZEROS.match, distinct))}


def _series_name(stem: str, number: str | None, series: Collection[str]) -> list[str]:
    """`OPS-ADR-0001-queues` is called `OPS-ADR-0001`, `20260401-02-queues` `ADR-20260401-02`."""
    file_name = read_name(stem)
    if file_name is None:
        file_name = read_series_name(stem)
        digits = number or ""
        is_same = file_name and file_name.number and digits.isdigit() and int(file_name.number) == int(digits)
        if file_name is None or not (is_same or file_name.lead.lower() in series):
            return []
    counter = _OF_THE_DAY.match(file_name.title) if file_name.date else None
    if file_name.date and counter:
        return [f"ADR-{file_name.date.replace('-', '')}-{counter.group()}"]
    is_plain = file_name.number is None or file_name.lead.strip("-_ ").lower() in _PLAIN_SERIES
    return [] if is_plain else [f"{file_name.lead}{file_name.number}"]


STATUS_LIMIT = 2000  # characters of a status, as written, that a record keeps
FEATURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


_NO_FEATURES = frozenset({"doc", "docs", "documentation", "architecture", "design", "memory-bank", "memory_bank"})
"""Folders that are called after what all projects have: a log in `docs/` is the project's, and of no feature."""


def document_fields(decision: NumberedDecision) -> dict[str, object]:
    """Return the fields of a record that a document states; a status it doesn't state is `unknown`."""
    entry, candidate = decision.candidate.entry, decision.candidate
    form = "log" if candidate.in_log else "file"
    source = {"path": candidate.path, "heading": heading_of(entry, form), "format": form, "authority": "document"}
    feature = candidate.feature
    is_feature = feature is not None and FEATURE.match(feature) and feature.lower() not in _NO_FEATURES
    return {
        "title": cut_line(entry.title, 300) or posixpath.basename(candidate.path),
        "status": entry.status,
        "status_raw": entry.status_raw.strip()[:STATUS_LIMIT],
        "date": (entry.date or "")[:40],
        "tasks": words(entry.tasks),
        "deciders": words(entry.deciders),
        "labels": words(entry.tags),
        "scope": {"paths": list(entry.paths)} if entry.paths else {},
        "feature": feature if is_feature and not is_decision_folder(feature or "") else None,
        "legacy_ids": list(decision.legacy_ids),
        "source": {name: value for name, value in source.items() if value is not None},
    }


def document_dates(day_text: str | None, history: tuple[float, float] | None) -> dict[str, str]:
    """Return `created_at` and `updated_at` by the day in the document, else by its first commit and last change."""
    moments = [datetime.fromtimestamp(max(0, time), UTC) for time in history or ()]
    if day_text is not None and len(day_text) == len("2026-04-01"):
        day = datetime.fromisoformat(f"{day_text}T00:00:00+00:00")
        moments = [day, max([day, *moments[1:]])]
    now = datetime.now(UTC)
    return {
        name: format_time(min(moment, now)) for name, moment in zip(("created_at", "updated_at"), moments, strict=False)
    }


def document_uid(decision: NumberedDecision) -> str:
    """Return the uid of the record for a document's decision, the same in every clone that adopts it."""
    return stable_uid(
        "adr", decision.candidate.path, decision.candidate.entry.number or "", decision.candidate.entry.title
    )


def stable_uid(*parts: str) -> str:
    """Return a uid made of what identifies a thing at its origin, so that two clones that import it make one record."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def cut_line(text: str, limit: int) -> str:
    """Return a text as one line of at most `limit` characters."""
    return cut(" ".join(text.split()), limit)


def words(values: Iterable[str]) -> list[str]:
    """Return texts as a record's list of words: one line each, none twice."""
    return list(dict.fromkeys(word for value in values if (word := cut_line(value, 200))))[:200]


FORWARD: Mapping[Rel, tuple[str, bool]] = {
    "supersedes": ("supersedes", False),
    "superseded_by": ("supersedes", True),
    "amends": ("amends", False),
    "amended_by": ("amends", True),
    "extends": ("extends", False),
    "extended_by": ("extends", True),
    "reverts": ("contradicts", False),
    "reverted_by": ("contradicts", True),
    "implements": ("implements", False),
    "related_to": ("related_to", False),
    "references": ("references", False),
}
"""The relation of the closed vocabulary that says it, and whether it is read from its other end."""

UNRESOLVED = "x-unresolved"  # the key that keeps what a document says of another decision and that leads to no record

_DIGITS = re.compile(r"\d{1,9}")
_NUMBER = re.compile(r"(?:(?:ADRs?|decision)[-_ #]{0,3}|#)?0*(?P<number>\d{1,9})\Z", re.IGNORECASE)
_IN_FRAGMENT = re.compile(r"adr[-_ ]?0*(?P<number>\d{1,9})", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PAGE = re.compile(r"https?://(?P<repository>[^?#]+?)/(?:-/)?(?:blob|tree|src/branch|src)/[^/?#]+/(?P<path>[^?]+)")
"""A file's page on a forge; of a branch with a slash in its name, the path is not known."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge between two records of the registry."""

    rel: str
    subject: str
    target: str
    stated_by: str  # the record whose document says it
    as_written: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A statement about another decision that leads to no record, or to several."""

    rel: str
    target: str
    candidates: tuple[str, ...]
    reason: str

    def as_data(self) -> dict[str, object]:
        """Return it as the record keeps it, under `x-unresolved`."""
        data: dict[str, object] = {"rel": self.rel, "to": self.target}
        return {**data, "candidates": list(self.candidates)} if self.candidates else data


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """Path, number and names by which documents refer to a record."""

    id: str
    path: str | None
    number: int | None  # the number that the text is known by; not always that of the id
    names: tuple[str, ...] = ()


def location_of(record: Record) -> RecordLocation:
    """Return a record's path, number and names."""
    source = record.source
    numbers = [name for name in record.legacy_ids if name.isdigit()]
    digits = _DIGITS.search(source.heading) if source and source.heading else None
    number = int(digits[0]) if digits else int(numbers[0]) if numbers else sequence_number(record.id, "ADR-")
    return RecordLocation(record.id, source.path if source else None, number, record.legacy_ids)


class Targets:
    """Finds the record that a document means by a link, a number or a name."""

    def __init__(self, locations: Iterable[RecordLocation], repositories: Collection[str] = ()) -> None:
        """`repositories` are the web addresses of the one that the documents are in, without their scheme."""
        self._repositories = repositories
        self._paths: dict[str, str] = {}
        self._by_path: dict[str, dict[str, int | None]] = defaultdict(dict)
        self._by_folder: dict[tuple[str, int], list[str]] = defaultdict(list)
        self._by_number: dict[int, list[str]] = defaultdict(list)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for location in locations:
            if location.path is not None:
                self._paths[location.id] = location.path
                self._by_path[location.path][location.id] = location.number
            if location.number is not None:
                if location.path is not None:
                    self._by_folder[posixpath.dirname(location.path), location.number].append(location.id)
                self._by_number[location.number].append(location.id)
            for name in dict.fromkeys((location.id, *location.names)):
                self._by_name[name.casefold()].append(location.id)

    def find(self, path: str, relation: Relation) -> tuple[tuple[str, ...], str]:
        """Return the ids that a statement in the document at `path` can mean, and why there is not one."""
        target = relation.target_raw.strip().strip("<>").replace("\\", "/")  # as Windows writes a path
        page = _PAGE.match(target)
        if page is not None and page["repository"].casefold() in self._repositories:
            target = f"/{page['path']}"
        elif _SCHEME.match(target) and not target.lower().startswith("adr:"):
            return (), "it is outside this repository"
        file, fragment = split_link(target)
        if fragment or "/" in file or is_markdown(file):
            ids = self._in_file(path, file, fragment, relation.text)
            if ids == ():  # a file that was moved is still known by its name
                ids = tuple(self._by_name.get(posixpath.splitext(posixpath.basename(file))[0].casefold(), ()))
            if ids is not None:
                return ids, "the link's target holds several decisions" if len(ids) > 1 else "no decision is there"
        return self._named(path, target) or ((), "no decision has that number or name")

    def _in_file(self, path: str, file: str, fragment: str, text: str) -> tuple[str, ...] | None:
        """Return the records of the file a link names; None where the words are no link but a name with a slash."""
        target = path_from_root(file, posixpath.dirname(path)) if file else path
        if target not in self._by_path:
            return () if is_markdown(file) else None
        return self.at(target, fragment, text)

    def held(self, path: str) -> Collection[str]:
        """Return all records that a file from the root holds."""
        return self._by_path.get(path, {})

    def at(self, path: str, fragment: str = "", text: str = "") -> tuple[str, ...]:
        """Return the records that a file from the root holds; of several, the one whose number anchor or words say."""
        records = self._by_path.get(path, {})
        if len(records) < 2:
            return tuple(records)
        number = _IN_FRAGMENT.search(fragment) or _IN_FRAGMENT.search(text)
        return tuple(record for record, own_number in records.items() if number and own_number == int(number["number"]))

    def _named(self, path: str, target: str) -> tuple[tuple[str, ...], str] | None:
        match = _NUMBER.match(target.strip("`[]() "))
        if match:
            number = int(match["number"])
            here = self._by_folder.get((posixpath.dirname(path), number), [])
            ids = here or self._nearest(path, self._by_number.get(number, []))
            if ids:
                return tuple(dict.fromkeys(ids)), "the number is that of several decisions"
        of_a_page = target.partition("#")[0].rstrip("/").rpartition("/")[2] if "/" in target else target
        names = (target, of_a_page, "-".join(of_a_page.split()))  # `[[Use one queue]]` is a file with blanks
        ids = next((matches for name in names if (matches := self._by_name.get(name.casefold()))), [])
        return (tuple(dict.fromkeys(ids)), "several decisions have that name") if ids else None

    def _nearest(self, path: str, ids: list[str]) -> list[str]:
        if len(ids) < 2:
            return ids
        here = posixpath.dirname(path).split("/")
        shared = [
            sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(here, other.split("/"), strict=False)))
            for other in (posixpath.dirname(self._paths.get(record, "")) for record in ids)
        ]
        return [record for record, depth in zip(ids, shared, strict=True) if depth == max(shared)]


def read_edges(
    record: str, path: str, entry: AdrDocument, targets: Targets, successions: Collection[tuple[str, str]] = ()
) -> Iterator[Edge | Unresolved]:
    """Yield each statement of a decision's document about another decision.

    Mere mentions in prose are no edges: the text itself keeps them. Links to other decisions are `references`.
    `successions` are the (successor, predecessor) that documents state: one that the predecessor's states holds,
    be the successor only proposed.
    """
    linked: set[str] = set()
    for relation in entry.relations:
        if relation.weak or (relation.rel == "references" and not is_markdown(relation.target_raw.partition("#")[0])):
            continue
        rel, inverted = FORWARD[relation.rel]
        ids, reason = targets.find(path, relation)
        if len(ids) != 1:
            if relation.rel != "references" or len(ids) > 1:
                yield Unresolved(relation.rel, _short_line(relation.target_raw), ids, reason)
            continue
        other = ids[0]
        if other == record or (rel == "references" and other in linked):
            continue
        linked.add(other)
        subject, target = (other, record) if inverted else (record, other)
        is_pending = relation.rel == "supersedes" and entry.status in ("proposed", "rejected")
        if is_pending and (record, other) not in successions:
            is_replaced = (other, record) in successions
            instead = "the other one replaces it" if is_replaced else "the two are related instead"
            reason = f"a {entry.status} decision replaces nothing; {instead}"
            yield Unresolved(relation.rel, _short_line(relation.target_raw), (), reason)
            if not is_replaced:
                yield Edge("related_to", record, other, record, _short_line(relation.target_raw))
            continue
        yield Edge(rel, subject, target, record, _short_line(f"{relation.rel} {relation.target_raw}"))


def _short_line(text: str) -> str:
    return " ".join(text.split())[:400]


@dataclass(slots=True)
class EdgeTable:
    """Edges by record; a supersession is listed at both of its ends."""

    by_record: dict[str, dict[str, list[object]]] = field(default_factory=dict)  # record → field → entries
    implied: list[tuple[str, Edge]] = field(default_factory=list)
    """Records that get an edge which only the other one's document states."""

    def add(self, record: str, name: str, entry: object) -> None:
        """Add an entry to a field of a record."""
        self.by_record.setdefault(record, {}).setdefault(name, []).append(entry)


def tabulate(edges: Sequence[Edge]) -> EdgeTable:
    """Return the edges by record, each once, supersession at both ends."""
    table = EdgeTable()
    same: dict[tuple[str, str, str], list[Edge]] = defaultdict(list)
    for edge in edges:
        same[edge.rel, edge.subject, edge.target].append(edge)
    related = {(subject, target) for rel, subject, target in same if rel != "references"}
    for (rel, subject, target), duplicates in same.items():
        if rel == "references" and ((subject, target) in related or (target, subject) in related):
            continue
        if rel == "related_to" and (rel, target, subject) in same and target < subject:
            continue
        if rel == "supersedes":
            table.add(subject, "supersedes", target)
            table.add(target, "superseded_by", subject)
        else:
            table.add(subject, "links", {"rel": rel, "to": target})
        ends = (subject, target) if rel == "supersedes" else (subject,)
        sources = {edge.stated_by for edge in duplicates}
        table.implied += ((end, duplicates[0]) for end in ends if end not in sources)
    return table
