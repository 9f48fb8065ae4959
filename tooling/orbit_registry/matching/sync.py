"""Sync of the push index with the files: made whole from records, freshness and settings,
and renamed into place.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from orbit_registry.errors import GitError, GitStoppedError, OrbitError, plural
from orbit_registry.hook import index as reader
from orbit_registry.hook.files import stamp
from orbit_registry.hook.index import Index, NoIndex
from orbit_registry.hook.project import index_file
from orbit_registry.lifecycle.review_due import Due
from orbit_registry.lifecycle.review_facts import due_now
from orbit_registry.matching import compile as compiler
from orbit_registry.matching.index import open_index
from orbit_registry.matching.pack import Part, is_whole, pack
from orbit_registry.matching.personal import Personal, personal_folders, personal_of, personal_parts
from orbit_registry.matching.routes import Routes, routes_of
from orbit_registry.model.freshness import Cause
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.breadth import Breadth
from orbit_registry.operations.freshness.evaluate import (
    FreshnessReport,
    evaluate_freshness,
    volatility_windows,
)
from orbit_registry.operations.freshness.renames import (
    EVIDENCE,
    PATHS,
    Move,
    Renames,
    moves_by_record,
    renames_since,
)
from orbit_registry.operations.glob_counts import counter_in
from orbit_registry.repository.documents import ProseReading
from orbit_registry.repository.reader import Reading, RecordFolder
from orbit_registry.repository.skills import skill_pages
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.repository.votes import half_life_days
from orbit_registry.search.source_files import SourceFiles
from orbit_registry.workspace.cache import code_version, digest
from orbit_registry.workspace.files import (
    DOCUMENT_LIMIT,
    RECORD_LIMIT,
    TEMPORARY,
    inside,
    read_bytes,
    read_with_status,
    write_atomic,
)
from orbit_registry.workspace.git import uses_another_index
from orbit_registry.workspace.lock import locked
from orbit_registry.workspace.workspace import ORBIT, Workspace, git_folder

if TYPE_CHECKING:
    from orbit_registry.matching.words import Words

_BRANCHES = (
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
_NAMING = "refs/remotes/origin/HEAD"


def untrusted(workspace: Workspace, records: Iterable[Record]) -> set[str]:
    """Return the files of the records of which something differs from the default branch,
    or is not there.
    """
    commit = _trusted_commit(workspace)
    if commit is None:
        return set()

    tree = workspace.git.files_at(commit) if commit else {}
    names_of = cache(partial(_blob_names, workspace.root))

    def differs(path: str) -> bool:
        return tree.get(path) not in names_of(path)

    return {record.path for record in records if any(map(differs, _files_of(workspace, record)))}


def _files_of(workspace: Workspace, record: Record) -> Iterator[str]:
    """Yield what an agent may be led to read for a record,
    and what says which of its statuses are pushed.
    """
    yield record.path

    if os.path.lexists(workspace.root / record.body_path):
        yield record.body_path
    if record.kind.has_source and record.source is not None:
        yield record.source.path
    if record.kind.folder.is_relative_to(workspace.root / ORBIT):
        yield f"{workspace.relative(record.kind.folder)}/kind.yaml"


def _blob_names(root: Path, path: str) -> set[str]:
    """Return git's names of a file's content, unchanged and with the line ends that git keeps."""
    try:
        content = read_bytes(inside(root, path), limit=DOCUMENT_LIMIT)
    except OrbitError:
        return set()

    names: set[str] = set()
    for form in (content, content.replace(b"\r\n", b"\n")):
        blob = b"blob %d\0" % len(form) + form
        names |= {hashlib.sha1(blob).hexdigest(), hashlib.sha256(blob).hexdigest()}

    return names


def _trusted_commit(workspace: Workspace) -> str | None:
    is_configured = workspace.trusts_only_default_branch
    files = _ref_files(workspace)
    if not files:
        return "" if is_configured else None

    def branch() -> list[object] | None:
        commit = workspace.default_commit()
        if workspace.git.top is None:  # git can't be asked: nothing is known of its branches
            return None
        return [commit, workspace.default_branch_trusts_only_itself(commit)]

    key = "\n".join(stamp(str(file)) for file in files)
    commit, trusts_itself_alone = workspace.cache.memo("trust", key, branch) or ["", False]
    return commit if is_configured or trusts_itself_alone else None


def _trust_files(workspace: Workspace) -> list[Path]:
    """Return the files that change when the default branch moves, where that matters."""
    try:
        if _trusted_commit(workspace) is not None:
            return _ref_files(workspace)

        return []
    except GitError:
        return []


def _ref_files(workspace: Workspace) -> list[Path]:
    git_dir = git_folder(workspace.root)
    if git_dir is None:
        return []

    common = git_dir
    with contextlib.suppress(OSError):
        common = (git_dir / (git_dir / "commondir").read_text("utf-8", "replace").strip()).resolve()

    names = [_NAMING, *_BRANCHES, "packed-refs", "reftable/tables.list"]
    with contextlib.suppress(OSError):
        reference = (common / _NAMING).read_text("utf-8", "replace").strip()
        if reference.startswith("ref: refs/") and ".." not in reference and "\0" not in reference:
            names.append(reference[5:])

    return [common / name for name in dict.fromkeys(names)]


@dataclass(frozen=True, slots=True)
class IndexSync:
    """What a sync of the index did: its file, how many records it holds,
    and whether they were compiled anew.
    """

    path: Path
    records: int
    built: bool
    words: Words | None = None
    """The words of all that is searched, if the records were compiled."""

    def as_data(self) -> dict[str, object]:
        """Return the result as JSON shows it."""
        compiled = self.records if self.built else 0
        return {
            "built": self.built,
            "records": self.records,
            "compiled": compiled,
            "path": str(self.path),
        }

    def text(self) -> str:
        """Return the result in a line for people."""
        count = plural(self.records, "record")
        if self.built:
            return f"Built {self.path.name}: {count}"

        return f"Push index unchanged: {count}"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What an index is made from."""

    lines: list[str]
    """A hash of it all, and stamps that were taken before anything was read:
    what changes later is seen as a change.
    """
    reading: Reading
    entries: Sequence[RecordFolder]
    records: Sequence[Record]
    report: FreshnessReport
    prose: ProseReading
    breadth: Breadth
    causes: Mapping[str, str]  # why records are out of date, by path
    untrusted: set[str]
    personal: Personal | None
    moves: Mapping[str, Sequence[Move]]  # what became of files that records name, by path
    sources: SourceFiles
    due: Mapping[str, Due]
    """The records that are due for a review now, by path."""
    files: Mapping[str, str]
    """The state of the files of each record, by path."""

    @property
    def routes(self) -> Routes:
        """What the source files lead to."""
        return routes_of(self.sources, self.reading)


