"""Sync of the derived files with the records: the push index, and the snapshot if it is asked for.

Any change builds a new snapshot under the next number.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import OrbitError, SnapshotError, plural
from orbit_registry.matching.routes import Routes, routes_in
from orbit_registry.matching.sync import IndexSync, Inputs, inputs_of, sync_index
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.skills import Skill, read_skills
from orbit_registry.repository.votes import half_life_days
from orbit_registry.snapshot.sources import content_digest, sources_of
from orbit_registry.workspace.cache import code_version, digest
from orbit_registry.workspace.files import (
    TEMPORARY,
    read_bytes,
    sync_folder,
    write_atomic,
    write_error,
)
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import Workspace, make_cache_folder

if TYPE_CHECKING:
    from orbit_registry.matching.words import Words
    from orbit_registry.snapshot.rows import Rows

STATE = "snapshot.json"  # names the file that readers take
NAME = re.compile(r"snapshot-([0-9]{6,12})\.duckdb\Z")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The current snapshot, and whether it was built now."""

    path: Path
    built: bool


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync did: records that are new, different, gone and as before since the last sync,
    and what was done to the push index and to the snapshot.
    """

    added: int
    changed: int
    removed: int
    unchanged: int
    digest: str
    """A hash of the files that git carries of the records: equal in two clones of a commit."""
    index: IndexSync
    reading: Reading
    """The records as they were read."""
    snapshot: Snapshot | None = None
    """None where it was not asked for: the next question to it brings it up to date."""
    seconds: float = 0.0

    @property
    def path(self) -> Path | None:
        """The file of the snapshot, if it was asked for."""
        if self.snapshot is None:
            return None

        return self.snapshot.path

    @property
    def built(self) -> bool:
        """Whether a derived file was written."""
        return self.index.built or (self.snapshot is not None and self.snapshot.built)

    def as_data(self) -> dict[str, object]:
        """Return the result as JSON shows it."""
        return {
            "built": self.built,
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "unchanged": self.unchanged,
            "digest": self.digest,
            "path": None if self.path is None else str(self.path),
            "seconds": round(self.seconds, 3),
            "push_index": self.index.as_data(),
        }

    def counted(self) -> dict[str, object]:
        """Return what an event says of it."""
        total = self.added + self.changed + self.unchanged
        return {"built": self.built, "records": total, "digest": self.digest}

    def text(self) -> str:
        """Return the result in lines for people: the records, the push index, the snapshot."""
        lines = [self._records_text(), self.index.text()]
        if self.snapshot is not None and self.snapshot.built:
            lines.append(f"Built {self.snapshot.path.name}")

        return "\n".join(lines)

    def _records_text(self) -> str:
        parts = [("added", self.added), ("changed", self.changed), ("removed", self.removed)]
        changes = ", ".join(f"{number:,} {word}" for word, number in parts if number)
        total = plural(self.added + self.changed + self.unchanged, "record")
        digest = f"digest {self.digest[:12]}"
        if not changes:
            return f"No record changed: {total}, {digest}"

        return f"{total} ({changes}), {digest}"


@dataclass(frozen=True, slots=True)
class _State:
    file: str
    stamp: list[int]  # times, size and inode, which tell the file from any other of its name
    inputs: str  # a hash of all that the file was made from
    code: str  # the version of what made it
    tables: dict[str, str]  # a hash of the rows of each table that has any


def sync(workspace: Workspace, *, rebuild: bool = False, snapshot: bool = False) -> SyncResult:
    """Bring the push index up to date, and the snapshot if it is asked for.

    Few projects ask the snapshot after each edit, and to write it takes as long as all else.
    """
    began = time.perf_counter()
    inputs = inputs_of(workspace)
    index = sync_index(workspace, inputs, rebuild=rebuild)
    reading = inputs.reading
    made = None
    if snapshot:
        made = sync_snapshot(workspace, reading, inputs, index.words, rebuild=rebuild)

    paths = {record.path for record in inputs.records}
    is_local = workspace.config.inbox == "local"
    sources = sources_of(reading, inputs.prose, paths, inbox=is_local, with_times=False)
    return SyncResult(
        *_changes(workspace, inputs),
        content_digest(sources),
        index,
        reading,
        made,
        time.perf_counter() - began,
    )


SYNCED = "synced records"


def _changes(workspace: Workspace, inputs: Inputs) -> tuple[int, int, int, int]:
    """Return how many records are new, different, gone and as before since the last sync."""
    key = inputs.lines[0]
    earlier_key, earlier = workspace.cache.recall(SYNCED, "") or ["", {}]
    if earlier_key == key:
        return 0, 0, 0, len(earlier)

    digests = {record.path: inputs.reading.digests[record.path] for record in inputs.records}
    workspace.cache.remember(SYNCED, "", [key, digests], is_clean=True)

    added = len(digests.keys() - earlier.keys())
    removed = len(earlier.keys() - digests.keys())
    unchanged = len(digests.items() & earlier.items())
    return added, len(digests) - added - unchanged, removed, unchanged


def sync_snapshot(
    workspace: Workspace,
    reading: Reading,
    read: Inputs | None = None,
    words: Words | None = None,
    *,
    rebuild: bool = False,
) -> Snapshot:
    """Bring the snapshot alone up to date with what was read; where nothing changed, DuckDB is not
    even imported.

    `read` is what the push index was just made from, and `words` are the words of the records, if
    they were just counted.
    """
    prose = reading.prose
    skills, commit = read_skills(workspace)[0], workspace.git.commit("HEAD")
    routes = routes_in(workspace, reading) if read is None else read.routes
    report = None if read is None else read.report
    inputs = _inputs(workspace, commit, reading, prose, skills, routes)
    folder = make_cache_folder(workspace)
    state = None if rebuild else _current(folder, inputs)
    if state is None:
        with locked(folder / "snapshot.lock"):
            state = None if rebuild else _current(folder, inputs)
            if state is None:
                # DuckDB and the rows cost more to import than it costs to find that nothing
                # changed.
                from orbit_registry.snapshot.export import local_rows

                rows = local_rows(workspace, reading, prose, skills, routes, report, words)
                path = _publish(workspace, folder, rows, commit, inputs, rebuild=rebuild)
                return Snapshot(path, built=True)

    return Snapshot(folder / state.file, built=False)


def _inputs(
    workspace: Workspace,
    commit: str | None,
    reading: Reading,
    prose: ProseReading,
    skills: Sequence[Skill],
    routes: Routes,
) -> str:
    config = workspace.config
    settings = str((config.citations, config.code, half_life_days()))
    parts = [code_version(), workspace.kinds.fingerprint, workspace.name, config.inbox]
    parts += [settings, commit or ""]

    files = {**prose.states, **reading.states}
    parts += [f"{path}\n{files[path].sha256}" for path in sorted(files)]
    parts += [problem.fingerprint for problem in reading.misplaced]
    parts += [f"{skill.path}\n{skill.text}" for skill in skills]
    parts += ["\0".join((path, *names)) for path, names in sorted(routes.imported.items())]
    parts += [f"{path}\n{citations}" for path, citations in sorted(routes.cited.items())]
    return digest(*parts)


def _publish(
    workspace: Workspace,
    folder: Path,
    rows: Rows,
    commit: str | None,
    inputs: str,
    *,
    rebuild: bool,
) -> Path:
    """Write a file, give it the next number and name it in the state file, from which readers take
    it.
    """
    from orbit_registry.snapshot.export import Earlier, event_lines, write_database
    from orbit_registry.snapshot.rows import meta_of

    previous = _current(folder)
    path = folder / f"snapshot-{_last_number(folder) + 1:06d}.duckdb"
    _remove_leftovers(folder, folder / previous.file if previous is not None else None)

    temporary = folder / f"{TEMPORARY}{path.name}-{os.urandom(4).hex()}"
    code, tables = code_version(), rows.digests
    content = rows, meta_of(workspace, commit), event_lines(workspace.state)
    earlier = None
    if not rebuild and previous is not None and previous.code == code:
        same = {
            table for table, rows_hash in tables.items() if previous.tables.get(table) == rows_hash
        }
        earlier = Earlier(folder / previous.file, same)

    try:
        write_database(temporary, *content, earlier)
    except SnapshotError:
        if earlier is None:
            raise
        write_database(temporary, *content)  # the earlier file may be damaged

    try:
        temporary.rename(path)
        sync_folder(folder)
        stamp = _stamp(path.lstat())
    except OSError as error:
        raise write_error(path, error) from None

    write_atomic(folder / STATE, json.dumps(asdict(_State(path.name, stamp, inputs, code, tables))))
    return path


def _current(folder: Path, inputs: str | None = None) -> _State | None:
    try:
        state = _State(**json.loads(read_bytes(folder / STATE, limit=100_000)))
        if not NAME.match(state.file) or (inputs is not None and state.inputs != inputs):
            return None
        status = (folder / state.file).lstat()
    except (OrbitError, OSError, ValueError, TypeError, RecursionError):
        return None

    # A repository may bring such files, yet can't know the inode and the times that the kernel sets
    # here, unless the file system stamps whole seconds, which could be guessed.
    if not stat.S_ISREG(status.st_mode) or status.st_ctime_ns % 1_000_000_000 == 0:
        return None
    if _stamp(status) != state.stamp:
        return None

    return state


def _stamp(status: os.stat_result) -> list[int]:
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino]


def _last_number(folder: Path) -> int:
    """Return the highest number so far, also of lost files.

    A process with a lost file open would get the old content under its name.
    """
    names = os.listdir(folder)
    with contextlib.suppress(OrbitError, ValueError, TypeError, KeyError, RecursionError):
        names.append(str(json.loads(read_bytes(folder / STATE, limit=100_000))["file"]))
    return max((int(match[1]) for name in names if (match := NAME.match(name))), default=0)


def _remove_leftovers(folder: Path, previous: Path | None) -> None:
    """Remove all snapshots but the previous one, which readers may take, and what killed builds
    left.
    """
    import shutil

    for path in folder.iterdir():
        is_old = (
            path.name.startswith("snapshot-")
            and path.suffix in (".duckdb", ".wal")
            and path != previous
        )
        if is_old or path.name.startswith((f"{TEMPORARY}snapshot", f"{TEMPORARY}rows-")):
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                path.unlink()
