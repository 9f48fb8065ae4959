"""Rows of a record in the tables of the snapshot, and the snapshot's metadata."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.globs import anchors, readable_globs
from orbit_registry.formats.links import path_from_root, split_link
from orbit_registry.hook.words import STOP_WORDS
from orbit_registry.lifecycle.built import Built
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.matching.routes import Routes
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.freshness import (
    Freshness,
    expires_at,
    fingerprint_inputs,
    freshness_fields,
    freshness_time,
)
from orbit_registry.model.rank import priority_of, vote_key
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.scope import named_globs
from orbit_registry.model.votes import distinct_votes, format_time, time_in
from orbit_registry.repository.skills import Skill
from orbit_registry.repository.votes import half_life_days
from orbit_registry.seams import Table, add, extras, load, version_of
from orbit_registry.search.index import Index
from orbit_registry.search.source_files import packages_of
from orbit_registry.search.text import stem
from orbit_registry.search.texts import TextWords, chunks, texts_of, words_in
from orbit_registry.snapshot.references import NameResolver, References, citing_references
from orbit_registry.snapshot.sources import Row, content_digest, utc_time
from orbit_registry.workspace.cache import Cache, to_row
from orbit_registry.workspace.files import walk
from orbit_registry.workspace.workspace import Workspace

if TYPE_CHECKING:
    from orbit_registry.search.chunks import Chunk

RouteRows = Mapping[str, Sequence[Row]]
"""What leads files to records, by the names of the tables `ROUTES`."""


def _link_rows(
    records: Sequence[Record], local: frozenset[str], references: Mapping[str, Sequence[str]]
) -> Iterator[Row]:
    """Yield stated, supersession's and texts' links; those that git carries are resolved among what
    git carries.
    """
    everything = shared = NameResolver(records)
    if local:
        shared = NameResolver([record for record in records if record.id not in local])

    edges: set[tuple[str, str, str, bool]] = set()
    referred: dict[tuple[str, str], str | None] = {}
    for record in records:
        names = everything if record.id in local else shared
        edges.update((record.id, link.rel, link.to, False) for link in record.links)
        for older in record.supersedes:
            edges.add((record.id, "supersedes", names.resolve(older) or older, True))

        if record.id not in local:
            for successor in map(names.resolve, record.superseded_by):
                if successor is not None:
                    edges.add((successor, "supersedes", record.id, True))

        origin = record.source.path if record.source else record.path
        for target in references.get(record.path, ()):
            target_id = names.referred(target, origin, record.words("versions"))
            if target_id != record.id and (record.id, "references", target, False) not in edges:
                referred[record.id, target] = target_id

    edges.update((start, "references", target, True) for start, target in referred)
    for start, rel, target, derived in sorted(edges):
        if derived and rel == "references":
            target_id = referred[start, target]
        else:
            names = everything if start in local else shared
            target_id = names.resolve(target)

        yield {
            "record_id": start,
            "rel": rel,
            "target": target,
            "target_id": target_id,
            "derived": derived,
        }


def citations_of(
    workspace: Workspace, records: Sequence[Record], tracked: Sequence[str] | None
) -> Iterator[Row]:
    """Yield what the files of the project cite, as `_citation_rows` does; what records' texts cite
    is their own.
    """
    files = tracked if tracked is not None else walk(workspace.root, hidden=False)
    homes = frozenset(record.source.path for record in records if record.source is not None)
    references = citing_references(workspace, files, without=homes)
    return _citation_rows(records, references, workspace.kinds.id_forms)


def route_rows(
    routes: Routes, records: Iterable[Record], without: Callable[[str], bool]
) -> dict[str, list[Row]]:
    """Return what leads the tracked files to some records, as rows of the tables `ROUTES`.

    The files that `without` withholds are left out.
    """
    records = list(records)
    ids = {record.path: record.id for record in records}
    packages = set(packages_of(records))
    rows: dict[str, list[Row]] = {table: [] for table in ROUTES}
    for path, names in sorted(routes.imported.items()):
        for name in names:
            if name in packages and not without(path):
                rows["imports"].append({"path": path, "package": name})

    for path, citations in sorted(routes.cited.items()):
        for record, closed in dict.fromkeys(citations):
            if record in ids and not without(path):
                row: Row = {"path": path, "record_id": ids[record], "cited_id": ids.get(closed)}
                rows["code_citations"].append(row)

    return rows


def _citation_rows(
    records: Sequence[Record], files: Mapping[str, References], forms: IdForms
) -> Iterator[Row]:
    """Yield what files name, once a line: ids and links to records' files; a likely word only if a
    record has it.
    """
    if not files:
        return

    names = NameResolver(records)
    for path, references in files.items():
        links = ((_from_root(path, target), line) for target, line in references.links)
        for target, line in dict.fromkeys((*references.ids, *links)):
            target_id = names.referred(target, path) if target else None
            if target_id is not None or _is_surely_id(target, forms):
                yield {"path": path, "line": line, "target": target, "target_id": target_id}


def _is_surely_id(target: str, forms: IdForms) -> bool:
    citations = find_citations(target, forms)
    return any(not citation.weak and citation.id == target for citation in citations)


def _from_root(origin: str, target: str) -> str:
    """Return the file that a link in the file `origin` names, from the root, with its anchor; empty
    for others.
    """
    file, anchor = split_link(target)
    path = path_from_root(file, posixpath.dirname(origin))
    if not file or ":" in file or path.startswith(".."):
        return ""

    if anchor:
        return f"{path}#{anchor}"

    return path


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
"""The tables of what git carries: two clones of one commit share their rows."""
ROUTES = ("imports", "code_citations")
"""The tables of what leads a file to records besides globs."""
LOCAL = (
    "citations",
    *ROUTES,
    "freshness_states",
    "built_states",
    "reviews",
    "diagnostics",
    "events",
    "skills",
    "vote_keys",
)
"""What depends on the machine: its files, its time, its git, its half-life of votes."""
TEXTS, WORDS = "search_texts", "search_words"
"""The tables of what words count in each text, and of what a word weighs at most."""
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Returns a row in the form that is hashed and filled in: JSON without spaces."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of every table as JSON objects, in the order that the digest is taken in."""

    shared: Mapping[str, Sequence[str]]  # what git carries
    local: Mapping[str, Sequence[str]]  # what only this machine has: its inbox, its findings
    digest: str  # of the files that git carries

    def of(self, table: str) -> Iterator[str]:
        """Yield every row of a table."""
        yield from self.shared.get(table, ())
        yield from self.local.get(table, ())

    @property
    def digests(self) -> dict[str, str]:
        """A hash of the rows of each table that has any."""
        tables = sorted({*self.shared, *self.local})
        return {table: _hash_of(self.of(table)) for table in tables}


