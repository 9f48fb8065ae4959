"""Keeps the snapshot equal to the files: decides whether to build, under which number, and which file readers take."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from orbit_registry.errors import OrbitError, SnapshotError
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.records.freshness import Freshness
from orbit_registry.snapshot.meta import FORMAT_VERSION, meta_of
from orbit_registry.snapshot.numbered import NAME, STATE, forget, last_number, tidy
from orbit_registry.store.decisions.prose import ProseReading, lines_of, prose_of
from orbit_registry.store.files import TEMPORARY, read_bytes, sync_folder, write_atomic, write_error
from orbit_registry.store.lock import locked
from orbit_registry.store.reader import Reading
from orbit_registry.store.sealed import is_sealed, stamp_of
from orbit_registry.store.skills import Skill, read_skills
from orbit_registry.store.value_cache import code_version
from orbit_registry.store.votes import BROKEN as BROKEN_VOTE
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace, cache_folder

if TYPE_CHECKING:
    from orbit_registry.snapshot.build import Held
    from orbit_registry.snapshot.copying import Copy
    from orbit_registry.snapshot.delta import Planned
    from orbit_registry.snapshot.engine import duckdb
    from orbit_registry.snapshot.push_index import IndexSync

_MERGED = 8
"""Every so many snapshots what edits added is merged with the rest of its table."""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync did: records that are new, different, gone and as before, and the file that holds them now."""

    added: int
    changed: int
    removed: int
    unchanged: int
    digest: str
    path: Path
    seconds: float
    built: bool
    index: IndexSync | None = None
    """What was done to the push index; None where it was not asked for."""

    def as_data(self) -> dict[str, object]:
        """Return the result as JSON shows it."""
        return {
            "built": self.built,
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "unchanged": self.unchanged,
            "digest": self.digest,
            "path": str(self.path),
            "seconds": round(self.seconds, 3),
            **({"push_index": self.index.as_data()} if self.index is not None else {}),
        }

    def counted(self) -> dict[str, object]:
        """Return what an event says of it."""
        total = self.added + self.changed + self.unchanged
        return {"built": self.built, "records": total, "digest": self.digest}

    def text(self) -> str:
        """Return the result in two lines for people: the snapshot, the push index."""
        return "\n".join([self._snapshot_text(), *([self.index.text()] if self.index is not None else [])])

    def _snapshot_text(self) -> str:
        if not self.built:
            return f"Nothing changed: {_count(self.unchanged)}, digest {self.digest[:12]}"
        parts = [("added", self.added), ("changed", self.changed), ("removed", self.removed)]
        said = ", ".join(f"{number} {word}" for word, number in parts if number) or "no record changed"
        total = self.added + self.changed + self.unchanged
        return f"Built {self.path.name}: {_count(total)} ({said}), digest {self.digest[:12]}"


@dataclass(frozen=True, slots=True)
class _State:
    file: str
    stamp: list[int]
    inputs: str
    """As `_inputs` returns them."""
    settings: str
    """A hash of what decides beside the files what the snapshot holds; empty where the time does too."""
    digest: str
    records: int
    looked: str
    """The day (UTC) on which all records were last looked at."""
    tool: str | None
    """The version of our package that made it."""


def sync(
    workspace: Workspace,
    *,
    diagnostics: Callable[[], Iterable[Diagnostic]] = tuple,
    rebuild: bool = False,
) -> SyncResult:
    """Bring both derived files up to date; where nothing changed, no record is built and DuckDB is not even imported.

    `diagnostics` is asked only when the snapshot is built; files that hold no record are reported in any case.

    Raises:
        WriteError: the disk refused; the old snapshot stands.
        LockTimeoutError: another process is building.
        SnapshotError: the database refused.
    """
    from orbit_registry.snapshot.push_index import stamps_of, sync_index  # those who want the snapshot alone do without

    began = time.perf_counter()
    stamps = stamps_of(workspace)
    reading = Reading(workspace)
    knows_all = _knows_all(cache_folder(workspace))
    prose = prose_of(workspace, reading.entries, reading.documents)
    index = sync_index(workspace, reading, stamps, rebuild=rebuild)
    done = sync_snapshot(
        workspace, reading, diagnostics=diagnostics, rebuild=rebuild,
        seen=index.seen if knows_all else None, prose=prose,
    )  # fmt: skip
    return replace(done, index=index, seconds=time.perf_counter() - began)


def _knows_all(folder: Path) -> bool:
    """Say whether the snapshot at hand knows all that any index saw of what records rest on: it was made after it."""
    from orbit_registry.snapshot.push_freshness import SEEN

    state = _current(folder, None)
    try:
        return state is not None and (folder / f"{SEEN}.values").stat().st_mtime_ns < state.stamp[0]
    except OSError:
        return False


