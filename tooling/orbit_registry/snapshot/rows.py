"""Rows of a record in the tables of the snapshot, and the snapshot's metadata."""

import hashlib
import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from orbit_registry.errors import OrbitError
from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.globs import anchors, readable_globs
from orbit_registry.formats.markdown import is_markdown, parse_markdown, path_from_root, split_link
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.freshness import Freshness, expires_at, fingerprint_inputs, freshness_fields
from orbit_registry.model.rank import priority_of, vote_key
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.scope import UNSTATED, UNVERSIONED, Scope, version_factor
from orbit_registry.model.votes import distinct_votes, format_time, time_in
from orbit_registry.operations.citations import in_text, references_of
from orbit_registry.operations.link_targets import RecordLocation, Targets, location_of
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.skills import Skill
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.chunks import Chunk, chunks_of
from orbit_registry.search.index import Fields, texts_of
from orbit_registry.workspace.cache import digest
from orbit_registry.workspace.files import DOCUMENT_LIMIT, Folders, decode, walk
from orbit_registry.workspace.workspace import Workspace

Row = dict[str, object]

_NUMBERED = re.compile(r"([A-Z]+-)(\d{1,9})")
_LOCAL_LINK = re.compile(
    r"\](?:\(|:[ \t]*)<?(?![A-Za-z][A-Za-z0-9+.-]*:|#)[^\s()<>]*(?:\.md|\.markdown|\.orbit/)", re.IGNORECASE
)
"""What a link to a document or to a record's file looks like; a text without one is not parsed."""


class References(NamedTuple):
    """What a text names: ids as written and targets of links to documents, each with its line in the file."""

    ids: tuple[tuple[str, int], ...] = ()
    links: tuple[tuple[str, int], ...] = ()
    lead: str = ""  # the first line that says something; of records alone
    entry: tuple[int, int] | None = None  # the lines of a decision's entry in its document

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Self:
        """Return what a row of the cache holds: the fields in their order, as JSON has them."""
        ids, links, lead, entry = row
        return cls(tuple(map(tuple, ids)), tuple(map(tuple, links)), lead, tuple(entry) if entry else None)


def references_in_text(text: str, path: str, forms: IdForms) -> References:
    """Return what a file's text names."""
    ids = tuple((citation.id, citation.position.line) for citation in in_text(text, path, forms, weak=True))
    if not is_markdown(path) or not _LOCAL_LINK.search(text):
        return References(ids)
    links = parse_markdown(text).links
    return References(ids, tuple((link.target, link.position.line) for link in links if link.kind != "image"))


def citing_references(
    workspace: Workspace, files: Iterable[str], more: Iterable[str] = (), without: Container[str] = ()
) -> Mapping[str, References]:
    """Return what the files that citations are looked up in name, and `more` of them; all by path."""
    from orbit_registry.repository.vcs_state import citing_files  # a sync in which nothing changed asks no file

    forms = workspace.kinds.id_forms
    folders = Folders(workspace.root)

    def parse(path: str, content: bytes) -> object:
        try:
            references = references_in_text(decode(content, path), path, forms)
        except OrbitError:
            references = References()
        return json.loads(json.dumps(references))  # the cache stores only what JSON gives back unchanged

    paths = [path for path in sorted({*citing_files(workspace, files), *more}) if path not in without]
    namespace = f"citing {hashlib.sha256(str(forms).encode()).hexdigest()[:16]}"
    rows = workspace.cache.files(namespace, workspace.root, filter(folders.contain, paths), parse, limit=DOCUMENT_LIMIT)
    values = {path: row.value for path, row in rows.items() if row.value is not None}
    return {path: References.from_row(values[path]) if path in values else References() for path in paths}


def references_in(
    workspace: Workspace, records: Iterable[Record], prose: ProseReading | None = None
) -> Mapping[str, Sequence[str]]:
    """Return what the texts of records refer to, by the records' paths."""
    forms = workspace.kinds.id_forms
    by_path = {record.path: record for record in records}

    def key(record: Record) -> str:
        home = prose.states.get(record.source.path) if prose is not None and record.source else None
        texts = (record.id, record.title, record.text("summary"), record.prose, record.text("path"))
        return digest(forms, texts, record.source, home.sha256 if home else "")

    def make(path: str) -> list[str]:
        record = by_path[path]
        return list(references_of(record, forms, prose.document_text(record) if prose is not None else None))

    keys = {path: key(record) for path, record in by_path.items()}
    return workspace.cache.values(f"references {prose is not None}", keys, make)