def _hash_of(rows: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode("utf-8", "replace")).hexdigest()


def rows_of(
    records: Iterable[Record],
    sources: Iterable[Row] = (),
    diagnostics: Iterable[Diagnostic] = (),
    *,
    freshness: Mapping[str, Freshness] = MappingProxyType({}),
    due: Mapping[str, Due] = MappingProxyType({}),
    inbox: str = "",
    half_life_days: float | None = None,
    references: Mapping[str, Sequence[str]] = MappingProxyType({}),
    citations: Iterable[Row] = (),
    routes: RouteRows = MappingProxyType({}),
    skills: Sequence[Skill] = (),
    built: Mapping[str, Built] = MappingProxyType({}),
    cache: Cache | None = None,
    digests: Mapping[str, str] = MappingProxyType({}),
    kinds: str = "",
    words: Iterable[str] = (),
    counted: Mapping[str, Sequence[TextWords]] = MappingProxyType({}),
) -> Rows:
    """Return the rows of a collection; votes have keys where their half-life is given.

    `inbox` is the folder, from the root, whose records are this machine's alone; if an id is there
    and in git, the one in git counts. `references` are what the texts of records refer to, by path
    (`references_in`), `citations` what other files name (`citation_rows`), `routes` what leads
    files to records (`route_rows`). `skills` are free of secrets. `cache` has the rows of records
    whose `digests`, by path, did not change, and what their words count; `kinds` is a hash of what
    kinds there are. `words` are what the macro `search` knows of words (`word_rows`), `counted` is
    what the words of records count, by path, of those that were counted just now.
    """
    shared: dict[str, list[str]] = defaultdict(list)
    local: dict[str, list[str]] = defaultdict(list)
    chosen = _chosen(list(records), inbox)
    local_ids = frozenset(record.id for record in chosen if _is_in(record, inbox))
    own_rows = _own_rows(chosen, local_ids, cache, digests, kinds, counted)
    for record in chosen:
        tables = local if record.id in local_ids else shared
        for table, row_text in own_rows[record.path]:
            tables[table].append(row_text)

        judged = (freshness.get(record.path), built.get(record.path), due.get(record.path))
        for table, row in _judged_rows(record, half_life_days, *judged):
            local[table].append(encode(row))

    for row in _link_rows(chosen, local_ids, references):
        tables = local if row["record_id"] in local_ids else shared
        tables["links"].append(encode(row))

    in_git = RecordSet(record for record in chosen if record.id not in local_ids)
    for record in in_git:
        if record.phase == "closed":
            for successor in in_git.live_successors(record):
                row = {"record_id": record.id, "successor_id": successor.id}
                shared["successors"].append(encode(row))

    files = sorted(sources, key=lambda row: (row["path"], row["role"]))
    for row in files:
        tables = local if row["inbox"] else shared
        tables["sources"].append(encode(row))

    local["citations"] = list(map(encode, citations))
    for table, rows in routes.items():
        local[table] = list(map(encode, rows))

    ordered = sorted(diagnostics, key=lambda diagnostic: diagnostic.sort_key)
    local["diagnostics"] = [encode(_diagnostic_row(diagnostic)) for diagnostic in ordered]

    for skill in skills:
        title = ": ".join(filter(None, (skill.name, skill.description)))
        local["skills"].append(encode(_skill_row(skill)))
        local[TEXTS].append(_text_row(skill.path, 0, words_in((title, "", skill.body))))

    local[WORDS] = list(words)
    local.update(_rows_of_extras(chosen))
    return Rows(shared, local, content_digest(files))


