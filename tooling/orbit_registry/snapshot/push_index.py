"""Keeps the push index equal to the files: which records are compiled anew, and which file readers take.

The index has a number, so that a process which holds one open keeps it; the seal names the newest, and is written
last. What an index was made from stands in the seal: where only stamps changed, it alone is written again.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.push import reader
from orbit_registry.push.breadth import Breadth
from orbit_registry.push.compile import (
    Origin,
    checksum_of,
    entries_of,
    part_of,
    ranked,
    rests_of,
    settings_of,
    with_breadth,
)
from orbit_registry.push.folders import stamp
from orbit_registry.push.pack import Part, is_whole, pack, unpack, with_rows
from orbit_registry.push.reader import Index
from orbit_registry.records.record import Record
from orbit_registry.snapshot.personal import Personal, personal_folders, personal_of, personal_parts
from orbit_registry.snapshot.push_freshness import Seen, with_doubts
from orbit_registry.snapshot.redaction import free_of_secrets
from orbit_registry.snapshot.trust import Trust, trust_files, trust_of, with_trust
from orbit_registry.store.files import TEMPORARY, write_atomic, write_error
from orbit_registry.store.freshness.ground import kinds_of, windows_of
from orbit_registry.store.git import looks_elsewhere
from orbit_registry.store.lock import locked
from orbit_registry.store.manifest import Stamp
from orbit_registry.store.reader import Entry, Reading
from orbit_registry.store.value_cache import code_version
from orbit_registry.store.votes import NAME as VOTES
from orbit_registry.store.votes import half_life_days
from orbit_registry.store.workspace import ORBIT, Workspace, cache_folder, git_folder

_PREFIX, _SUFFIX = "push-", ".idx"


@dataclass(frozen=True, slots=True)
class IndexSync:
    """What a sync of the index did: its file, how many records it holds, how many of them were compiled."""

    path: Path
    records: int
    compiled: int
    built: bool
    seen: frozenset[str] | None = None
    """The files that changed of all that records rest on, where nothing else did; None where more did, or nothing was
    known."""
    content: bytes | None = None
    """The index itself, where it was not to be written."""

    def as_data(self) -> dict[str, object]:
        """Return the result as JSON shows it."""
        return {"built": self.built, "records": self.records, "compiled": self.compiled, "path": str(self.path)}

    def text(self) -> str:
        """Return the result in a line for people."""
        held = f"{self.records} record{'' if self.records == 1 else 's'}"
        if not self.built:
            return f"Push index as it was: {held}"
        return f"Built {self.path.name}: {held} ({self.compiled} compiled anew)"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the index should be made from: hashes of how, and of which files; stamps of the folders; who is trusted."""

    base: str
    files: str
    stamps: Sequence[str]
    trust: Trust | None
    personal: Personal | None


@dataclass(frozen=True, slots=True)
class _Held:
    """What the index at hand holds: parts in rank order, globs as compiled, a hash of the tracked files; and its
    name."""

    parts: Sequence[Part]
    globs: Mapping[str, str]
    tracked: str
    name: str = ""
    unread: int = 0


def open_index(workspace: Workspace) -> reader.Index | reader.NoIndex:
    """Return the index as it is on disk; it is not brought up to date."""
    return reader.open_index(str(workspace.root), str(workspace.cache))


