"""The files and texts that derived files are made from."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.model.record import Record
from orbit_registry.operations.citations import references_of
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Source:
    """One file the snapshot was made from: its role (record, votes, document, body) and its state."""

    role: str
    path: str
    sha256: str = ""
    size: int = 0
    mtime_ns: int | None = None  # none where the time is left out of an export
    inbox: bool = False


def sources_of(
    reading: Reading, prose: ProseReading, records: Collection[str], *, inbox: bool = False, with_times: bool = True
) -> list[Source]:
    """Return the files that some records, named by their paths, came from; `inbox` says that the inbox is local."""
    result: list[Source] = []

    def add(role: str, path: str, local: bool = False) -> None:
        state = reading.states.get(path) or prose.states.get(path)
        if state is not None:
            result.append(Source(role, path, state.sha256, state.size, state.mtime_ns if with_times else None, local))

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
    return result


def references_in(
    workspace: Workspace, records: Iterable[Record], prose: ProseReading | None = None
) -> Mapping[str, Sequence[str]]:
    """Return what the texts of records refer to, by the records' paths."""
    forms = workspace.kinds.id_forms
    by_path = {record.path: record for record in records}

    def key(record: Record) -> str:
        home = prose.states.get(record.source.path) if prose is not None and record.source else None
        texts = (record.id, record.title, record.text("summary"), record.prose, record.text("path"))
        return digest_of((str(forms), *(text or "" for text in texts), str(record.source), home.sha256 if home else ""))

    def make(path: str) -> list[str]:
        record = by_path[path]
        return list(references_of(record, forms, prose.document_text(record) if prose is not None else None))

    keys = {path: key(record) for path, record in by_path.items()}
    return workspace.cache.values(f"references {prose is not None}", keys, make)


def digest_of(parts: Iterable[str]) -> str:
    """Return a hash of texts in their order."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