def sync_index(
    workspace: Workspace, inputs: Inputs | None = None, *, rebuild: bool = False
) -> IndexSync:
    """Bring the push index up to date; where nothing changed, nothing is written.

    `inputs` were read a moment ago.
    """
    path = Path(index_file(str(workspace.root)))
    index, inputs = open_index(workspace), inputs or inputs_of(workspace)
    if (
        not rebuild
        and isinstance(index, Index)
        and _is_made_from(index, inputs)
        and index.inputs == inputs.lines
    ):
        return IndexSync(path, index.records, built=False)

    with locked(path.with_suffix(".lock")):
        earlier, index = index, open_index(workspace)
        if _inputs_in(index) != _inputs_in(
            earlier
        ):  # what another process wrote since must not be lost
            inputs = inputs_of(workspace)

        if not rebuild and isinstance(index, Index) and _is_made_from(index, inputs):
            content, done = index.read(0, index.length), IndexSync(path, index.records, built=False)
        else:
            content, records, words = _compiled(workspace, inputs)
            done = IndexSync(path, records, built=True, words=words)

        for leftover in _leftovers(path):
            leftover.unlink(missing_ok=True)

        write_atomic(
            path, content + "\n".join(inputs.lines).encode("utf-8", "surrogateescape"), mode=0o600
        )

    return done