def _rows_of_extras(records: Sequence[Record]) -> dict[str, list[str]]:
    tables = extra_tables().items()
    return {name: list(map(encode, load(table.rows)(records))) for name, table in tables}


def extra_tables() -> dict[str, Table]:
    """Return the tables that extras add, by name."""
    tables: dict[str, Table] = {}
    taken: dict[str, object] = dict.fromkeys((*CONTENT, *LOCAL, TEXTS, WORDS))
    for extra in extras():
        add(taken, extra.tables, "table", extra.name)
        tables |= extra.tables

    return tables


def _judged_rows(
    record: Record,
    half_life_days: float | None,
    freshness: Freshness | None,
    built: Built | None,
    due: Due | None,
) -> Iterator[tuple[str, Row]]:
    """Yield what is judged of a record here and now, each row with its table."""
    key = None if half_life_days is None else vote_key(record.votes, half_life_days)
    if key is not None:
        row: Row = {"record_id": record.id, "half_life": half_life_days, "rank_key": key}
        yield "vote_keys", row

    for state in () if freshness is None else _state_rows(record.id, freshness):
        yield "freshness_states", state

    if built is not None:
        yield "built_states", _built_row(record.id, built)

    review = _review_row(record, due)
    if review is not None:
        yield "reviews", review


def _skill_row(skill: Skill) -> Row:
    return {
        "path": skill.path,
        "title": skill.name,
        "description": skill.description,
        "body": skill.body,
    }


def _state_rows(record_id: str, freshness: Freshness) -> Iterator[Row]:
    for reason in freshness.reasons:
        yield {
            "record_id": record_id,
            "state": freshness.state,
            "cause": reason.cause,
            "subject": reason.subject,
            "message": reason.message,
        }


def _built_row(record_id: str, built: Built) -> Row:
    return {
        "record_id": record_id,
        "state": built.state.value,
        "reason": built.why,
        "evidence": "\n".join(built.evidence),
    }


def _review_row(record: Record, due: Due | None) -> Row | None:
    """Return when a record that is not closed is to be looked at; None where nothing says so."""
    terms = record.review_terms
    if record.phase == "closed" or (due is None and not terms.by and not terms.when):
        return None

    return {
        "record_id": record.id,
        "review_by": terms.by or None,
        "due_since": None if due is None else due.since,
        "reason": None if due is None else "; ".join(due.reasons),
    }


