"""References in texts and files: ids and links, and the one record that each means."""

import hashlib
import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

from orbit_registry.errors import OrbitError
from orbit_registry.formats.citations import IdForms
from orbit_registry.formats.links import is_markdown
from orbit_registry.formats.markdown import Document, parse_markdown
from orbit_registry.model.ids import as_written_here
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.scope import UNSTATED, UNVERSIONED, version_factor
from orbit_registry.operations.citations import in_text, references_of
from orbit_registry.operations.link_targets import RecordLocation, Targets, location_of
from orbit_registry.repository.documents import ProseReading
from orbit_registry.workspace.files import DOCUMENT_LIMIT, decode, is_inside
from orbit_registry.workspace.workspace import Workspace

_LOCAL_LINK = re.compile(
    r"\](?:\(|:[ \t]*)<?(?![A-Za-z][A-Za-z0-9+.-]*:|#)[^\s()<>]*(?:\.md|\.markdown|\.orbit/)",
    re.IGNORECASE,
)
"""What a link to a document or to a record's file looks like; a text without one is not parsed."""


class References(NamedTuple):
    """What a text names: ids as written and targets of links to documents, each with its line in
    the file.
    """

    ids: tuple[tuple[str, int], ...] = ()
    links: tuple[tuple[str, int], ...] = ()
    sentence: str = ""  # what the site prints below a title; of records alone
    entry: tuple[int, int] | None = None  # the lines of a decision's entry in its document

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Self:
        """Return what a row of the cache holds: the fields in their order, as JSON has them."""
        ids, links, sentence, entry = row
        lines = tuple(entry) if entry else None
        return cls(tuple(map(tuple, ids)), tuple(map(tuple, links)), sentence, lines)


def references_in_text(
    text: str, path: str, forms: IdForms, structure: Document | None = None
) -> References:
    """Return what a file's text names; `structure` is that of the text, if the caller has it."""
    code = None if structure is None else structure.code
    citations = in_text(text, path, forms, weak=True, code=code)
    ids = tuple((citation.id, citation.position.line) for citation in citations)
    if not is_markdown(path) or not _LOCAL_LINK.search(text):
        return References(ids)

    structure = structure or parse_markdown(text)
    links = [link for link in structure.links if link.kind != "image"]
    return References(ids, tuple((link.target, link.position.line) for link in links))


def citing_references(
    workspace: Workspace,
    files: Iterable[str],
    more: Iterable[str] = (),
    without: Container[str] = (),
) -> Mapping[str, References]:
    """Return what the files that citations are looked up in name, and `more` of them, by path."""
    # A sync in which nothing changed asks no file.
    from orbit_registry.repository.vcs_state import citing_files

    forms = workspace.kinds.id_forms

    def parse(path: str, content: bytes) -> object:
        try:
            references = references_in_text(decode(content, path), path, forms)
        except OrbitError:
            references = References()

        # The cache stores only what JSON gives back unchanged.
        return json.loads(json.dumps(references))

    paths = sorted({*citing_files(workspace, files), *more})
    paths = [path for path in paths if path not in without and is_inside(workspace.root, path)]
    namespace = f"citing {hashlib.sha256(str(forms).encode()).hexdigest()[:16]}"
    rows = workspace.cache.files(namespace, workspace.root, paths, parse, limit=DOCUMENT_LIMIT)

    references = dict.fromkeys(paths, References())
    for path, row in rows.items():
        if row.value is not None:
            references[path] = References.from_row(row.value)

    return references


def references_in(
    workspace: Workspace,
    records: Iterable[Record],
    prose: ProseReading | None = None,
) -> Mapping[str, Sequence[str]]:
    """Return what the texts of records refer to, by the records' paths."""
    forms = workspace.kinds.id_forms
    references: dict[str, Sequence[str]] = {}
    for record in records:
        document = prose.document_text(record) if prose is not None else None
        references[record.path] = references_of(record, forms, document)

    return references


class NameResolver:
    """Resolves the ids and files that links name to the one record that each means."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._set = RecordSet(records)

    @cached_property
    def _files(self) -> Targets:
        locations = list(map(location_of, self._records))
        for record in self._records:
            for path in (record.path, record.body_path, record.text("path")):
                if path:
                    locations.append(RecordLocation(record.id, path, None))

        return Targets(locations)

    @cached_property
    def _versioned(self) -> Mapping[str, Sequence[Record]]:
        """The records that were taken from a file, by its path, if several were, each for other
        versions.
        """
        by_path: dict[str, list[Record]] = defaultdict(list)
        for record in self._records:
            if (path := record.text("path")) and record.words("versions"):
                by_path[path].append(record)
        return {path: records for path, records in by_path.items() if len(records) > 1}

    def of_file(self, path: str, versions: Collection[str] = ()) -> list[Record]:
        """Return the records of a file's versions, the meant one first; none where the file is
        other records' too.
        """
        records = self._versioned.get(path, ())
        if not records or len(self._files.held(path)) != len(records):
            return []

        return by_version(records, versions)

    def referred(self, target: str, origin: str, versions: Collection[str] = ()) -> str | None:
        """Return the id that a text in the file `origin`, for some versions, means by an id or by a
        file's path.
        """
        record_id = None
        if "/" not in target:
            feature = posixpath.basename(posixpath.dirname(origin))
            record_id = self.resolve(f"{feature}/{target}")

        record_id = record_id or self.resolve(target) or self.resolve(as_written_here(target))
        if record_id is not None or "." not in target:
            return record_id

        path, _, anchor = target.partition("#")
        ids = self._files.at(path, anchor)
        if len(ids) == 1:
            return ids[0]

        return next((record.id for record in self.of_file(path, versions)), None)

    def resolve(self, name: str) -> str | None:
        """Return the id that a name means; None where no record or several answer to it."""
        ids = {record.id for record in self._set.candidates(name)}
        if len(ids) == 1:
            return ids.pop()

        return None


_NUMBER = re.compile(r"[0-9]+|[^0-9._+-]+")


def by_version(records: Sequence[Record], asking: Collection[str]) -> list[Record]:
    """Return records as a link means them: live, most of the versions `asking`, unversioned, the
    newest version.
    """
    requested = frozenset(asking) - {UNVERSIONED}

    def rank(record: Record) -> tuple[bool, float, bool, list[tuple[bool, int, str]], int]:
        versions = record.words("versions")
        factor = version_factor(versions, requested) if requested else 0.0
        if factor <= UNSTATED:
            factor = 0.0

        is_for_all = not versions or UNVERSIONED in versions
        newest = max(map(_order, versions), default=[])
        return record.phase == "live", factor, is_for_all, newest, len(versions)

    by_id = sorted(records, key=lambda record: record.sort_key)
    return sorted(by_id, key=rank, reverse=True)


def _order(version: str) -> list[tuple[bool, int, str]]:
    """Return what versions are sorted by, the newest last: numbers as such, and before `2.0` its
    `2.0-rc1`.
    """
    parts = [
        (True, int(part), "") if part.isdecimal() else (False, 0, part)
        for part in _NUMBER.findall(version)
    ]
    return [*parts, (False, 1, "")]
