"""Which files a snapshot is made of, and which rows of the one at hand stand in the next; it opens no file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orbit_registry.records.record import Record
from orbit_registry.snapshot.rows import Rows, Source
from orbit_registry.store.decisions.prose import ProseReading
from orbit_registry.store.reader import Reading
from orbit_registry.store.votes import NAME as VOTES


@dataclass(frozen=True, slots=True)
class Held:
    """What a snapshot holds: records by path, as id, whether it is of the inbox, hash; files as path, role, sha256."""

    records: Mapping[str, tuple[str, bool, str]]
    files: frozenset[tuple[str, str, str]]
    references: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the texts of records refer to, as written, by id."""


@dataclass(frozen=True, slots=True)
class Base:
    """An earlier snapshot to begin from: the ids whose rows go, and the hashes of the records whose rows stay."""

    file: Path
    replaced: Sequence[str]
    untouched: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Planned:
    """The rows of a snapshot that is to be written, the one it begins from, and what it says of itself."""

    rows: Rows
    base: Base | None
    meta: Mapping[str, str | None]


def base_of(file: Path, held: Held, records: Sequence[Record], sources: Iterable[Source], inbox: str) -> Base | None:
    """Return what of a snapshot, made by the same code and settings, can be taken over; None where that is too little.

    A record is made anew if one of its files has another hash, or if it is of the inbox, of whose documents the
    snapshot knows nothing. Rows know their record by its id alone, so that all records of an id go together.
    """
    files = {(one.file.path, one.role, one.file.sha256) for one in sources if not one.inbox}
    changed = {path for path, _, _ in files ^ held.files}
    touched = {record.id for record in records if _is_touched(record, held, changed, inbox)}
    stay = {record.path for record in records if record.id not in touched}
    replaced = sorted(touched | {known for path, (known, _, _) in held.records.items() if path not in stay})
    untouched = {path: held.records[path][2] for path in stay}
    return Base(file, replaced, untouched) if len(replaced) <= len(untouched) else None


def _is_touched(record: Record, held: Held, changed: set[str], inbox: str) -> bool:
    before = held.records.get(record.path)
    if before is None or before[:2] != (record.id, False) or (inbox and record.path.startswith(f"{inbox}/")):
        return True
    if not changed:
        return False
    source = record.source
    own = (record.path, f"{record.folder}/{VOTES}", record.body_path, source.path if source else record.path)
    return not changed.isdisjoint(own)


def sources_of(reading: Reading, prose: ProseReading, kept: set[str], local: bool) -> list[Source]:
    """Return the files that the kept records came from."""
    found: list[Source] = []
    documents: set[str] = set()
    for entry in reading.entries:
        if entry.path not in kept:
            continue
        inbox = local and entry.pending
        found.append(Source("record", reading.states[entry.path], inbox))
        if entry.has_votes:
            found.append(Source("votes", reading.states[f"{entry.folder}/{VOTES}"], inbox))
        body = prose.body_of(entry)
        if body is not None:
            found.append(Source("body", body, inbox))
        document = reading.document_of(entry)
        if document is not None and not inbox:
            documents.add(document)
    found += (Source("document", prose.states[path]) for path in documents if path in prose.states)
    return found