def sources_of(
    reading: Reading, prose: ProseReading, records: Collection[str], *, inbox: bool = False, with_times: bool = True
) -> list[Row]:
    """Return the rows of the files that some records, named by their paths, came from; `inbox`: it is local."""
    rows: list[Row] = []

    def add(role: str, path: str, local: bool = False) -> None:
        state = reading.states.get(path) or prose.states.get(path)
        if state is not None:
            written = datetime.fromtimestamp(state.mtime_ns // 1_000_000 / 1000, UTC) if with_times else None
            row: Row = {"path": path, "role": role, "inbox": local, "sha256": state.sha256, "size": state.size}
            rows.append({**row, "mtime": _time(written) if written is not None else None})

    documents: set[str] = set()
    for entry in reading.entries:
        if entry.path not in records:
            continue
        local = inbox and entry.pending
        add("record", entry.path, local)
        if entry.has_votes:
            add("votes", f"{entry.folder}/{VOTES}", local)
        if entry.has_body:
            add("body", entry.body_path, local)
        document = reading.document_of(entry)
        if document is not None and not local:
            documents.add(document)
    for document in sorted(documents & prose.states.keys()):
        add("document", document)
    return rows


class NameResolver:
    """Resolves the ids and files that links name to the one record that each means."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._set = RecordSet(records)

    @cached_property
    def _files(self) -> Targets:
        places = [location_of(record) for record in self._records]
        names = ((record.id, (record.path, record.body_path, record.text("path"))) for record in self._records)
        paths = ((record_id, path) for record_id, its_paths in names for path in its_paths)
        return Targets([*places, *(RecordLocation(record_id, path, None) for record_id, path in paths if path)])

    @cached_property
    def _versioned(self) -> Mapping[str, Sequence[Record]]:
        """The records that were taken from a file, by its path, if several were, each for other versions."""
        by_path: dict[str, list[Record]] = defaultdict(list)
        for record in self._records:
            if (path := record.text("path")) and record.words("versions"):
                by_path[path].append(record)
        return {path: records for path, records in by_path.items() if len(records) > 1}

    def of_file(self, path: str, versions: Collection[str] = ()) -> list[Record]:
        """Return the records of a file's versions, the meant one first; none where the file is other records' too."""
        records = self._versioned.get(path, ())
        return by_version(records, versions) if records and len(self._files.held(path)) == len(records) else []

    def referred(self, target: str, origin: str, versions: Collection[str] = ()) -> str | None:
        """Return the id that a text in the file `origin`, for some versions, means by an id or by a file's path."""
        feature = posixpath.basename(posixpath.dirname(origin))
        record_id = (self.resolve(f"{feature}/{target}") if "/" not in target else None) or self.resolve(target)
        if record_id is None and (numbered := _NUMBERED.fullmatch(target)):
            record_id = self.resolve(f"{numbered[1]}{int(numbered[2]):04d}")
        if record_id is None and "." in target:
            path, _, anchor = target.partition("#")
            ids = self._files.at(path, anchor)
            record_id = ids[0] if len(ids) == 1 else next((record.id for record in self.of_file(path, versions)), None)
        return record_id

    def resolve(self, name: str) -> str | None:
        """Return the id that a name means; None where no record or several answer to it."""
        ids = {record.id for record in self._set.candidates(name)}
        return ids.pop() if len(ids) == 1 else None


def _link_rows(records: Sequence[Record], local: frozenset[str], references: Mapping[str, Sequence[str]]) -> list[Row]:
    """Return stated, supersession's and texts' links; those that git carries are resolved among what git carries."""
    everything = NameResolver(records)
    shared = NameResolver([record for record in records if record.id not in local]) if local else everything
    edges: set[tuple[str, str, str, bool]] = set()
    referred: dict[tuple[str, str], str | None] = {}
    for record in records:
        names = everything if record.id in local else shared
        for link in record.links:
            edges.add((record.id, link.rel, link.to, False))
        for older in record.supersedes:
            edges.add((record.id, "supersedes", names.resolve(older) or older, True))
        for name in record.superseded_by if record.id not in local else ():
            if (successor := names.resolve(name)) is not None:
                edges.add((successor, "supersedes", record.id, True))
        targets = references.get(record.path, ())
        origin = record.source.path if targets and record.source else record.path
        for target in targets:
            target_id = names.referred(target, origin, record.words("versions"))
            if target_id != record.id and (record.id, "references", target, False) not in edges:
                referred[record.id, target] = target_id
    edges.update((start, "references", target, True) for start, target in referred)
    return [
        {
            "record_id": start,
            "rel": rel,
            "target": target,
            "target_id": referred[start, target]
            if derived and rel == "references"
            else (everything if start in local else shared).resolve(target),
            "derived": derived,
        }
        for start, rel, target, derived in sorted(edges)
    ]


def citations_of(workspace: Workspace, records: Sequence[Record]) -> Iterator[Row]:
    """Yield what the files of the project cite, as `_citation_rows` does; what records' texts cite is their own."""
    tracked = workspace.git.tracked()
    files = tracked if tracked is not None else walk(workspace.root, hidden=False)
    homes = frozenset(record.source.path for record in records if record.source is not None)
    return _citation_rows(records, citing_references(workspace, files, without=homes), workspace.kinds.id_forms)


def _citation_rows(records: Sequence[Record], files: Mapping[str, References], forms: IdForms) -> Iterator[Row]:
    """Yield what files name, once a line: ids and links to records' files; a likely word only if a record has it."""
    names = NameResolver(records) if files else None
    for path, references in files.items():
        links = ((_from_root(path, target), line) for target, line in references.links)
        for target, line in dict.fromkeys((*references.ids, *links)):
            target_id = names.referred(target, path) if names and target else None
            if target_id is not None or any(
                not citation.weak and citation.id == target for citation in find_citations(target, forms)
            ):
                yield {"path": path, "line": line, "target": target, "target_id": target_id}


def _from_root(origin: str, target: str) -> str:
    """Return the file that a link in the file `origin` names, from the root, with its anchor; empty for others."""
    file, anchor = split_link(target)
    path = path_from_root(file, posixpath.dirname(origin))
    if not file or ":" in file or path.startswith(".."):
        return ""
    return f"{path}#{anchor}" if anchor else path


_NUMBER = re.compile(r"[0-9]+|[^0-9._+-]+")


def by_version(records: Sequence[Record], asking: Collection[str]) -> list[Record]:
    """Return records as a link means them: live, most of the versions `asking`, unversioned, the newest version."""
    requested = frozenset(asking) - {UNVERSIONED}

    def rank(record: Record) -> tuple[bool, float, bool, list[tuple[bool, int, str]], int]:
        versions = record.words("versions")
        factor = version_factor(versions, requested) if requested else 0.0
        is_for_all = not versions or UNVERSIONED in versions
        newest = max(map(_order, versions), default=[])
        return record.phase == "live", factor if factor > UNSTATED else 0.0, is_for_all, newest, len(versions)

    by_id = sorted(records, key=lambda record: record.sort_key)
    return sorted(by_id, key=rank, reverse=True)


def _order(version: str) -> list[tuple[bool, int, str]]:
    """Return what versions are sorted by, the newest last: numbers as such, and before `2.0` its `2.0-rc1`."""
    parts = [(True, int(part), "") if part.isdecimal() else (False, 0, part) for part in _NUMBER.findall(version)]
    return [*parts, (False, 1, "")]


CONTENT = (
    "records", "scope_globs", "tags", "links", "evidence", "rejected_options", "legacy_ids", "successors", "votes",
    "versions", "chunks", "anchors", "freshness", "sources",
)  # fmt: skip
"""The tables the digest covers: what two clones of one commit share."""
LOCAL = ("citations", "freshness_states", "diagnostics", "events", "skills", "vote_keys")
"""What depends on the machine: its files, its time, its git, its half-life of votes."""
_REASON = ("cause", "subject", "message")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of every table as JSON objects, in the order that the digest is taken in."""

    shared: Mapping[str, Sequence[str]]  # what git carries
    local: Mapping[str, Sequence[str]]  # what only this machine has: its inbox, its findings
    hashes: Mapping[str, str]  # each record's path and a hash of all its rows but links
    texts: Mapping[tuple[str, int], Fields]
    """What searches find: texts by a record's id or a skill's path, and the number of the chunk."""

    def of(self, table: str) -> Iterator[str]:
        """Yield every row of a table."""
        yield from self.shared.get(table, ())
        yield from self.local.get(table, ())


def rows_of(
    records: Iterable[Record], sources: Iterable[Row] = (), diagnostics: Iterable[Diagnostic] = (), *,
    freshness: Mapping[str, Freshness] = MappingProxyType({}), inbox: str = "", half_life_days: float | None = None,
    references: Mapping[str, Sequence[str]] = MappingProxyType({}), citations: Iterable[Row] = (),
    skills: Sequence[Skill] = (),
) -> Rows:  # fmt: skip
    """Return the rows of a collection; votes have keys where their half-life is given.

    `inbox` is the folder, from the root, whose records are this machine's alone; if an id is there and in git,
    the one in git counts. `references` are what the texts of records refer to, by path (`references_in`),
    `citations` what other files name (`citation_rows`). `skills` are free of secrets.
    """
    shared: dict[str, list[str]] = defaultdict(list)
    local: dict[str, list[str]] = defaultdict(list)
    chosen = _chosen(list(records), inbox)
    local_ids = frozenset(record.id for record in chosen if _is_in(record, inbox))
    hashes = {
        record.path: _add(local if record.id in local_ids else shared, record, record.id in local_ids)
        for record in chosen
    }
    for row in _link_rows(chosen, local_ids, references):
        (local if row["record_id"] in local_ids else shared)["links"].append(_encode(row))
    shared["successors"] = _successor_rows(RecordSet(record for record in chosen if record.id not in local_ids))
    local["citations"] = list(map(_encode, citations))
    for row in sorted(sources, key=lambda row: (row["path"], row["role"])):
        (local if row["inbox"] else shared)["sources"].append(_encode(row))
    if half_life_days is not None:
        local["vote_keys"] = [
            _encode({"record_id": record.id, "half_life": half_life_days, "rank_key": key})
            for record in chosen
            if (key := vote_key(record.votes, half_life_days)) is not None
        ]
    local["freshness_states"] = [
        _encode({"record_id": record.id, "state": state.state, **{name: getattr(reason, name) for name in _REASON}})
        for record in chosen
        if (state := freshness.get(record.path)) is not None
        for reason in state.reasons
    ]
    ordered = sorted(diagnostics, key=lambda diagnostic: diagnostic.sort_key)
    local["diagnostics"] = [_encode(_diagnostic_row(diagnostic)) for diagnostic in ordered]
    local["skills"] = [
        _encode({"path": skill.path, "title": skill.name, "description": skill.description, "body": skill.body})
        for skill in skills
    ]
    texts = {(record.id, number): fields for record in chosen for number, fields in enumerate(texts_of(record))}
    skill_texts = {
        (each.path, 0): (": ".join(filter(None, (each.name, each.description))), "", each.body) for each in skills
    }
    return Rows(shared, local, hashes, {**texts, **skill_texts})


def _successor_rows(records: RecordSet) -> list[str]:
    return [
        _encode({"record_id": record.id, "successor_id": successor.id})
        for record in records
        if record.phase == "closed"
        for successor in records.live_successors(record)
    ]


def _is_in(record: Record, inbox: str) -> bool:
    return bool(inbox) and record.path.startswith(f"{inbox}/")


def _chosen(records: Sequence[Record], inbox: str) -> list[Record]:
    shared = {record.id for record in records if not _is_in(record, inbox)}
    return sorted(
        (record for record in records if not _is_in(record, inbox) or record.id not in shared),
        key=lambda record: (record.sort_key, record.path),
    )


def _add(tables: dict[str, list[str]], record: Record, inbox: bool) -> str:
    row = _encode(_record_row(record, inbox))
    total = hashlib.sha256(row.encode())
    for table, child in _children(record):
        tables[table].append(child)
        total.update(child.encode())
    content_hash = total.hexdigest()
    tables["records"].append(f'{row[:-1]},"content_hash":"{content_hash}"}}')
    return content_hash


def _children(record: Record) -> Iterator[tuple[str, str]]:
    record_id, scope = record.id, record.scope
    for position, pattern in enumerate(scope.paths):
        for fields in _anchored(pattern):
            yield "scope_globs", _encode({"record_id": record_id, "position": position, **fields})
    for axis, word in _words(record, scope):
        yield "tags", _encode({"record_id": record_id, "axis": axis, "tag": word})
    for position, (kind, reference) in enumerate(record.evidence):
        yield "evidence", _encode({"record_id": record_id, "position": position, "kind": kind, "reference": reference})
    for position, option in enumerate(record.rejected):
        row = {"record_id": record_id, "position": position, "option": option.option, "reason": option.reason or None}
        yield "rejected_options", _encode(row)
    for version in sorted(set(record.words("versions"))):
        yield "versions", _encode({"record_id": record_id, "version": version})
    under: dict[str, str] = {}  # where chunks overlap, the last one with the anchor
    for position, chunk in enumerate(chunks_of(record)):
        yield "chunks", _encode({"record_id": record_id, "position": position, **_chunk_row(chunk)})
        under.update(dict.fromkeys(chunk.anchors, chunk.code))
    for anchor, code in under.items():
        yield "anchors", _encode({"record_id": record_id, "anchor": anchor, "code": code})
    for name in sorted(set(record.legacy_ids)):
        yield "legacy_ids", _encode({"legacy_id": name, "record_id": record_id})
    for vote in distinct_votes(record.votes):
        at = _time(vote.voted_at)
        row = {"record_id": record_id, "voter_model": vote.voter_model, "task_id": vote.task_id, "voted_at": at}
        yield "votes", _encode(row)
    for fresh in _freshness(record):
        yield "freshness", _encode({"record_id": record_id, **fresh})


def _chunk_row(chunk: Chunk) -> Row:
    return {
        "code": chunk.code,
        "heading": chunk.title or None,
        "breadcrumb": chunk.breadcrumb or None,
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "tokens": chunk.tokens,
        "body": chunk.body,
    }


def _record_row(record: Record, inbox: bool) -> Row:
    status, data, source = record.status, record.data, record.source
    author = data.get("created_by")
    by: Mapping[str, object] = author if isinstance(author, Mapping) else {}
    return {
        "id": record.id,
        "uid": record.uid,
        "kind": record.kind.name,
        "title": record.title,
        "status": status.name,
        "phase": status.phase,
        "pushed": status.pushed,
        "searched": status.searched,
        "shown": status.shown,
        "inbox": inbox,
        "origin": record.origin or None,
        "project": _text(data, "project"),
        "feature": _text(data, "feature"),
        "category": _text(data, "category"),
        "date": _text(data, "date"),
        "summary": _text(data, "summary"),
        "body": record.prose,
        "priority": priority_of(record),
        "confidence": _text(data, "confidence"),
        "procedural": data.get("procedural") is True,
        "path": record.path,
        "source_path": source.path if source else None,
        "source_heading": source.heading if source else None,
        "source_format": source.format if source else None,
        "source_authority": source.authority if source else None,
        "author": _text(by, "name"),
        "author_role": _text(by, "role"),
        "author_model": _text(by, "model"),
        "created_at": _moment(data.get("created_at")),
        "updated_at": _moment(data.get("updated_at")),
        "data": _encode(data),
    }


def _words(record: Record, scope: Scope) -> list[tuple[str, str]]:
    axes = {"tag": scope.tags, "agent": scope.agents, "task": scope.tasks, "symbol": scope.symbols}
    axes["label"] = record.words("labels")
    return sorted({(axis, word) for axis, words in axes.items() for word in words})


@lru_cache(maxsize=65536)  # the records of a project share their globs
def _anchored(pattern: str) -> tuple[Row, ...]:
    return tuple(
        {
            "pattern": pattern,
            "exclude": glob.exclude,
            "anchor_kind": anchor.kind,
            "anchor": anchor.text,
            "extension": anchor.extension,
            "depth": anchor.depth,
            "regex": None if anchor.decides else alternative.regex,
        }
        for glob in readable_globs([pattern])
        for alternative, anchor in zip(glob.alternatives, anchors(glob), strict=True)
    )


def _freshness(record: Record) -> list[Row]:
    value, end = freshness_fields(record), expires_at(record)
    if not value and end is None:
        return []
    shared: Row = {
        "volatility": _text(value, "volatility"),
        "expires_at": None if end is None else _time(end),
        "verified_at": _moment(value.get("verified_at")),
        "verified_by": _text(value, "verified_by"),
    }
    entries: list[tuple[str | None, str | None]] = [(entry.input, entry.hash) for entry in fingerprint_inputs(record)]
    entries = entries or [(None, None)]
    return [{"position": at, **shared, "input": path, "hash": text} for at, (path, text) in enumerate(entries)]


def _diagnostic_row(diagnostic: Diagnostic) -> Row:
    position = diagnostic.location.position
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "path": diagnostic.location.path,
        "line": position.line if position else None,
        "column": position.column if position else None,
        "record_id": diagnostic.record,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
    }


def _text(data: Mapping[str, object], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) else None


def _moment(value: object) -> str | None:
    """Return a record's time for a column, in UTC; None for one the calendar does not have."""
    at = time_in(value)
    return None if at is None else _time(at)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


FORMAT_VERSION = 8


def meta_of(workspace: Workspace, commit: str | None) -> dict[str, str | None]:
    """Return what a snapshot made now at a commit says of itself."""
    return {
        "format_version": str(FORMAT_VERSION),
        "project": workspace.name,
        "built_at": format_time(datetime.now(UTC)),
        "commit": commit,
        "tool_version": _version(),
        "half_life_days": str(half_life_days()),
    }


def _version() -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # imports the email parser: 0.02 s

    try:
        return version("orbit-registry")
    except PackageNotFoundError:
        return None