def sync_index(
    workspace: Workspace,
    reading: Reading,
    stamps: Sequence[str],
    *,
    rebuild: bool = False,
    publish: bool = True,
    known: Mapping[str, Stamp] = MappingProxyType({}),
) -> IndexSync:
    """Bring the push index up to date; where nothing changed, nothing is written.

    `stamps` are those of `stamps_of` before anything was read: what changes later is then seen as a change. `known` are
    stamps of files that were asked for a moment ago. Without `publish` the whole index is made and written nowhere.

    Raises:
        WriteError: the disk refused; the old index stands.
        LockTimeoutError: another process is building.
    """
    folder = cache_folder(workspace)
    entries = _kept(reading.entries)
    trust = trust_of(workspace)
    files = sorted(_line(reading, entry) for entry in entries)
    files += trust.lines(reading, entries) if trust is not None else ()
    personal = personal_of(workspace)
    files += personal.lines() if personal is not None else ()
    wanted = _Wanted(_base(workspace), _digest(files), stamps, trust, personal)
    if not publish:
        return _build(workspace, folder, reading, entries, wanted, rebuild=True, publish=False)
    found = _Found() if rebuild else _unchanged(workspace, folder, wanted, known)
    if found.done is not None and not found.renews:
        return found.done
    with locked(folder / "push.lock"):
        if not rebuild and (found.index is None or reader.read_seal(str(folder)) != found.index.seal):
            found = _unchanged(workspace, folder, wanted, known)
        if found.done is not None:
            if found.renews and found.index is not None:
                _seal(folder, found.index.seal[1], found.index.seal[3], stamps)
            return found.done
        if found.index is not None and found.ground is not None and found.marked:
            path = _publish(folder, with_rows(found.index, found.marked), found.index.seal[3], stamps)
            found.ground.keep()
            return IndexSync(path, found.index.records, 0, True, found.seen)
        collects = gc.isenabled()
        gc.disable()  # rows and postings make no cycles, and looking for some took a fifth of an update
        try:
            return replace(_build(workspace, folder, reading, entries, wanted, rebuild), seen=found.seen)
        finally:
            if collects:
                gc.enable()


@dataclass(frozen=True, slots=True)
class _Found:
    """What is known of the index at hand: what is to say of it where it is right; the files that changed of what its
    records rest on; and the records that say something else because of these alone."""

    done: IndexSync | None = None
    seen: frozenset[str] | None = None
    index: Index | None = None
    ground: Seen | None = None
    marked: Mapping[int, Part] | None = None
    renews: bool = False
    """Whether the index is right, and stamps are not those that its seal holds."""


def _unchanged(workspace: Workspace, folder: Path, wanted: _Wanted, known: Mapping[str, Stamp]) -> _Found:
    """Return what is known of the index at hand, if it was made from these very files."""
    index = open_index(workspace)
    if not isinstance(index, Index) or index.seal[3].split(" ")[:2] != [wanted.base, wanted.files]:
        return _Found()
    tracked = _tracked_known(index.seal, wanted.stamps) or _digest(_tracked(workspace) or ())
    key = f"{wanted.base} {wanted.files} {tracked}"
    ground = Seen(workspace, key) if index.seal[3] == key else None
    seen = ground.changed(known) if ground is not None else None
    if ground is None or seen is None:
        return _Found(seen=seen, index=index)
    marked = ground.marked(index, seen) if seen else {}
    if marked is None or (marked and (wanted.personal is not None or not is_whole(index.content))):
        return _Found(seen=seen, index=index)
    if marked:
        return _Found(None, seen, index, ground, marked)
    if seen:
        ground.keep()
    done = IndexSync(folder / index.seal[1], index.records, 0, False, seen)
    return _Found(done, seen, index, renews=index.seal[4:] != list(wanted.stamps))


def _build(
    workspace: Workspace,
    folder: Path,
    reading: Reading,
    entries: Sequence[Entry],
    wanted: _Wanted,
    rebuild: bool,
    publish: bool = True,
) -> IndexSync:
    held = _Held((), {}, "") if rebuild else _held(workspace, wanted.base)
    kept, left = _still(held.parts, {_line(reading, entry): entry for entry in entries})
    fresh: dict[str, tuple[Entry, Origin]] = {}
    for line, entry in left.items():
        place, mtime, size, digest = line.split("\0")
        checksum = checksum_of(workspace.root / place, reading.states[place].sha256)
        fresh[place] = (entry, Origin(place, digest, int(mtime), int(size), entry.pending, entry.has_body, checksum))
    records = [record for entry, _ in fresh.values() if (record := reading.record(entry)) is not None]
    origins = {path: origin for path, (_, origin) in fresh.items()}
    compiled = _compiled(workspace, records, origins)
    personal = personal_parts(workspace, wanted.personal, [*kept, *compiled])
    globs = entries_of([*kept, *compiled, *personal], held.globs)
    files = _tracked(workspace)
    tracked = _digest(files or ())
    breadth = Breadth(files or (), globs)
    if tracked != held.tracked:
        kept = with_breadth(kept, breadth, files is not None)
    compiled = with_breadth(compiled, breadth, files is not None)
    key = f"{wanted.base} {wanted.files} {tracked}"
    parts = with_doubts(workspace, ranked(kept, compiled), files, key)
    untrusted = wanted.trust.untrusted(reading, entries) if wanted.trust is not None else ()
    parts = with_trust(parts, untrusted)
    if personal:  # no scope of theirs counts as lost
        parts = ranked(parts, with_breadth(personal, breadth, known=False))
    unread = len(fresh) - len(records)
    if publish and (tracked, parts, unread) == (held.tracked, held.parts, held.unread):
        _seal(folder, held.name, key, wanted.stamps)
        return IndexSync(folder / held.name, len(parts), 0, False)
    half_life = round(half_life_days() * 86_400_000_000)
    content = pack(parts, globs, half_life, _holdout(workspace), settings_of(workspace.config), unread)
    if not publish:
        return IndexSync(folder, len(parts), len(compiled), False, content=content)
    path = _publish(folder, content, key, wanted.stamps)
    return IndexSync(path, len(parts), len(compiled), True)