def _is_in(record: Record, inbox: str) -> bool:
    return bool(inbox) and record.path.startswith(f"{inbox}/")


def _chosen(records: Sequence[Record], inbox: str) -> list[Record]:
    shared = {record.id for record in records if not _is_in(record, inbox)}
    chosen = [record for record in records if not _is_in(record, inbox) or record.id not in shared]
    return sorted(chosen, key=lambda record: (record.sort_key, record.path))


def _own_rows(
    records: Sequence[Record],
    local: frozenset[str],
    cache: Cache | None,
    digests: Mapping[str, str],
    kinds: str,
    counted: Mapping[str, Sequence[TextWords]],
) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the rows that follow from a record alone, with their tables.

    They are by the record's path; `local` are the ids of this machine's records. The records have
    no secrets.
    """
    by_path = {record.path: record for record in records}

    def make(path: str) -> list[tuple[str, str]]:
        record = by_path[path]
        of_texts = counted.get(path) or list(map(words_in, texts_of(record)))
        return _rows_of_record(record, of_texts, record.id in local)

    if cache is None:
        return {path: make(path) for path in by_path}

    keys = {}
    for path, record in by_path.items():
        keys[path] = f"{digests[path]} {kinds} {record.id in local}"

    return cache.values("rows", keys, lambda path: to_row(make(path)), clean=keys)


def _rows_of_record(
    record: Record, of_texts: Sequence[TextWords], inbox: bool
) -> list[tuple[str, str]]:
    row = encode(_record_row(record, inbox))
    total = hashlib.sha256(row.encode())
    rows = list(_children(record))
    for _, child in rows:
        total.update(child.encode())

    content_hash = total.hexdigest()
    rows.append(("records", f'{row[:-1]},"content_hash":"{content_hash}"}}'))
    for part, of_text in enumerate(of_texts):
        rows.append((TEXTS, _text_row(record.id, part, of_text)))

    return rows


def _text_row(name: str, part: int, counted: TextWords) -> str:
    """Return what words count in a text of a record, or of a skill."""
    row = {
        "record_id": name,
        "part": part,
        "length": sum(counted.counts.values()),
        "terms": [*counted.counts],
        "counts": [*counted.counts.values()],
        "words": counted.forms,
        "stems": [*map(stem, counted.forms)],
    }
    return encode(row)


def word_rows(index: Index) -> Iterator[str]:
    """Yield each word with its term and what that weighs at most; the empty word is in no text."""
    worths = {term: round(index.worth(term), 6) for term in ("", *index.frequencies)}
    terms = {**index.term_of, **dict.fromkeys(STOP_WORDS)}
    for word, term in sorted({**terms, "": ""}.items()):
        worth = 0.0 if term is None else worths[term]
        # A word has letters, digits and their marks alone: there is nothing to escape.
        yield f'{{"word":"{word}","term":"{term or ""}","worth":{worth}}}'


def _children(record: Record) -> Iterator[tuple[str, str]]:
    record_id, scope = record.id, record.scope
    globs = named_globs(scope.paths, scope.symbols)
    for position, (pattern, glob) in enumerate(globs.items()):
        head = {"record_id": record_id, "position": position, "pattern": pattern}
        for fields in _anchored(glob):
            yield "scope_globs", encode({**head, **fields})

    axes = {"tag": scope.tags, "agent": scope.agents, "task": scope.tasks, "symbol": scope.symbols}
    axes["uses"] = scope.uses
    axes["label"] = record.words("labels")
    for axis, words in sorted(axes.items()):
        for word in sorted(set(words)):
            yield "tags", encode({"record_id": record_id, "axis": axis, "tag": word})

    for position, (kind, reference) in enumerate(record.evidence):
        row = {
            "record_id": record_id,
            "position": position,
            "kind": kind,
            "reference": reference,
        }
        yield "evidence", encode(row)

    for position, option in enumerate(record.rejected):
        row = {
            "record_id": record_id,
            "position": position,
            "option": option.option,
            "reason": option.reason or None,
        }
        yield "rejected_options", encode(row)

    for version in sorted(set(record.words("versions"))):
        yield "versions", encode({"record_id": record_id, "version": version})

    under: dict[str, str] = {}  # where chunks overlap, the last one with the anchor
    for position, chunk in enumerate(chunks(record)):
        yield "chunks", encode({"record_id": record_id, "position": position, **_chunk_row(chunk)})
        under.update(dict.fromkeys(chunk.anchors, chunk.code))

    for anchor, code in under.items():
        yield "anchors", encode({"record_id": record_id, "anchor": anchor, "code": code})

    for name in sorted(set(record.legacy_ids)):
        yield "legacy_ids", encode({"legacy_id": name, "record_id": record_id})

    for vote in distinct_votes(record.votes):
        row = {
            "record_id": record_id,
            "voter_model": vote.voter_model,
            "task_id": vote.task_id,
            "voted_at": utc_time(vote.voted_at),
        }
        yield "votes", encode(row)

    for fresh in _freshness(record):
        yield "freshness", encode({"record_id": record_id, **fresh})


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
    """Return a row of the table `records`; a record's hash is taken of it, so the order counts."""
    status, data, source = record.status, record.data, record.source
    row: Row = {
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
    }
    for name in ("project", "feature", "category", "date", "summary"):
        row[name] = _text(data, name)

    row |= {
        "body": record.prose,
        "priority": priority_of(record),
        "confidence": _text(data, "confidence"),
        "procedural": data.get("procedural") is True,
        "path": record.path,
    }
    for name in ("path", "heading", "format", "authority"):
        row[f"source_{name}"] = getattr(source, name, None)

    author = data.get("created_by")
    by: Mapping[str, object] = author if isinstance(author, Mapping) else {}
    row |= {
        "author": _text(by, "name"),
        "author_role": _text(by, "role"),
        "author_model": _text(by, "model"),
        "created_at": _moment(data.get("created_at")),
        "updated_at": _moment(data.get("updated_at")),
        "data": encode(data),
    }
    return row


