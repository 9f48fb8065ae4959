"""Rows of a record in the tables of the snapshot, and the snapshot's metadata."""

import hashlib
import json
import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType

from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.globs import anchors, readable_globs
from orbit_registry.formats.markdown import path_from_root, split_link
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.freshness import (
    Freshness,
    expires_at,
    fingerprint_inputs,
    freshness_fields,
)
from orbit_registry.model.rank import priority_of, vote_key
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.scope import Scope
from orbit_registry.model.votes import distinct_votes, format_time, time_in
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.skills import Skill
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.chunks import Chunk, chunks_of
from orbit_registry.search.index import Fields, texts_of
from orbit_registry.snapshot.references import NameResolver, References, citing_references
from orbit_registry.workspace.files import walk
from orbit_registry.workspace.workspace import Workspace

Row = dict[str, object]


def sources_of(
    reading: Reading,
    prose: ProseReading,
    records: Collection[str],
    *,
    inbox: bool = False,
    with_times: bool = True,
) -> list[Row]:
    """Return the rows of the files that some records, named by their paths, came from;
    `inbox`: it is local.
    """
    rows: list[Row] = []

    def add(role: str, path: str, local: bool = False) -> None:
        state = reading.states.get(path) or prose.states.get(path)
        if state is not None:
            written = (
                datetime.fromtimestamp(state.mtime_ns // 1_000_000 / 1000, UTC)
                if with_times
                else None
            )

            row: Row = {
                "path": path,
                "role": role,
                "inbox": local,
                "sha256": state.sha256,
                "size": state.size,
            }
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


def _link_rows(
    records: Sequence[Record], local: frozenset[str], references: Mapping[str, Sequence[str]]
) -> list[Row]:
    """Return stated, supersession's and texts' links;
    those that git carries are resolved among what git carries.
    """
    everything = NameResolver(records)
    shared = (
        NameResolver([record for record in records if record.id not in local])
        if local
        else everything
    )

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
    """Yield what the files of the project cite, as `_citation_rows` does;
    what records' texts cite is their own.
    """
    tracked = workspace.git.tracked()
    files = tracked if tracked is not None else walk(workspace.root, hidden=False)
    homes = frozenset(record.source.path for record in records if record.source is not None)

    return _citation_rows(
        records, citing_references(workspace, files, without=homes), workspace.kinds.id_forms
    )


def _citation_rows(
    records: Sequence[Record], files: Mapping[str, References], forms: IdForms
) -> Iterator[Row]:
    """Yield what files name, once a line: ids and links to records' files;
    a likely word only if a record has it.
    """
    names = NameResolver(records) if files else None
    for path, references in files.items():
        links = ((_from_root(path, target), line) for target, line in references.links)
        for target, line in dict.fromkeys((*references.ids, *links)):
            target_id = names.referred(target, path) if names and target else None
            if target_id is not None or any(
                not citation.weak and citation.id == target
                for citation in find_citations(target, forms)
            ):
                yield {"path": path, "line": line, "target": target, "target_id": target_id}


def _from_root(origin: str, target: str) -> str:
    """Return the file that a link in the file `origin` names, from the root, with its anchor;
    empty for others.
    """
    file, anchor = split_link(target)
    path = path_from_root(file, posixpath.dirname(origin))
    if not file or ":" in file or path.startswith(".."):
        return ""
    return f"{path}#{anchor}" if anchor else path


CONTENT = (
    "records",
    "scope_globs",
    "tags",
    "links",
    "evidence",
    "rejected_options",
    "legacy_ids",
    "successors",
    "votes",
    "versions",
    "chunks",
    "anchors",
    "freshness",
    "sources",
)
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
    records: Iterable[Record],
    sources: Iterable[Row] = (),
    diagnostics: Iterable[Diagnostic] = (),
    *,
    freshness: Mapping[str, Freshness] = MappingProxyType({}),
    inbox: str = "",
    half_life_days: float | None = None,
    references: Mapping[str, Sequence[str]] = MappingProxyType({}),
    citations: Iterable[Row] = (),
    skills: Sequence[Skill] = (),
) -> Rows:
    """Return the rows of a collection; votes have keys where their half-life is given.

    `inbox` is the folder, from the root, whose records are this machine's alone; if an id is there
    and in git, the one in git counts. `references` are what the texts of records refer to, by path
    (`references_in`), `citations` what other files name (`citation_rows`). `skills` are free of
    secrets.
    """
    shared: dict[str, list[str]] = defaultdict(list)
    local: dict[str, list[str]] = defaultdict(list)
    chosen = _chosen(list(records), inbox)
    local_ids = frozenset(record.id for record in chosen if _is_in(record, inbox))
    hashes = {
        record.path: _add(
            local if record.id in local_ids else shared, record, record.id in local_ids
        )
        for record in chosen
    }

    for row in _link_rows(chosen, local_ids, references):
        (local if row["record_id"] in local_ids else shared)["links"].append(_encode(row))

    shared["successors"] = _successor_rows(
        RecordSet(record for record in chosen if record.id not in local_ids)
    )
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
        _encode(
            {
                "record_id": record.id,
                "state": state.state,
                **{name: getattr(reason, name) for name in _REASON},
            }
        )
        for record in chosen
        if (state := freshness.get(record.path)) is not None
        for reason in state.reasons
    ]

    ordered = sorted(diagnostics, key=lambda diagnostic: diagnostic.sort_key)
    local["diagnostics"] = [_encode(_diagnostic_row(diagnostic)) for diagnostic in ordered]
    local["skills"] = [
        _encode(
            {
                "path": skill.path,
                "title": skill.name,
                "description": skill.description,
                "body": skill.body,
            }
        )
        for skill in skills
    ]

    texts = {
        (record.id, number): fields
        for record in chosen
        for number, fields in enumerate(texts_of(record))
    }

    skill_texts = {
        (each.path, 0): (": ".join(filter(None, (each.name, each.description))), "", each.body)
        for each in skills
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
        yield (
            "evidence",
            _encode(
                {"record_id": record_id, "position": position, "kind": kind, "reference": reference}
            ),
        )

    for position, option in enumerate(record.rejected):
        row = {
            "record_id": record_id,
            "position": position,
            "option": option.option,
            "reason": option.reason or None,
        }
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
        row = {
            "record_id": record_id,
            "voter_model": vote.voter_model,
            "task_id": vote.task_id,
            "voted_at": at,
        }
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

    entries: list[tuple[str | None, str | None]] = [
        (entry.input, entry.hash) for entry in fingerprint_inputs(record)
    ]
    entries = entries or [(None, None)]
    return [
        {"position": at, **shared, "input": path, "hash": text}
        for at, (path, text) in enumerate(entries)
    ]


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