def last_built(workspace: Workspace) -> float | None:
    """Return when the snapshot at hand was written, in seconds since 1970; None where none can be read."""
    state = _current(cache_folder(workspace), None)
    return None if state is None else state.stamp[0] / 1e9


def sync_snapshot(
    workspace: Workspace,
    reading: Reading,
    *,
    diagnostics: Callable[[], Iterable[Diagnostic]] = tuple,
    rebuild: bool = False,
    freshness: Mapping[str, Freshness] | None = None,
    seen: frozenset[str] | None = None,
    prose: ProseReading | None = None,
) -> SyncResult:
    """Bring the snapshot alone up to date with what was read.

    `freshness` is that of all records, where it is known already; `seen` are the files that changed of all that they
    rest on, where nothing else of it did. Raises what `sync` does.
    """
    began = time.perf_counter()
    prose = prose or prose_of(workspace, reading.entries, reading.documents)
    settings = _settings(workspace)
    skills = read_skills(workspace)[0]
    commit = workspace.git.commit("HEAD")
    inputs = _inputs(settings, commit, reading, prose, skills)
    folder = cache_folder(workspace)
    held = None if rebuild else _current(folder, inputs)
    if held is None:
        with locked(folder / "snapshot.lock"):
            held = None if rebuild else _current(folder, inputs)
            if held is None:
                build = _Build(workspace, folder, reading, prose, settings, commit, inputs, rebuild, skills, seen)
                done = build.run(diagnostics, freshness)
                return replace(done, seconds=time.perf_counter() - began)
    return SyncResult(0, 0, 0, held.records, held.digest, folder / held.file, time.perf_counter() - began, False)


def _settings(workspace: Workspace) -> str:
    """Return a hash of what decides beside the files what a record's rows are."""
    return _hash(
        str(FORMAT_VERSION),
        code_version(),
        workspace.kinds.fingerprint,
        workspace.name,
        workspace.config.inbox,
        str((workspace.config.citations, workspace.config.code, half_life_days())),
    )


def _inputs(settings: str, commit: str | None, reading: Reading, prose: ProseReading, skills: Sequence[Skill]) -> str:
    """Return three hashes that decide what the snapshot holds: of records' files, of texts, of all the rest."""
    records = _hash(*(problem.fingerprint for problem in reading.misplaced), *lines_of(reading.states))
    said = (f"{skill.path}\0{skill.text}" for skill in skills)
    return f"{records} {prose.digest()} {_hash(settings, commit or '', *said)}"


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _current(folder: Path, inputs: str | None) -> _State | None:
    """Return the state of the snapshot at hand, if it was made from these inputs and is the file that was written."""
    try:
        said = json.loads(read_bytes(folder / STATE, limit=10_000))
        state = _State(**said)
        if not NAME.match(state.file) or (inputs is not None and state.inputs != inputs):
            return None
        return state if is_sealed(folder / state.file, state.stamp) else None
    except (OrbitError, ValueError, TypeError, RecursionError):
        return None


def next_rows(workspace: Workspace, reading: Reading, freshness: Mapping[str, Freshness] | None) -> Planned | None:
    """Return what the next snapshot would add to the one at hand; None where that is current or of no use for it."""
    folder, settings = cache_folder(workspace), _settings(workspace)
    previous, skills = _current(folder, None), read_skills(workspace)[0]
    if previous is None or previous.settings != settings:
        return None
    prose = prose_of(workspace, reading.entries, reading.documents)
    commit = workspace.git.commit("HEAD")
    inputs = _inputs(settings, commit, reading, prose, skills)
    if previous.inputs == inputs:
        return None
    from orbit_registry.snapshot.build import engine

    build = _Build(workspace, folder, reading, prose, settings, commit, inputs, rebuild=False, skills=skills)
    with engine() as connection:
        planned = build.plan(connection, previous, tuple, freshness, shared=True)[1]
    return planned if planned.base is not None else None