@lru_cache(maxsize=65536)  # the records of a project share their globs
def _anchored(pattern: str) -> tuple[Row, ...]:
    rows: list[Row] = []
    for glob in readable_globs([pattern]):
        for alternative, anchor in zip(glob.alternatives, anchors(glob), strict=True):
            fields: Row = {
                "exclude": glob.exclude,
                "anchor_kind": anchor.kind,
                "anchor": anchor.text,
                "extension": anchor.extension,
                "depth": anchor.depth,
                "regex": None if anchor.decides else alternative.regex,
            }
            rows.append(fields)

    return tuple(rows)


def _freshness(record: Record) -> list[Row]:
    value = freshness_fields(record)
    end = freshness_time(record, "expires_at") or expires_at(record)
    if not value and end is None:
        return []

    shared: Row = {
        "volatility": _text(value, "volatility"),
        "expires_at": None if end is None else utc_time(end),
        "verified_at": _moment(value.get("verified_at")),
        "verified_by": _text(value, "verified_by"),
    }
    inputs: list[Row] = [
        {"input": entry.input, "hash": entry.hash} for entry in fingerprint_inputs(record)
    ]
    if not inputs:
        inputs.append({"input": None, "hash": None})

    return [{"position": at, **shared, **fields} for at, fields in enumerate(inputs)]


def _diagnostic_row(diagnostic: Diagnostic) -> Row:
    position = diagnostic.location.position
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "path": diagnostic.location.path,
        "line": position and position.line,
        "column": position and position.column,
        "record_id": diagnostic.record,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
    }


def _text(data: Mapping[str, object], name: str) -> str | None:
    value = data.get(name)
    if isinstance(value, str):
        return value

    return None


def _moment(value: object) -> str | None:
    """Return a record's time for a column, in UTC; None for one the calendar does not have."""
    at = time_in(value)
    if at is None:
        return None

    return utc_time(at)


FORMAT_VERSION = 9


def meta_of(workspace: Workspace, commit: str | None) -> dict[str, str | None]:
    """Return what a snapshot made now at a commit says of itself."""
    return {
        "format_version": str(FORMAT_VERSION),
        "project": workspace.name,
        "built_at": format_time(datetime.now(UTC)),
        "commit": commit,
        "tool_version": version_of("orbit_registry"),
        "half_life_days": str(half_life_days()),
    }
