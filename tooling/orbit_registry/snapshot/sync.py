"""Sync of the snapshot with the files: any change builds a new file under the next number."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import OrbitError, plural
from orbit_registry.matching.routes import Routes, routes_in
from orbit_registry.matching.sync import IndexSync, inputs_of, sync_index
from orbit_registry.operations.freshness.evaluate import FreshnessReport
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.reader import Reading
from orbit_registry.repository.skills import Skill, read_skills
from orbit_registry.repository.votes import half_life_days
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
class SyncResult:
    """What a sync did: records that are new, different, gone and as before, and the file that holds
    them now.
    """

    added: int
    changed: int
    removed: int
    unchanged: int
    digest: str
    path: Path
    built: bool
    seconds: float = 0.0  # of the snapshot and the push index together
    index: IndexSync | None = None
    """What was done to the push index; None where it was not asked for."""
    reading: Reading | None = None
    """The records as they were read."""

    def as_data(self) -> dict[str, object]:
        """Return the result as JSON shows it."""
        data: dict[str, object] = {
            "built": self.built,
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "unchanged": self.unchanged,
            "digest": self.digest,
            "path": str(self.path),
            "seconds": round(self.seconds, 3),
        }
        if self.index is not None:
            data["push_index"] = self.index.as_data()

        return data

    def counted(self) -> dict[str, object]:
        """Return what an event says of it."""
        total = self.added + self.changed + self.unchanged
        return {"built": self.built, "records": total, "digest": self.digest}

    def text(self) -> str:
        """Return the result in two lines for people: the snapshot, the push index."""
        if self.index is None:
            return self._snapshot_text()

        return f"{self._snapshot_text()}\n{self.index.text()}"

    def _snapshot_text(self) -> str:
        digest = self.digest[:12]
        if not self.built:
            return f"Nothing changed: {plural(self.unchanged, 'record')}, digest {digest}"

        parts = [("added", self.added), ("changed", self.changed), ("removed", self.removed)]
        changes = ", ".join(f"{number} {word}" for word, number in parts if number)
        changes = changes or "no record changed"
        total = plural(self.added + self.changed + self.unchanged, "record")
        return f"Built {self.path.name}: {total} ({changes}), digest {digest}"


@dataclass(frozen=True, slots=True)
class _State:
    file: str
    stamp: list[int]  # times, size and inode, which tell the file from any other of its name
    inputs: str  # a hash of all that the file was made from
    digest: str
    records: int


def sync(workspace: Workspace, *, rebuild: bool = False) -> SyncResult:
    """Bring both derived files up to date; where nothing changed, DuckDB is not even imported."""
    began = time.perf_counter()
    inputs = inputs_of(workspace)
    index = sync_index(workspace, inputs, rebuild=rebuild)
    result = sync_snapshot(workspace, inputs.reading, inputs.report, index.words, rebuild=rebuild)
    seconds = time.perf_counter() - began
    return replace(result, index=index, seconds=seconds, reading=inputs.reading)


def last_built(workspace: Workspace) -> float | None:
    """Return when the current snapshot was written, in seconds since 1970; None if none can be
    read.
    """
    state = _current(make_cache_folder(workspace))
    return None if state is None else state.stamp[0] / 1e9


def sync_snapshot(
    workspace: Workspace,
    reading: Reading,
    report: FreshnessReport | None = None,
    words: Words | None = None,
    *,
    rebuild: bool = False,
) -> SyncResult:
    """Bring the snapshot alone up to date with what was read. Raises what `sync` does.

    `report` is the freshness of all records, if it was just evaluated, and `words` are their words,
    if they were just counted.
    """
    prose = reading.prose
    skills, commit = read_skills(workspace)[0], workspace.git.commit("HEAD")
    routes = routes_in(workspace, reading)
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
                return _publish(workspace, folder, rows, commit, inputs)

    return SyncResult(0, 0, 0, state.records, state.digest, folder / state.file, built=False)


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
    workspace: Workspace, folder: Path, rows: Rows, commit: str | None, inputs: str
) -> SyncResult:
    """Write a file, give it the next number and name it in the state file, from which readers take
    it.
    """
    from orbit_registry.snapshot.export import event_lines, write_database
    from orbit_registry.snapshot.rows import meta_of

    previous = _current(folder)
    path = folder / f"snapshot-{_last_number(folder) + 1:06d}.duckdb"
    earlier = folder / previous.file if previous is not None else None
    _remove_leftovers(folder, earlier)

    temporary = folder / f"{TEMPORARY}{path.name}-{secrets.token_hex(4)}"
    digest, before = write_database(
        temporary, rows, meta_of(workspace, commit), event_lines(workspace.state), earlier
    )

    try:
        temporary.rename(path)
        sync_folder(folder)
        stamp = _stamp(path.lstat())
    except OSError as error:
        raise write_error(path, error) from None

    state = _State(path.name, stamp, inputs, digest, len(rows.hashes))
    write_atomic(folder / STATE, json.dumps(asdict(state)))

    added = len(rows.hashes.keys() - before.keys())
    changed = sum(before.get(name, content) != content for name, content in rows.hashes.items())

    return SyncResult(
        added=added,
        changed=changed,
        removed=len(before.keys() - rows.hashes.keys()),
        unchanged=len(rows.hashes) - added - changed,
        digest=digest,
        path=path,
        built=True,
    )


def _current(folder: Path, inputs: str | None = None) -> _State | None:
    try:
        state = _State(**json.loads(read_bytes(folder / STATE, limit=10_000)))
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
        names.append(str(json.loads(read_bytes(folder / STATE, limit=10_000))["file"]))
    return max((int(match[1]) for name in names if (match := NAME.match(name))), default=0)


def _remove_leftovers(folder: Path, previous: Path | None) -> None:
    """Remove all snapshots but the previous one, which readers may take, and what killed builds
    left.
    """
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