@dataclass(frozen=True)
class _Build:
    """One build of the snapshot, while its lock is held."""

    workspace: Workspace
    folder: Path
    reading: Reading
    prose: ProseReading
    settings: str
    commit: str | None
    inputs: str
    rebuild: bool
    skills: Sequence[Skill] = ()
    seen: frozenset[str] | None = None

    def run(
        self, diagnostics: Callable[[], Iterable[Diagnostic]], freshness: Mapping[str, Freshness] | None
    ) -> SyncResult:
        """Write the next file, out of the one at hand where that was made by the same code and settings."""
        previous = _current(self.folder, None)
        tidy(self.folder)
        temporary = self.folder / f"{TEMPORARY}snapshot-{secrets.token_hex(4)}.duckdb"
        copy = self._copy(previous, temporary)
        try:
            # DuckDB, and what makes rows, cost more to import than it costs to find that nothing changed.
            from orbit_registry.snapshot.build import engine

            with engine() as connection:
                held, planned = self.plan(connection, previous, diagnostics, freshness)
                if copy is not None and planned.base is None:
                    copy.drop()  # too much changed to build upon it, and the file is made where it stands
                try:
                    state = self._publish(connection, planned, temporary, copy)
                except SnapshotError:
                    if planned.base is None:
                        raise
                    return replace(self, rebuild=True, seen=None).run(diagnostics, freshness)  # that one may be damaged
        finally:
            if copy is not None:
                copy.drop()
        forget(self.folder, {state.file} | ({previous.file} if previous is not None else set()))
        return _counted(held, planned, state.digest, self.folder / state.file)

    def _is_usable(self, previous: _State | None) -> TypeGuard[_State]:
        """Say whether the same code and settings made the snapshot at hand."""
        return previous is not None and previous.settings == self.settings and not self.rebuild

    def _copy(self, previous: _State | None, path: Path) -> Copy | None:
        """Begin to copy the snapshot at hand, where the next one may be made of it, in place of the one before it."""
        from orbit_registry.snapshot.copying import Copy

        if not self._is_usable(previous):
            return None
        return Copy(self.folder / previous.file, path, lambda: forget(self.folder, {previous.file}))

    def plan(
        self,
        connection: duckdb.DuckDBPyConnection,
        previous: _State | None,
        diagnostics: Callable[[], Iterable[Diagnostic]],
        freshness: Mapping[str, Freshness] | None,
        *,
        shared: bool = False,
    ) -> tuple[Held, Planned]:
        """Return what the snapshot at hand holds, and the rows of the next one; `shared` as in `Material.rows`."""
        from orbit_registry.snapshot.delta import Material, Planned

        material = Material(self.workspace, self.reading, self.prose, self.skills)
        file = self.folder / previous.file if previous is not None else None
        usable = self._is_usable(previous)
        meta = meta_of(self.workspace, self.commit, previous.tool if usable and previous is not None else None)
        if file is not None and previous is not None and usable and self.seen is not None and freshness is None:
            records, texts, _ = previous.inputs.split(" ")
            is_near = previous.looked == _today() and records == self.inputs.split(" ")[0]
            found = material.texts(connection, file, self.seen, texts) if is_near else None
            if found is not None:
                return found[0], Planned(found[1], found[2], meta, previous.records)
        held, rows, base = material.rows(connection, file, usable, diagnostics, freshness, shared=shared)
        return held, Planned(rows, base, meta, len(rows.hashes))

    def _publish(
        self, connection: duckdb.DuckDBPyConnection, planned: Planned, temporary: Path, copy: Copy | None
    ) -> _State:
        """Write a file, give it the next number and name it in the state file: from then on readers take it."""
        from orbit_registry.snapshot.build import merge_rows, write_database
        from orbit_registry.snapshot.events import event_lines

        lines, number = event_lines(self.workspace.state), last_number(self.folder) + 1
        merge_rows(connection, wanted=number % _MERGED == 0)
        digest = write_database(temporary, planned.rows, planned.meta, planned.base, lines, connection, copy)
        name = f"snapshot-{number:06d}.duckdb"
        # A vote dated ahead counts from a day on: nothing of such a snapshot may be taken over.
        timed = any(one.code == BROKEN_VOTE for one in self.reading.collection.problems)
        try:
            temporary.rename(self.folder / name)
            sync_folder(self.folder)
            stamped = list(stamp_of((self.folder / name).stat()))
        except OSError as error:
            raise write_error(self.folder / name, error) from None
        # Nor of one for which a file was read that had changed since its hash was taken: it is made anew.
        is_steady = self.prose.is_steady
        settings = "" if timed or not is_steady else self.settings
        inputs = self.inputs if is_steady else "- - -"
        tool = planned.meta["tool_version"]
        state = _State(name, stamped, inputs, settings, digest, planned.records, _today(), tool)
        write_atomic(self.folder / STATE, json.dumps(asdict(state)))
        return state


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _counted(held: Held, planned: Planned, digest: str, file: Path) -> SyncResult:
    """Return what is to say of a new file beside the one before."""
    before, after = {path: known for path, (_, _, known) in held.records.items()}, planned.rows.hashes
    changed = sum(1 for path, known in after.items() if path in before and before[path] != known)
    added = len(after.keys() - before.keys())
    return SyncResult(
        added=added,
        changed=changed,
        removed=len(before.keys() - after.keys()),
        unchanged=planned.records - added - changed,
        digest=digest,
        path=file,
        seconds=0.0,
        built=True,
    )


def _count(number: int) -> str:
    return f"{number} record{'' if number == 1 else 's'}"