def _still(held: Iterable[Part], entries: Mapping[str, Entry]) -> tuple[list[Part], dict[str, Entry]]:
    """Return the parts of records that are as they were, in their order, and the entries for which there is none.

    A file of the same content and another time is as it was, but for that time.
    """
    known = {_line_of(part): part for part in held if part.row[reader.DIGEST]}
    left = {line: entries[line] for line in sorted(entries.keys() - known.keys())}
    changed = {line.partition("\0")[0]: line for line in left}
    kept = []
    for line, part in known.items():
        row = part.row
        if line in entries:
            kept.append(part)
        elif (now := changed.get(row[reader.PATH], "")).endswith(f"\0{row[reader.DIGEST]}"):
            _, mtime, size, _ = now.split("\0")
            kept.append(part._replace(row=(*row[: reader.MTIME], mtime, size, *row[reader.DIGEST :])))
            del left[now]
    return kept, left


def _compiled(workspace: Workspace, records: Sequence[Record], origins: Mapping[str, Origin]) -> list[Part]:
    """Return records compiled, free of secrets; what they rest on is named as they name it, or not at all."""
    half_life, windows, kinds = half_life_days(), windows_of(workspace.config), kinds_of(workspace.config)
    named = {one.path: rests_of(one, kinds) for one in records if one.status.pushed and one.phase != "closed"}
    found = []
    for record in free_of_secrets(records):
        clean = set(rests_of(record, kinds)) if named.get(record.path) else ()
        rests = [one for one in named.get(record.path, ()) if one in clean]
        found.append(part_of(record, origins[record.path], half_life, windows, rests))
    return found


def _held(workspace: Workspace, base: str) -> _Held:
    """Return what the index at hand holds, if it was made in the same way and every byte is as written."""
    index = open_index(workspace)
    if not isinstance(index, Index) or index.seal[3].split(" ")[0] != base or not is_whole(index.content):
        return _Held((), {}, "")
    parts, entries = unpack(index)
    return _Held(parts, entries, index.seal[3].rpartition(" ")[2], index.seal[1], index.unread)


