"""Keeps the snapshot equal to the files: decides whether to build, under which number, and which file readers take."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orbit_registry.errors import OrbitError
from orbit_registry.records.diagnostic import Diagnostic
from orbit_registry.records.vote import stamp
from orbit_registry.snapshot.policy import NO_SECRETS, Policy
from orbit_registry.snapshot.push_index import IndexSync, cache_folder, stamps_of, sync_index
from orbit_registry.snapshot.rows import Source, rows_of
from orbit_registry.store.cache import code_stamp, is_sealed, stamp_of
from orbit_registry.store.decisions.prose import ProseReading, prose_of
from orbit_registry.store.files import TEMPORARY, read_bytes, sync_folder, write_atomic, write_error
from orbit_registry.store.lock import locked
from orbit_registry.store.reader import Reading, fingerprint
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import Workspace

FORMAT_VERSION = 2
STATE = "snapshot.json"
_NAME = re.compile(r"snapshot-([0-9]{6,12})\.duckdb\Z")


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
    index: IndexSync

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
            "push_index": self.index.as_data(),
        }

    def text(self) -> str:
        """Return the result in two lines for people: the snapshot, the push index."""
        return f"{self._snapshot_text()}\n{self.index.text()}"

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
    digest: str
    records: int


def sync(
    workspace: Workspace,
    *,
    diagnostics: Callable[[], Iterable[Diagnostic]] = tuple,
    policy: Policy = NO_SECRETS,
    rebuild: bool = False,
) -> SyncResult:
    """Bring both derived files up to date; where nothing changed, no record is built and DuckDB is not even imported.

    `diagnostics` is asked only when the snapshot is built; files that hold no record are reported in any case.

    Raises:
        WriteError: the disk refused; the old snapshot stands.
        LockTimeoutError: another process is building.
        SnapshotError: the database refused.
    """
    began = time.perf_counter()
    stamps = stamps_of(workspace)
    reading = Reading(workspace)
    prose = prose_of(workspace, reading.entries, reading.documents)
    inputs = _inputs(workspace, reading, prose, policy)
    folder = cache_folder(workspace)
    index = sync_index(workspace, reading, stamps, policy, rebuild=rebuild)
    held = None if rebuild else _current(folder, inputs)
    if held is None:
        with locked(folder / "snapshot.lock"):
            held = None if rebuild else _current(folder, inputs)
            if held is None:
                return _build(workspace, folder, reading, prose, inputs, diagnostics, policy, began, index)
    reading.save()
    prose.save()
    seconds = time.perf_counter() - began
    return SyncResult(0, 0, 0, held.records, held.digest, folder / held.file, seconds, False, index)


def _inputs(workspace: Workspace, reading: Reading, prose: ProseReading, policy: Policy) -> str:
    """Return a hash of everything that decides what the snapshot holds."""
    total = hashlib.sha256()
    for part in (
        str(FORMAT_VERSION),
        code_stamp(),
        fingerprint(workspace.kinds),
        workspace.name,
        workspace.config.inbox,
        workspace.git.head() or "",
        str(half_life_days()),
        policy.name,
        *(problem.fingerprint for problem in reading.misplaced),
    ):
        total.update(part.encode("utf-8", "surrogateescape") + b"\0")
    for states in (reading.states, prose.states):
        for path in sorted(states):
            total.update(f"{path}\0{states[path].sha256}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def _current(folder: Path, inputs: str | None) -> _State | None:
    """Return the state of the snapshot at hand, if it was made from these inputs and is the file that was written."""
    try:
        said = json.loads(read_bytes(folder / STATE, limit=10_000))
        state = _State(**said)
        if not _NAME.match(state.file) or (inputs is not None and state.inputs != inputs):
            return None
        return state if is_sealed(folder / state.file, state.stamp) else None
    except (OrbitError, ValueError, TypeError, RecursionError):
        return None


def _build(
    workspace: Workspace,
    folder: Path,
    reading: Reading,
    prose: ProseReading,
    inputs: str,
    diagnostics: Callable[[], Iterable[Diagnostic]],
    policy: Policy,
    began: float,
    index: IndexSync,
) -> SyncResult:
    # Importing DuckDB costs more than finding that nothing changed.
    from orbit_registry.checks.derivation import standing
    from orbit_registry.snapshot.build import content_hashes, write_database

    records = policy.applied(prose.filled(reading.collection.records))
    problems = {(one.fingerprint, str(one.location)): one for one in (*reading.collection.problems, *diagnostics())}
    inbox = workspace.relative(workspace.inbox) if workspace.config.inbox == "local" else ""
    rows = rows_of(
        records,
        _sources(reading, prose, {one.path for one in records}, bool(inbox)),
        [replace(one, message=policy.cleaned(one.message)) for one in problems.values()],
        freshness=standing(workspace, records).freshness,
        inbox=inbox,
        half_life_days=half_life_days(),
    )
    previous = _current(folder, None)
    before = content_hashes(folder / previous.file) if previous is not None else {}
    _tidy(folder)
    digest = rows.digest
    temporary = folder / f"{TEMPORARY}snapshot-{secrets.token_hex(4)}.duckdb"
    write_database(temporary, rows, _meta(workspace, digest))
    state = _publish(folder, temporary, inputs, digest, len(rows.hashes))
    _tidy(folder, {state.file} | ({previous.file} if previous is not None else set()))
    after = rows.hashes
    changed = sum(1 for path, known in after.items() if path in before and before[path] != known)
    added = len(after.keys() - before.keys())
    return SyncResult(
        added=added,
        changed=changed,
        removed=len(before.keys() - after.keys()),
        unchanged=len(after) - added - changed,
        digest=digest,
        path=folder / state.file,
        seconds=time.perf_counter() - began,
        built=True,
        index=index,
    )


def _meta(workspace: Workspace, digest: str) -> dict[str, str | None]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        tool = version("orbit-registry")
    except PackageNotFoundError:
        tool = None
    return {
        "format_version": str(FORMAT_VERSION),
        "project": workspace.name,
        "digest": digest,
        "built_at": stamp(datetime.now(UTC)),
        "commit": workspace.git.head(),
        "tool_version": tool,
        "half_life_days": str(half_life_days()),
    }


def _sources(reading: Reading, prose: ProseReading, kept: set[str], local: bool) -> list[Source]:
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


def _publish(folder: Path, temporary: Path, inputs: str, digest: str, records: int) -> _State:
    """Give a finished file the next number and name it in the state file: from then on readers take it."""
    name = f"snapshot-{_last_number(folder) + 1:06d}.duckdb"
    try:
        temporary.rename(folder / name)
        sync_folder(folder)
        state = _State(name, list(stamp_of((folder / name).stat())), inputs, digest, records)
    except OSError as error:
        raise write_error(folder / name, error) from None
    said = {field: getattr(state, field) for field in ("file", "stamp", "inputs", "digest", "records")}
    write_atomic(folder / STATE, json.dumps(said))
    return state


def _last_number(folder: Path) -> int:
    """Return the highest number in use, that of a lost file among them.

    A process that has a file open gets the old content when it opens the same name again, so names are not reused.
    """
    names = [entry.name for entry in os.scandir(folder)]
    with contextlib.suppress(OrbitError, ValueError, TypeError, KeyError, RecursionError):
        names.append(str(json.loads(read_bytes(folder / STATE, limit=10_000))["file"]))
    return max((int(found[1]) for name in names if (found := _NAME.match(name))), default=0)


def _tidy(folder: Path, kept: set[str] | None = None) -> None:
    """Remove what killed builds left, and all snapshots but those to keep; a reader that holds one open keeps it."""
    for entry in list(os.scandir(folder)):
        left = entry.name.startswith((f"{TEMPORARY}snapshot-", f"{TEMPORARY}rows-"))
        old = (
            kept is not None
            and entry.name.startswith("snapshot-")
            and entry.name.endswith((".duckdb", ".wal"))
            and entry.name not in kept
        )
        with contextlib.suppress(OSError):
            if left and entry.is_dir(follow_symlinks=False):
                for file in os.scandir(entry.path):
                    Path(file.path).unlink()
                Path(entry.path).rmdir()
            elif left or old:
                Path(entry.path).unlink()


def _count(number: int) -> str:
    return f"{number} record{'' if number == 1 else 's'}"