def _leftovers(path: Path) -> Iterator[Path]:
    """Yield what killed processes left, as no other one writes now, and indexes of other
    versions.
    """
    yield from path.parent.glob(f"{TEMPORARY}{path.name}-*")
    for file in path.parent.glob("hook*.idx"):
        if file != path:
            yield file


def _inputs_in(index: Index | NoIndex) -> list[str]:
    if isinstance(index, Index):
        return index.inputs

    return []


def index_in_memory(workspace: Workspace) -> Index | NoIndex:
    """Return an index that lasts as long as the process."""
    inputs = inputs_of(workspace)
    content, *_ = _compiled(workspace, inputs)
    return reader.read_index(content + inputs.lines[0].encode(), str(workspace.root))


def _is_made_from(index: Index, inputs: Inputs) -> bool:
    return index.inputs[0] == inputs.lines[0] and is_whole(index)


def inputs_of(workspace: Workspace, reading: Reading | None = None) -> Inputs:
    """Read what the index of a workspace is made from; `reading` is of its records, if a caller
    has read them for what it answers.
    """
    stamps = stamps_of(workspace)
    reading = reading or Reading(workspace)
    entries, records = reading.chosen, reading.chosen_records

    prose = reading.prose
    open_records = [
        record for record in records if record.status.pushed and record.phase != "closed"
    ]
    report = evaluate_freshness(workspace, [*reading.collection.records])
    moves = moves_by_record(open_records, report, partial(_renames, workspace))
    causes = _causes(report, moves)

    sources = SourceFiles(workspace, records, report.tracked or ())

    changed = untrusted(workspace, records)
    personal = personal_of(workspace)
    competing = [compiler.globs_of(record, moves.get(record.path, ())) for record in open_records]
    competing += map(compiler.globs_of, personal.records if personal is not None else ())
    count = counter_in(workspace.cache, "breadth")
    breadth = compiler.breadth_of(competing, report.tracked or (), sources.imported, count)
    kinds = [f"{kind.name} {kind.gate} {kind.brief} {kind.statuses}" for kind in workspace.kinds]
    files = {entry.path: _line(reading, entry) for entry in entries}
    # The texts that searches read are those of all, also of an id that is there twice.
    lines = [*(_line(reading, entry) for entry in reading.entries), *breadth.lines()]
    lines += [f"{path} {state.sha256}" for path, state in sorted(prose.states.items())]
    lines += [f"{path}\n{cause}" for path, cause in sorted(causes.items())]
    lines += [f"{path}\n{_new_names(of_record)}" for path, of_record in sorted(moves.items())]
    lines += sorted(changed)
    if personal is not None:
        lines += personal.lines()

    due = due_now(workspace, reading)
    lines += [f"{path}\n{verdict.mark}" for path, verdict in sorted(due.items())]
    lines += sources.states()
    lines += [f"{path}\n{text}" for path, text in skill_pages(workspace)[0].items()]
    key = digest(
        code_version(),
        workspace.kinds.fingerprint,
        workspace.config.raw,
        half_life_days(),
        kinds,
        lines,
    )

    return Inputs(
        [key, *stamps],
        reading,
        entries,
        records,
        report,
        prose,
        breadth,
        causes,
        changed,
        personal,
        moves,
        sources,
        due,
        files,
    )


def _renames(workspace: Workspace, start: datetime | str, files: Sequence[str]) -> Renames | None:
    try:
        return renames_since(workspace, start, files)
    except GitStoppedError:
        raise
    except GitError:
        return None