def _kept(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the records' places; where an id stands in this machine's inbox and in git, the one in git counts."""
    if not any(entry.pending for entry in entries):
        return entries
    shared = {entry.folder.rpartition("/")[2] for entry in entries if not entry.pending}
    return [entry for entry in entries if not entry.pending or entry.folder.rpartition("/")[2] not in shared]


def _line(reading: Reading, entry: Entry) -> str:
    """Return a record's fields from PATH to DIGEST, a hash of all that it is made of; that is empty for one that can't
    be read, which is tried each time."""
    state = reading.states[entry.path]
    votes = reading.states[f"{entry.folder}/{VOTES}"].sha256 if entry.has_votes else "-"
    digest = f"{state.sha256[:32]}{votes[:32]}{'01'[entry.has_body]}{'01'[entry.pending]}" if state.sha256 else ""
    return f"{state.path}\0{state.mtime_ns}\0{state.size}\0{digest}"


def _line_of(part: Part) -> str:
    return "\0".join(part.row[reader.PATH : reader.TEASER])


# ------------------------------------------------------------------------------------------------------- what it is


def _base(workspace: Workspace) -> str:
    """Return a hash of what decides how a record is compiled, beside the record."""
    config = workspace.config
    said = (str(reader.FORMAT), code_version(), workspace.kinds.fingerprint, config.inbox, str(half_life_days()),
            str(config.raw.get("freshness")), str(_holdout(workspace)), str(settings_of(config)),
            *(f"{kind.name} {kind.gate} {kind.brief} {kind.statuses}" for kind in workspace.kinds))  # fmt: skip
    return hashlib.sha256("\0".join(said).encode("utf-8", "surrogateescape")).hexdigest()


def _holdout(workspace: Workspace) -> int:
    share: float = workspace.config.setting("experiment", "holdout")
    return round(1_000_000 * share)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _tracked(workspace: Workspace) -> list[str] | None:
    """Return the tracked files from the root; None outside git, where no scope is called broad or dead."""
    try:
        return workspace.git.tracked()
    except GitError:
        return None


def _tracked_known(seal: Sequence[str], stamps: Sequence[str]) -> str | None:
    """Return the digest of the tracked files, if git's index has not changed since; git is not asked then."""
    known = {line.partition("\t")[2]: line for line in seal[4:]}
    mark = next((line for line in stamps if line.endswith("/index")), None)
    inputs = seal[3].split(" ")
    return inputs[2] if mark is not None and len(inputs) == 3 and known.get(mark.partition("\t")[2]) == mark else None


def stamps_of(workspace: Workspace) -> list[str]:
    """Return a line for each file that tells, by its stamp alone, that records may have changed."""
    root = workspace.root
    folders = [workspace.folder_of(kind, pending=pending) for kind in workspace.kinds for pending in (False, True)]
    watched = [f"{ORBIT}/config.yaml", *(path.relative_to(root).as_posix() for path in folders)]
    own = git_folder(root)
    if own is not None:
        name = own.relative_to(root).as_posix() if own.is_relative_to(root) else str(own)
        watched += [f"{name}/HEAD", *([f"{name}/index"] if not looks_elsewhere() else [])]
        with contextlib.suppress(OSError):
            said = (own / "HEAD").read_text("utf-8", "replace").strip()
            if said.startswith("ref: refs/") and ".." not in said and own.is_relative_to(root):
                watched.append(f"{name}/{said[5:]}")
    watched += (str(path) for path in trust_files(workspace) if "\n" not in str(path))
    watched += personal_folders()
    return [
        f"{stamp(path if path.startswith('/') else f'{root}/{path}')}\t{path}" for path in watched if "\n" not in path
    ]


# ------------------------------------------------------------------------------------------------------- publishing


def _publish(folder: Path, content: bytes, inputs: str, stamps: Sequence[str]) -> Path:
    """Write an index under the next number and name it in the seal: from then on readers take it."""
    numbers = [_number(entry.name) for entry in os.scandir(folder)]
    seal = reader.read_seal(str(folder))
    name = f"{_PREFIX}{max([*numbers, _number(seal[1]) if seal else 0]) + 1:06d}{_SUFFIX}"
    temporary = folder / f"{TEMPORARY}{name}-{secrets.token_hex(4)}"
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / name)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise write_error(folder / name, error) from None
    _seal(folder, name, inputs, stamps)
    _tidy(folder, {name, seal[1] if seal else name})
    return folder / name


def _seal(folder: Path, name: str, inputs: str, stamps: Sequence[str]) -> None:
    try:
        found = (folder / name).lstat()
    except OSError as error:
        raise write_error(folder / name, error) from None
    said = f"{found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"
    write_atomic(folder / reader.SEAL, "\n".join((reader.SEAL_FIRST_LINE, name, said, inputs, *stamps)))


def _number(name: str) -> int:
    digits = name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    whole = name.startswith(_PREFIX) and name.endswith(_SUFFIX) and digits.isascii() and digits.isdigit()
    return int(digits) if whole and len(digits) <= 12 else 0


def _tidy(folder: Path, kept: set[str]) -> None:
    """Remove what killed builds left and all indexes but those to keep; a reader that holds one open keeps it."""
    for entry in list(os.scandir(folder)):
        old = _number(entry.name) > 0 and entry.name not in kept
        if old or entry.name.startswith((f"{TEMPORARY}{_PREFIX}", f"{TEMPORARY}{reader.SEAL}")):
            with contextlib.suppress(OSError, OrbitError):
                Path(entry.path).unlink()
