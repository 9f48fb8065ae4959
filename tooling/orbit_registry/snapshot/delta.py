"""Which files a snapshot is made of, and which rows of the one at hand stand in the next; it writes no file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orbit_registry.checks.citing import references_of
from orbit_registry.checks.derivation import standing
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.records.freshness import Cause, Freshness, Sight, derive, taken_from
from orbit_registry.records.record import Record
from orbit_registry.snapshot.build import Base, Held, held_by, texts_changed
from orbit_registry.snapshot.edges import citations_of
from orbit_registry.snapshot.engine import duckdb
from orbit_registry.snapshot.redaction import free_of_secrets
from orbit_registry.snapshot.rows import Rows, Source, rows_of
from orbit_registry.store.decisions.prose import ProseReading
from orbit_registry.store.freshness.ground import moved, windows_of
from orbit_registry.store.reader import Reading
from orbit_registry.store.skills import Skill
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace
from orbit_registry.text.secrets import without_secrets


@dataclass(frozen=True, slots=True)
class Planned:
    """The rows of a snapshot that is to be written, the one it begins from, and what it says of itself."""

    rows: Rows
    base: Base | None
    meta: Mapping[str, str | None]
    records: int


@dataclass(frozen=True, slots=True)
class Material:
    """What a snapshot is made from."""

    workspace: Workspace
    reading: Reading
    prose: ProseReading
    skills: Sequence[Skill]

    def rows(
        self,
        connection: duckdb.DuckDBPyConnection,
        previous: Path | None,
        usable: bool,
        diagnostics: Callable[[], Iterable[Diagnostic]],
        freshness: Mapping[str, Freshness] | None,
        *,
        shared: bool = False,
    ) -> tuple[Held, Rows, Base | None]:
        """Return what the snapshot at hand holds, the rows of the next one, and what stands in both.

        `usable` says that the one at hand was made by the same code and settings; `freshness` is that of all records,
        where it is known already. `shared` leaves out rows that a copy for others never has.
        """

        workspace, collection = self.workspace, self.reading.collection
        held = held_by(connection, previous) if previous is not None else Held({}, frozenset())
        inbox = workspace.relative(workspace.inbox) if workspace.config.inbox == "local" else ""
        kept = list(collection.records)
        sources = sources_of(self.reading, self.prose, {one.path for one in kept}, bool(inbox))
        base = base_of(previous, held, kept, sources, inbox) if previous is not None and usable else None
        untouched = base.untouched if base is not None else {}
        records = self._records(kept, base)
        if freshness is None:
            freshness = standing(workspace, records).freshness
        problems = {(one.fingerprint, str(one.location)): one for one in (*collection.problems, *diagnostics())}
        clean = without_secrets
        rows = rows_of(
            records,
            sources,
            [replace(one, message=clean(one.message)) for one in problems.values()],
            freshness=freshness,
            inbox=inbox,
            half_life_days=half_life_days(),
            untouched=untouched,
            references=self._references(records, held, untouched),
            citations=() if shared else citations_of(workspace, records),
            skills=self._skills(),
        )
        return held, rows, base

    def texts(
        self, connection: duckdb.DuckDBPyConnection, previous: Path, seen: frozenset[str], known: str
    ) -> tuple[Held, Rows, Base] | None:
        """Return what `rows` does where only texts changed and each names what it named; no other record is read.

        `seen` are the files with another stamp of all that records rest on, `known` is the digest of all texts that
        the snapshot was made of. None where more changed than texts do.
        """
        states = self.prose.states
        if not seen <= states.keys() or any(one.pending for one in self.reading.entries):
            return None
        found = texts_changed(connection, previous, {path: states[path].sha256 for path in seen})
        if found is None or self.prose.digest({path: then for path, (_, then) in found[0].items()}) != known:
            return None
        changed, held = found
        records = self._alike(held)
        if records is None:
            return None
        sight = Sight(moved=moved(self.workspace, filter(None, map(taken_from, records))))
        now, windows = datetime.now(UTC), windows_of(self.workspace.config)
        freshness = {one.path: derive(one, sight, now, windows) for one in records if one.phase != "closed"}
        other = any(reason.cause is not Cause.SOURCE for one in freshness.values() for reason in one.reasons)
        if other:
            return None
        sources = [Source(role, states[path]) for path, (role, _) in changed.items()]
        rows = rows_of(records, sources, freshness=freshness, half_life_days=half_life_days(), skills=self._skills())
        return held, rows, Base(previous, [one.id for one in records], {}, tuple(changed))

    def alone(self, earlier: Path, held: Held, paths: Sequence[str]) -> tuple[Rows, Base] | None:
        """Return what an earlier copy for others needs to be one of now, where only the records at `paths` say
        something else; None where one of them names something else too, or shares its id.
        """
        records = self._alike(held) if held.records.keys() == set(paths) else None
        if records is None:
            return None
        rows = rows_of(
            records, sources_of(self.reading, self.prose, set(paths), False), half_life_days=half_life_days()
        )
        own = [path for one in records for path in (one.path, f"{one.folder}/{VOTES}", one.body_path)]
        homes = [one.source.path for one in records if one.source is not None]
        return rows, Base(earlier, [one.id for one in records], {}, (*own, *homes))

    def _alike(self, held: Held) -> list[Record] | None:
        """Return the records of a few paths as they are now, cleaned; None where one does not name what it named."""
        entries = [one for one in self.reading.entries if one.path in held.records]
        read = [one for one in map(self.reading.record, entries) if one is not None]
        records = free_of_secrets(self.prose.filled(read))
        same = len(records) == len(held.records) and all(self._names_the_same(one, held) for one in records)
        return records if same else None

    def _names_the_same(self, record: Record, held: Held) -> bool:
        """Say whether a record's text refers to what the last build found in it."""
        stated = {link.to for link in record.links if link.rel == "references"}
        named = stated.union(held.references.get(record.id, ()))
        return named == stated.union(references_of(record, self.workspace.kinds.id_forms))

    def _skills(self) -> list[Skill]:
        clean = without_secrets
        return [
            replace(one, name=clean(one.name), description=clean(one.description), text=clean(one.text))
            for one in self.skills
        ]

    def _records(self, kept: Sequence[Record], base: Base | None) -> list[Record]:
        """Return the records, cleaned; those whose rows are made have the prose that stands in documents."""
        if base is None:
            return free_of_secrets(self.prose.filled(kept))
        made = [record for record in kept if record.path not in base.untouched]
        rest = [record for record in kept if record.path in base.untouched]
        return [*free_of_secrets(self.prose.filled(made)), *free_of_secrets(rest)]

    def _references(
        self, records: Sequence[Record], held: Held, untouched: Mapping[str, str]
    ) -> Mapping[str, Sequence[str]]:
        """Return what the texts of records refer to, by path; of those whose rows are made, as the last build found."""
        known = {one.path: held.references.get(one.id, ()) for one in records if one.path in untouched}
        forms = self.workspace.kinds.id_forms
        return known | {
            one.path: references_of(one, forms, self.prose.home_of(one)) for one in records if one.path not in untouched
        }