def _new_names(moves: Iterable[Move]) -> list[tuple[str, str]]:
    return [(move.old, move.new) for move in moves if move.new is not None]


def _line(reading: Reading, entry: RecordFolder) -> str:
    votes = reading.states[f"{entry.folder}/{VOTES}"].sha256 if entry.has_votes else "-"
    state = reading.states[entry.path]
    return (
        f"{entry.path}\n{state.mtime_ns} {state.size} {state.sha256} {votes} "
        f"{entry.has_body} {entry.pending}"
    )


def _causes(report: FreshnessReport, moves: Mapping[str, Sequence[Move]]) -> dict[str, str]:
    """Return why records that may be pushed are out of date, by path;
    readers of the index see to the clock, and files that git saw move are followed.
    """
    clock = (Cause.EXPIRED, Cause.AGE)
    causes: dict[str, str] = {}
    for path, freshness in report.freshness.items():
        followed = _followed_anchors(moves.get(path, ()))
        for reason in reversed(freshness.reasons):  # the weightiest last
            is_followed = reason.cause is Cause.ANCHOR and reason.subject in followed
            if reason.cause not in clock and not is_followed:
                causes[path] = reason.cause.value

    return causes


def _followed_anchors(moves: Iterable[Move]) -> set[str]:
    """Return the anchors that are not lost, as reasons name them: a scope, a file of evidence.

    A scope that never matched a file is not out of date: its first file is the one being made.
    """
    followed: set[str] = set()
    moves = list(moves)
    of_scope = [move for move in moves if move.field == PATHS]
    if of_scope and all(move.waits for move in of_scope):
        followed.add(PATHS)

    for move in moves:
        if move.new is not None and not move.old.startswith("!"):
            followed.add(f"file:{move.old}" if move.field == EVIDENCE else move.field)

    return followed


def _compiled(workspace: Workspace, inputs: Inputs) -> tuple[bytes, int, Words]:
    # Syncs that find nothing to do need no stemmer.
    from orbit_registry.matching.words import Words
    from orbit_registry.search.rejected import rejected_rows

    config = workspace.config
    words = Words(workspace, inputs.reading.filled, inputs.reading.without_secrets)
    paths = {record.path for record in inputs.records}
    clean = [record for record in inputs.reading.clean if record.path in paths]
    rejected = rejected_rows(clean, words.index.records_with, partial(_taken, workspace, inputs))
    parts = _parts(workspace, inputs, clean, rejected)
    routes = inputs.routes
    unread = len(inputs.entries) - len(parts)
    parts += personal_parts(workspace, inputs.personal, clean)
    parts = compiler.with_breadth(sorted(parts, key=compiler.order_in), inputs.breadth)
    content = pack(
        parts,
        holdout=round(1_000_000 * config.setting("experiment", "holdout")),
        unread=unread,
        settings=compiler.settings_of(config),
        min_relevance=config.setting("push", "min_relevance"),
        words=words.parts,
        successors=_successors(inputs.records),
        imported=routes.imported,
        cited=routes.cited,
    )

    return content, len(parts), words


def _taken(
    workspace: Workspace, inputs: Inputs, decisions: Sequence[Record]
) -> Mapping[str, Sequence[str]]:
    """Return what each decision takes; the cache has it of those that did not change."""
    from orbit_registry.search.rejected import taken_by

    by_path = {record.path: record for record in decisions}
    keys = {path: inputs.reading.digests[path] for path in by_path}
    return workspace.cache.values(
        "taken", keys, lambda path: [*taken_by(by_path[path])], clean=keys
    )


