"""Links and citations between records and files as rows, and resolution of ids and paths."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self
from urllib.parse import unquote

from orbit_registry.errors import OrbitError
from orbit_registry.formats.citations import IdForms, find_citations
from orbit_registry.formats.markdown import is_markdown
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.scope import UNSTATED, UNVERSIONED, version_factor
from orbit_registry.operations.citations import in_text
from orbit_registry.operations.document_facts import RecordLocation, Targets, location_of
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
    lead: str = ""
    """The first line that says something; of records alone."""
    entry: tuple[int, int] | None = None
    """The lines of a decision's entry in its document."""

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
    from orbit_registry.formats.markdown import parse_markdown  # what is remembered of files needs no parser

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


class NameResolver:
    """Resolves the ids and files that links name to the one record that each means."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._set = RecordSet(records)

    @cached_property
    def _files(self) -> Targets:
        places = [location_of(record) for record in self._records]
        paths = (
            (record.id, path)
            for record in self._records
            for path in (record.path, record.body_path, record.text("path"))
        )
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
        """Return the records that a file was taken over as for several versions, the one first that is meant from a
        text that is for `versions`; none where the file is that of one record, or of others too.
        """
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


def link_rows(records: Sequence[Record], local: frozenset[str], references: Mapping[str, Sequence[str]]) -> list[Row]:
    """Return the links that records state, those that follow from supersession, as edges from the newer record, and
    what their texts refer to.

    What git carries is resolved among what git carries, so that this machine's inbox changes no shared row.
    """
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
    """Yield what the files of the project cite, as `citation_rows` does; what records' texts cite is their own."""
    tracked = workspace.git.tracked()
    files = tracked if tracked is not None else walk(workspace.root, hidden=False)
    homes = frozenset(record.source.path for record in records if record.source is not None)
    return citation_rows(records, citing_references(workspace, files, without=homes), workspace.kinds.id_forms)


def citation_rows(records: Sequence[Record], files: Mapping[str, References], forms: IdForms) -> Iterator[Row]:
    """Yield what files name, once a line: ids, those that no record has among them, and links to records' files.

    `files` hold no record's text. What may be a word, such as `L-shaped`, counts only where a record has that id.
    """
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
    file, _, anchor = target.partition("#")
    folder = "" if file.startswith("/") else posixpath.dirname(origin)
    path = posixpath.normpath(posixpath.join(folder, unquote(file.partition("?")[0]).lstrip("/")))
    if not file or ":" in file or path.startswith(".."):
        return ""
    return f"{path}#{unquote(anchor)}" if anchor else path


_NUMBER = re.compile(r"[0-9]+|[^0-9._+-]+")


def by_version(records: Sequence[Record], asking: Collection[str]) -> list[Record]:
    """Return records in the order in which a link means them, from a text that is for the versions `asking`, if any.

    Live records come first; then what shares most with those versions, as searches weigh it; where nothing does,
    or none is asked for, what is unversioned, else what is for the newest version, of two the one for more of them.
    """
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