def base_of(file: Path, held: Held, records: Sequence[Record], sources: Iterable[Source], inbox: str) -> Base | None:
    """Return what of a snapshot, made by the same code and settings, can be taken over; None where that is too little.

    A record is made anew if one of its files has another hash, or if it is of the inbox, of whose documents the
    snapshot knows nothing. Rows know their record by its id alone, so that all records of an id go together.
    """
    files = {(one.file.path, one.role, one.file.sha256) for one in sources if not one.inbox}
    changed = {path for path, _, _ in files ^ held.files}
    folders = {path.rpartition("/")[0] for path in changed}
    touched = {record.id for record in records if _is_touched(record, held, changed, folders, inbox)}
    stay = {record.path for record in records if record.id not in touched}
    replaced = sorted(touched | {known for path, (known, _, _) in held.records.items() if path not in stay})
    untouched = {path: held.records[path][2] for path in stay}
    return Base(file, replaced, untouched) if len(replaced) <= len(untouched) else None


def _is_touched(record: Record, held: Held, changed: set[str], folders: set[str], inbox: str) -> bool:
    before = held.records.get(record.path)
    if before is None or before[:2] != (record.id, False) or (inbox and record.path.startswith(f"{inbox}/")):
        return True
    if record.folder in folders:
        own = (record.path, f"{record.folder}/{VOTES}", record.body_path)
        if not changed.isdisjoint(own):
            return True
    source = record.source if changed and record.kind.has_source else None
    return source is not None and source.path in changed


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