def _parts(
    workspace: Workspace,
    inputs: Inputs,
    records: Sequence[Record],
    rejected: Mapping[str, Sequence[str]],
) -> list[Part]:
    """Return the records compiled; the cache has those of which nothing changed."""
    half_life = half_life_days()
    windows = volatility_windows(workspace.config)
    common = digest(workspace.kinds.fingerprint, half_life, windows)
    entries = {entry.path: entry for entry in inputs.entries}
    by_path = {record.path: record for record in records}

    def key(path: str) -> str:
        moves = [(move.field, move.old, move.new) for move in inputs.moves.get(path, ())]
        due = inputs.due.get(path)
        state = inputs.causes.get(path), path in inputs.untrusted, due and due.mark
        read = inputs.reading.digests[path], inputs.files[path]
        return digest(*read, common, state, rejected.get(path), moves)

    def make(path: str) -> list[object]:
        part = compiler.part_of(
            by_path[path],
            _origin(workspace, inputs, entries[path]),
            half_life,
            windows,
            rejected.get(path, ()),
            inputs.moves.get(path, ()),
            inputs.due.get(path),
        )
        return [list(part.row), part.flags, part.pushed]

    keys = {path: key(path) for path in by_path}
    rows = workspace.cache.values("parts", keys, make, clean=keys)
    return [Part(tuple(row), flags, pushed) for row, flags, pushed in rows.values()]


def _successors(records: Sequence[Record]) -> dict[str, list[str]]:
    """Return the paths of what took the place of each closed record,
    by its id and the paths of its texts.
    """
    existing = RecordSet(records)
    texts = Counter(record.source.path for record in records if record.source is not None)
    successors: dict[str, list[str]] = {}
    for record in existing:
        if record.phase != "closed":
            continue

        paths = [later.path for later in existing.live_successors(record)]
        if not paths:
            continue

        names = [record.id, record.path, record.body_path]
        if record.source is not None and texts[record.source.path] == 1:
            names.append(record.source.path)

        successors |= dict.fromkeys(names, paths)

    return successors


def _origin(workspace: Workspace, inputs: Inputs, entry: RecordFolder) -> compiler.Origin:
    try:
        content, status = read_with_status(workspace.root / entry.path, limit=RECORD_LIMIT)
    except OrbitError:
        content, status = b"", None

    is_as_read = hashlib.sha256(content).hexdigest() == inputs.reading.states[entry.path].sha256
    if status is None or not is_as_read:
        mtime_ns, size, checksum = (
            0,
            -1,
            "",
        )  # it has changed since: readers of the index see that by its size
    else:
        is_compared = len(content) <= reader.LARGEST_COMPARED
        mtime_ns, size = status.st_mtime_ns, status.st_size
        checksum = str(reader.checksum(content)) if is_compared else ""

    cause, is_trusted = inputs.causes.get(entry.path, ""), entry.path not in inputs.untrusted
    return compiler.Origin(
        mtime_ns, size, entry.pending, entry.has_body, checksum, cause, is_trusted
    )


def stamps_of(workspace: Workspace) -> list[str]:
    """Return a line for each file that tells, by its stamp alone, that records may have changed."""
    root = workspace.root
    watched = [f"{ORBIT}/config.yaml"]
    for kind in workspace.kinds:
        for pending in (False, True):
            folder = workspace.folder_of(kind, pending=pending)
            watched.append(folder.relative_to(root).as_posix())

    git_dir = git_folder(root)

    if git_dir is not None:
        if git_dir.is_relative_to(root):
            name = git_dir.relative_to(root).as_posix()
        else:
            name = str(git_dir)

        watched.append(f"{name}/HEAD")
        if not uses_another_index():
            watched.append(f"{name}/index")

        with contextlib.suppress(OSError):
            head = (git_dir / "HEAD").read_text("utf-8", "replace").strip()
            if head.startswith("ref: refs/") and ".." not in head and git_dir.is_relative_to(root):
                watched.append(f"{name}/{head[5:]}")

    watched += (str(path) for path in _trust_files(workspace))
    watched += personal_folders()
    return [
        f"{stamp(path if path.startswith('/') else f'{root}/{path}')}\t{path}"
        for path in watched
        if "\n" not in path
    ]
